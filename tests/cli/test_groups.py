"""Groups and targets on the command line: what they mean, and that what is wrong with them is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenrank import RunSet, evaluate, read_groups, read_run

Evenrank = Callable[..., Any]

GROUPS = "doc,gender,stars\na,f,1\nb,m,3\nc,f,2\nd,,1\ne,both,3\n"
BOTH = "gender=groups.csv:even=both:values=m,f"


@pytest.fixture
def folder(files: Path) -> Path:
    """The folder of ``files``, with groups and targets."""
    for name in ("groups.csv", "june:24.csv", "a=b,c.csv"):
        (files / name).write_text(GROUPS)
    (files / "stars.csv").write_text("value,share\n1,0.5\n3,0.5\n")
    (files / "gold.txt").write_text("0.25\n0.75\n")
    return files


def values(evenrank: Evenrank, measures: str, *options: str) -> dict[tuple[str, str, str], float | None]:
    asked = ["-m", measures, "--view", "queries", "--format", "jsonl"]
    done = evenrank("evaluate", "bm25.trec", *options, *asked)
    assert done.code == 0, done.err
    rows = map(json.loads, done.out.splitlines())
    return {(row["query"], row["measure"], row["column"]): row["value"] for row in rows}


SHARES = {"1": 0.5, "2": 0.0, "3": 0.5}


@pytest.mark.parametrize(
    ("options", "known"),
    [
        (["--groups", BOTH], {}),
        (["--groups", BOTH, "--target", "gender=gold.txt"], {"gender": [0.25, 0.75]}),
        (["--groups", BOTH, "--target", "gender=0.25, 0.75"], {"gender": [0.25, 0.75]}),
        (["--groups", BOTH, "--target", "gender=pool"], {"gender": "pool"}),
        (["--groups", "stars=june:24.csv:ordinal"], {}),
        (["--groups", "stars=a=b,c.csv:ordinal"], {}),
        (["--groups", "stars=groups.csv:ordinal", "--target", "stars=stars.csv"], {"stars": SHARES}),
        (["--groups", "stars=groups.csv:ordinal", "--target", "stars=3:0.5,1:0.5"], {"stars": SHARES}),
    ],
)
def test_groups_and_targets_are_those_of_the_function(
    evenrank: Evenrank, folder: Path, options: list[str], known: dict[str, Any]
) -> None:
    """Whatever the name of a file has, and whatever the order of values is; one not named has no share."""
    name = options[1].partition("=")[0]
    own: dict[str, Any] = {
        "gender": {"even": ["both"], "values": ["m", "f"]}, "stars": {"ordinal": True}
    }[name]  # fmt: skip
    groups = read_groups("groups.csv", name, **own)
    if name in known:
        given = known[name]
        groups = groups.with_target(tuple(given.values()) if isinstance(given, dict) else given)
    measures = "GF@2 GroupShare(of='target')@2"
    expected = evaluate(read_run("bm25.trec"), measures, groups=groups).to_dict()["bm25"]
    found = values(evenrank, measures, *options)
    assert {query for query, *_ in found} == {"q1", "q2", "q3"}
    for (query, measure, column), value in found.items():
        if value is not None:
            wanted = expected[f"{measure}[{column}]" if column else measure]
            assert value == pytest.approx(wanted[query])


def test_a_target_for_a_combination(evenrank: Evenrank, folder: Path) -> None:
    """Of the five documents f is with 1 and 2 once each and with 3 half, m with 3 once and a half."""
    target = "GroupShare(attr='gender*stars',of='target')@2"
    given = ["--groups", BOTH, "--groups", "stars=groups.csv", "--target", "gender*stars=collection"]
    found = {
        column: value
        for (query, _, column), value in values(evenrank, target, *given).items()
        if query == "q1"
    }
    assert sum(found.values()) == pytest.approx(1)
    assert sorted(value for value in found.values() if value) == pytest.approx([0.125, 0.25, 0.25, 0.375])


def test_a_target_by_relevance(folder: Path, evenrank: Evenrank) -> None:
    """b of q1 and c of q2 are relevant, so m is wanted for q1 and f for q2; the lists begin with f."""
    common = ("--groups", "gender=groups.csv:even=both", "--target", "gender=relevance")
    found = values(evenrank, "KL@1", *common, "--qrels", "qrels.txt")
    assert (found["q1", "KL@1", ""], found["q2", "KL@1", ""]) == ("Infinity", 0)
    failed = evenrank("evaluate", "bm25.trec", "-m", "KL@1", *common)
    assert (failed.code, "--qrels" in failed.err) == (2, True)


def test_a_folder_is_one_system_with_several_rankings(folder: Path, evenrank: Evenrank) -> None:
    draw = ["rerank", "bm25.trec", "--with", "Random(seed=4)", "--repeat", "12", "-o", "draws"]
    assert evenrank(*draw).code == 0
    (folder / "draws" / ".notes").write_text("not a run")
    measures = ["EE_L(attr='gender')@2", "EE_D(attr='gender')@2", "RR"]
    done = evenrank(
        "evaluate", "draws/", "bm25.trec", "--groups", "gender=groups.csv:even=both", "--qrels", "qrels.txt",
        "-m", " ".join(measures), "--format", "jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = map(json.loads, done.out.splitlines())
    found = {(row["run"], row["measure"]): row["value"] for row in rows}
    draws = RunSet.build([read_run(file) for file in sorted((folder / "draws").glob("*.trec"))])
    groups = read_groups("groups.csv", "gender", even=["both"])
    for name, ranking in (("draws", draws), ("bm25", read_run("bm25.trec"))):
        wanted = evaluate(ranking, measures, groups=groups, qrels="qrels.txt")
        for measure in measures:
            assert found[name, measure] == pytest.approx(wanted.mean(measure))
    assert found["draws", measures[1]] < found["bm25", measures[1]]  # a random order spreads attention
    (folder / "empty").mkdir()
    none = evenrank("evaluate", "empty", "--qrels", "qrels.txt", "-m", "RR")
    assert (none.code, "empty" in none.err) == (2, True)


BAD: dict[str, tuple[int, list[str]]] = {
    "g=groups.csv --groups g=groups.csv": (2, ["g", "twice"]),
    "g=gone.csv --groups g=gone.csv": (2, ["g", "twice"]),  # said before files are read
    "=groups.csv": (2, ["NAME=FILE"]),
    "g=:ordinal": (2, ["NAME=FILE"]),
    "g=groups.csv:values=": (2, ["values="]),
    "g=groups.csv:even=a,,b": (2, ["even="]),
    "g=groups.csv:full:full": (2, ["full", "twice"]),
    "g=groups.csv:ordnal": (2, ["ordnal", "ordinal", "[groups.NAME]"]),
    "gender=groups.csv:format=xml": (2, ["format", "[groups.NAME]"]),
    "gender=gone.csv": (1, ["gone.csv"]),
    "gender=groups.csv:values=f,m": (1, ["groups.csv:6", "'both'", "'f', 'm'"]),
    "gender=groups.csv --target stars=pool": (2, ["'stars'", "gender", "--groups stars=FILE"]),
    "gender=groups.csv --target gender*x=pool": (2, ["'x'", "--groups x=FILE"]),
    "gender=groups.csv --target gender=pool --target gender=pool": (2, ["gender", "twice"]),
    "gender=groups.csv --target gender=unifrom": (2, ["unifrom", "uniform", "pool"]),
    "gender=groups.csv --target gender=f:0.5,f:0.5": (2, ["'f'", "twice"]),
    "stars=groups.csv:ordinal --target stars=0.5,0.5": (2, ["2 shares", "3 values"]),
    "stars=groups.csv:ordinal --target stars=3:0.4,9:0.6": (2, ["'9'", "'1', '2', '3'"]),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named(case: str, folder: Path, evenrank: Evenrank) -> None:
    code, named = BAD[case]
    for command in (["evaluate"], ["explain", "--query", "q1"]):
        outcome = evenrank(*command, "bm25.trec", "-m", "GF@10", "--groups", *case.split())
        assert (outcome.code, outcome.out) == (code, "")
        assert [one for one in named if one not in outcome.err] == []


def test_ntcir(shared: Path, evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    toy = shared / "data/fairweb1_gfr/toy"
    Path("case.toml").write_text(
        f"[data.qrels]\nfile = {str(toy / 'toy.4topics.qrels')!r}\nformat = 'ntcir'\n"
    )
    outcome = evenrank(
        "--project", "case.toml", "evaluate", toy / "toyrun1",
        "--groups", f"gender={toy}/toy.R-GENDER.gmemb", "--target", f"gender={toy}/R-GENDER.golddistr",
        "-m", "ERR@5 GF(attr='gender')@5", "--view", "queries", "--format", "jsonl",
    )  # fmt: skip
    assert outcome.code == 0
    table = (shared / "data/fairweb1_gfr/expected/toy_ntcireval_GFR.tsv").read_text().splitlines()
    published = {tuple(line.split("\t")[:4]): float(line.split("\t")[4]) for line in table[1:]}
    rows = map(json.loads, outcome.out.splitlines())
    found = {(row["query"], row["measure"].partition("@")[0].partition("(")[0]): row["value"] for row in rows}
    for own, other in (("ERR", "ERR"), ("GF", "GF-JSD")):
        expected = published["toyrun1", "R-GENDER", "P001", other]
        assert found["P001", own] == pytest.approx(expected, abs=1e-4)
