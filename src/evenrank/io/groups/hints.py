"""What a table of groups probably is, where it cannot be read as what it was taken for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats
from evenrank.data.attribute import SHARE_TOLERANCE
from evenrank.io.cells import is_missing, is_number, one_array
from evenrank.io.table_files import NamedTable

NO_HEADER = (
    "if the first line is not a header and every line is document,label,label,.. then say format='trec-fair' "
    "(in the shell FILE:format=trec-fair)"
)
_MANY = 1000  # cells that are looked at before a table is called by another name


def holds_numbers(cells: Any, *, text: bool) -> bool:
    """Whether the first cell that is not empty is a number; those of ``text`` are numbers to be parsed."""
    for cell in cells:
        cell = cell.as_py() if isinstance(cell, pa.Scalar) else cell
        if isinstance(cell, str) and cell.strip():
            return text and is_number(cell)
        if not isinstance(cell, str) and not is_missing(cell):
            return isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool)
    return False


def _cells(table: NamedTable, name: str) -> list[Any]:
    cells = one_array(table.column(name)[:_MANY])
    return cells.to_pylist() if isinstance(cells, pa.Array) else list(cells)


def _fractions(table: NamedTable, name: str) -> Floats | None:
    """The first cells where all are numbers from 0 to 1."""
    cells = _cells(table, name)
    if not all(is_number(str(cell)) and 0 <= float(cell) <= 1 for cell in cells):
        return None
    return np.array(cells, np.float64)


def shares_as_labels(table: NamedTable, chosen: Mapping[str, str], labels: Any) -> tuple[str, ...]:
    """The columns of shares, where the one taken for labels is one of them: they sum to 1 in every row."""
    names = [name for name in table.names if name not in (chosen["document"], chosen.get("query"))]
    if not holds_numbers(labels, text=table.text):
        return ()
    columns = [_fractions(table, name) for name in names]
    shares = np.array([column for column in columns if column is not None])  # (L, R)
    if len(names) < 2 or len(shares) < len(names) or not (shares % 1 != 0).any():
        return ()
    return tuple(names) if (np.abs(shares.sum(axis=0) - 1) <= SHARE_TOLERANCE).all() else ()


def elsewhere(table: NamedTable, chosen: Mapping[str, str]) -> str:
    """What to say where another column may hold the labels, unless they are known, or the shares: one of
    numbers from 0 to 1, where documents are there repeatedly."""
    rest = [name for name in table.names if name not in chosen.values()]
    labels = [name for name in rest if not holds_numbers(table.column(name), text=table.text)]
    if "value" not in chosen and len(labels) != 1:
        return ""
    documents = _cells(table, chosen["document"])
    shares = [name for name in rest if _fractions(table, name) is not None]
    found = {} if "value" in chosen else {"column": labels[0]}
    if len(shares) == 1 and len(set(documents)) < len(documents):
        found["share"] = shares[0]
    if not found:
        return ""
    named = ":".join(f"{role}={name}" for role, name in found.items())
    columns = " and ".join(map(repr, found.values()))
    return f" (for {columns} say FILE:{named}, in Python column= and columns={{'share': ..}})"
