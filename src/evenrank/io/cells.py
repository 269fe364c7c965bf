"""Cells of tables and fields of lines as ids, scores, grades and texts: one grammar for every format."""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import values_of
from evenrank.errors import PROBLEMS_SHOWN, shortened
from evenrank.ids import as_strings, is_text, offsets_of
from evenrank.io.row_problems import RowProblems

GRADE_PATTERN = r"^[+-]?[0-9]+$"
GRADE_LIMIT = 2**31
ID_LIMIT = 10_000  # bytes: no id is that long, but a text in the wrong column is

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SCORE = re.compile(_NUMBER.encode())
_WHOLE = re.compile(rb"[+-]?[0-9]+")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST = 64  # letters of words that are their own id
_SLUG, _HASH = 40, 8  # letters of an id that is made from words
_BETWEEN = re.compile(r"\W+")

Parsed = TypeVar("Parsed")


class BadValue(ValueError):
    """What is no id, score or grade; the message says why."""


def parse_score(text: bytes, role: str = "score", *, whole: bool = False) -> float:
    """A decimal number that is finite as a 64-bit float; a ``whole`` one fits 32 bits.

    >>> parse_score(b"-1.5e3")
    -1500.0
    """
    if not (_WHOLE if whole else _SCORE).fullmatch(text):
        kind = "not finite" if _NOT_FINITE.fullmatch(text) else "not a number"
        raise BadValue(f"{role} {quoted(text)} is {'not a whole number' if whole else kind}")
    return _sound(float(text), quoted(text), role, whole=whole)  # int() refuses thousands of digits


def parse_grade(text: bytes, role: str = "grade") -> int:
    """A whole number that fits 32 bits.

    >>> parse_grade(b"+2")
    2
    """
    return int(parse_score(text, role, whole=True))


def _sound(value: float, shown: str, role: str, *, whole: bool) -> float:
    if whole and not -GRADE_LIMIT <= value < GRADE_LIMIT:
        raise BadValue(f"{role} {shown} does not fit 32 bits")
    if whole and value != math.floor(value):
        raise BadValue(f"{role} {shown} is not a whole number")
    if not math.isfinite(value):
        raise BadValue(f"{role} {shown} is not finite as a 64-bit float")
    return value


def is_whole(text: bytes) -> bool:
    """Whether the text is a whole number, of any size.

    >>> is_whole(b"12"), is_whole(b"1.0")
    (True, False)
    """
    return _WHOLE.fullmatch(text) is not None


