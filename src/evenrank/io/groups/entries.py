"""Cells of a table as values of an attribute and shares of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Floats, Int64s
from evenrank.ids import as_strings, encode_first_seen, is_text, take
from evenrank.io.cells import BadValue, described, is_missing, one_array, parse_score, score_cells
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_files import NamedTable

_CELLS_AT_ONCE = 1 << 12


@dataclass(frozen=True)
class Entries:
    """What a source says: the document of row ``rows[e]`` has ``values[e]``, by ``shares[e]``.

    A dictionary of values has those that occur, in the order of their first appearance.

    A row without an entry is a document without a value.
    """

    documents: pa.LargeStringArray  # (R,)
    queries: pa.LargeStringArray | None  # (R,)
    rows: Int64s  # (E,)
    values: pa.LargeStringArray | pa.DictionaryArray  # (E,)
    shares: Floats | None  # (E,); None: each has the whole document
    report: RowProblems
    order: tuple[str, ...] | None = None  # the values, where the source lists them


def label_entries(
    cells: Any, report: RowProblems
) -> tuple[Int64s, pa.LargeStringArray | pa.DictionaryArray, Floats | None]:
    """Rows, values and shares of a column of labels. An empty cell has no value, a list several, and a
    mapping has shares of them."""
    cells = one_array(cells)
    if isinstance(cells, list) and all(isinstance(cell, str) for cell in cells):
        cells = as_strings(cells)
    if isinstance(cells, pa.Array) and is_text(cells.type):
        return (*_text_labels(cells), None)
    owners, values, shares = list[int](), list[str](), list[float]()
    whole = True
    for row, cell in enumerate(cells.to_pylist() if isinstance(cells, pa.Array) else cells):
        for item, share in _values_of(cell):
            value = _label(item, row, report)
            if value and (number := _share(share, value, row, report)) is not None:
                owners.append(row)
                values.append(value)
                shares.append(number)
        whole = whole and not isinstance(cell, Mapping)
    return np.array(owners, np.int64), as_strings(values), None if whole else np.array(shares)


def _text_labels(cells: pa.Array) -> tuple[Int64s, pa.DictionaryArray]:
    """The rows that are not blank, and their labels. Few labels differ, and only those are trimmed."""
    found = pc.fill_null(cells, "").dictionary_encode()
    trimmed, words = encode_first_seen(pc.utf8_trim_whitespace(found.dictionary))  # (D,)
    codes = trimmed[found.indices.to_numpy(zero_copy_only=False)]  # (R,)
    rows = np.arange(len(codes))
    if "" in words:
        blank = words.index("")
        rows = np.flatnonzero(codes != blank)
        codes = codes[rows]
        codes -= codes > blank
    names = as_strings([word for word in words if word])
    return rows, pa.DictionaryArray.from_arrays(pa.array(codes), names)


def _values_of(cell: Any) -> Iterator[tuple[Any, Any]]:
    """The values in one cell, each with its share."""
    if isinstance(cell, Mapping):
        yield from ((value, share) for value, share in cell.items() if share is not None)
    elif isinstance(cell, (set, frozenset)):
        yield from ((value, 1.0) for value in sorted(cell, key=str))
    elif isinstance(cell, (list, tuple, np.ndarray)):
        yield from ((value, 1.0) for value in cell)
    elif not is_missing(cell):
        yield cell, 1.0


def _label(item: Any, row: int, report: RowProblems) -> str:
    """Text, or a whole number as its digits: a column of numbers with gaps is one of floats to pandas."""
    if isinstance(item, str):
        return item.strip()
    if _is_whole(item):
        return str(int(item))
    if is_missing(item):
        report.add(row, "a value in the list is missing")
    else:
        report.add(row, f"value {described(item)} is not a label: labels are text or whole numbers")
    return ""


def _is_whole(item: Any) -> bool:
    if isinstance(item, (float, np.floating)):
        return math.isfinite(item) and item == math.floor(item)
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _share(share: Any, value: str, row: int, report: RowProblems) -> float | None:
    if isinstance(share, (int, float, np.number)) and not isinstance(share, bool) and math.isfinite(share):
        return float(share)
    report.add(row, f"the share of {value!r} must be a number, got {described(share)}")
    return None


def share_column(frame: NamedTable, name: str, rows: Int64s, report: RowProblems) -> Floats:
    """The share of each entry, where there is a column of them and one value a row."""
    shares = score_cells(frame.column(name), report, "share", text=frame.text)
    counts = np.bincount(rows, minlength=len(shares))
    for row in np.flatnonzero(counts != 1)[:21].tolist():
        report.add(row, "several values beside one share" if counts[row] else "value is missing")
    return shares[rows]


def wide_entries(
    frame: NamedTable, names: Sequence[str], report: RowProblems
) -> tuple[Int64s, pa.LargeStringArray, Floats]:
    """One column a value; a row whose cells are all empty has none."""
    columns = [one_array(frame.column(name)) for name in names]
    gaps = np.logical_and.reduce([empty_cells(column) for column in columns])  # (R,)
    if gaps.any():
        columns = [filled(column, gaps, text=frame.text) for column in columns]
    matrix = np.stack(
        [
            score_cells(column, report, f"the share of {name}", text=frame.text)
            for name, column in zip(names, columns, strict=True)
        ],
        axis=1,
    )  # (R, L)
    rows = np.flatnonzero(~gaps)
    values = take(as_strings(list(names)), np.tile(np.arange(len(names)), len(rows)))
    return np.repeat(rows, len(names)), values, matrix[rows].ravel()


def holds_numbers(frame: NamedTable, name: str) -> bool:
    """Whether the first cell that is not empty is a number."""
    return begins_with_number(frame.column(name), text=frame.text)


def begins_with_number(column: Any, *, text: bool) -> bool:
    """The same of the cells themselves; those of ``text`` are numbers to be parsed."""
    cell = _first_cell(column)
    if cell is None:
        return False
    if text:
        try:
            parse_score(cell.strip().encode())
        except BadValue:
            return False
        return True
    return isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool)


def _first_cell(column: Any) -> Any:
    """The first cell that is not empty, or None; a long column is not looked at as a whole."""
    for begin in range(0, len(column), _CELLS_AT_ONCE):
        part = one_array(column[begin : begin + _CELLS_AT_ONCE])
        there = np.flatnonzero(~empty_cells(part))
        if len(there):
            cell = part[int(there[0])]
            return cell.as_py() if isinstance(cell, pa.Scalar) else cell
    return None


def empty_cells(column: Any) -> npt.NDArray[np.bool_]:
    if isinstance(column, pa.Array):
        gaps = pc.is_null(column)
        if is_text(column.type):
            blank = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(column)), 0)
            gaps = pc.or_(gaps, pc.fill_null(blank, True))
        missing: npt.NDArray[np.bool_] = gaps.to_numpy(zero_copy_only=False)
        return missing
    return np.array([is_missing(cell) or (isinstance(cell, str) and not cell.strip()) for cell in column])


def filled(column: Any, where: npt.NDArray[np.bool_], *, text: bool) -> list[Any]:
    """The cells with a 0 at those rows (R,)."""
    cells = column.to_pylist() if isinstance(column, pa.Array) else list(column)
    stand_in = "0" if text else 0
    return [stand_in if empty else cell for empty, cell in zip(where.tolist(), cells, strict=True)]
