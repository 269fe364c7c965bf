"""``--figure FILE`` of evaluate, compare and rerank: what is drawn, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import evenrank as er

pytestmark = pytest.mark.needs("altair", "vl_convert")

Evenrank = Callable[..., SimpleNamespace]
KNOWN = ["--qrels", "qrels.txt", "--groups", "stance=stance.qrels:values=PRO,CON:even=BOTH"]
FIGURE = ["--figure", "figure.svg"]
SHARES = "GroupShare@5 GroupShare(of='target')@5"
METHODS = ["--with", "MMR(lam={0,0.4,0.8})", "--with", "Random"]
RUNS = ["one.trec", "two.trec", "three.trec"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    for file in RUNS:
        lists = {f"q{q}": {f"d{d}": float(generator.random()) for d in range(20)} for q in range(8)}
        er.write_run(er.read_run(lists, name=file.removesuffix(".trec")), file)
    pairs = [(q, d) for q in range(8) for d in range(20)]
    Path("qrels.txt").write_text("".join(f"q{q} 0 d{d} {(d + q) % 3}\n" for q, d in pairs))
    sides = ("PRO", "CON", "BOTH")
    Path("stance.qrels").write_text("".join(f"q{q} 0 d{d} {sides[d % 3]}\n" for q, d in pairs))
    return tmp_path


def drawn() -> str:
    """The text of the figure, with single blanks."""
    return " ".join(Path("figure.svg").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("kind", "runs", "measures", "shown"),
    [
        ("scatter", 3, "nDCG@5 AP RR", ["AP ↑ against nDCG@5 ↑", "3 runs"]),
        ("scatter:arrow=one>two", 2, "nDCG@5 AP", ["arrows: green better"]),
        ("queries", 1, "nDCG@5 AP RR", ["AP ↑ against nDCG@5 ↑", "one: 8 queries"]),
        ("bars", 3, "nDCG@5 AP", ["nDCG@5 ↑", "3 runs"]),
        ("bars", 1, "dGF@5", ["← towards CON | towards PRO →"]),
        ("query-bars", 2, "nDCG@5 AP", ["nDCG@5 ↑", "two"]),
        ("shares", 3, SHARES, ["PRO", "three"]),
        ("query-shares", 3, SHARES, ["query q7", "PRO", "three"]),
    ],
)
def test_evaluate_draws(evenrank: Evenrank, kind: str, runs: int, measures: str, shown: list[str]) -> None:
    done = evenrank("evaluate", *RUNS[:runs], *KNOWN, "-m", measures, *FIGURE, "--kind", kind)
    assert done.code == 0, done.err
    assert "figure.svg" in done.err
    assert measures.split()[0] in done.out
    assert [text for text in shown if text not in drawn()] == []
    assert "RR" not in drawn()


def test_evaluate_draws_cutoffs(evenrank: Evenrank) -> None:
    command = ["evaluate", *RUNS, *KNOWN, "-m", "nDCG", "--cutoffs", "5,10", *FIGURE]
    assert evenrank(*command).code == 0
    assert "cut-off k" in drawn()
    assert evenrank(*command, "--kind", "scatter").code == 0
    assert "nDCG@10 ↑ against nDCG@5 ↑" in drawn()


def test_rerank_draws_ranks_unless_asked(evenrank: Evenrank) -> None:
    command = ["rerank", "one.trec", *KNOWN, *METHODS, "-m", "nDCG@6 NDKL@6", *FIGURE]
    assert evenrank(*command).code == 0
    assert "rank position" in drawn()
    assert evenrank(*command, "--kind", "plane", "--repeat", "5").code == 0
    assert "NDKL@6 ↓ against nDCG@6 ↑" in drawn()


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--view", "power:trials=50"], "of 3"),
        (["--view", "power:trials=50", "--test", "0.3"], "p &lt; 0.3"),
        (["--view", "correlations:pearson:over=queries:system=one"], "over queries of one, n = 8"),
    ],
)
def test_compare_draws_power_and_correlations(evenrank: Evenrank, options: list[str], shown: str) -> None:
    assert evenrank("compare", *RUNS, *KNOWN, "-m", "nDCG@5 AP", *options, *FIGURE).code == 0
    assert shown in drawn()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["evaluate", *RUNS, "-m", "nDCG@5", "--kind", "scatter", *FIGURE], "-m must name two"),
        (["evaluate", *RUNS, "-m", "nDCG@5 nDCG@5", "--kind", "scatter", *FIGURE], "-m must name two"),
        (["evaluate", "one.trec", "-m", "nDCG@5", "--kind", "queries", *FIGURE], "-m must name two"),
        (["evaluate", *RUNS, "-m", "nDCG@5 AP", "--kind", "queries", *FIGURE], "3 are given"),
        (["evaluate", *RUNS, "-m", "nDCG@5", "--kind", "query-bars", *FIGURE], "3 are given"),
        (["evaluate", *RUNS, "-m", "nDCG@5", "--kind", "bars:arrow=one>two", *FIGURE], "bars"),
        (["evaluate", *RUNS, "-m", "nDCG@5 AP", "--kind", "scatter:arrow=one", *FIGURE], "RUN>RUN"),
        (["evaluate", *RUNS, "-m", "nDCG@5 AP", "--kind", "scatter"], "--figure"),
        (["evaluate", *RUNS, "-m", "nDCG", "--cutoffs", "5,10", "--figure", "figure.gif"], "figure.gif"),
        (["rerank", "one.trec", *METHODS, "-m", "nDCG@6", "--kind", "plane", *FIGURE], "-m must name two"),
        (["rerank", "one.trec", *METHODS, "-m", "AP", *FIGURE], "cut-off"),
        (["rerank", "one.trec", *METHODS, "-m", "AP", "--kind", "plane"], "--figure"),
        (["rerank", "one.trec", *METHODS, "-m", "AP", "--figure", "figure.doc"], "figure.doc"),
        (["rerank", "one.trec", *METHODS, "-m", "AP", "--figure", "qrels.txt"], "qrels.txt"),
        (["rerank", "one.trec", *METHODS, "-m", "AP", "-o", "one.trec"], "one.trec"),
        (["rerank", "one.trec", "--with", "MMR(lam={2})", "-m", "AP"], "lam"),
        (["compare", *RUNS, "-m", "AP", *FIGURE], "--view power"),
        (["compare", *RUNS, "-m", "AP", "--view", "power", "--figure", "figure.gif"], "figure.gif"),
    ],
)
def test_what_is_refused_before_files_are_read(evenrank: Evenrank, command: list[str], says: str) -> None:
    Path("one.trec").write_text("broken\n")
    before = sorted(Path().iterdir())
    done = evenrank(*command, *KNOWN)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert sorted(Path().iterdir()) == before
    assert Path("one.trec").read_text() == "broken\n"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["evaluate", *RUNS, "-m", "nDCG@5 AP", "--kind", "scatter:arrow=one>six", *FIGURE], "'six'"),
        (["evaluate", *RUNS, "-m", "nDCG@5", "--kind", "shares", *FIGURE], "nDCG@5"),
        (["evaluate", *RUNS, "-m", "nDCG@5", "--kind", "cutoffs", *FIGURE], "two cut-offs"),
        (["evaluate", *RUNS, "-m", "nDCG", "--cutoffs", "5", *FIGURE], "two cut-offs"),
        (["rerank", "one.trec", "--with", "DetCons", "-m", "AP", "--repeat", "3"], "--repeat"),
    ],
)
def test_what_is_refused_when_scores_are_known(evenrank: Evenrank, command: list[str], says: str) -> None:
    done = evenrank(*command, *KNOWN)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert not Path("figure.svg").exists()


def test_a_figure_does_not_take_the_place_of_an_input(evenrank: Evenrank) -> None:
    Path("one.svg").write_bytes(Path("one.trec").read_bytes())
    command = ["evaluate", "one.svg", *KNOWN, "-m", "nDCG", "--cutoffs", "5,10"]
    assert evenrank(*command, "--figure", "one.svg").code == 2
    assert Path("one.svg").read_bytes() == Path("one.trec").read_bytes()
