"""Measures of all queries together, after the first 1, 2, .. queries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evenrank.cli import main

LABELS = {"a": "x", "b": "y", "c": "x", "d": "y"}
QUERIES = [f"q{place:02}" for place in range(30)]


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


def test_amortised_grows_as_its_sum_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(3)
    run = {query: {d: float(generator.random()) for d in LABELS} for query in QUERIES}
    qrels = {query: {d: int(generator.integers(0, 3)) + (d == "a") for d in LABELS} for query in QUERIES}
    lines = [f"{q} Q0 {d} 1 {s} r\n" for q, own in run.items() for d, s in own.items()]
    judged = [f"{q} 0 {d} {g}\n" for q, own in qrels.items() for d, g in own.items()]
    Path("run.trec").write_text("".join(lines))
    Path("qrels.txt").write_text("".join(judged))
    Path("side.csv").write_text("document,side\n" + "".join(f"{d},{v}\n" for d, v in LABELS.items()))
    known = ["--qrels", "qrels.txt", "--groups", "side=side.csv", "--view", "growth", "--format", "jsonl"]
    assert main(["evaluate", "run.trec", *known, "-m", "Amortised"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = slow(run, qrels)
    assert len(rows) > 5
    assert (rows[-1]["queries"], rows[-1]["last query"]) == (30, "q29")
    assert [row["value"] for row in rows] == pytest.approx([expected[row["queries"] - 1] for row in rows])
    assert [row["last query"] for row in rows] == [QUERIES[row["queries"] - 1] for row in rows]
    assert main(["evaluate", "run.trec", *known, "-m", "Amortised nDCG@2"]) == 2
    assert "nDCG@2" in capsys.readouterr().err
