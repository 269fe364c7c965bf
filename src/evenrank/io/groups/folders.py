"""The tables of a folder or a pattern as one table, so that documents in many files have groups too."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.errors import DataError, DataErrors, ParameterError
from evenrank.io.cells import listed_cells, one_array
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


def is_several_tables(source: object, format: str | None) -> bool:
    """Whether a source is a folder or a pattern of tables, all of which are to be read."""
    if format not in (None, *document_format_names()) or not is_many(source):
        return False
    name = os.fspath(source)  # type: ignore[call-overload]
    in_store = is_remote(name) and not name.endswith("/") and not set("*?[").intersection(name)
    return not (in_store and PurePosixPath(name).suffix)  # one file in a format of groups


def table_of_folder(source: Any, format: str | None, needed: Collection[str | None]) -> NamedTable:
    """The rows of all files, in the order of the files; of the texts only those that are ``needed``."""
    tables, parts, wrong = list[NamedTable](), list[dict[str, Any]](), DataErrors()
    for shard in list_shards(source, format):
        try:
            table = _opened(shard)
            table.report.check()
            kept = [name for name in table.names if name in needed or name not in _TEXTS]
            parts.append({name: one_array(table.column(name)) for name in kept or table.names[:1]})
            tables.append(table)
        except _NoRowsError:
            continue  # a collection may have files without documents
        except DataError as error:
            wrong.add(error)
    wrong.check()
    name = as_text(os.fspath(source))
    if not parts:
        raise DataError(f"{name}: no groups (no file has rows)")
    sizes = [len(next(iter(part.values()))) for part in parts]
    ends = np.cumsum(sizes)

    def at(row: int) -> str:
        file = int(np.searchsorted(ends, row, side="right"))
        report = tables[file].report
        return f"{report.source}:{report.line(row - int(ends[file]) + sizes[file])}"

    return NamedTable(
        list(dict.fromkeys(column for table in tables for column in table.names)),
        lambda column: _joined(
            [part.get(column, [None] * size) for part, size in zip(parts, sizes, strict=True)]
        ),
        tables[0].text,
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
    return [cell for part in parts for cell in listed_cells(part)]
