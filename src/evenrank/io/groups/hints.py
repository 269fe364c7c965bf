"""What a table of groups probably is, where it cannot be read as what it was taken for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def labels_elsewhere(table: NamedTable, chosen: Mapping[str, str], rest: Sequence[str]) -> str:
    """Where there are no columns of shares: the one column that holds labels, and the shares beside it."""
    labels = [name for name in rest if not holds_numbers(table.column(name), text=table.text)]
    if len(labels) != 1:
        return ""
    share = _share_column(table, {**chosen, "value": labels[0]})
    named, written = (f", columns={{'share': {share!r}}}", f":share={share}") if share else ("", "")
    return (
        f"; {labels[0]!r} may be the labels: column={labels[0]!r}{named} "
        f"(in the shell FILE:column={labels[0]}{written})"
    )


def shares_elsewhere(table: NamedTable, chosen: Mapping[str, str]) -> str:
    """Where documents have several labels and no shares: the column that may hold them."""
    share = _share_column(table, chosen)
    if share is None:
        return ""
    return f" ({share!r} may be the shares: columns={{'share': {share!r}}}, in the shell FILE:share={share})"


def _share_column(table: NamedTable, chosen: Mapping[str, str]) -> str | None:
    """The one further column of numbers from 0 to 1, where documents are there repeatedly."""
    documents = _cells(table, chosen["document"])
    rest = [name for name in table.names if name not in chosen.values()]
    found = [name for name in rest if _fractions(table, name) is not None]
    return found[0] if len(found) == 1 and len(set(documents)) < len(documents) else None
