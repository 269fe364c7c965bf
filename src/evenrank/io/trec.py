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
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from evenrank.arrays import values_of
from evenrank.errors import DataError, Problem, counted
from evenrank.ids import as_strings, offsets_of
from evenrank.io.cells import (
    ID_LIMIT,
    BadValue,
    is_number,
    is_whole,
    long_id,
    numbers_at_once,
    one_array,
    parse_grade,
    parse_score,
    quoted,
)
from evenrank.io.column_names import ACCEPTED
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Content, Source

BY_INTENT = " (judgements by intent? read them with diversity=True, --intents FILE)"
NO_BLANKS = "TREC files cannot hold such ids: replace the blank, or use a table (CSV, JSON lines, Parquet)"

_BLOCK = 1 << 20  # stays in the cache
_BLANK = 32
_LOW = re.compile(rb"[\x00-\x20]")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)")
_DESCRIPTION = re.compile(rb"(?:\s*<SYSDESC>.*?</SYSDESC>[ \t\r]*(?:\n|\Z))+", re.DOTALL)
_NTCIR_GRADE = re.compile(rb"L[0-9]+")

Built = TypeVar("Built")


@dataclass(frozen=True)
class Layout:
    """Which field of a line is what. The query is the first of every kind."""

    what: str  # what a file of this kind is full of
    fields: tuple[str, ...]
    parse: Callable[[bytes], float]  # the score or grade

    @property
    def is_run(self) -> bool:
        """Runs may begin with a description of the system, as NTCIR's do, and end with a tag of any words."""
        return "score" in self.fields

    @property
    def value(self) -> str:
        return "score" if self.is_run else "grade"

    @property
    def intent(self) -> bool:
        return "intent" in self.fields

    def fits(self, cells: Sequence[bytes]) -> bool:
        """Whether cells may be the fields of a line."""
        try:
            self.parse(cells[self.fields.index(self.value)].strip())
        except (BadValue, IndexError):
            return False
        return len(cells) == len(self.fields) and (not self.is_run or is_whole(cells[3].strip()))

    def nothing(self, name: str, why: str) -> DataError:
        return DataError(f"{name}: no {self.what} ({why})")

    def check_header(self, names: Sequence[str], source: str, format: str) -> None:
        """Refuse names of columns that are the fields of a line."""
        cells = [name.encode() for name in names]
        if self.fits(cells[0].split() if len(cells) == 1 else cells):
            cure = f"put one above it, as {','.join(self.fields)}"
            if format == "tsv" or len(cells) == 1:
                cure = "this is a line of a TREC file: say format='trec', in Python or in the project file"
            raise DataError(f"{source}:1: this line is no header: {cure}")

    def other_format(self, line: bytes, fields: Sequence[bytes]) -> str:
        """What to say of the first line where it is clearly one of a table; nothing where it is not."""
        cells = {cell.strip().decode(errors="replace") for cell in line.split(b"\t")}
        if self.fits(line.strip().split(b",")):
            return (
                f"this line has commas: call the file .csv, with the line {','.join(self.fields)} above all"
            )
        if line.lstrip().startswith(b"{"):
            format = "jsonl"
        elif line.count(b",") > 1 and len(fields) < 3:
            format = "csv"
        elif all(cells & {*ACCEPTED[role]} for role in ("query", "document")):
            format = "tsv"
        else:
            return ""
        return (
            f"this file is read as TREC ({' '.join(self.fields)}), but this line looks like "
            f"{format.upper()}: say format={format!r}, in Python or in the project file"
        )

    def misfit(self, fields: Sequence[bytes]) -> str:
        """What is wrong with the fields of a line, besides its score or grade."""
        count, wanted = len(fields), len(self.fields)
        if count != wanted:
            hint = ""
            if count == (4 if self.is_run else 6):
                hint = f" ({count} fields are {'judgements' if self.is_run else 'a run'}: are they swapped?)"
            elif count > wanted:
                hint = f" (does the document id hold a blank? {NO_BLANKS})"
            elif not self.is_run and _NTCIR_GRADE.fullmatch(fields[-1]):
                hint = " (judgements of NTCIR? read them with format='ntcir', in the project file too)"
            needed = f"{wanted}{' or more' if self.is_run else ''} are needed: {' '.join(self.fields)}"
            return f"{counted(count, 'field', 'fields')}, but {needed}{hint}"
        for name, field in zip(self.fields, fields, strict=True):
            if name in ("query", "document", "intent") and len(field) > ID_LIMIT:
                return long_id(name, field, len(field))
        if not self.is_run:
            return ""
        # after a document id with a blank, as ``doc 2``, its second half stands where the rank should, the
        # rank where the score should, and the tag begins with the score
        rank, score, tag = fields[3], fields[4], fields[5].split()
        if len(tag) > 1 and (not is_whole(rank) or (is_whole(score) and is_number(tag[0].decode()))):
            document = quoted(fields[2] + b" " + rank)
            return f"rank {quoted(rank)} may belong to the document id, {document}: {NO_BLANKS}"
        whole = is_whole(rank)
        return "" if whole else f"rank {quoted(rank)} is not a whole number: {' '.join(self.fields)}"


def _ntcir_grade(text: bytes) -> int:
    """A grade as NTCIR writes it, ``L2``, or without the L."""
    if not is_whole(text.removeprefix(b"L")):
        raise BadValue(f"grade {quoted(text)} is not one of L0, L1, L2, ..")
    return parse_grade(text.removeprefix(b"L"))


