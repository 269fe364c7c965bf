"""Documents out of text files, a block of lines at a time."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json

from evenrank.arrays import integers
from evenrank.errors import PROBLEMS_SHOWN, DataError, EvenrankWarning, Problem, counted
from evenrank.io.cells import checked_ids, describe_json_error, id_cells, quoted, text_cells
from evenrank.io.column_names import resolve_documents
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, warn_of_bom

_BLOCK = 1 << 22
_LARGEST = (1 << 31) - 1  # bytes that Arrow takes at a time
_TAB, _NEWLINE, _RETURN = 9, 10, 13
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON may escape half of a pair


class LineBlock(NamedTuple):
    """Whole lines, each ended by a newline, and where the first of them stands."""

    data: bytes
    line: int
    offset: int


def line_blocks(source: Source, size: int = _BLOCK, *, checked: bool = True) -> Iterator[LineBlock]:
    """The lines of a source in blocks that are valid UTF-8, unless they are not to be ``checked``. A line
    longer than a block makes it grow."""
    pieces: list[bytes] = []
    line, offset, at_start = 1, 0, True
    for piece in _with_end(source.blocks(size)):
        end = piece.rfind(b"\n") + 1
        pieces.append(piece[:end] if end else piece)
        if not end:
            continue
        data = b"".join(pieces)
        pieces = [piece[end:]]
        if at_start and data.startswith(codecs.BOM_UTF8):
            warn_of_bom(source.name)
            data, offset = data[3:], 3
        at_start = False
        block = LineBlock(data, line, offset)
        if checked:
            _check_unicode(block, source.name)
        yield block
        line += data.count(b"\n")
        offset += len(data)


def _with_end(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, with a newline after the last line if it has none."""
    last = b"\n"
    for piece in pieces:
        last = piece[-1:]
        yield piece
    if last != b"\n":
        yield b"\n"


def _check_unicode(block: LineBlock, name: str) -> None:
    """Raise an error that lists every line that is not UTF-8, up to twenty."""
    data, line, begin = block.data, block.line, 0
    problems: list[Problem] = []
    while begin < len(data) and len(problems) <= PROBLEMS_SHOWN:
        rest = data[begin:]
        if rest.isascii():
            break
        try:
            rest.decode("utf-8")
            break
        except UnicodeDecodeError as error:
            place = begin + error.start
        line += data.count(b"\n", begin, place)
        problems.append(unsound_line(line, block.offset + place))
        begin = place if (end := data.find(b"\n", place)) < 0 else end  # of each line the first bad byte
    if problems:
        raise DataError.listing(name, problems)


def unsound_line(line: int, place: int) -> Problem:
    return Problem(line, f"invalid UTF-8 at byte {place} of the file")


