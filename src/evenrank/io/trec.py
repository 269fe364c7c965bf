"""TREC files of runs and judgements: at once where a file is clean, else line by line.

The quick way answers None for any file that it is not sure of. The line-by-line way takes whatever the format
allows, with the same values, and lists what it does not.
"""

from __future__ import annotations

import codecs
import io
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from evenrank.arrays import values_of
from evenrank.data.lookup import repeated_pairs
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.ids import as_strings, offsets_of
from evenrank.io.cells import ID_LIMIT, BadValue, numbers_at_once, one_array, quoted
from evenrank.io.source import Content, Source
from evenrank.io.trec_fields import Layout, other_format

BY_INTENT = " (judgements by intent? read them with diversity=True, --qrels FILE:intents)"

_BLOCK = 1 << 20  # stays in the cache
_BLANK = 32
_LOW = re.compile(rb"[\x00-\x20]")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)")

Built = TypeVar("Built")


@dataclass(frozen=True)
class Columns:
    """Rows of any source, checked one by one; what needs several rows (duplicates) is not."""

    queries: Any  # an Arrow dictionary array
    documents: pa.LargeStringArray
    values: Any  # numbers, as numpy or Arrow has them
    intents: Any = None
    ranks: npt.NDArray[np.float64] | None = None
    contradicting: int = 0  # neighbouring rows of a query of which the lower rank has the larger score


def read_trec(source: Source, layout: Layout, build: Callable[[Columns], Built]) -> Built:
    """What ``build`` makes of the file. A file with any problem gives one error and nothing else."""
    content = source.content()
    if layout.is_run:
        content = content.without_description()
    columns = _at_once(content, layout)
    if columns is not None:
        try:
            return build(columns)
        except DataError:
            pass  # a duplicate: the careful way finds the line of its first occurrence
        del columns
    return build(_line_by_line(content, layout, source.name))


def contradictions(queries: npt.ArrayLike, ranks: npt.ArrayLike, scores: npt.ArrayLike) -> int:
    """How many neighbouring rows of a query stand by their scores in another order than by their ranks.

    >>> contradictions([0, 0, 0, 1], [1, 2, 3, 1], [0.5, 0.9, 0.1, 0.7])
    1
    """
    same = np.diff(np.asarray(queries)) == 0
    with np.errstate(invalid="ignore", over="ignore"):
        against = np.sign(np.diff(np.asarray(ranks))) * np.sign(np.diff(np.asarray(scores))) > 0
    return int((same & against).sum())


def _at_once(content: Content, layout: Layout) -> Columns | None:
    """The columns of a file with one separator, no blank lines and no comments; None for any other."""
    buffer = _lines_of_unix(content.buffer)
    first = _LOW.search(buffer.slice(0, min(buffer.size, _BLOCK)))
    if first is None or first.group() not in (b" ", b"\t"):
        return None
    types = {name: pa.large_string() for name in layout.fields if name in ("document", "intent")}
    types |= {"query": pa.dictionary(pa.int32(), pa.string())}
    types |= {"rank": pa.int32(), "score": pa.float64()} if layout.is_run else {"grade": pa.string()}
    table = _parsed(buffer, layout, first.group().decode(), types)
    if table is None or not _is_clean(buffer, table, len(layout.fields)):
        return None
    queries = table.column("query").unify_dictionaries().combine_chunks()
    documents = as_strings(table.column("document"))
    intents = as_strings(table.column("intent")) if layout.intent else None
    column = table.column(layout.value)
    values = values_of(column) if layout.is_run else numbers_at_once(one_array(column), text=True, whole=True)
    if values is None or not np.isfinite(values).all():
        return None
    ids = [as_strings(queries.dictionary), documents, *([] if intents is None else [intents])]
    if any(np.diff(offsets_of(strings)).max() > ID_LIMIT for strings in ids):
        return None
    if not layout.is_run:
        return Columns(queries, documents, values.astype(np.int64), intents)
    against = contradictions(values_of(queries.indices), values_of(table.column("rank")), values)
    return Columns(queries, documents, values, contradicting=against)


def _lines_of_unix(buffer: pa.Buffer) -> pa.Buffer:
    """Lines that all end with CR LF ended with LF instead, and without the blanks at the end of the file."""
    head = buffer.slice(0, min(buffer.size, _BLOCK)).to_pybytes().partition(b"\n")[0]
    if head.endswith(b"\r"):
        data = buffer.to_pybytes()
        if data.count(b"\r") == data.count(b"\n") == data.count(b"\r\n"):
            buffer = pa.py_buffer(data.replace(b"\r\n", b"\n"))
    tail = buffer.slice(max(0, buffer.size - _BLOCK)).to_pybytes()
    return buffer.slice(0, buffer.size - (len(tail) - len(tail.rstrip(b" \t\n"))))


def _parsed(
    buffer: pa.Buffer, layout: Layout, delimiter: str, types: Mapping[str, pa.DataType]
) -> pa.Table | None:
    if buffer.slice(0, min(buffer.size, 3)).to_pybytes() == codecs.BOM_UTF8:
        # that of the file is gone, so this one belongs to an id: Arrow passes over the first that it sees
        buffer = pa.py_buffer(codecs.BOM_UTF8 + buffer.to_pybytes())
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(buffer),
            read_options=pyarrow.csv.ReadOptions(column_names=list(layout.fields), block_size=4 * _BLOCK),
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


