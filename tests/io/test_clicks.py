"""Clicks as judgements of a command, against a sum written from the definition."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Evenrank = Callable[..., Any]
Row = tuple[str, str, int, int, int]  # query, document, position, impressions, clicks
DOCUMENTS = [f"d{number}" for number in range(12)]


def some_rows() -> list[Row]:
    draw = np.random.default_rng(0).integers
    rows = []
    for _ in range(200):
        shown = int(draw(0, 20))
        rows.append((f"q{draw(5)}", f"d{draw(12)}", int(draw(1, 8)), shown, int(draw(0, shown + 1))))
    return rows


def asked(evenrank: Evenrank, rows: Sequence[Row], options: str = "") -> tuple[dict[str, float], str]:
    """nDCG of all documents in the order of their names, by query; and what is said."""
    head = "qid,docno,position,impressions,clicks\n"
    Path("clicks.csv").write_text(head + "".join(",".join(map(str, row)) + "\n" for row in rows))
    queries = sorted({row[0] for row in rows})
    ranked = [f"{q} Q0 {d} {rank} {-rank} x\n" for q in queries for rank, d in enumerate(DOCUMENTS, 1)]
    Path("run.trec").write_text("".join(ranked))
    keys = "".join(f", {option}" for option in options.split(":") if option)
    Path("case.toml").write_text(f"data.qrels = {{ file = 'clicks.csv', kind = 'clicks'{keys} }}")
    done = evenrank(
        "evaluate", "run.trec", "-m", "nDCG", "--project", "case.toml", "--view", "queries",
        "--format", "jsonl",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    return {row["query"]: row["value"] for row in found if row.get("query")}, done.err


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("eta", [None, 0.5, 0.0])
def test_relevance_is_clicks_over_what_was_looked_at(evenrank: Evenrank, eta: float | None) -> None:
    rows, steepness = some_rows(), 1.0 if eta is None else eta
    found, said = asked(evenrank, rows, "" if eta is None else f":eta={eta}")
    for query, value in found.items():
        grades = []
        for document in DOCUMENTS:
            own = [row for row in rows if row[:2] == (query, document)]
            weight = sum(shown / position**steepness for _, _, position, shown, _ in own)
            grades.append(round(100 * min(1.0, sum(row[4] for row in own) / weight)) if weight else 0)
        discounts = 1 / np.log2(np.arange(2, 14))
        assert value == pytest.approx(discounts @ grades / (discounts @ sorted(grades, reverse=True)))
    assert len(found) == 5
    assert f"{sum(row[3] for row in rows):,} impressions" in said


def test_relevance_above_1_is_cut_and_counted(evenrank: Evenrank) -> None:
    """Rank 4 is taken to be looked at in a quarter of impressions, and 60 of 100 were clicked."""
    rows = [("q", "d1", 4, 100, 60), ("q", "d0", 1, 100, 50)]
    found, said = asked(evenrank, rows)
    assert found["q"] == pytest.approx((0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3)))
    assert "1 of 2" in said
    assert "of 2" not in asked(evenrank, rows, ":eta=0.3")[1]
    # all that was looked at was clicked: exactly 1, and nothing is cut
    assert "of 2" not in asked(evenrank, [("q", "d1", 4, 100, 25), rows[1]])[1]
