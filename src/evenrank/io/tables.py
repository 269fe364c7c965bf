"""Files with named columns, in whatever format, as the columns that runs and judgements are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from evenrank.errors import DataError
from evenrank.io.frames import frame_columns
from evenrank.io.layout import Columns, Layout
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
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
    table = open_table(source, format, layout.nothing)
    advice = _SHELL
    if table_formats()[format].has_header:
        advice += _NO_HEADER
    found = frame_columns(table.frame, layout, columns, source.name, report=table.report, advice=advice)
    return TableFile(found, table.report, table.metadata)


def open_table(source: Source, format: str, nothing: Callable[[str, str], DataError]) -> OpenTable:
    """The table in a file; ``nothing`` is the error for one that is empty, of its name and the reason."""
    return table_formats()[format].open(source, nothing)
