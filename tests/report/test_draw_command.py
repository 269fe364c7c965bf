"""``evenrank evaluate --figure FILE --kind WHAT``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import layers, marks, rows

import evenrank as er
from evenrank import report
from evenrank.cli import main

pytestmark = pytest.mark.needs("altair", "vl_convert")

NAMES = ("one", "two", "three")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    for name in NAMES:
        lists = {f"q{q}": {f"d{d}": float(generator.random()) for d in range(20)} for q in range(8)}
        er.write_run(er.read_run(lists, name=name), f"{name}.trec")
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{q} 0 d{d} {(d + q) % 3}\n" for q in range(8) for d in range(20))
    )
    (tmp_path / "stance.qrels").write_text(
        "".join(f"q{q} 0 d{d} {('PRO', 'CON', 'BOTH')[d % 3]}\n" for q in range(8) for d in range(20))
    )
    return tmp_path


def evaluate(*options: str, runs: int = 3) -> int:
    files = [f"{name}.trec" for name in NAMES[:runs]]
    return main(["evaluate", *files, "--qrels", "qrels.txt", *options])


@pytest.mark.parametrize(
    ("what", "runs", "shown"),
    [
        ("scatter", 3, ["AP ↑ against nDCG@5 ↑", "3 runs"]),
        ("queries", 1, ["AP ↑ against nDCG@5 ↑", "one: 8 queries"]),
        ("bars", 3, ["nDCG@5 ↑, mean over queries", "3 runs"]),
        ("query-bars", 2, ["nDCG@5 ↑, query by query", "two"]),
        ("scatter:arrow=one>two", 2, ["arrows: green better"]),
    ],
)
def test_what_is_drawn(
    folder: Path, capsys: pytest.CaptureFixture[str], what: str, runs: int, shown: list[str]
) -> None:
    assert evaluate("-m", "nDCG@5 AP RR", "--figure", "figure.svg", "--kind", *what.split(), runs=runs) == 0
    said = capsys.readouterr()
    assert "wrote figure.svg" in said.err
    assert "nDCG@5" in said.out
    figure = (folder / "figure.svg").read_text(encoding="utf-8")
    assert all(text in figure for text in shown)
    assert "RR" not in figure


@pytest.mark.parametrize(("what", "shown"), [("shares", "mean over queries"), ("query-shares", "query q7")])
def test_shares(folder: Path, what: str, shown: str) -> None:
    groups = "stance=stance.qrels:values=PRO,CON:even=BOTH"
    measures = "GroupShare@5 GroupShare(of='target')@5"
    assert evaluate("-m", measures, "--groups", groups, "--figure", "figure.svg", "--kind", what) == 0
    figure = (folder / "figure.svg").read_text(encoding="utf-8")
    assert all(text in figure for text in (shown, "lines: the target", "PRO", "three"))


def test_without_draw_cutoffs_are_drawn(folder: Path) -> None:
    assert evaluate("-m", "nDCG", "--cutoffs", "5,10", "--figure", "figure.svg") == 0
    assert "cut-off k" in (folder / "figure.svg").read_text(encoding="utf-8")


def test_one_measure_at_two_cutoffs_is_two(folder: Path) -> None:
    assert evaluate("-m", "nDCG", "--cutoffs", "5,10", "--figure", "figure.svg", "--kind", "scatter") == 0
    assert "nDCG@10 ↑ against nDCG@5 ↑" in (folder / "figure.svg").read_text(encoding="utf-8")


def test_the_sides_of_groups(folder: Path) -> None:
    groups = "stance=stance.qrels:values=PRO,CON:even=BOTH"
    assert evaluate("-m", "dGF@5", "--groups", groups, "--figure", "figure.svg", "--kind", "bars") == 0
    assert "← towards CON | towards PRO →" in " ".join(
        (folder / "figure.svg").read_text(encoding="utf-8").split()
    )


@pytest.mark.parametrize(
    ("options", "runs", "says"),
    [
        (["-m", "nDCG@5", "--kind", "scatter"], 3, "-m must name two"),
        (["-m", "nDCG@5", "--kind", "queries"], 1, "-m must name two"),
        (["-m", "nDCG@5 nDCG@5", "--kind", "scatter"], 3, "-m must name two"),
        (["-m", "nDCG", "--cutoffs", "5,5", "--kind", "scatter"], 3, "-m must name two"),
        (["-m", "nDCG@5 AP", "--kind", "queries"], 3, "the queries of one run, but 3 are given"),
        (["-m", "nDCG@5", "--kind", "query-bars"], 3, "the queries of one run or two, but 3 are given"),
        (["-m", "nDCG@5", "--kind", "cutoffs"], 1, "two cut-offs or more"),
        (["-m", "nDCG@5", "--kind", "bars:arrow=one>two"], 2, "bars takes nothing behind a colon"),
        (["-m", "nDCG@5 AP", "--kind", "scatter:arrow=one>six"], 2, "'six' has none"),
        (["-m", "nDCG@5 AP", "--kind", "scatter:arrow=one"], 2, "must be RUN>RUN"),
        (["-m", "nDCG@5", "--kind", "shares"], 1, "nDCG@5 has 1 columns"),
    ],
)
def test_what_does_not_fit_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], runs: int, says: str
) -> None:
    assert evaluate(*options, "--figure", "figure.svg", runs=runs) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""
    assert not (folder / "figure.svg").exists()


def test_draw_needs_a_figure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate("-m", "nDCG@5 AP", "--kind", "scatter") == 2
    assert "add --figure FILE" in capsys.readouterr().err


def test_what_is_wrong_is_said_before_files_are_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "one.trec").write_text("broken\n")
    assert evaluate("-m", "nDCG@5", "--figure", "figure.svg", "--kind", "scatter") == 2
    assert "-m must name two" in capsys.readouterr().err


TOUCHE = "data/touche22_task2"


@pytest.mark.parametrize(
    ("what", "measures", "runs", "marked"),
    [
        ("scatter", "iRBU@5 GF(attr='stance')@5", "*.txt", 21),
        ("queries", "iRBU@5 GF(attr='stance')@5", "Asuna_run1.txt", 50),
        ("bars", "dGF(attr='side')@5", "*.txt", 21),
        ("query-bars", "dGF(attr='side')@5", "Katana_run[12].txt", 50),
    ],
)
def test_figures_3_to_6_of_gfr_2022(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    measures: str,
    runs: str,
    marked: int,
) -> None:
    """The plotted values are the scores that the same command writes."""
    kept: list[Any] = []
    monkeypatch.setattr(report, "save_figure", lambda chart, path: kept.append(chart))
    stance = shared / TOUCHE / "qrels/touche-task2-2022-stance.qrels"
    files = sorted((shared / TOUCHE / "runs").glob(runs))
    command = [
        "evaluate",
        *map(str, files),
        "--qrels",
        str(stance).replace("stance", "relevance"),
        "-m",
        measures,
    ]
    command += ["--groups", f"stance={stance}:values=FIRST,SECOND,NEUTRAL:even=NO"]
    command += ["--groups", f"side={stance}:values=FIRST,SECOND:even=NEUTRAL,NO"]
    written = tmp_path / "scores.jsonl"
    assert main([*command, "-o", str(written), "--figure", str(tmp_path / "x.svg"), "--kind", what]) == 0
    own, (chart,) = er.Scores.read(written), kept
    values, names = own.to_dict(), [repr(measure) for measure in own.measures]
    if what == "query-bars":
        assert len(chart.to_dict()["vconcat"]) == 2
        for run, panel in zip(own.runs, chart.to_dict()["vconcat"], strict=True):
            (layer,) = marks([{"data": panel.get("data"), **layer} for layer in panel["layer"]], "bar")
            assert {row["query"]: row["value"] for row in rows(layer)} == values[run][names[0]]
            assert len(rows(layer)) == marked
        return
    (layer,) = marks(layers(chart), "bar" if what == "bars" else "point")
    assert len(rows(layer)) == marked
    for row in rows(layer):
        if what == "bars":
            assert row["value"] == own.mean(names[0], row["run"])
        elif what == "scatter":
            assert (row["x"], row["y"]) == tuple(own.mean(name, row["run"]) for name in names)
        else:
            assert (row["x"], row["y"]) == tuple(values[own.runs[0]][name][row["query"]] for name in names)