def tsv_tables(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    """``id``, a tab, the text, which is the rest of the line. With ``columns``, fields under a header."""
    if columns is not None:
        yield from _delimited_tables(source, columns, "\t")
        return
    for block in line_blocks(source, checked=False):
        table = _split_lines(block, source.name)
        if len(table):
            yield table


def _split_lines(block: LineBlock, name: str) -> pa.Table:
    """Ids and texts of all lines at once.

    The block is seen as strings that alternate: id, tab, text, end of line. Arrow needs only where each
    begins, so nothing is copied until the ids and the texts are taken apart.
    """
    data = np.frombuffer(block.data, np.uint8)
    newlines = np.flatnonzero(data == _NEWLINE)
    starts = np.concatenate([[0], newlines[:-1] + 1])
    returns = (newlines > starts) & (data[newlines - 1] == _RETURN)
    ends = newlines - returns
    tabs = np.append(np.flatnonzero(data == _TAB), len(data))
    first_tabs = tabs[np.searchsorted(tabs, starts)]
    filled = ends > starts
    if np.any(filled & ((first_tabs >= ends) | (first_tabs == starts))) or not _is_unicode(block.data):
        raise DataError.listing(name, bad_tsv_lines(block))
    kept = np.flatnonzero(filled)
    edges = np.empty((len(kept), 4), dtype=np.int64)  # (lines, id | tab | text | end of line)
    edges[:, 0], edges[:, 1], edges[:, 2], edges[:, 3] = (
        starts[kept],
        first_tabs[kept],
        first_tabs[kept] + 1,
        ends[kept],
    )
    offsets = np.append(edges.ravel(), len(data))
    strings = pa.LargeStringArray.from_buffers(4 * len(kept), pa.py_buffer(offsets), pa.py_buffer(block.data))
    rows = np.arange(len(kept)) * 4
    ids = strings.take(integers(rows))
    report = RowProblems(name, lines=(block.line + kept).tolist())
    checked_ids(ids, "id", report)
    report.check()
    return pa.table({"id": ids, "text": strings.take(integers(rows + 2))})


def _is_unicode(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def bad_tsv_lines(block: LineBlock) -> list[Problem]:
    """All that is wrong with the lines of a block: no tab, no id, not UTF-8."""
    problems: list[Problem] = []
    place = block.offset
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        raw = line.removesuffix(b"\r")
        tab = raw.find(b"\t")
        try:
            raw.decode()
            if raw and tab <= 0:
                no_tab = "no tab: a line is an id, a tab and the text"
                problems.append(Problem(number, no_tab if tab < 0 else "the id is empty"))
        except UnicodeDecodeError as error:
            role = "id" if error.start < tab else "text"
            what = f"invalid UTF-8 in the {role} at byte {place + error.start} of the file"
            problems.append(Problem(number, what))
        if len(problems) > PROBLEMS_SHOWN:
            break
        place += len(line) + 1
    return problems


def json_tables(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    """One object a line. Which keys are id and text is decided by the first object."""
    reader: JsonReader | None = None
    for block in line_blocks(source, checked=False):
        if reader is None:
            objects = json_objects(block)
            if objects.rows:
                reader = JsonReader(objects.rows[0], columns, source.name)
            table = table_of_objects(objects, reader.chosen if reader else {}, source.name)
        else:
            table = reader.parsed(block.data) or reader.careful(block)
        if len(table):
            yield table


class JsonReader:
    """Blocks of objects by way of Arrow; where it stumbles, Python's own reader has the last word."""

    def __init__(self, first: Mapping[str, Any], columns: Mapping[str, str] | None, name: str) -> None:
        """``first`` is the first object, which says what the keys are."""
        self.name = name
        self.chosen = resolve_documents(list(first), columns, name)
        if "text" not in (columns or {}):
            self.chosen.setdefault("title", "title")  # it may be left out where it is empty
        types = {key: pa.string() for key in self.chosen.values()}
        if isinstance(first[self.chosen["id"]], int):
            types[self.chosen["id"]] = pa.int64()
        # types are given, or Arrow takes an id such as 2020-01-01 for a date
        self._options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )

    def parsed(self, lines: bytes) -> pa.Table | None:
        """What Arrow reads; None if anything about it is unusual."""
        try:
            table = pa.json.read_json(
                pa.BufferReader(lines),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
                parse_options=self._options,
            )
            if len(table) != lines.count(b"\n") + (not lines.endswith(b"\n")):
                return None  # blank lines, or an object over several lines: Arrow takes that, we do not
            report, title = RowProblems(self.name), self.chosen.get("title")
            ids = id_cells(table.column(self.chosen["id"]), "id", report)
            titles = None if title is None else text_cells(table.column(title).fill_null(""), "title", report)
            texts = text_cells(table.column(self.chosen["text"]), "text", report, titles=titles)
            report.check()
            found = pa.table({"id": ids, "text": texts})
            found.validate(full=True)
            return found
        except (pa.ArrowException, DataError):
            return None

    def careful(self, block: LineBlock) -> pa.Table:
        return table_of_objects(json_objects(block), self.chosen, self.name)


class JsonObjects(NamedTuple):
    """The objects of a block, the line of each, and what is wrong with the lines that hold none."""

    rows: list[dict[str, Any]]
    lines: list[int]
    problems: list[Problem]


def table_of_objects(objects: JsonObjects, chosen: Mapping[str, str], name: str) -> pa.Table:
    """Ids and texts of objects. The error lists the lines that hold none among the others."""
    rows, lines, problems = objects
    report = RowProblems(name, lines=[*lines, *(problem.line for problem in problems)])
    for row, problem in enumerate(problems, len(rows)):
        report.add(row, problem.what)
    if not rows:
        report.check()
        return pa.table({"id": pa.array([], pa.large_string()), "text": pa.array([], pa.large_string())})
    for role, key in chosen.items():
        for place, own in enumerate(rows):
            if isinstance(own.get(key), str) and _SURROGATE.search(own[key]):
                report.add(place, f"{role} holds half of a surrogate pair, which no file can hold")
                own[key] = "?"  # so that the others are looked at
    ids = id_cells([row.get(chosen["id"]) for row in rows], "id", report)
    titles = None
    if "title" in chosen:
        titles = text_cells([row.get(chosen["title"]) or "" for row in rows], "title", report)
    texts = text_cells([row.get(chosen["text"]) for row in rows], "text", report, titles=titles)
    report.check()
    return pa.table({"id": ids, "text": texts})


def json_objects(block: LineBlock) -> JsonObjects:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    place = block.offset
    for number, line in enumerate(block.data.split(b"\n"), block.line):
        if line.strip(b" \t\r"):
            try:
                row = json.loads(line.decode())
                if isinstance(row, dict):
                    rows.append(row)
                    lines.append(number)
                else:
                    what = f"expected an object {{...}}, got {quoted(line.strip())}"
                    problems.append(Problem(number, what))
            except UnicodeDecodeError as error:
                problems.append(unsound_line(number, place + error.start))
            except (ValueError, RecursionError) as error:
                problems.append(Problem(number, f"not JSON: {describe_json_error(error)}"))
        place += len(line) + 1
    return JsonObjects(rows, lines, problems)


def csv_tables(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    yield from _delimited_tables(source, columns, ",")


def _delimited_tables(
    source: Source, columns: Mapping[str, str] | None, delimiter: str
) -> Iterator[pa.Table]:
    """Fields under a header line. Only commas come with quotes, and quoted text may span lines.

    Arrow is given whole rows that are in memory: threads of its own that read through Python would abort
    the process when it ends before the table does.
    """
    quoting = delimiter == ","
    header: list[str] = []
    chosen: dict[str, str] = {}
    row = 0
    for data in _whole_rows(source) if quoting else (block.data for block in line_blocks(source)):
        first = not header
        if first:
            header = next(_rows_of(data, delimiter), [])
            chosen = resolve_documents(header, columns, source.name)
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(data),
                read_options=pa.csv.ReadOptions(
                    column_names=header,
                    skip_rows_after_names=int(first),
                    block_size=min(len(data) + 1, _LARGEST),
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=delimiter, quote_char='"' if quoting else False, newlines_in_values=quoting
                ),
                convert_options=pa.csv.ConvertOptions(
                    include_columns=list(dict.fromkeys(chosen.values())),
                    column_types={name: pa.large_string() for name in chosen.values()},
                    null_values=[],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise _malformed(source, delimiter, row, error) from error
        report = RowProblems(source.name, place=lambda at, begin=row: f"document {begin + at + 1}")  # type: ignore[misc]
        ids = id_cells(table.column(chosen["id"]), "id", report)
        titles = text_cells(table.column(chosen["title"]), "title", report) if "title" in chosen else None
        texts = text_cells(table.column(chosen["text"]), "text", report, titles=titles)
        report.check()
        row += len(table)
        if len(table):
            yield pa.table({"id": ids, "text": texts})


# a field in quotes, where two stand for one; a quote elsewhere is a character like any other
_OPENED = re.compile(rb'"(?<![^,\n]")')
_QUOTED = re.compile(_OPENED.pattern + rb'[^"]*+(?:""[^"]*+)*+"')


def _whole_rows(source: Source) -> Iterator[bytes]:
    """The blocks of a CSV file, each cut after its last row that is whole."""
    held = b""
    wanted = 0  # bytes: a row that is longer than a block is not sought again at each of them
    for block in line_blocks(source):
        held += block.data
        if len(held) < wanted:
            continue
        plain = _QUOTED.sub(lambda field: b" " * len(field[0]), held)
        opened = _OPENED.search(plain)
        end = plain.rfind(b"\n", 0, opened.start() if opened else None) + 1
        if end:
            yield held[:end]
        held = held[end:]
        wanted = 2 * len(held)
    if held:
        yield held


def _malformed(source: Source, delimiter: str, row: int, error: pa.ArrowInvalid) -> DataError:
    """Arrow does not say on which line it stopped, so a file is read again, row by row, to find it."""
    if source.path is not None and source.path.is_file():
        problem = _first_bad_line(source, delimiter)
        if problem is not None:
            return DataError.listing(source.name, [problem])
    return DataError(f"{source.name}: after document {row}: {error}")


def _first_bad_line(source: Source, delimiter: str) -> Problem | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenrankWarning)  # of the byte order mark: it was given before
        text = (line + "\n" for block in line_blocks(source) for line in block.data.decode().split("\n")[:-1])
        dialect: dict[str, Any] = {"strict": True} if delimiter == "," else {"quoting": csv.QUOTE_NONE}
        reader = csv.reader(text, delimiter=delimiter, **dialect)
        limit = csv.field_size_limit(1 << 30)  # a document may be longer than the usual limit
        start, width = 1, 0  # a row that spans lines is called by its first
        try:
            for cells in reader:
                width = width or len(cells)
                if cells and len(cells) != width:
                    return Problem(
                        start, f"{counted(len(cells), 'column', 'columns')}, but the header has {width}"
                    )
                start = reader.line_num + 1
        except csv.Error as error:
            return Problem(start, f"not {'CSV' if delimiter == ',' else 'TSV'}: {error}")
        finally:
            csv.field_size_limit(limit)
    return None


def _rows_of(data: bytes, delimiter: str) -> Iterator[list[str]]:
    text = io.StringIO(data.decode(), newline="")
    if delimiter == ",":
        yield from csv.reader(text)
    else:
        yield from csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE)
