"""The rules of a gate in a project file: what they mean, and that a wrong one is an error with its name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import evenrank as er
from evenrank.cli import main

SHARE = "GroupShare(attr='side', attention=log2)@3[left]"
DATA = '[data]\nruns = ["a.trec"]\nqrels = "qrels.txt"\n[groups]\nside = "groups.csv"\n'


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    documents = {f"q{q}": [f"q{q}d{d}" for d in range(6)] for q in range(40)}
    for name in "ab":
        lists = {q: {d: float(generator.random()) for d in own} for q, own in documents.items()}
        er.write_run(er.read_run(lists, name=name), f"{name}.trec")
    judged = [f"{q} 0 {own[place % 6]} 1" for place, (q, own) in enumerate(documents.items())]
    Path("qrels.txt").write_text("\n".join(judged))
    sides = [f"{d},{'left' if int(d[-1]) % 2 else 'right'}" for own in documents.values() for d in own]
    Path("groups.csv").write_text("\n".join(["document,side", *sides]))


def gated(rules: str, *more: str) -> int:
    Path("evenrank.toml").write_text(DATA + rules)
    return main(["gate", *more, "--format", "jsonl"])


def test_a_file_of_rules(capsys: pytest.CaptureFixture[str]) -> None:
    code = gated(
        '[gate]\nalpha = 0.1\nat_least = 10\ncorrection = "none"\nallowed = 0.5\n'
        '[gate.measures."nDCG@3"]\nallowed_share = 0.9\n[gate.measures."NDKL@3"]\n'
        '[gate.measures."Skew@3 [left]"]\nlimit = 2\n',
        "--baseline",
        "b.trec",
    )
    ndcg, ndkl, skew = map(json.loads, capsys.readouterr().out.splitlines())
    assert code == 0
    assert [row["measure"] for row in (ndcg, ndkl, skew)] == ["nDCG@3", "NDKL@3", "Skew@3"]
    assert skew["column"] == "left"
    assert [row["alpha"] for row in (ndcg, ndkl)] == [0.1, 0.1]
    assert ndcg["allowed"] == pytest.approx(0.9 * ndcg["baseline"])
    assert (ndkl["allowed"], skew["limit"]) == (0.5, 2)


def test_limits_are_floors_and_ceilings(capsys: pytest.CaptureFixture[str]) -> None:
    lists = f'limits = ["{SHARE} >= 0.1", "{SHARE}<=0.9", "nDCG@3 >= 0.2"]\n'
    tables = f'[gate.measures."{SHARE}"]\nfloor = 0.1\nceiling = 0.9\n[gate.measures."nDCG@3"]\nfloor = 0.2\n'
    found = []
    for rules in (f"[gate]\nalpha = 0.1\n{lists}", f"[gate]\nalpha = 0.1\n{tables}"):
        assert gated(rules) == 0
        found.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert found[0] == found[1]
    share, ndcg = found[0]
    assert (share["floor"], share["ceiling"], share["alpha"]) == (0.1, 0.9, 0.1)
    assert (ndcg["measure"], ndcg["floor"], ndcg["ceiling"]) == ("nDCG@3", 0.2, None)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ("[gate]", ["gate.measures"]),
        ("[gate]\nalhpa = 0.1", ["alhpa", "alpha"]),
        ("[gate]\nat-least = 9", ["at-least", "at_least"]),
        ("[gate]\nmeasures = 3", ["measures", "3"]),
        ('[gate.measures]\n"nDCG@10" = 0.1', ["measures", "nDCG@10", "0.1"]),
        ('[gate.measures."nDGC@10"]', ["nDGC", "nDCG"]),
        ('[gate.measures."nDCG@10"]\nalowed = 1', ["alowed", "allowed"]),
        ('[gate.measures."nDCG@10"]\nallowed = "1"', ["nDCG@10", "allowed"]),
        ('[gate.measures."nDCG@10"]\nallowed = 1979-05-27', ["nDCG@10", "allowed"]),
        ('[gate.measures."nDCG@10"]\n[gate.measures."NDCG@10"]', ["nDCG@10", "2"]),
        ('[gate]\ncorrection = 3\n[gate.measures."nDCG@10"]', ["correction", "bonferroni", "3"]),
        ('[gate]\ncorrection = ["x"]\n[gate.measures."nDCG@10"]', ["correction", "bonferroni"]),
        ('[gate]\nlimits = "nDCG@10 >= 0.5"', ["limits"]),
        ('[gate]\nlimits = ["nDCG@10 > 0.5"]', ["nDCG@10 > 0.5", ">="]),
        ('[gate]\nlimits = ["nDCG@10 >= 1e"]', ["nDCG@10 >= 1e", ">="]),
        ('[gate]\nlimits = ["nDCG@10 >= 0.5", "nDCG@10 >= 0.6"]', ["nDCG@10", ">="]),
        ('[gate]\nlimits = ["nDCG@10[ >= 0.5"]', ["nDCG"]),
        ('[gate]\nlimits = ["nDCG@10 >= 0.5"]\n[gate.measures."nDCG@10"]', ["limits", "nDCG@10"]),
    ],
)
def test_a_rule_that_is_wrong_is_refused_with_its_name(
    rules: str, named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert gated(rules, "--baseline", "b.trec") in (1, 2)
    told = capsys.readouterr()
    assert told.out == ""
    assert all(name in told.err for name in ["evenrank.toml", *named])
