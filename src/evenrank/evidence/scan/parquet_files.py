"""Parquet files by their groups of rows, here and in a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, RemoteError
from evenrank.evidence.scan.documents import ROWS, DocumentBatch, Fetch, document_cells, fetched
from evenrank.io.collections import Stretch
from evenrank.io.column_names import resolve_documents
from evenrank.io.content_hash import column_ranges, digest_of_ranges, reader_of
from evenrank.io.documents import NoDocumentsError
from evenrank.io.ranges import ByteRanges, RangeFile, read_range
from evenrank.io.row_problems import RowProblems

_PIECE_BYTES = 1 << 23


class ParquetCollection:
    """A Parquet file by row groups."""

    def __init__(self, path: Path | None, name: str, columns: Mapping[str, str] | None, opened: Any) -> None:
        """``opened`` is what Arrow reads."""
        self.name = name
        self.path = path
        try:
            # a small buffer for each column, instead of whole columns of a row group that may be huge
            self._file = pa.parquet.ParquetFile(opened, buffer_size=1 << 20, pre_buffer=False)
        except RemoteError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{name}: is not a sound Parquet file: {error}") from error
        self._chosen = resolve_documents(self._file.schema_arrow.names, columns, name)
        self._columns = sorted(set(self._chosen.values()))
        if not self._file.metadata.num_rows:
            raise NoDocumentsError(f"{name}: no documents")

    @property
    def about_hash(self) -> Mapping[str, Any]:
        return {"columns": self._columns}

    def digests(self) -> list[bytes]:
        return []

    def _ranges(self, group: int) -> list[tuple[int, int]]:
        return list(column_ranges(self._file.metadata, group, self._columns))

    def _digest(self, group: int) -> bytes:
        """Of the columns that are read."""
        if self.path is None:
            raise DataError(f"{self.name}: group {group + 1} of rows was not fetched")
        with self.path.open("rb") as raw:
            return digest_of_ranges(reader_of(raw.fileno()), self._ranges(group))

    def _groups(self) -> Iterator[tuple[int, range, int]]:
        """The groups of rows, the pieces of each, and how many rows a piece has."""
        index = 0
        for group in range(self._file.num_row_groups):
            about = self._file.metadata.row_group(group)
            rows = max(1, min(ROWS, _PIECE_BYTES * about.num_rows // max(1, about.total_byte_size)))
            yield group, range(index, index := index + -(-about.num_rows // rows)), rows

    def pieces(self, first: int = 0, last: int | None = None) -> Iterator[Fetch]:
        before = 0
        for group, numbers, rows in self._groups():
            # stretches have whole groups
            if numbers.start >= first and (last is None or numbers.start < last):
                for number, batch in enumerate(self._read(group, rows)):
                    yield self._fetch(batch, before + number * rows, group, number == 0)
            before += self._file.metadata.row_group(group).num_rows

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

    def _fetch(self, batch: pa.RecordBatch, first: int, group: int, is_first: bool) -> Fetch:
        size = sum(length for _, length in self._ranges(group))
        share = size * len(batch) // max(1, self._file.metadata.row_group(group).num_rows)

        def fetch() -> DocumentBatch:
            report = RowProblems(self.name, place=lambda row: f"row {first + row + 1}")
            ids, texts = document_cells(batch.column, self._chosen, report)
            # the first piece has the digest of the whole group of rows
            return fetched(self.name, ids, texts, share, self._digest(group) if is_first else b"")

        return fetch

    def close(self) -> None:
        self._file.close()


class StoredParquetCollection(ParquetCollection):
    """A Parquet file in a store. The columns of a group of rows are fetched at once, since every request
    takes its time, and are held in memory as they are packed."""

    def __init__(self, file: ByteRanges, name: str, columns: Mapping[str, str] | None) -> None:
        self._held = _HeldRanges(file)
        self._digests: dict[int, bytes] = {}
        super().__init__(None, name, columns, self._held)

    def close(self) -> None:
        super().close()
        self._held.file.close()

    def _read(self, group: int, rows: int) -> Iterator[pa.RecordBatch]:
        ranges = self._ranges(group)
        self._held.fetch(ranges)
        self._digests[group] = digest_of_ranges(self._held.at, ranges)
        yield from super()._read(group, rows)

    def _digest(self, group: int) -> bytes:
        return self._digests.pop(group)


class _HeldRanges(RangeFile):
    """A file of which some stretches are held; for others it is asked, which are those of its footer."""

    def __init__(self, file: ByteRanges) -> None:
        super().__init__(file)
        self._stretches: dict[int, bytearray] = {}

    def fetch(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Hold these stretches, and no others; those that touch each other are one request."""
        self._stretches = {}
        joined: list[tuple[int, int]] = []
        for begin, length in sorted(ranges):
            if joined and sum(joined[-1]) == begin:
                joined[-1] = (joined[-1][0], joined[-1][1] + length)
            else:
                joined.append((begin, length))
        for begin, length in joined:
            self._stretches[begin] = read_range(self.file, begin, length)

    def at(self, begin: int, length: int) -> memoryview:
        for start, held in self._stretches.items():
            if start <= begin and begin + length <= start + len(held):
                return memoryview(held)[begin - start : begin - start + length]
        return super().at(begin, length)
