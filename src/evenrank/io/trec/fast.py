"""The columnar way through a TREC file that is clean: one separator, no blank lines, no comments.

It answers None for any file that it is not sure of; the line-by-line reader then decides. What it
accepts, the other one accepts too, with the same values.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from evenrank.arrays import values_of
from evenrank.io.cells import GRADE_LIMIT, GRADE_PATTERN, ID_LIMIT
from evenrank.io.growing_columns import GrowingCodes, GrowingNumbers, GrowingStrings
from evenrank.io.layout import Columns, Layout, contradictions
from evenrank.io.source import Content

_SCAN_BLOCK = 1 << 20  # stays in the cache
_SLICE = 1 << 25
_PARSE_BLOCK = 1 << 22
_BLANK = 32
_RETURN = ord("\r")
_BOM = codecs.BOM_UTF8
_LOW = re.compile(rb"[\x00-\x20]")


def parse(content: Content, layout: Layout) -> Columns | None:
    """The columns of a clean file, or None.

    The file goes by in slices of whole lines, each proven clean and then parsed, so that no more than
    a slice of it stays in memory.
    """
    content = _unix_lines(content)
    buffer = _trimmed(content.buffer)
    table: _Slices | None = None
    begin = 0
    while begin < buffer.size:
        slice_ = buffer.slice(begin, min(_SLICE, buffer.size - begin))
        if begin + slice_.size < buffer.size:
            tail = slice_.slice(max(0, slice_.size - _SCAN_BLOCK)).to_pybytes()
            if b"\n" not in tail:  # a line of a megabyte is nothing to hurry for
                return None
            slice_ = slice_.slice(0, slice_.size - len(tail) + tail.rfind(b"\n"))
        part = _parse_slice(slice_, layout)
        if part is None:
            return None
        if table is None:
            table = _Slices(layout, part, buffer.size / slice_.size)
        if not table.extend(part):
            return None
        del part
        begin += slice_.size + 1
    return None if table is None else table.columns()


class _Slices:
    """The columns of the file so far. ``share`` says how many times the first part the whole may be."""

    def __init__(self, layout: Layout, first: pa.Table, share: float) -> None:
        self._layout = layout
        self._ids = ("query", "document", "intent") if layout.intent else ("query", "document")
        room = int(first.num_rows * share * 1.05) + 1
        document_bytes = sum(chunk.nbytes for chunk in first.column("document").chunks)
        self._queries = GrowingCodes(room)
        self._documents = GrowingStrings(room, int(document_bytes * share))
        self._intents = GrowingStrings(room, room) if layout.intent else None
        self._values = GrowingNumbers(np.float64 if layout.value_name == "score" else np.int64, room)
        self._contradicting = 0

    def extend(self, part: pa.Table) -> bool:
        """Add a part of the file; False if a value in it is not what it should be."""
        column = part.column(self._layout.value_name)
        values = _scores(column) if self._layout.value_name == "score" else _grades(column)
        if values is None or not all(_ids_fit(part.column(role)) for role in self._ids):
            return False
        for piece in values:
            self._values.extend(piece)
        if self._layout.rank is not None:
            queries = part.column("query").unify_dictionaries().chunks
            codes = np.concatenate([values_of(chunk.indices) for chunk in queries])
            ranks = np.concatenate([values_of(chunk) for chunk in part.column("rank").chunks])
            self._contradicting += contradictions(codes, ranks, np.concatenate(values))
        self._queries.extend(part.column("query"))
        self._documents.extend(part.column("document"))
        if self._intents is not None:
            self._intents.extend(part.column("intent"))
        return True

    def columns(self) -> Columns:
        intents = None if self._intents is None else self._intents.array()
        return Columns(
            self._queries.array(),
            self._documents.array(),
            self._values.array(),
            intents,
            contradicting=self._contradicting,
        )


def _parse_slice(buffer: pa.Buffer, layout: Layout) -> pa.Table | None:
    delimiter = _delimiter(buffer)
    if delimiter is None:
        return None
    types = {"query": pa.dictionary(pa.int32(), pa.string()), "document": pa.large_string()}
    types[layout.value_name] = pa.float64() if layout.value_name == "score" else pa.string()
    if layout.intent:
        types["intent"] = pa.large_string()
    if layout.rank is not None:
        types["rank"] = pa.int32()
    table = _read(buffer, layout, delimiter, types)
    if table is None or not is_clean(buffer, table, len(layout.fields)):
        return None
    return table


def _read(
    buffer: pa.Buffer, layout: Layout, delimiter: str, types: Mapping[str, pa.DataType]
) -> pa.Table | None:
    if buffer.slice(0, min(buffer.size, len(_BOM))).to_pybytes() == _BOM:
        # that of the file is gone, so this one belongs to an id: Arrow passes over the first that it sees
        buffer = pa.py_buffer(_BOM + buffer.to_pybytes())
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(buffer),
            read_options=pyarrow.csv.ReadOptions(column_names=list(layout.fields), block_size=_PARSE_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter,
                quote_char=False,
                double_quote=False,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=False,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=list(types), column_types=types, null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None


def _delimiter(buffer: pa.Buffer) -> str | None:
    """What separates the first two fields: a blank, a tab, or nothing that is understood here."""
    first = _LOW.search(buffer.slice(0, min(buffer.size, _SCAN_BLOCK)))
    if first is None or first.group() not in (b" ", b"\t") or first.start() == 0:
        return None
    return first.group().decode()


def is_clean(buffer: pa.Buffer, table: pa.Table, fields: int) -> bool:
    """Whether the rows are what the line-by-line reader would have found.

    The parser saw ``fields`` fields in every row, cut at one separator. If no two bytes up to 32 stand
    together or at either end, no field is empty; and if there are no more of them than separators and
    newlines, every one is either. What is left are comments and bytes that are not UTF-8.
    """
    data = np.frombuffer(buffer, np.uint8)
    if data[0] <= _BLANK or data[-1] <= _BLANK:
        return False
    low_bytes, any_high = 0, False
    for begin in range(0, len(data), _SCAN_BLOCK):
        block = data[begin : begin + _SCAN_BLOCK + 1]  # one byte of the next, for pairs
        low = block <= _BLANK
        if (low[1:] & low[:-1]).any() or (block == _RETURN).any():  # a return alone would end a line, too
            return False
        low_bytes += int(np.count_nonzero(low[:_SCAN_BLOCK]))
        any_high = any_high or bool(block.max() >= 0x80)
    if low_bytes != fields * table.num_rows - 1:
        return False
    for chunk in table.column("query").chunks:
        if pc.any(pc.starts_with(chunk.dictionary, "#")).as_py():
            return False
    return not any_high or _is_utf8(data)


def _is_utf8(data: npt.NDArray[np.uint8]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(data), _SCAN_BLOCK):
            decoder.decode(data[begin : begin + _SCAN_BLOCK].data)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _unix_lines(content: Content) -> Content:
    """Lines that all end with CR LF, ended with LF instead; anything else as it is."""
    head = content.buffer.slice(0, min(content.buffer.size, _SCAN_BLOCK)).to_pybytes()
    newline = head.find(b"\n")
    if newline < 1 or head[newline - 1 : newline] != b"\r":
        return content
    data = content.buffer.to_pybytes()
    if not data.count(b"\r") == data.count(b"\n") == data.count(b"\r\n"):
        return content
    return Content(pa.py_buffer(data.replace(b"\r\n", b"\n")))


def _trimmed(buffer: pa.Buffer) -> pa.Buffer:
    """Without the newlines and blanks at the end of the file, which mean nothing."""
    tail = buffer.slice(max(0, buffer.size - _SCAN_BLOCK)).to_pybytes()
    return buffer.slice(0, buffer.size - (len(tail) - len(tail.rstrip(b" \t\n"))))


def _ids_fit(column: pa.ChunkedArray) -> bool:
    """Whether no id is longer than any id is."""
    for chunk in column.chunks:
        strings = chunk.dictionary if isinstance(chunk, pa.DictionaryArray) else chunk
        if len(strings) and pc.max(pc.binary_length(strings)).as_py() > ID_LIMIT:
            return False
    return True


def _scores(column: pa.ChunkedArray) -> list[npt.NDArray[np.float64]] | None:
    """The pieces of the column, if all of them are finite."""
    pieces = [values_of(chunk) for chunk in column.chunks]
    return pieces if all(np.isfinite(piece).all() for piece in pieces) else None


def _grades(column: pa.ChunkedArray) -> list[npt.NDArray[np.int64]] | None:
    # as text first: Arrow reads 0x1F as a number
    if not pc.all(pc.match_substring_regex(column, GRADE_PATTERN)).as_py():
        return None
    try:
        whole = pc.replace_substring_regex(column, r"^\+", "").cast(pa.int64())
    except pa.ArrowInvalid:  # too many digits for any integer
        return None
    pieces = [values_of(chunk) for chunk in whole.chunks]
    inside = all(((piece >= -GRADE_LIMIT) & (piece < GRADE_LIMIT)).all() for piece in pieces)
    return pieces if inside else None