RUN = Layout("ranked documents", ("query", "Q0", "document", "rank", "score", "tag"), parse_score)
QRELS = Layout("judgements", ("query", "iteration", "document", "grade"), parse_grade)
NTCIR_QRELS = Layout("judgements", ("query", "document", "grade"), _ntcir_grade)
DIVERSITY = Layout("judgements", ("query", "intent", "document", "grade"), parse_grade)


@dataclass(frozen=True)
class Columns:
    """Rows of any source, checked one by one; what needs several rows (duplicates) is not."""

    queries: Any  # an Arrow dictionary array
    documents: pa.LargeStringArray
    values: Any  # numbers, as numpy or Arrow has them
    intents: Any = None
    ranks: npt.NDArray[np.float64] | None = None
    contradicting: int = 0  # neighbouring rows of a query of which the lower rank has the larger score
    source: str | None = None  # the file
    name: str | None = None  # what its name, or the object itself, calls it
    ties: str | None = None  # what the file says of equal scores


def read_trec(source: Source, layout: Layout, build: Callable[[Columns], Built]) -> Built:
    """What ``build`` makes of the file. A file with any problem gives one error and nothing else."""
    content = source.content()
    described = None
    if layout.is_run:  # NTCIR's runs begin with <SYSDESC>..</SYSDESC>
        described = _DESCRIPTION.match(content.buffer.slice(0, min(content.buffer.size, _BLOCK)).to_pybytes())
    begin = 0 if described is None else described.end()
    columns = _at_once(content.buffer.slice(begin), layout)
    if columns is not None:
        try:
            return build(columns)
        except DataError:
            pass  # a duplicate: the careful way finds the line of its first occurrence
        del columns
    columns, report = _line_by_line(content, begin, layout, source.name)
    try:
        built = build(columns)
    except DataError as error:
        raise report.relocated(error) from None
    report.check()
    return built


def contradictions(queries: npt.ArrayLike, ranks: npt.ArrayLike, scores: npt.ArrayLike) -> int:
    """How many neighbouring rows of a query stand by their scores in another order than by their ranks.

    >>> contradictions([0, 0, 0, 1], [1, 2, 3, 1], [0.5, 0.9, 0.1, 0.7])
    1
    """
    same = np.diff(np.asarray(queries)) == 0
    with np.errstate(invalid="ignore", over="ignore"):
        against = np.sign(np.diff(np.asarray(ranks))) * np.sign(np.diff(np.asarray(scores))) > 0
    return int((same & against).sum())


def _at_once(buffer: pa.Buffer, layout: Layout) -> Columns | None:
    """The columns of a file with one separator, no blank lines and no comments; None for any other."""
    buffer = _lines_of_unix(buffer)
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


def _line_by_line(content: Content, begin: int, layout: Layout, name: str) -> tuple[Columns, RowProblems]:
    """The columns of a file, and what is wrong with its lines."""
    broken = list[Problem]()
    numbers, codes, values, ranks = array("q"), array("i"), array("d"), array("d")
    queries, documents, intents, iterations = dict[bytes, int](), list[bytes](), list[bytes](), set[bytes]()
    report = RowProblems(name, lines=numbers, broken=broken)
    place, document = layout.fields.index(layout.value), layout.fields.index("document")
    is_run, width = layout.is_run, len(layout.fields)
    for number, line, flaw in numbered_lines(content, begin):
        if report.full:
            break
        # of bytes: only ASCII blanks separate, U+00A0 does not
        fields = line.split(None, width - 1 if is_run else -1)
        if flaw is None and (not fields or fields[0].startswith(b"#")):
            continue
        odd = len(fields) != width or len(line) > ID_LIMIT
        odd = odd or (is_run and (b" " in fields[5] or not fields[3].isdigit()))
        misfit = flaw or (layout.misfit(fields) if odd else "")
        if misfit:
            other = "" if flaw or broken or numbers else layout.other_format(line, fields)
            broken.append(Problem(number, other or misfit))
            if other:  # every line would be wrong in the same way
                break
            continue
        value = 0.0
        try:
            value = layout.parse(fields[place])
        except BadValue as error:
            report.add(len(numbers), str(error))
        numbers.append(number)
        codes.append(queries.setdefault(fields[0], len(queries)))
        documents.append(fields[document])
        values.append(value)
        if is_run:
            ranks.append(float(fields[3]))
        elif layout.intent:
            intents.append(fields[1])
        else:
            iterations.add(fields[1])
    if not documents:
        report.check()
        raise layout.nothing(name, "there is no line but comments and blank ones")
    report.hint = BY_INTENT if len(iterations) > 1 and layout is QRELS else ""
    lists = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), _texts(queries).cast(pa.string()))
    numbered = np.frombuffer(values).astype(np.float64 if is_run else np.int64)
    against = contradictions(codes, ranks, numbered) if is_run and not report.found else 0
    intent = _texts(intents) if layout.intent else None
    return Columns(lists, _texts(documents), numbered, intent, contradicting=against), report


def _texts(pieces: Iterable[bytes]) -> pa.LargeStringArray:
    return pa.array(pieces, pa.binary()).cast(pa.large_string())


def numbered_lines(content: Content, begin: int = 0) -> Iterator[tuple[int, bytes, str | None]]:
    """Each physical line from a byte on with its number in the file, and what is wrong with its bytes, if
    anything is."""
    at = content.skipped + begin
    lines = io.BufferedReader(pa.BufferReader(content.buffer.slice(begin)), _BLOCK)
    for number, line in enumerate(lines, 1 + content.buffer.slice(0, begin).to_pybytes().count(b"\n")):
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
