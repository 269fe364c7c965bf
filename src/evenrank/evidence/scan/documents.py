"""A collection as numbered pieces of work, whatever it is kept in.

A piece is fetched, if it takes reading and parsing, by the thread that counts it; pieces have the same
borders every time, so that those which are finished need not be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError
from evenrank.evidence.scan.counter import Texts
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.documents import read_documents
from evenrank.io.fingerprint import fingerprint
from evenrank.io.names import resolve_documents
from evenrank.io.report import Report
from evenrank.io.source import Source, as_source

ROWS = 1 << 14
PIECE_BYTES = 1 << 23


@dataclass(frozen=True)
class Documents:
    """Some documents; ``texts`` may be overwritten when the thread fetches its next piece."""

    ids: pa.LargeStringArray
    texts: Texts
    bytes_read: int
    unsound: Callable[[int], DataError]  # the error to raise when the text of a row is not UTF-8


Fetch = Callable[[], Documents]


class Collection(Protocol):
    name: str
    kind: str  # how pieces are cut; part of what a resumed scan must agree on
    unit: str  # what ``total`` and progress count: "bytes" or "documents"
    total: int | None

    @property
    def fingerprint(self) -> str | None:
        """Tells one content from another; None for what can be read only once."""
        ...

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        """All pieces in order; None for the finished ones, which are not read where that is possible."""
        ...

    def done(self, index: int, documents: int) -> int:
        """How much of ``total`` piece ``index`` is."""
        ...

    def close(self) -> None: ...


class Stream:
    """Anything that ``read_documents`` reads, from the beginning; finished batches are passed over."""

    unit = "documents"
    total: int | None = None

    def __init__(self, source: object, format: str | None, columns: Mapping[str, str] | None) -> None:
        file = as_source(source)
        self.name = _name(source, file)
        self.kind = f"batches {format} {sorted((columns or {}).items())}"
        self._path = None if file is None else file.path
        self._batches = read_documents(source, format=format, columns=columns, batch_rows=ROWS)

    @property
    def fingerprint(self) -> str | None:
        return None if self._path is None or not self._path.is_file() else fingerprint(self._path)

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        for index, batch in enumerate(self._batches):
            yield None if index in finished else _batch(self.name, batch)

    def done(self, index: int, documents: int) -> int:
        return documents

    def close(self) -> None:
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()


class ParquetCollection:
    """A Parquet file by row groups; the finished ones are not opened."""

    unit = "documents"

    def __init__(self, path: Path, name: str, columns: Mapping[str, str] | None) -> None:
        self.name = name
        self.kind = f"parquet {sorted((columns or {}).items())}"
        self._path = path
        try:
            # a small buffer for each column, instead of whole columns of a row group that may be huge
            self._file = pa.parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{name}: is not a sound Parquet file: {error}") from error
        self._chosen = resolve_documents(self._file.schema_arrow.names, columns, name)
        self.total: int | None = self._file.metadata.num_rows
        if not self.total:
            raise DataError(f"{name}: no documents")

    @property
    def fingerprint(self) -> str | None:
        return fingerprint(self._path)

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        index = first = 0
        for group in range(self._file.num_row_groups):
            about = self._file.metadata.row_group(group)
            rows = max(1, min(ROWS, PIECE_BYTES * about.num_rows // max(1, about.total_byte_size)))
            numbers = range(index, index := index + -(-about.num_rows // rows))
            if all(number in finished for number in numbers):
                yield from [None] * len(numbers)
            else:
                for number, batch in zip(numbers, self._read(group, rows), strict=True):
                    at = first + (number - numbers.start) * rows
                    yield None if number in finished else self._fetch(batch, at)
            first += about.num_rows

    def _read(self, group: int, rows: int) -> Iterator[pa.RecordBatch]:
        columns = list(self._chosen.values())
        try:
            yield from self._file.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.name}: is not a sound Parquet file: {error}") from error

    def _fetch(self, batch: pa.RecordBatch, first: int) -> Fetch:
        def fetch() -> Documents:
            report = Report(self.name, place=lambda row: f"row {first + row + 1}")
            ids, texts = document_cells(batch.column, self._chosen, report)
            return fetched(self.name, ids, texts, batch.nbytes)

        return fetch

    def done(self, index: int, documents: int) -> int:
        return documents

    def close(self) -> None:
        self._file.close()


def document_cells(
    column: Callable[[str], Any], chosen: Mapping[str, str], report: Report
) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
    """Ids and texts out of the columns of a table, every cell checked."""
    ids = id_cells(column(chosen["id"]), "id", report)
    titles = text_cells(column(chosen["title"]), "title", report) if "title" in chosen else None
    texts = text_cells(column(chosen["text"]), "text", report, titles=titles)
    report.check()
    return ids, texts


def fetched(name: str, ids: pa.LargeStringArray, texts: pa.LargeStringArray, bytes_read: int) -> Documents:
    return named(name, ids, Texts.of(texts), bytes_read)


def named(name: str, ids: pa.LargeStringArray, texts: Texts, bytes_read: int) -> Documents:
    """Documents that are called by their id where something is wrong with one."""

    def unsound(row: int) -> DataError:
        return DataError(f"{name}: the text of document {ids[row].as_py()!r} is not UTF-8")

    return Documents(ids, texts, bytes_read, unsound)


def _batch(name: str, batch: pa.RecordBatch) -> Fetch:
    return lambda: fetched(name, batch.column("id"), batch.column("text"), batch.nbytes)


def _name(source: object, file: Source | None) -> str:
    if file is not None:
        return file.name
    return source if isinstance(source, str) else "documents"
