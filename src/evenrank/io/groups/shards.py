"""The tables of a folder or a pattern as one table, so that documents in many files have groups too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.arrays import Int64s
from evenrank.errors import DataError, DataErrors, ParameterError, Problem
from evenrank.io.cells import one_array
from evenrank.io.column_names import ACCEPTED
from evenrank.io.document_formats import document_format_names
from evenrank.io.groups.entries import Entries
from evenrank.io.groups.line_files import nothing
from evenrank.io.groups.tables import Asked, opened, table_entries
from evenrank.io.remote import is_remote
from evenrank.io.row_problems import RowProblems
from evenrank.io.shards import Shard, is_many, list_shards
from evenrank.io.source import as_source, as_text, format_names
from evenrank.io.table_files import NamedTable

_TEXTS = {*ACCEPTED["text"], *ACCEPTED["title"]}
_SHOWN = 5  # documents that are in two files


class _NoRowsError(DataError):
    """A file that is sound, and has no rows."""


class _Part(NamedTuple):
    """The table of one file, without the texts: all files are held at once."""

    shard: Shard
    names: list[str]
    cells: dict[str, Any]  # Arrow arrays or lists
    rows: int
    text: bool
    report: RowProblems

    def column(self, name: str) -> Any:
        if name not in self.names:
            return [None] * self.rows
        if name not in self.cells:  # only what an error says of a table asks for texts
            return one_array(_opened(self.shard).column(name))
        return self.cells[name]


class RowsOfFiles(RowProblems):
    """Problems of the rows of several files, each told by its place in its file."""

    def __init__(self, source: str, parts: Sequence[_Part]) -> None:
        super().__init__(source)
        self._parts = parts
        self._ends = np.cumsum([part.rows for part in parts])

    def files_of(self, rows: Int64s) -> Int64s:
        return np.searchsorted(self._ends, rows, side="right")

    def check_in_one_file(self, documents: pa.LargeStringArray) -> None:
        """Raise if a document is in two files, as ``scan`` does."""
        files = self.files_of(np.arange(len(documents)))  # (R,)
        codes = documents.dictionary_encode().indices.to_numpy(zero_copy_only=False)  # (R,)
        first = np.empty(len(codes), np.int64)  # the first file of each document: what is set last stays
        first[codes[::-1]] = files[::-1]
        again = np.flatnonzero(first[codes] != files)
        if not len(again):
            return
        found: dict[str, str] = {}
        for row in again.tolist():
            both = (self._parts[file].shard.address for file in (first[codes[row]], files[row]))
            found.setdefault(documents[row].as_py(), " and in ".join(map(as_text, both)))
            if len(found) > _SHOWN:
                break
        named = [f"{document!r} (in {places})" for document, places in found.items()]
        shown = ", ".join([*named[:_SHOWN], *(["..."] if len(named) > _SHOWN else [])])
        raise DataError(
            f"{self.source}: document ids must be unique, but these occur more than once: {shown}"
        )

    def error(self) -> DataError:
        by_file: dict[int, list[Problem]] = {}
        for row, what in sorted(self._problems):
            file = int(self.files_of(np.array([row]))[0])
            first = int(self._ends[file]) - self._parts[file].rows
            by_file.setdefault(file, []).append(Problem(row - first + 1, what))
        return DataError.joined(
            [
                self._parts[file].report.relocated(DataError.listing(self.source, own, more=self._more))
                for file, own in by_file.items()
            ]
        )


def is_several_tables(source: object, format: str | None) -> bool:
    """Whether a source is a folder or a pattern of tables, all of which are to be read."""
    if format not in (None, *document_format_names()) or not is_many(source):
        return False
    name = os.fspath(source)  # type: ignore[call-overload]
    in_store = is_remote(name) and not name.endswith("/") and not set("*?[").intersection(name)
    return not (in_store and PurePosixPath(name).suffix)  # one file in a format of groups


def entries_of_files(source: str | os.PathLike[str], format: str | None, asked: Asked) -> Entries:
    """What the rows of all files say, in the order of the files, as if they were one table."""
    name = as_text(os.fspath(source))
    parts = _parts(list_shards(source, format), asked)
    if not parts:
        raise nothing(name, "no file has rows")
    names = list(dict.fromkeys(column for part in parts for column in part.names))
    report = RowsOfFiles(name, parts)
    table = NamedTable(
        names, lambda column: _concatenated([part.column(column) for part in parts]), parts[0].text, report
    )
    entries = table_entries(table, asked)
    if entries.queries is None and not asked.votes:
        report.check_in_one_file(entries.documents)
    return entries


def _parts(shards: Sequence[Shard], asked: Asked) -> list[_Part]:
    needed = {asked.name, asked.column, *asked.columns.values(), *(asked.values or ())}
    parts, wrong = list[_Part](), DataErrors()
    for shard in shards:
        try:
            frame = _opened(shard)
            frame.report.check()
            kept = [column for column in frame.names if column in needed or column not in _TEXTS]
            cells = {column: one_array(frame.column(column)) for column in kept}
            rows = len(cells[kept[0]] if kept else one_array(frame.column(frame.names[0])))
            parts.append(_Part(shard, frame.names, cells, rows, frame.text, frame.report))
        except _NoRowsError:
            continue  # a collection may have files without documents
        except DataError as error:
            wrong.add(error)
    wrong.check()
    return parts


def _opened(shard: Shard) -> NamedTable:
    source = as_source(shard.address)
    if source is None or shard.format not in format_names():
        raise ParameterError(
            f"{as_text(shard.address)}: a {shard.format} file has no fields that may be groups: give the "
            "groups a file of their own, --groups NAME=FILE"
        )
    return opened(source, shard.format, _NoRowsError)


def _concatenated(parts: Sequence[Any]) -> Any:
    types = {part.type if isinstance(part, pa.Array) else None for part in parts}
    if len(types) == 1 and None not in types:
        return pa.concat_arrays(parts)
    return [cell for part in parts for cell in (part.to_pylist() if isinstance(part, pa.Array) else part)]