def _is_clean(buffer: pa.Buffer, table: pa.Table, fields: int) -> bool:
    """Whether the rows are what the line-by-line reader would have found.

    The parser saw ``fields`` fields in every row, cut at one separator. If no two bytes up to 32 stand
    together or at either end, no field is empty; and if there are no more of them than separators and
    newlines, every one is either. What is left are comments and bytes that are not UTF-8.
    """
    data = np.frombuffer(buffer, np.uint8)
    if data[0] <= _BLANK or data[-1] <= _BLANK:
        return False
    low_bytes, any_high = 0, False
    for begin in range(0, len(data), _BLOCK):
        block = data[begin : begin + _BLOCK + 1]  # one byte of the next, for pairs
        low = block <= _BLANK
        if (low[1:] & low[:-1]).any() or (block == ord("\r")).any():  # a return alone would end a line, too
            return False
        low_bytes += int(np.count_nonzero(low[:_BLOCK]))
        any_high = any_high or bool(block.max() >= 0x80)
    if low_bytes != fields * table.num_rows - 1:
        return False
    queries = table.column("query").chunks
    if any(pc.any(pc.starts_with(chunk.dictionary, "#")).as_py() for chunk in queries):
        return False
    return not any_high or _is_utf8(buffer)


def _is_utf8(buffer: pa.Buffer) -> bool:
    whole = pa.py_buffer(np.array([0, buffer.size], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, whole, buffer).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _line_by_line(content: Content, layout: Layout, name: str) -> Columns:
    """The columns of a file, or one error that lists its problems."""
    problems = list[Problem]()
    numbers, codes, values, ranks = array("q"), array("i"), array("d"), array("d")
    queries, documents, seconds = dict[bytes, int](), list[bytes](), list[bytes]()
    place, document = layout.fields.index(layout.value), layout.fields.index("document")
    is_run, width = layout.is_run, len(layout.fields)
    for number, line, flaw in numbered_lines(content):
        if len(problems) > PROBLEMS_SHOWN:
            break
        # of bytes: only ASCII blanks separate, U+00A0 does not
        fields = line.split(None, width - 1 if is_run else -1)
        if flaw is None and (not fields or fields[0].startswith(b"#")):
            continue
        odd = len(fields) != width or len(line) > ID_LIMIT
        odd = odd or (is_run and (b" " in fields[5] or not fields[3].isdigit()))
        misfit = flaw or (layout.misfit(fields) if odd else "")
        if misfit:
            other = "" if flaw or problems or numbers else other_format(line, fields, layout)
            if other:  # every line would be wrong in the same way
                raise DataError.listing(name, [Problem(number, other)])
            problems.append(Problem(number, misfit))
            continue
        if is_run:
            ranks.append(float(fields[3]))
        value = 0.0
        try:
            value = layout.parse(fields[place])
        except BadValue as error:
            problems.append(Problem(number, str(error)))
        numbers.append(number)
        codes.append(queries.setdefault(fields[0], len(queries)))
        documents.append(fields[document])
        values.append(value)
        if document == 2 and not is_run:
            seconds.append(fields[1])
    lists = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), _texts(queries).cast(pa.string()))
    columns = Columns(
        lists,
        _texts(documents),
        np.frombuffer(values).astype(np.float64 if layout.is_run else np.int64),
        _texts(seconds) if layout.intent else None,
    )
    flawed = {problem.line for problem in problems}
    repeated = _repeated(columns, layout, numbers, seconds)
    problems += [problem for problem in repeated if problem.line not in flawed]
    if problems:
        raise DataError.listing(name, sorted(problems))
    if not documents:
        empty = content.buffer.size + content.lines == 0
        raise layout.nothing(name, "the file is empty" if empty else "only comments and blank lines")
    return replace(columns, contradicting=contradictions(codes, ranks, columns.values)) if ranks else columns


def _texts(pieces: Iterable[bytes]) -> pa.LargeStringArray:
    return pa.array(pieces, pa.binary()).cast(pa.large_string())


def _repeated(
    columns: Columns, layout: Layout, numbers: Sequence[int], seconds: Sequence[bytes]
) -> list[Problem]:
    """Lines whose document stands in the same list already, with the line of the first."""
    lists = values_of(columns.queries.indices).astype(np.int64)
    if columns.intents is not None:
        lists = lists * len(lists) + values_of(columns.intents.dictionary_encode().indices)
    problems = []
    for first, row in repeated_pairs(lists, columns.documents, PROBLEMS_SHOWN + 1):
        document, query = quoted(columns.documents[row].as_py()), quoted(columns.queries[row].as_py())
        of_intent = f"intent {quoted(seconds[row])} of " if layout.intent else ""
        what = f"document {document} is judged twice for {of_intent}query {query}"
        if layout.is_run:
            what = f"document {document} is twice in query {query}"
        hint = BY_INTENT if seconds and seconds[row] != seconds[first] else ""
        problems.append(Problem(numbers[row], f"{what} (first on line {numbers[first]}){hint}"))
    return problems


def numbered_lines(content: Content) -> Iterator[tuple[int, bytes, str | None]]:
    """Each physical line with its number in the file, and what is wrong with its bytes, if anything is.

    Bytes and lines that stood before the content count in what is said.
    """
    at = content.skipped
    lines = io.BufferedReader(pa.BufferReader(content.buffer), _BLOCK)
    for number, line in enumerate(lines, content.lines + 1):
        yield number, line.removesuffix(b"\n"), _flaw(line, at)
        at += len(line)


def _flaw(line: bytes, at: int) -> str | None:
    control = _CONTROL.search(line)
    if control is not None:
        byte, at = line[control.start()], at + control.start()
        if byte == 0:
            return f"NUL byte at byte {at} of the file"
        if byte == 13:
            return f"carriage return inside the line, at byte {at} of the file: lines end with LF or CR LF"
        return f"control character 0x{byte:02X} at byte {at} of the file"
    try:
        if not line.isascii():
            line.decode()
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 at byte {at + error.start} of the file"
    return None