def is_number(text: str) -> bool:
    """Whether Python reads it as one, also as ``nan`` or ``1_000``."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def score_cells(
    values: Any, report: RowProblems, role: str = "score", *, text: bool = False, whole: bool = False
) -> npt.NDArray[np.float64]:
    """Numbers as 64-bit floats, all finite. ``text`` cells are numbers to be parsed. All cells are taken at
    once where nothing is wrong with any, else one by one."""
    values = one_array(values)
    if isinstance(values, pa.Array):
        found = numbers_at_once(values, text=text, whole=whole)
        if found is not None:
            return found

    def number(cell: Any) -> float:
        if text and cell.strip():
            return parse_score(cell.strip().encode(), role, whole=whole)
        if text or (is_missing(cell) and not isinstance(cell, float)):
            raise BadValue(f"{role} is missing")
        if isinstance(cell, bool) or not isinstance(cell, (numbers.Real, Decimal)):
            raise BadValue(f"{role} {described(cell)} is not a number")
        try:
            return _sound(float(cell), str(cell), role, whole=whole)
        except OverflowError:
            raise BadValue(f"{role} is too large for a 64-bit float") from None

    return np.array(_each(values, number, 0.0, report), np.float64)


def grade_cells(values: Any, report: RowProblems, *, text: bool = False) -> npt.NDArray[np.int64]:
    """Whole numbers of 32 bits. A float that is whole is one: frames with a gap have no integers."""
    return score_cells(values, report, "grade", text=text, whole=True).astype(np.int64)


def numbers_at_once(cells: pa.Array, *, text: bool, whole: bool) -> npt.NDArray[np.float64] | None:
    """The cells as numbers, or None where something may be wrong with one of them."""
    kind, types = cells.type, pa.types
    if cells.null_count:
        return None
    if text:
        pattern = GRADE_PATTERN if whole else f"^{_NUMBER}$"
        sound = pc.all(pc.match_substring_regex(cells, pattern)).as_py()
    else:
        sound = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if not sound:
        return None
    try:
        found: npt.NDArray[np.float64] = values_of(cells.cast(pa.float64(), safe=False))
    except pa.ArrowInvalid:  # Arrow takes no plus before a number
        return None
    fits = np.isfinite(found)
    if whole:
        fits &= (found >= -GRADE_LIMIT) & (found < GRADE_LIMIT) & (np.floor(found) == found)
    return found if fits.all() else None


def _each(
    cells: Iterable[Any], parse: Callable[[Any], Parsed], stand_in: Parsed, report: RowProblems
) -> list[Parsed]:
    """Every cell parsed; those that cannot be are reported and get a stand-in."""
    found = []
    for row, cell in enumerate(listed_cells(cells)):
        try:
            found.append(parse(cell))
        except BadValue as error:
            report.add(row, str(error))
            found.append(stand_in)
    return found


def id_cells(values: Any, role: str, report: RowProblems) -> pa.LargeStringArray:
    """Ids as text, without control characters. Whole numbers become their digits; nothing else is
    guessed at."""
    values = one_array(values)
    if isinstance(values, pa.Array) and not values.null_count:
        if is_text(values.type):
            return checked_ids(values.cast(pa.large_string()), role, report)
        if pa.types.is_integer(values.type):
            return values.cast(pa.large_string())

    def text(cell: Any) -> str:
        if isinstance(cell, str):
            if not cell.isascii() and any("\ud800" <= letter <= "\udfff" for letter in cell):
                what = "holds half of a surrogate pair, which no file can hold"
                raise BadValue(f"{role} {quoted(cell)} {what}")
            return cell
        if isinstance(cell, (int, np.integer)) and not isinstance(cell, bool):
            return str(int(cell))
        if is_missing(cell):
            raise BadValue(f"{role} is missing")
        raise BadValue(f"{role} {described(cell)} is not an id: ids are text or whole numbers")

    return checked_ids(pa.array(_each(values, text, "?", report), pa.large_string()), role, report)


def checked_ids(strings: pa.LargeStringArray, role: str, report: RowProblems) -> pa.LargeStringArray:
    """The ids, after those that are empty, too long, or hold a control character are reported."""
    offsets = offsets_of(strings)
    lengths = np.diff(offsets)
    for row in np.flatnonzero(lengths == 0)[: PROBLEMS_SHOWN + 1].tolist():
        report.add(row, f"{role} is empty")
    for row in np.flatnonzero(lengths > ID_LIMIT)[: PROBLEMS_SHOWN + 1].tolist():
        report.add(row, long_id(role, strings[row].as_py(), int(lengths[row])))
    buffer = strings.buffers()[2]
    raw = np.frombuffer(b"" if buffer is None else buffer, np.uint8)[int(offsets[0]) : int(offsets[-1])]
    blocks = np.array_split(raw, (len(raw) >> 20) + 1)  # whose temporaries stay inside the cache
    if any(((block < 0x20) | (block == 0x7F)).any() for block in blocks):
        held = pc.match_substring_regex(strings, _CONTROL.pattern).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(held)[: PROBLEMS_SHOWN + 1].tolist():
            text = strings[row].as_py()
            character = ord(_CONTROL.findall(text)[0])
            what = f"holds the control character 0x{character:02X}, which an id in a TREC file cannot"
            report.add(row, f"{role} {quoted(text)} {what}")
    return strings


def long_id(role: str, text: bytes | str, length: int) -> str:
    """What to say of an id that is longer than any id is."""
    return (
        f"{role} {quoted(text)} is {length:,} bytes long; an id has at most {ID_LIMIT:,}: "
        "is this column a text, or are the fields separated in another way?"
    )


def made_id(words: str) -> str:
    """The words themselves where they are one short word; else a shorter form that a TREC file can hold.

    >>> made_id(" chair"), made_id("table lamp"), made_id("table  lamp ")
    ('chair', 'table_lamp-0fe97486', 'table_lamp-0fe97486')
    """
    kept = normal(words)
    if " " not in kept and len(kept) <= _LONGEST:
        return kept
    slug = _BETWEEN.sub("_", kept.lower())[:_SLUG].strip("_")
    return f"{slug or 'query'}-{hashlib.sha256(kept.encode()).hexdigest()[:_HASH]}"


def normal(words: str) -> str:
    """The words with one blank between them."""
    return " ".join(words.split())


def hold_words(cells: Iterable[str]) -> bool:
    """Whether cells that should be ids are what people asked: a run of TREC has no id with a blank inside."""
    return any(" " in cell.strip() for cell in cells)


def query_cells(values: Any, report: RowProblems) -> pa.DictionaryArray:
    """Ids of queries. Where cells hold what people asked, ids are made from the words, so that a query is the
    same in every file."""
    values, known = one_array(values), RowProblems("")
    if isinstance(values, pa.Array) and is_text(values.type) and not values.null_count:
        ids = values.cast(pa.large_string()).dictionary_encode()
        checked_ids(ids.dictionary, "query", known)  # few differ, and only those are looked at
    if not isinstance(values, pa.Array) or not is_text(values.type) or values.null_count or known.found:
        ids = id_cells(values, "query", report).dictionary_encode()
    words = ids.dictionary.to_pylist()
    if not hold_words(words):
        return ids
    return as_strings([made_id(one) for one in words]).take(ids.indices).dictionary_encode()


def text_cells(
    values: Any, role: str, report: RowProblems, *, titles: pa.LargeStringArray | None = None
) -> pa.LargeStringArray:
    """Text, which may be empty but not missing; after its title, with a blank, where there is one."""

    def text(cell: Any) -> str:
        if isinstance(cell, str):
            return cell
        raise BadValue(f"{role} {'is missing' if is_missing(cell) else f'{described(cell)} is not text'}")

    values = one_array(values)
    if isinstance(values, pa.Array) and not values.null_count and is_text(values.type):
        texts = values.cast(pa.large_string())
    else:
        cells = _each(values, text, "", report)
        try:
            texts = pa.array(cells, pa.large_string())
        except UnicodeEncodeError:  # half a surrogate pair is no character: a mark stands in its place
            whole = [cell.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for cell in cells]
            texts = pa.array(whole, pa.large_string())
    if titles is None:
        return texts
    empty = pc.equal(pc.binary_length(titles), 0)
    return pc.if_else(
        empty, texts, pc.binary_join_element_wise(titles, texts, pa.scalar(" ", pa.large_string()))
    )


def listed_cells(values: Any) -> list[Any]:
    """The cells of a column as Python has them."""
    return list(values.to_pylist() if isinstance(values, (pa.Array, pa.ChunkedArray)) else values)


def is_missing(cell: Any) -> bool:
    # pandas has values of its own for a gap: NA and NaT
    return (
        cell is None
        or (isinstance(cell, float) and math.isnan(cell))
        or type(cell).__name__ in ("NAType", "NaTType")
    )


def one_array(values: Any) -> Any:
    """Arrow columns as one plain array: chunks joined, dictionaries and views spelled out."""
    if isinstance(values, (pa.DictionaryArray, pa.ChunkedArray)) and pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if isinstance(values, pa.ChunkedArray):
        joined = values.combine_chunks()
        # older Arrow gives a chunked array back
        values = pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined
    if isinstance(values, pa.Array) and pa.types.is_string_view(values.type):
        values = values.cast(pa.large_string())
    return values


def quoted(text: bytes | str) -> str:
    """For a message: in quotes, with everything that does not print escaped, and not too long."""
    return repr(shortened(text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text))


def described(cell: Any) -> str:
    return f"{quoted(repr(cell))[1:-1]} ({type(cell).__name__})"


def describe_json_error(error: Exception) -> str:
    """What is wrong with a line of JSON, whose number is said by whoever knows it.

    >>> try:
    ...     json.loads('{"id" "d1"}')
    ... except ValueError as error:
    ...     describe_json_error(error)
    "Expecting ':' delimiter: column 7"
    """
    return f"{error.msg}: column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
