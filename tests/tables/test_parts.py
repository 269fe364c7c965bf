"""Wide tables in parts that fit a terminal: no column is lost, and what is said is said once."""

from __future__ import annotations

import pytest

from evenrank.tables import TOO_WIDE, Column, Table, Value, in_parts, printed

HEADS = ["class", "system", *(f"measure {place}" for place in range(6))]
ROWS = [["dense", name, *(Value(at / 10, at / 20, at / 5) for at in range(6))] for name in ("one", "two")]
WIDE = Table.of(HEADS, ROWS, words=2, notes=["a note"], records=[{"system": "one"}])


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_every_column_stands_in_one_part_that_fits(width: int) -> None:
    parts = in_parts(WIDE, width)
    assert [head for part in parts for head in part.head[2:]] == HEADS[2:]
    assert all(part.head[:2] == ("class", "system") for part in parts)
    assert all(part.width() <= width or len(part.columns) == 3 for part in parts)
    assert [part.notes for part in parts] == [()] * (len(parts) - 1) + [("a note",)]
    assert [record for part in parts for record in part.to_records() if part.records] == [{"system": "one"}]
    for part in parts:  # the cells stay with their heads
        assert [row[2:] for row in part.rows] == [
            tuple(row[HEADS.index(head)] for head in part.head[2:]) for row in ROWS
        ]
    if width >= 60:
        assert TOO_WIDE not in printed(parts, "table", width)
        assert max(map(len, printed(parts, "table", width, color=False).splitlines())) <= width


def test_what_stays_whole() -> None:
    assert in_parts(WIDE, 1000) == [WIDE]
    wrapping = Table.of([Column("order", right=False, wraps=True), "p"], [["a " * 90, 0.5]])
    assert in_parts(wrapping, 40) == [wrapping]
    verdicts = Table.of(["system", "gap", "p", Column("verdict", right=False)], [["one", 1.0, 0.5, "better"]])
    assert in_parts(verdicts, 20) == [verdicts]
