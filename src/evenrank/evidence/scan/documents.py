"""A collection as numbered pieces of work, whatever it is kept in.

A piece is fetched, if it takes reading and parsing, by the thread that counts it; pieces have the same
borders every time, so that those which are finished need not be done again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from evenrank.errors import DataError
from evenrank.evidence.scan.counter import Texts
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.column_names import resolve_documents
from evenrank.io.content_hash import (
    DIGEST_BYTES,
    PIECE,
    StreamHash,
    column_ranges,
    digest_of_ranges,
    joined_digests,
)
from evenrank.io.documents import NoDocumentsError, read_documents
from evenrank.io.fingerprint import fingerprint
from evenrank.io.resumable import Recheck, Stamp
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source, parquet_file

ROWS = 1 << 14
PIECE_BYTES = 1 << 23


@dataclass(frozen=True)
class DocumentBatch:
    """Some documents; ``texts`` may be overwritten when the thread fetches its next piece."""

    ids: pa.LargeStringArray
    texts: Texts
    bytes_read: int
    unsound: Callable[[int], DataError]  # the error to raise when the text of a row is not UTF-8
    digest: bytes = b""  # of what was read for them, where a piece of a file is


Fetch = Callable[[], DocumentBatch]


class Stretch(NamedTuple):
    """Pieces that follow each other; ``last`` is the first one behind, None where only reading tells."""

    first: int
    last: int | None
    bytes: int


class Collection(Protocol):
    name: str
    kind: str  # how pieces are cut; part of what a resumed scan must agree on
    unit: str  # what ``total`` and progress count: "bytes" or "documents"
    total: int | None

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        ...

    @property
    def fingerprint(self) -> str | None:
        """Tells one content from another; None for what can be read only once."""
        ...

    @property
    def stamp(self) -> Stamp | None:
        """Of the file when it was opened; None for what is no file."""
        ...

    @property
    def recheck(self) -> Recheck | None:
        """The digest of a piece, read anew; None where pieces have none."""
        ...

    def provenance(self, digests: Sequence[bytes]) -> dict[str, Any]:
        """The hash of all that was read, from the digests of all pieces; how it can be computed again."""
        ...

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        """All pieces in order; None for the finished ones, which are not read where that is possible."""
        ...

    def stretches(self, size: int) -> list[Stretch]:
        """All pieces in stretches of about so many bytes, which can be read apart from each other."""
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
        self.path = None if file is None or file.path is None or not file.path.is_file() else file.path
        self.stamp = None if self.path is None else Stamp.of(self.path)
        is_there = file is not None and (file.path is None or file.path.exists())
        self._passed = StreamHash() if is_there else None
        if file is not None and self._passed is not None:
            source = replace(file, watch=self._passed.add)
        self._content = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._batches = read_documents(source, format=format, columns=columns, batch_rows=ROWS)

    @property
    def fingerprint(self) -> str | None:
        return None if self.path is None else fingerprint(self.path)

    @property
    def recheck(self) -> Recheck | None:
        return None  # one stream has no pieces that could be read again

    def provenance(self, digests: Sequence[bytes]) -> dict[str, Any]:
        if self.path is None or self._passed is None:
            return {}
        return {
            "hash": joined_digests(self._passed.digests()), "block": PIECE, "bytes": self._passed.bytes,
        }  # fmt: skip

    def digest_of_all(self) -> bytes:
        """Of everything that was read, when the last piece has been given out."""
        if self._passed is None or not self._passed.bytes:  # by Arrow, which read what it needed
            return self._content.digest()
        return bytes.fromhex(joined_digests(self._passed.digests()))[:DIGEST_BYTES]

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        before = 0
        for index, batch in enumerate(self._batches):
            if self._passed is None or not self._passed.bytes:
                self._content.update(batch.serialize())
            passed = _content_bytes(batch) if self._passed is None else self._passed.bytes - before
            before = 0 if self._passed is None else self._passed.bytes
            yield None if index in finished else _batch(self.name, batch, passed)

    def stretches(self, size: int) -> list[Stretch]:
        return [Stretch(0, None, 0 if self.path is None else self.path.stat().st_size)]

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
        self.path = path
        self.stamp: Stamp | None = Stamp.of(path)
        try:
            # a small buffer for each column, instead of whole columns of a row group that may be huge
            self._file = pa.parquet.ParquetFile(parquet_file(path), buffer_size=1 << 20, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{name}: is not a sound Parquet file: {error}") from error
        self._chosen = resolve_documents(self._file.schema_arrow.names, columns, name)
        self._columns = sorted(set(self._chosen.values()))
        self._digests: dict[int, bytes] = {}
        self._lock = threading.Lock()
        self.total: int | None = self._file.metadata.num_rows
        if not self.total:
            raise NoDocumentsError(f"{name}: no documents")

    @property
    def fingerprint(self) -> str | None:
        return fingerprint(self.path)

    def recheck(self, index: int) -> bytes:
        return next(self._digest(group) for group, numbers, _ in self._groups() if index in numbers)

    def provenance(self, digests: Sequence[bytes]) -> dict[str, Any]:
        # all pieces of a group of rows have the digest of the group
        own = [digests[numbers.start] for _, numbers, _ in self._groups() if numbers]
        ranges = (self._ranges(group) for group in range(self._file.num_row_groups))
        size = sum(length for group in ranges for _, length in group)
        return {"hash": joined_digests(own), "columns": self._columns, "bytes": size}

    def _ranges(self, group: int) -> list[tuple[int, int]]:
        return list(column_ranges(self._file.metadata, group, self._columns))

    def _digest(self, group: int) -> bytes:
        """Of the columns that are read; whoever comes first computes it, while they are in memory anyway."""
        with self._lock:
            if group not in self._digests:
                with self.path.open("rb") as raw:
                    self._digests[group] = digest_of_ranges(raw.fileno(), self._ranges(group))
            return self._digests[group]

    def _groups(self) -> Iterator[tuple[int, range, int]]:
        """The groups of rows, the pieces of each, and how many rows a piece has."""
        index = 0
        for group in range(self._file.num_row_groups):
            about = self._file.metadata.row_group(group)
            rows = max(1, min(ROWS, PIECE_BYTES * about.num_rows // max(1, about.total_byte_size)))
            yield group, range(index, index := index + -(-about.num_rows // rows)), rows

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        first = 0
        for group, numbers, rows in self._groups():
            about = self._file.metadata.row_group(group)
            if all(number in finished for number in numbers):
                yield from [None] * len(numbers)
            else:
                for number, batch in zip(numbers, self._read(group, rows), strict=True):
                    at = first + (number - numbers.start) * rows
                    yield None if number in finished else self._fetch(batch, at, group)
            first += about.num_rows

    def stretches(self, size: int) -> list[Stretch]:
        """Whole groups of rows: one is read from its beginning."""
        found: list[Stretch] = []
        for group, numbers, _ in self._groups():
            own = sum(length for _, length in self._ranges(group))
            if found and found[-1].bytes + own <= size:
                first, _, before = found.pop()
                found.append(Stretch(first, numbers.stop, before + own))
            else:
                found.append(Stretch(numbers.start, numbers.stop, own))
        return found

    def _read(self, group: int, rows: int) -> Iterator[pa.RecordBatch]:
        columns = list(self._chosen.values())
        try:
            yield from self._file.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.name}: is not a sound Parquet file: {error}") from error

    def _fetch(self, batch: pa.RecordBatch, first: int, group: int) -> Fetch:
        size = sum(length for _, length in self._ranges(group))
        share = size * len(batch) // max(1, self._file.metadata.row_group(group).num_rows)

        def fetch() -> DocumentBatch:
            report = RowProblems(self.name, place=lambda row: f"row {first + row + 1}")
            ids, texts = document_cells(batch.column, self._chosen, report)
            return fetched(self.name, ids, texts, share, self._digest(group))

        return fetch

    def done(self, index: int, documents: int) -> int:
        return documents

    def close(self) -> None:
        self._file.close()


def document_cells(
    column: Callable[[str], Any], chosen: Mapping[str, str], report: RowProblems
) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
    """Ids and texts out of the columns of a table, every cell checked."""
    ids = id_cells(column(chosen["id"]), "id", report)
    titles = text_cells(column(chosen["title"]), "title", report) if "title" in chosen else None
    texts = text_cells(column(chosen["text"]), "text", report, titles=titles)
    report.check()
    return ids, texts


def fetched(
    name: str, ids: pa.LargeStringArray, texts: pa.LargeStringArray, bytes_read: int, digest: bytes = b""
) -> DocumentBatch:
    return named(name, ids, Texts.of(texts), bytes_read, digest)


def named(
    name: str, ids: pa.LargeStringArray, texts: Texts, bytes_read: int, digest: bytes = b""
) -> DocumentBatch:
    """Documents that are called by their id where something is wrong with one."""

    def unsound(row: int) -> DataError:
        return DataError(f"{name}: the text of document {ids[row].as_py()!r} is not UTF-8")

    return DocumentBatch(ids, texts, bytes_read, unsound, digest)


def _batch(name: str, batch: pa.RecordBatch, bytes_read: int) -> Fetch:
    return lambda: fetched(name, batch.column("id"), batch.column("text"), bytes_read)


def _content_bytes(batch: pa.RecordBatch) -> int:
    """Of ids and texts, where nothing else was read."""
    return sum(int(pc.sum(pc.binary_length(column)).as_py() or 0) for column in batch.columns)


def _name(source: object, file: Source | None) -> str:
    if file is not None:
        return file.name
    return source if isinstance(source, str) else "documents"
