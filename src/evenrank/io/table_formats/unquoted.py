"""The columnar way through a CSV or TSV file that is plain: no quotes but in the header, the same
fields in every line.

It answers None for any file that it is not sure of; the row-by-row reader then decides. What it accepts, the
other one accepts too, with the same cells.
"""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from evenrank.io.frames import Frame

_CELL_LIMIT = 131_072  # bytes: the csv module refuses a longer cell
_PARSE_BLOCK = 1 << 22
_SCAN_BLOCK = 1 << 20  # stays in the cache
_NEWLINE = ord("\n")


def unquoted_table(data: pa.Buffer, format: str) -> Frame | None:
    """The columns of a plain file by name, as text, or None."""
    head, newline, _ = data.slice(0, min(data.size, _CELL_LIMIT)).to_pybytes().partition(b"\n")
    rest = data.slice(len(head) + 1) if newline else data.slice(data.size)
    if not rest.size or b"\r" in head or not _is_plain(rest, b"\r" if format == "tsv" else b'\r"'):
        return None
    delimiter = "\t" if format == "tsv" else ","
    try:
        names = _header(head.decode(), delimiter)
        if len(names) < 2:  # a blank line, which is no row, would be one of a single empty cell
            return None
        table = _read(rest, [str(place) for place in range(len(names))], delimiter)
    except (pa.ArrowInvalid, UnicodeDecodeError, csv.Error):  # other fields in some line, or not UTF-8
        return None
    if any(_longest(column) > _CELL_LIMIT for column in table.columns):
        return None
    return Frame(names, lambda name: table.column(names.index(name)), text=True)


def _header(line: str, delimiter: str) -> list[str]:
    """The names of the columns, which many programs write in quotes, also where nothing else is."""
    if delimiter == "\t":  # a quote in TSV is a character like any other
        return [cell.strip() for cell in line.split(delimiter)]
    cells: list[str] = next(csv.reader([line], strict=True), [])
    return [cell.strip() for cell in cells]


def _is_plain(rows: pa.Buffer, forbidden: bytes) -> bool:
    """Whether no line is blank, which is no row, and no character is forbidden."""
    raw = np.frombuffer(rows, np.uint8)
    for begin in range(0, len(raw), _SCAN_BLOCK):
        block = raw[max(0, begin - 1) : begin + _SCAN_BLOCK]  # one byte of the last, for pairs
        ends = block == _NEWLINE
        if (ends[1:] & ends[:-1]).any() or any((block == character).any() for character in forbidden):
            return False
    return bool(raw[0] != _NEWLINE)


def _read(content: pa.Buffer, names: list[str], delimiter: str) -> pa.Table:
    return pyarrow.csv.read_csv(
        pa.BufferReader(content),
        read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=_PARSE_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=delimiter,
            quote_char=False,
            double_quote=False,
            escape_char=False,
            newlines_in_values=False,
            ignore_empty_lines=False,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()), null_values=[], strings_can_be_null=False
        ),
    )


def _longest(column: pa.ChunkedArray) -> int:
    return pc.max(pc.binary_length(column)).as_py() or 0
