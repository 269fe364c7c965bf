"""A wide table as several that fit a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from evenrank.tables.table import Table


def in_parts(table: Table, width: int) -> list[Table]:
    """The columns of numbers in groups that fit ``width``, each behind the first columns, which are text.

    The last part has the meaning and the notes, the first has the rows for programs. A table stays whole
    where columns wrap or can be cut, for it becomes narrower by itself, and where words stand behind the
    numbers they are of.

    >>> wide = Table.of(["run", "nDCG@10", "RR", "AP"], [["bm25", 0.25, 0.5, 0.75]], notes=["a note"])
    >>> [part.head for part in in_parts(wide, 25)]
    [('run', 'nDCG@10', 'RR'), ('run', 'AP')]
    """
    first = len(list(takewhile(lambda column: not column.right, table.columns)))
    words = any(not column.right for column in table.columns[first:])
    if words or any(column.wraps or column.elastic for column in table.columns):
        return [table]
    groups: list[list[int]] = [[]]
    for place in range(first, len(table.columns)):
        if groups[-1] and _chosen(table, first, [*groups[-1], place]).width() > width:
            groups.append([])
        groups[-1].append(place)
    if len(groups) == 1:
        return [table]
    parts = [_chosen(table, first, group) for group in groups]
    last = len(parts) - 1
    return [
        replace(
            part,
            notes=table.notes if place == last else (),
            meaning=table.meaning if place == last else "",
            records=table.records if place == 0 else (),
        )
        for place, part in enumerate(parts)
    ]


def _chosen(table: Table, first: int, places: Sequence[int]) -> Table:
    kept = [*range(first), *places]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
    )
