"""Files with named columns, in whatever format, as the columns that runs and judgements are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from evenrank.errors import DataError
from evenrank.io.frames import Frame, as_frame, frame_columns
from evenrank.io.layout import Columns, Layout
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source, guess_format
from evenrank.io.table_formats import table_formats
from evenrank.io.table_formats.declared import OpenTable

_SHELL = " (in the shell: --columns ROLE=NAME)"
_NO_HEADER = "; if the file has no header line and TREC's fields, pass format='trec' (FILE:format=trec)"


class TableFile(NamedTuple):
    """The columns of a file, where its rows stand, and what its metadata says."""

    columns: Columns
    report: RowProblems
    metadata: dict[str, str]


def read(source: Source, layout: Layout, format: str, columns: Mapping[str, str] | None) -> TableFile:
    table = table_formats()[format].open(source, layout.nothing)
    advice = _SHELL
    if table_formats()[format].has_header:
        advice += _NO_HEADER
    try:
        found = frame_columns(table.frame, layout, columns, source.name, report=table.report, advice=advice)
    except DataError as error:
        raise _with_lines(error, table, source.name) from error
    if table.problems:
        raise DataError.listing(source.name, table.problems)
    return TableFile(found, table.report, table.metadata)


def _with_lines(error: DataError, table: OpenTable, name: str) -> DataError:
    """The same error with the lines that are no rows: what is wrong with one must not hide the other."""
    if not table.problems:
        return error
    lines = DataError.listing(name, sorted([*table.problems, *error.problems]), more=error.more)
    if error.problems or not table.report.lines:
        return lines
    return DataError(f"{lines}\n{error}")


class NamedTable(NamedTuple):
    """A table from a file or from memory, with what it is called in messages."""

    frame: Frame
    report: RowProblems
    metadata: dict[str, str]
    name: str


def any_table(
    source: object, what: str, name: str, *, format: str | None = None, usual: str = "csv"
) -> NamedTable | None:
    """The table in a file or in memory; None for anything else. ``what`` is what an empty file has none of,
    ``usual`` the format of a file whose suffix does not tell it."""
    file = as_source(source)
    if file is None:
        frame = as_frame(source)
        return None if frame is None else NamedTable(frame, RowProblems(name), {}, name)
    file.check()
    chosen = format or guess_format(file.path or file.name) or usual
    table = open_table(file, chosen, lambda name, why: DataError(f"{name}: no {what} ({why})"))
    return NamedTable(table.frame, table.report, table.metadata, file.name)


def open_table(source: Source, format: str, nothing: Callable[[str, str], DataError]) -> OpenTable:
    """The table in a file; ``nothing`` is the error for one that is empty, of its name and the reason."""
    table = table_formats()[format].open(source, nothing)
    if table.problems:
        raise DataError.listing(source.name, table.problems)
    return table
