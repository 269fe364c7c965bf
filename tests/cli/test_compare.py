"""The command compare: which runs are better, from runs and from scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]
QUERIES = 12


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs: the relevant document at rank 4, at rank 1, and anywhere."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    Path("qrels.txt").write_text("".join(f"q{q} 0 d0 1\n" for q in range(QUERIES)))
    for name in ("low", "high", "mixed"):
        lines = []
        for query in range(QUERIES):
            others = [f"d{place}" for place in range(1, 8)]
            rank = {"low": 3, "high": 0, "mixed": int(generator.integers(0, 8))}[name]
            order = [*others[:rank], "d0", *others[rank:]]
            lines += [f"q{query} Q0 {d} {r} {10 - r} x\n" for r, d in enumerate(order)]
        Path(f"{name}.trec").write_text("".join(lines))
    return tmp_path


ALL = ("compare", "low.trec", "high.trec", "mixed.trec", "--qrels", "qrels.txt", "-m", "nDCG@5 RR")


def test_each_run_is_tested_against_the_first(evenrank: Evenrank, runs: Path) -> None:
    done = evenrank(*ALL, "--format", "jsonl")
    assert done.code == 0
    pairs = [json.loads(line) for line in done.out.splitlines()]
    assert [(p["measure"], p["system"], p["baseline"]) for p in pairs] == [
        (measure, system, "low") for measure in ("nDCG@5", "RR") for system in ("high", "mixed")
    ]
    given = {name: er.read_run(f"{name}.trec") for name in ("low", "mixed")}
    scores = er.evaluate(given, "RR", qrels=er.read_qrels("qrels.txt"))
    low, mixed = (block.values[:, 0] for block in scores.blocks)
    expected = stats.ttest_rel(mixed, low).pvalue
    assert pairs[3]["p"] == pytest.approx(expected)
    assert pairs[0]["verdict"] == "better"


def test_the_baseline_can_be_named_and_there_may_be_several(evenrank: Evenrank, runs: Path) -> None:
    done = evenrank(*ALL, "--baseline", "high", "--baseline", "low", "--format", "tsv")
    lines = [line.split("\t")[:3] for line in done.out.splitlines()[1:]]
    assert ["RR", "high", "low"] in lines
    assert ["RR", "mixed", "low"] in lines
    assert len(lines) == 2 * 3
    wrong = evenrank(*ALL, "--baseline", "hihg")
    assert wrong.code == 2
    assert "no system is called 'hihg'; there are low, high, mixed" in wrong.err


def test_scores_compare_as_the_runs_do(evenrank: Evenrank, runs: Path) -> None:
    for name in ("low", "high"):
        args = ("evaluate", f"{name}.trec", "--qrels", "qrels.txt", "-m", "RR", "-o", f"{name}.jsonl")
        assert evenrank(*args).code == 0
    of_runs = evenrank("compare", "low.trec", "high.trec", "--qrels", "qrels.txt", "-m", "RR")
    of_scores = evenrank("compare", "--scores", "low.jsonl", "--scores", "high.jsonl")
    assert of_scores.code == 0
    assert of_scores.out == of_runs.out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--view", "tukey:trials=100"), "randomised Tukey HSD"),
        (("--view", "conclusions:trials=100"), "A >> B"),
        (("--view", "power:trials=100"), "differ"),
        (("--view", "correlations:kendall"), "over systems"),
        (("--view", "correlations:pearson:over=queries:system=mixed"), "over queries of mixed"),
    ],
)
def test_other_views(evenrank: Evenrank, runs: Path, options: tuple[str, ...], expected: str) -> None:
    done = evenrank(*ALL, *options)
    assert done.code == 0
    assert expected in done.out
    rows = evenrank(*ALL, *options, "--format", "jsonl")
    assert all(json.loads(line) for line in rows.out.splitlines())
    assert evenrank(*ALL, *options, "-o", "view.tsv").code == 0
    assert Path("view.tsv").read_text().count("\n") == len(rows.out.splitlines()) + 1


def test_correlations_over_cutoffs(evenrank: Evenrank, runs: Path) -> None:
    done = evenrank(
        "compare", "low.trec", "mixed.trec", "--qrels", "qrels.txt", "-m", "nDCG P", "--cutoffs", "2,4,6,8",
        "--view", "correlations:kendall:over=cutoffs:system=mixed", "--format", "jsonl",
    )  # fmt: skip
    assert done.code == 0
    (row,) = map(json.loads, done.out.splitlines())
    assert (row["measure"], row["other"], row["n"]) == ("nDCG", "P", 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("low.trec", "high.trec"), "nothing is known about the documents, so no measure can be chosen"),
        ((), "give either two or more runs or --scores"),
        (("low.trec", "--scores", "x.jsonl"), "give either two or more runs or --scores"),
        (("low.trec", "--qrels", "qrels.txt", "-m", "RR"), "give either two or more runs"),
        (("--scores", "x.jsonl", "-m", "RR"), "scores are compared as they are"),
        (("low.trec", "high.trec", "-m", "RR", "--view", "tukey:over=queries"), "tukey takes trials=.."),
        (("low.trec", "high.trec", "-m", "RR", "-o", "x.xlsx"), "the name must end in"),
        (
            ("low.trec", "high.trec", "--qrels", "qrels.txt", "-m", "RR", "--test", "t,2"),
            "must be above 0 and below 1",
        ),
    ],
)
def test_what_is_wrong_is_said(
    evenrank: Evenrank, runs: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = evenrank("compare", *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_files_are_written(evenrank: Evenrank, runs: Path) -> None:
    for name in ("c.tex", "c.md", "c.csv", "c.parquet"):
        done = evenrank(*ALL, "-o", name)
        assert done.code == 0
        assert done.out == ""
        assert f"wrote {name}" in done.err
        assert Path(name).stat().st_size > 100


def test_features_of_documents_need_one_run_and_no_measure(evenrank: Evenrank, runs: Path) -> None:
    Path("docs.csv").write_text("document,a,b\n" + "".join(f"d{n},{n},{n % 3}\n" for n in range(8)))
    groups = ("--groups", "a=docs.csv:ordinal:column=a", "--groups", "b=docs.csv:ordinal:column=b")
    view = ("--view", "correlations:kendall:over=documents")
    done = evenrank("compare", "low.trec", *groups, *view, "--format", "jsonl")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert record["value"] == pytest.approx(stats.kendalltau(range(8), [n % 3 for n in range(8)]).statistic)
    assert (record["n"], record["p_method"]) == (8, "exact")
    shown = evenrank("compare", "low.trec", *groups, *view, "-o", "view.md", "--format", "table")
    assert "over the 8 documents that the runs rank, each once" in shown.out
    assert "kendall" in Path("view.md").read_text()
    one = evenrank("compare", "low.trec", *groups[:2], *view)
    assert (one.code, "--groups NAME=FILE:ordinal; got a" in one.err) == (2, True)
    of_scores = evenrank("compare", "--scores", "s.jsonl", *view)
    assert "give runs, not --scores" in of_scores.err
