"""Measures of all queries together, after the first 1, 2, .. queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenrank import Attribute, Membership
from evenrank.cli import main
from evenrank.errors import ParameterError
from evenrank.evaluation.growth import growth

LABELS = {"a": "x", "b": "y", "c": "x", "d": "y"}
SIDE = Membership.from_labels(Attribute("side", ("x", "y")), LABELS)


def data(queries: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    generator = np.random.default_rng(3)
    run = {f"q{i:02}": {d: float(generator.random()) for d in LABELS} for i in range(queries)}
    return run, {query: {d: int(generator.integers(0, 3)) + (d == "a") for d in LABELS} for query in run}


def slow(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> list[float]:
    """|sum of attention - sum of relevance| of both groups, after each query."""
    apart, found = {"x": 0.0, "y": 0.0}, []
    for query, scores in run.items():
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        attention = {d: 1 / np.log2(1 + rank) for rank, d in enumerate(ranked, 1)}
        for side in apart:
            own = [d for d in LABELS if LABELS[d] == side]
            apart[side] += sum(attention[d] for d in own) / sum(attention.values())
            apart[side] -= sum(qrels[query][d] for d in own) / sum(qrels[query].values())
        found.append(sum(map(abs, apart.values())))
    return found


def test_amortised_grows_as_its_sum_does() -> None:
    run, qrels = data(30)
    expected = slow(run, qrels)
    rows = growth(run, "Amortised", qrels=qrels, groups=SIDE, points=7)
    assert [row.queries for row in rows] == [1, 6, 11, 16, 20, 25, 30]
    assert [row.value for row in rows] == pytest.approx([expected[row.queries - 1] for row in rows])
    assert rows[-1].last == "q29"
    backwards = growth(run, "Amortised", qrels=qrels, groups=SIDE, queries=list(run)[::-1], points=2)
    assert backwards[0].last == "q29"
    assert backwards[-1].value == pytest.approx(expected[-1])
    with pytest.raises(ParameterError, match=r"nDCG@2 has a value for each query.*--view queries"):
        growth(run, "Amortised nDCG@2", qrels=qrels, groups=SIDE)


def test_the_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run, qrels = data(3)
    lines = [f"{q} Q0 {d} 1 {s} r\n" for q, own in run.items() for d, s in own.items()]
    Path("run.trec").write_text("".join(lines))
    Path("qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, own in qrels.items() for d, g in own.items())
    )
    Path("side.csv").write_text("document,side\n" + "".join(f"{d},{v}\n" for d, v in LABELS.items()))
    known = ["--qrels", "qrels.txt", "--groups", "side=side.csv", "-m", "Amortised", "--format", "tsv"]
    assert main(["evaluate", "run.trec", *known, "--view", "growth"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [float(row[4]) for row in rows] == pytest.approx(slow(run, qrels))
    assert [row[3] for row in rows] == ["q00", "q01", "q02"]
