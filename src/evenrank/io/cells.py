"""Cells of a table as ids, scores and grades, whatever types the table has."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.errors import PROBLEMS_SHOWN
from evenrank.ids import as_strings, is_text, offsets_of
from evenrank.io.made_query_ids import hold_words, made_id
from evenrank.io.row_problems import RowProblems
from evenrank.io.values import (
    GRADE_LIMIT,
    GRADE_PATTERN,
    ID_LIMIT,
    SCORE_PATTERN,
    BadValue,
    long_id,
    parse_grade,
    parse_score,
    quoted,
)

_BYTES_AT_ONCE = 1 << 20  # of ids that are searched: the temporaries stay inside the cache


def id_cells(values: Any, role: str, report: RowProblems) -> pa.LargeStringArray:
    """Ids as text, without control characters. Whole numbers become their digits; nothing else is
    guessed at."""
    values = one_array(values)
    if isinstance(values, pa.Array) and not values.null_count:
        if is_text(values.type):
            return checked_ids(values.cast(pa.large_string()), role, report)
        if pa.types.is_integer(values.type):
            return values.cast(pa.large_string())
    cells = values.to_pylist() if isinstance(values, pa.Array) else list(values)
    texts = [_id_text(cell, row, role, report) for row, cell in enumerate(cells)]
    try:
        return checked_ids(pa.array(texts, pa.large_string()), role, report)
    except UnicodeEncodeError as error:
        what = f"{role} {quoted(error.object)} holds half of a surrogate pair, which no file can hold"
        report.add(texts.index(error.object), what)
        raise report.error() from None


def query_cells(values: Any, report: RowProblems) -> pa.DictionaryArray:
    """Ids of queries. Where cells hold what people asked, ids are made from the words, so that a query is the
    same in every file."""
    ids = id_cells(values, "query", report).dictionary_encode()
    words = ids.dictionary.to_pylist()
    if not hold_words(words):
        return ids
    return as_strings([made_id(one) for one in words]).take(ids.indices).dictionary_encode()


def text_cells(
    values: Any, role: str, report: RowProblems, *, titles: pa.LargeStringArray | None = None
) -> pa.LargeStringArray:
    """Text, which may be empty but not missing; after its title, with a blank, where there is one."""
    values = one_array(values)
    if isinstance(values, pa.Array) and not values.null_count and is_text(values.type):
        texts = values.cast(pa.large_string())
    else:
        cells = values.to_pylist() if isinstance(values, pa.Array) else list(values)
        for row, cell in enumerate(cells):
            if not isinstance(cell, str):
                what = "is missing" if is_missing(cell) else f"{described(cell)} is not text"
                report.add(row, f"{role} {what}")
        texts = pa.array([cell if isinstance(cell, str) else "" for cell in cells], pa.large_string())
    if titles is None:
        return texts
    empty = pc.equal(pc.binary_length(titles), 0)
    return pc.if_else(
        empty, texts, pc.binary_join_element_wise(titles, texts, pa.scalar(" ", pa.large_string()))
    )


def score_cells(
    values: Any, report: RowProblems, role: str = "score", *, text: bool = False
) -> npt.NDArray[np.float64]:
    """Numbers as 64-bit floats, all finite. ``text`` cells are numbers to be parsed."""
    if text:
        return _parsed(values, report, role, lambda cell: parse_score(cell, role))
    return _numbers(values, report, role, _score_flaw)


def grade_cells(values: Any, report: RowProblems, *, text: bool = False) -> npt.NDArray[np.int64]:
    """Whole numbers of 32 bits. A float that is whole is one: frames with a gap have no integers."""
    if text:
        return _parsed(values, report, "grade", parse_grade).astype(np.int64)
    return _numbers(values, report, "grade", _grade_flaw).astype(np.int64)


def _parsed(
    cells: Any, report: RowProblems, role: str, parse: Callable[[bytes], float]
) -> npt.NDArray[np.float64]:
    cells = one_array(cells)
    if isinstance(cells, pa.Array):
        numbers = _parsed_at_once(cells, GRADE_PATTERN if role == "grade" else SCORE_PATTERN)
        if numbers is not None:
            return numbers
        cells = cells.to_pylist()
    out = np.zeros(len(cells))
    for row, cell in enumerate(cells):
        try:
            if cell.strip():
                out[row] = parse(cell.strip().encode())
            else:
                report.add(row, f"{role} is missing")
        except BadValue as error:
            report.add(row, str(error))
    return out


def _parsed_at_once(cells: pa.Array, pattern: str) -> npt.NDArray[np.float64] | None:
    """The numbers of cells that all look like one, without blanks and a plus, and are not too large."""
    if not pc.all(pc.match_substring_regex(cells, pattern)).as_py():
        return None
    try:
        numbers: npt.NDArray[np.float64] = cells.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    limit = GRADE_LIMIT if pattern == GRADE_PATTERN else np.inf
    return numbers if (np.abs(numbers) < limit).all() else None


def _numbers(
    values: Any, report: RowProblems, role: str, flaw: Callable[[Any, str], str | None]
) -> npt.NDArray[np.float64]:
    values = one_array(values)
    if isinstance(values, pa.Array) and not values.null_count:
        kind = values.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numeric: npt.NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(
                zero_copy_only=False
            )
            for row in np.flatnonzero(~_sound(numeric, role))[:21].tolist():
                report.add(row, str(flaw(values[row].as_py(), role)))
            return np.where(_sound(numeric, role), numeric, 0.0)
    cells: Sequence[Any] = values.to_pylist() if isinstance(values, pa.Array) else list(values)
    out = np.zeros(len(cells))
    for row, cell in enumerate(cells):
        what = flaw(cell, role)
        if what is None:
            out[row] = float(cell)
        else:
            report.add(row, what)
    return out


def _sound(numeric: npt.NDArray[np.float64], role: str) -> npt.NDArray[np.bool_]:
    finite: npt.NDArray[np.bool_] = np.isfinite(numeric)
    if role != "grade":
        return finite
    whole = np.where(finite, numeric, 0.5)
    sound: npt.NDArray[np.bool_] = (
        (whole == np.floor(whole)) & (whole >= -GRADE_LIMIT) & (whole < GRADE_LIMIT)
    )
    return sound


def _score_flaw(cell: Any, role: str) -> str | None:
    if is_missing(cell) and not isinstance(cell, float):
        return f"{role} is missing"
    if isinstance(cell, str):
        return f"{role} {quoted(cell)} is text, not a number"
    if isinstance(cell, (bool, np.bool_)) or not _is_number(cell):
        return f"{role} {described(cell)} is not a number"
    try:
        value = float(cell)
    except OverflowError:
        return f"{role} is too large for a 64-bit float"
    if math.isnan(value):
        return f"{role} nan is not finite"
    return None if math.isfinite(value) else f"{role} {value} is not finite"


def _grade_flaw(cell: Any, role: str) -> str | None:
    if isinstance(cell, (bool, np.bool_)):
        return f"grade {cell} is a truth value: use 0 and 1"
    what = _score_flaw(cell, role)
    if what is not None:
        return what
    if float(cell) != math.floor(float(cell)):
        return f"grade {cell} is not a whole number"
    return None if -GRADE_LIMIT <= float(cell) < GRADE_LIMIT else f"grade {cell} does not fit 32 bits"


def _id_text(cell: Any, row: int, role: str, report: RowProblems) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, (int, np.integer)) and not isinstance(cell, bool):
        return str(int(cell))
    if is_missing(cell):
        report.add(row, f"{role} is missing")
    else:
        report.add(row, f"{role} {described(cell)} is not an id: ids are text or whole numbers")
    return "?"


def described(cell: Any) -> str:
    return f"{quoted(repr(cell))[1:-1]} ({type(cell).__name__})"


def _is_number(cell: Any) -> bool:
    return isinstance(cell, numbers.Real) or type(cell).__name__ == "Decimal"


def is_missing(cell: Any) -> bool:
    # pandas has values of its own for a gap: NA and NaT
    return (
        cell is None
        or (isinstance(cell, float) and math.isnan(cell))
        or type(cell).__name__ in ("NAType", "NaTType")
    )


def checked_ids(strings: pa.LargeStringArray, role: str, report: RowProblems) -> pa.LargeStringArray:
    """The ids, after those that are empty, too long, or hold a control character are reported."""
    lengths = pc.binary_length(strings)
    if len(strings) and pc.min(lengths).as_py() == 0:
        for row in np.flatnonzero(pc.equal(lengths, 0).to_numpy(zero_copy_only=False))[:21].tolist():
            report.add(row, f"{role} is empty")
    if len(strings) and pc.max(lengths).as_py() > ID_LIMIT:
        for row in np.flatnonzero(pc.greater(lengths, ID_LIMIT).to_numpy(zero_copy_only=False))[:21].tolist():
            report.add(row, long_id(role, strings[row].as_py(), lengths[row].as_py()))
    for row, character in _control_characters(strings):
        report.add(
            row,
            f"{role} {quoted(strings[row].as_py())} holds the control character 0x{character:02X}, "
            "which an id in a TREC file cannot",
        )
    return strings


def _control_characters(strings: pa.LargeStringArray) -> list[tuple[int, int]]:
    """The first rows with a control character, and which it is. Bytes are looked at, not rows."""
    buffer, offsets = strings.buffers()[2], offsets_of(strings)
    found: dict[int, int] = {}
    if buffer is None:
        return []
    raw = np.frombuffer(buffer, np.uint8)
    for begin in range(int(offsets[0]), int(offsets[-1]), _BYTES_AT_ONCE):
        block = raw[begin : min(begin + _BYTES_AT_ONCE, int(offsets[-1]))]
        places = np.flatnonzero((block < 0x20) | (block == 0x7F))
        rows = np.searchsorted(offsets, places + begin, side="right") - 1
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            found.setdefault(row, int(block[place]))
        if len(found) > PROBLEMS_SHOWN:
            break
    return sorted(found.items())[: PROBLEMS_SHOWN + 1]


def one_array(values: Any) -> Any:
    """Arrow columns as one plain array: chunks joined, dictionaries and views spelled out."""
    if isinstance(values, pa.ChunkedArray):
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        values = values.combine_chunks() if values.num_chunks else pa.array([], values.type)
        if isinstance(values, pa.ChunkedArray):  # older Arrow gives a chunked array back
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if isinstance(values, pa.DictionaryArray):
        values = values.cast(values.type.value_type)
    if isinstance(values, pa.Array) and pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    return values
