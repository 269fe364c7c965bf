"""The tables of a folder or a pattern as one table, so that documents in many files have groups too."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.errors import DataError, DataErrors, ParameterError
from evenrank.io.cells import one_array
from evenrank.io.column_names import ACCEPTED
from evenrank.io.document_formats import document_format_names
from evenrank.io.remote import is_remote
from evenrank.io.row_problems import RowProblems
from evenrank.io.shards import Shard, is_many, list_shards
from evenrank.io.source import as_source, as_text, format_names
from evenrank.io.table_files import NamedTable, open_table

_TEXTS = {*ACCEPTED["text"], *ACCEPTED["title"]}


class _NoRowsError(DataError):
    """A file that is sound, and has no rows."""


class _Part(NamedTuple):
    """A file, and those of its columns that are held while the others are read."""

    table: NamedTable
    columns: dict[str, Any]
    rows: int


def is_several_tables(source: object, format: str | None) -> bool:
    """Whether a source is a folder or a pattern of tables, all of which are to be read."""
    if format not in (None, *document_format_names()) or not is_many(source):
        return False
    name = os.fspath(source)  # type: ignore[call-overload]
    in_store = is_remote(name) and not name.endswith("/") and not set("*?[").intersection(name)
    return not (in_store and PurePosixPath(name).suffix)  # one file in a format of groups


def table_of_folder(source: Any, format: str | None, needed: Collection[str | None]) -> NamedTable:
    """The rows of all files, in the order of the files; of the texts only those that are ``needed``."""
    parts, wrong = list[_Part](), DataErrors()
    for shard in list_shards(source, format):
        try:
            table = _opened(shard)
            table.report.check()
            kept = [name for name in table.names if name in needed or name not in _TEXTS]
            columns = {name: one_array(table.column(name)) for name in kept or table.names[:1]}
            parts.append(_Part(table, columns, len(next(iter(columns.values())))))
        except _NoRowsError:
            continue  # a collection may have files without documents
        except DataError as error:
            wrong.add(error)
    wrong.check()
    name = as_text(os.fspath(source))
    if not parts:
        raise DataError(f"{name}: no groups (no file has rows)")
    ends = np.cumsum([part.rows for part in parts])

    def at(row: int) -> str:
        file = int(np.searchsorted(ends, row, side="right"))
        report = parts[file].table.report
        return f"{report.source}:{report.line(row - int(ends[file]) + parts[file].rows)}"

    return NamedTable(
        list(dict.fromkeys(column for part in parts for column in part.table.names)),
        lambda column: _joined([part.columns.get(column, [None] * part.rows) for part in parts]),
        parts[0].table.text,
        RowProblems(name, at=at),
    )


def _opened(shard: Shard) -> NamedTable:
    source = as_source(shard.address)
    if source is None or shard.format not in format_names():
        raise ParameterError(
            f"{as_text(shard.address)}: a {shard.format} file has no fields that may be groups: give the "
            "groups a file of their own, --groups NAME=FILE"
        )
    return open_table(source, shard.format, "groups", _NoRowsError)


def _joined(parts: Sequence[Any]) -> Any:
    types = {part.type if isinstance(part, pa.Array) else None for part in parts}
    if len(types) == 1 and None not in types:
        return pa.concat_arrays(parts)
    return [cell for part in parts for cell in (part.to_pylist() if isinstance(part, pa.Array) else part)]
