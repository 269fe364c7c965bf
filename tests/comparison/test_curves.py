"""What a report computes besides scores: curves over cut-offs, as one evaluates them, and shared bins."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pages
import pytest
from drawn import made
from sample_inputs import bm25_run, groups_of

import evenrank as er
from evenrank.io import write_qrels
from evenrank.sample import load

Evenrank = Callable[..., SimpleNamespace]
MEASURES = ("nDCG", "NFaiRR", "GF(attr='leaning')")


def drawn_ends(path: Path) -> dict[tuple[str, str], list[tuple[float, int]]]:
    """By measure and run the first and the last value of its line, and the ranks they are at."""
    found = {}
    for label in re.findall(r'aria-label="Figure: Lines of (.+?)"', path.read_text(encoding="utf-8")):
        measure = label.replace("&#x27;", "'").replace("&#39;", "'").partition(" by cut-off")[0]
        for run, *ends in re.findall(r"(\w+): ([\d.]+) at (\d+), ([\d.]+) at (\d+)", label):
            found[measure, run] = [(float(ends[0]), int(ends[1])), (float(ends[2]), int(ends[3]))]
    return found


@pytest.mark.parametrize(("by", "cutoffs"), [("command", None), ("command", [2, 30]), ("comparison", None)])
def test_curves_are_those_of_an_evaluation(
    by: str, cutoffs: list[int] | None, evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No deeper than the cut-offs of the measures, unless one asks for more."""
    monkeypatch.chdir(tmp_path)
    sample, run = load(), bm25_run()
    runs = {"bm25": run, "short": run.head(7)}
    words = er.scan(list(sample.documents.items()), "gender-en")
    known = {"qrels": sample.qrels, "words": words, "groups": groups_of(sample), "background": run}
    asked = f"nDCG@10 NFaiRR@5 {MEASURES[2]}@10"
    if by == "comparison":
        er.compare(runs, asked, **known).report("report.html", cutoffs=cutoffs)
    else:
        known.pop("groups")
        asked = "nDCG@10 NFaiRR@5"
        write_qrels(sample.qrels, "qrels.txt")
        er.scan(list(sample.documents.items()), "gender-en", "counts.parquet")
        for name, own in runs.items():
            er.write_run(own, f"{name}.trec")
        given = ("--qrels", "qrels.txt", "--words", "counts.parquet", "--background", "bm25.trec")
        more = () if cutoffs is None else ("--cutoffs", "2,30")
        done = evenrank(
            "report",
            "bm25.trec",
            "short.trec",
            *given,
            "-m",
            asked,
            *more,
            "-o",
            "report.html",
            "--no-project",
        )
        assert done.code == 0, done.err
    found = drawn_ends(Path("report.html"))
    assert {run for _, run in found} == {"bm25", "short"}
    assert len({measure for measure, _ in found}) == len(asked.split())
    for (measure, name), ends in found.items():
        (stem,) = (one for one in MEASURES if measure.startswith(one.split("(")[0]))
        depth = {"NFaiRR": 5}.get(stem, 10)
        assert [rank for _, rank in ends] == (cutoffs or [1, depth])
        for value, rank in ends:
            wanted = er.evaluate(runs, f"{stem}@{rank}", **known).mean(f"{stem}@{rank}", name)
            assert value == pytest.approx(wanted, abs=5.1e-5)


def test_several_cutoffs_are_their_own_curves(tmp_path: Path) -> None:
    run, qrels = bm25_run(), load().qrels
    er.compare({"bm25": run, "short": run.head(7)}, "P@5 P@10", qrels=qrels).report(tmp_path / "report.html")
    assert {rank for ends in drawn_ends(tmp_path / "report.html").values() for _, rank in ends} == {5, 10}


def test_every_value_is_in_one_bin_that_all_systems_share(tmp_path: Path) -> None:
    values = np.random.default_rng(1).random((200, 3)).round(4)
    values[0, 0], values[1, 1] = np.nan, np.inf
    scores = made({f"s{place}": {"nDCG@10": column} for place, column in enumerate(values.T)})
    er.compare(scores).report(tmp_path / "report.html")
    (found,) = pages.data_of(pages.parsed(tmp_path / "report.html"))["bins"]
    edges = found["edges"]
    for column, counts in zip(values.T, found["counts"], strict=True):
        expected = [0] * (len(edges) - 1)
        for value in column[np.isfinite(column)]:
            inside = [n for n in range(len(expected)) if edges[n] <= value < edges[n + 1]]
            expected[inside[0] if inside else -1] += 1  # the largest lies at the last edge
        assert counts == expected


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_equal_values_have_no_bins(value: float, tmp_path: Path) -> None:
    er.compare(made({name: {"nDCG@10": [value] * 5} for name in "ab"})).report(tmp_path / "report.html")
    (found,) = pages.data_of(pages.parsed(tmp_path / "report.html"))["bins"]
    assert found["edges"] == []
