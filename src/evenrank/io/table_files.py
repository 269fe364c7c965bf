"""Files with named columns: CSV and TSV with a header line, JSON lines, Parquet.

Arrow reads CSV and TSV. Where it cannot, and where a message needs the line of a row, the file is gone
through row by row: that lists the lines that are no rows.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from evenrank.errors import DataError, Problem, counted
from evenrank.files import read_utf8
from evenrank.io.cells import BadValue, describe_json_error, quoted
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Content, Source

TABLES = ("csv", "tsv", "jsonl", "parquet")
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_HEAD = 1 << 17  # bytes: no header line is longer, and so many stay in the cache
_BLOCK = 1 << 22


@dataclass(frozen=True)
class NamedTable:
    """The names of the columns, and a way to get one of them; where its rows stand, and what it is called."""

    names: list[str]
    column: Callable[[str], Any]
    text: bool = False  # all cells are text, numbers too
    report: RowProblems = field(default_factory=lambda: RowProblems("table"))
    metadata: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] | None = None  # its columns, where nobody named them: of a dictionary, of lines

    @property
    def name(self) -> str:
        return self.report.source


class Rows(NamedTuple):
    """The rows of a text, the line at which each begins, and the lines that are no rows."""

    header: list[str]
    cells: list[Any]
    lines: list[int]
    broken: list[Problem]


def open_table(source: Source, format: str, what: str, nothing: type[DataError] = DataError) -> NamedTable:
    """The table in a file; ``what`` is what an empty one has none of, ``nothing`` the class of that error."""
    if format == "parquet":
        return _parquet(source)
    content = source.content()
    if content.buffer.size == 0:
        raise nothing(f"{source.name}: no {what} (the file is empty)")
    if format != "jsonl":
        found = _by_arrow(content, source.name, format)
        if found is not None:
            return found
    text = decoded(content, source.name)
    if format == "jsonl":
        rows, none = json_rows(text), "only blank lines"
    else:
        rows = delimited_rows(text, _DELIMITERS[format], quotes=format == "csv")
        none = "no line but the header"
        _check_separator(rows.header, source.name, format)
    if not rows.lines and not rows.broken:
        raise nothing(f"{source.name}: no {what} ({none})")

    def column(name: str) -> list[Any]:
        if format == "jsonl":
            return [row.get(name) for row in rows.cells]
        place = rows.header.index(name)
        return [row[place] for row in rows.cells]

    report = RowProblems(source.name, lines=rows.lines, broken=rows.broken)
    return NamedTable(rows.header, column, text=format != "jsonl", report=report)


def read_named_rows(
    path: Path, *, columns: Sequence[str] = (), holds: str = ""
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a small table that a person wrote: the line at which each begins, and its cells by name.

    The ending of the file's name says how it is written. A table of cells must have these ``columns``; in
    JSON lines every object says itself what it has. Cells at the end of a row may be left out.
    """
    text, suffix = read_utf8(path, holds), path.suffix.lower()
    if suffix in (".jsonl", ".json", ".ndjson"):
        rows = json_rows(text)
    else:
        rows = delimited_rows(text, "\t" if suffix in (".tsv", ".tab") else ",", quotes=True, filled=True)
        for name in columns:
            if name not in rows.header:
                there = ", ".join(map(repr, rows.header)) or "none"
                raise DataError(
                    f"{path}:1: no column {name!r}; the file needs {', '.join(columns)}; its columns: {there}"
                )
        rows = rows._replace(cells=[dict(zip(rows.header, cells, strict=False)) for cells in rows.cells])
    if rows.broken:
        raise DataError.listing(str(path), rows.broken)
    yield from zip(rows.lines, rows.cells, strict=True)


