"""CSV, and TSV under a header. Only commas come with quotes, and quoted text may span lines."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv

from evenrank.errors import DataError, EvenrankWarning, Problem, counted
from evenrank.io.column_names import resolve_documents
from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.lines import READ, check_unicode, line_blocks
from evenrank.io.reading import Documents, Reading, documents_of_columns
from evenrank.io.row_problems import RowProblems

_LARGEST = (1 << 31) - 1  # bytes that Arrow takes at a time

# a field in quotes, where two stand for one; a quote elsewhere is a character like any other
_OPENED = re.compile(rb'"(?<![^,\n]")')
_QUOTED = re.compile(_OPENED.pattern + rb'[^"]*+(?:""[^"]*+)*+"')


@declare_documents("csv")
def read_csv(reading: Reading) -> Iterator[Documents | DataError]:
    yield from read_delimited(reading, ",")


def read_delimited(reading: Reading, delimiter: str) -> Iterator[Documents]:
    """Arrow is given whole rows that are in memory: threads of its own that read through Python would abort
    the process when it ends before the table does."""
    quoting = delimiter == ","
    header: list[str] = []
    chosen: dict[str, str] = {}
    row = 0
    for data in _whole_rows(reading) if quoting else _blocks(reading):
        first = not header
        if first:
            header = next(csv.reader(io.StringIO(data.decode(), newline=""), **_dialect(delimiter)), [])
            chosen = resolve_documents(header, reading.columns, reading.name)
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
            raise _malformed(reading, delimiter, row, error) from error
        report = RowProblems(reading.name, called="document", first=row)
        yield documents_of_columns(table.column, chosen, report, reading.taken())
        row += len(table)


def _dialect(delimiter: str) -> dict[str, Any]:
    return {"delimiter": delimiter, "quoting": csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE}


def _blocks(reading: Reading) -> Iterator[bytes]:
    for block in line_blocks(reading, READ):
        check_unicode(block)
        yield block.data.tobytes()


def _whole_rows(reading: Reading) -> Iterator[bytes]:
    """The blocks of a CSV file, each cut after its last row that is whole."""
    held = b""
    wanted = 0  # bytes: a row that is longer than a block is not sought again at each of them
    for block in _blocks(reading):
        held += block
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


def _malformed(reading: Reading, delimiter: str, row: int, error: pa.ArrowInvalid) -> DataError:
    """Arrow does not say on which line it stopped, so a file is read again, row by row, to find it."""
    path = reading.source.path
    if path is not None and path.is_file():
        problem = _first_bad_line(Reading(reading.source), delimiter)
        if problem is not None:
            return DataError.listing(reading.name, [problem])
    return DataError(f"{reading.name}: after document {row}: {error}")


def _first_bad_line(reading: Reading, delimiter: str) -> Problem | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenrankWarning)  # of the byte order mark: it was given before
        text = (line for data in _blocks(reading) for line in io.StringIO(data.decode(), newline="\n"))
        reader = csv.reader(text, strict=delimiter == ",", **_dialect(delimiter))
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
