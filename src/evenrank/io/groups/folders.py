"""The tables of a folder or a pattern as one table, so that documents in many files have groups too."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.errors import DataError, DataErrors, ParameterError, Problem
from evenrank.ids import encode_first_seen
from evenrank.io.cells import one_array
from evenrank.io.column_names import ACCEPTED
from evenrank.io.document_formats import document_format_names
from evenrank.io.remote import is_remote
from evenrank.io.row_problems import RowProblems
from evenrank.io.shards import Shard, is_many, list_shards
from evenrank.io.source import as_source, as_text, format_names
from evenrank.io.table_files import NamedTable, open_table

_TEXTS = {*ACCEPTED["text"], *ACCEPTED["title"]}
_SHOWN = 5  # documents that are in two files


class _NoRowsError(DataError):
    """A file that is sound, and has no rows."""


class _Part(NamedTuple):
    """The table of one file, without the texts: all files are held at once."""

    name: str
    columns: dict[str, Any]
    rows: int
    names: list[str]
    text: bool
    report: RowProblems


class RowsOfFiles(RowProblems):
    """Problems of the rows of several files, each told by its place in its file."""

    def __init__(self, source: str, parts: Sequence[_Part]) -> None:
        super().__init__(source)
        self._parts = parts
        self._ends = np.cumsum([part.rows for part in parts])

    def check_in_one_file(self, documents: pa.LargeStringArray) -> None:
        """Raise if a document is in two files, as ``scan`` does."""
        files = np.repeat(np.arange(len(self._parts)), [part.rows for part in self._parts])  # (R,)
        codes, names = encode_first_seen(documents)
        both = np.unique(np.stack([codes, files]), axis=1)  # (2, pairs of a document and a file)
        found = []
        for code in np.flatnonzero(np.bincount(both[0]) > 1)[: _SHOWN + 1].tolist():
            one, other = both[1, both[0] == code][:2].tolist()
            found.append(f"{names[code]!r} (in {self._parts[one].name} and in {self._parts[other].name})")
        if found:
            shown = ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
            raise DataError(
                f"{self.source}: document ids must be unique, but these occur more than once: {shown}"
            )

    def error(self) -> DataError:
        errors = []
        of_rows = np.searchsorted(self._ends, [row for row, _ in self._problems], side="right")
        for file in np.unique(of_rows).tolist():
            first, report = int(self._ends[file]) - self._parts[file].rows, self._parts[file].report
            own = [
                Problem(row - first + 1, what)
                for (row, what), place in zip(self._problems, of_rows.tolist(), strict=True)
                if place == file
            ]
            errors.append(report.relocated(DataError.listing(self.source, sorted(own), more=self._more)))
        return DataError.joined(errors)


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
            rows = len(next(iter(columns.values())))
            parts.append(_Part(as_text(shard.address), columns, rows, table.names, table.text, table.report))
        except _NoRowsError:
            continue  # a collection may have files without documents
        except DataError as error:
            wrong.add(error)
    wrong.check()
    name = as_text(os.fspath(source))
    if not parts:
        raise DataError(f"{name}: no groups (no file has rows)")
    names = list(dict.fromkeys(column for part in parts for column in part.names))
    return NamedTable(
        names,
        lambda column: _joined([part.columns.get(column, [None] * part.rows) for part in parts]),
        parts[0].text,
        RowsOfFiles(name, parts),
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