def delimited_rows(
    text: str, delimiter: str, *, quotes: bool, filled: bool = False, strict: bool = True
) -> Rows:
    """A row may span lines where there are ``quotes``; blank ones are none. ``filled`` allows short ones,
    and without ``strict`` quotes are taken as Arrow takes them."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        strict=strict,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
    )
    found = Rows([], [], [], [])
    limit = csv.field_size_limit(1 << 30)  # a cell may be a text
    line = 1  # a row that spans lines is called by its first
    try:
        for row in reader:
            width = len(found.header)
            if not row or (len(row) == 1 and not row[0].strip()):
                pass
            elif not width:
                found.header.extend(cell.strip() for cell in row)
            elif len(row) == width or (filled and len(row) < width):
                found.cells.append(row + [""] * (width - len(row)))
                found.lines.append(line)
            else:
                many = counted(len(row), "column", "columns")
                hint = f": quote cells that hold {delimiter!r}" if quotes and len(row) > width else ""
                found.broken.append(Problem(line, f"{many}, but the header has {width}{hint}"))
            line = reader.line_num + 1
    except csv.Error as error:
        found.broken.append(Problem(line, f"not {'TSV' if delimiter == chr(9) else 'CSV'}: {error}"))
    finally:
        csv.field_size_limit(limit)
    return found


def decoded(content: Content, name: str) -> str:
    """The content as text; what is not UTF-8 is an error with its line."""
    data: bytes = content.buffer.to_pybytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        at = content.skipped + error.start
        raise DataError.listing(name, [Problem(line, f"invalid UTF-8 at byte {at} of the file")]) from error


def json_rows(text: str) -> Rows:
    """An object in each line that is not blank."""
    found = Rows([], [], [], [])
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
            if "\\u" in line:
                json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            found.broken.append(Problem(number, f"half of a surrogate pair: {quoted(line.strip())}"))
        except (ValueError, RecursionError) as error:
            found.broken.append(Problem(number, f"not JSON: {describe_json_error(error)}"))
        else:
            if isinstance(row, dict):
                found.cells.append(row)
                found.lines.append(number)
            else:
                found.broken.append(
                    Problem(number, f"expected an object {{...}}, got {quoted(line.strip())}")
                )
    found.header.extend(dict.fromkeys(key for row in found.cells for key in row))
    return found


def _refuse_constant(name: str) -> Any:
    raise BadValue(f"{name} is not a JSON number")


def _by_arrow(content: Content, name: str, format: str) -> NamedTable | None:
    """The cells of a file as text; None for one that is not as simple as that.

    CSV has quotes that may span lines; a quote in TSV is a character like any other."""
    data = content.buffer
    head, newline, _ = data.slice(0, min(data.size, _HEAD)).to_pybytes().partition(b"\n")
    rows = data.slice(len(head) + 1) if newline else data.slice(data.size)
    if not rows.size or b"\r" in head.removesuffix(b"\r"):
        return None
    blocks = (rows.slice(begin, min(_HEAD, rows.size - begin)) for begin in range(0, rows.size, _HEAD))
    quotes = format == "csv" and any(b'"' in block.to_pybytes() for block in blocks)
    try:
        header = delimited_rows(head.decode(), _DELIMITERS[format], quotes=format == "csv").header
        if len(header) < 2:  # a blank line, which is no row, would be one of a single empty cell
            return None
        names = [str(place) for place in range(len(header))]
        table = pyarrow.csv.read_csv(
            pa.BufferReader(rows),
            read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=_DELIMITERS[format],
                quote_char='"' if quotes else False,
                double_quote=quotes,
                newlines_in_values=quotes,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):  # other fields in some line, or not UTF-8
        return None
    if not table.num_rows:
        return None

    def lines() -> list[int]:
        text = decoded(content, name)
        return delimited_rows(text, _DELIMITERS[format], quotes=format == "csv", strict=False).lines

    report = RowProblems(name, lines=lines)
    return NamedTable(header, lambda column: table.column(header.index(column)), text=True, report=report)


def _check_separator(header: Sequence[str], name: str, format: str) -> None:
    """Raise where the only column is a header line with other separators."""
    own = _DELIMITERS[format]
    for other in set(",;\t|") - {own}:
        if len(header) == 1 and all(map(str.strip, header[0].split(other)[1:] or [""])):
            form = next((form for form, delimiter in _DELIMITERS.items() if delimiter == other), "")
            cure = f"say format={form!r} (in the project file too)" if form else f"put {own!r} in its place"
            what = (
                f"the header {quoted(header[0])} is separated by {other!r}, and {format.upper()} by {own!r}: "
            )
            raise DataError.listing(name, [Problem(1, what + cure)])


def _parquet(source: Source) -> NamedTable:
    """Column by column."""

    def unsound(error: Exception) -> DataError:
        return DataError(f"{source.name}: is not a sound Parquet file: {error}")

    def column(name: str) -> Any:
        try:
            return file.read(columns=[name]).column(0)
        except (pa.ArrowException, OSError) as error:
            raise unsound(error) from error

    try:
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(source.content().buffer))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # names of columns may be damaged too
        raise unsound(error) from error
    metadata = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (file.schema_arrow.metadata or {}).items()
        if key.startswith(b"evenrank")
    }
    return NamedTable(file.schema_arrow.names, column, report=RowProblems(source.name), metadata=metadata)
