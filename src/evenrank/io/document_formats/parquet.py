"""Parquet by its groups of rows, some rows at a time: of a file in a store only what is needed comes here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, RemoteError
from evenrank.io.column_names import resolve_documents
from evenrank.io.content_hash import StreamHash, column_ranges, pieces_of
from evenrank.io.document_formats.declared import Edge, declare_documents
from evenrank.io.ranges import ByteRanges, FileRanges, RangeFile, ranges_of, read_range
from evenrank.io.reading import Documents, Reading, documents_of_columns
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import parquet_file

_ROWS, _BYTES = 1 << 14, 1 << 23  # at a time


class _Opened(NamedTuple):
    """An open file, and which columns of it are what; ``ranges`` is its bytes, where it is one."""

    file: pa.parquet.ParquetFile
    chosen: dict[str, str]
    ranges: ByteRanges | None

    def places(self, group: int) -> list[tuple[int, int]]:
        """Where the columns that are read lie: (begin, length)."""
        return list(column_ranges(self.file.metadata, group, list(self.chosen.values())))


@contextmanager
def _opened(reading: Reading) -> Iterator[_Opened]:
    """What Arrow says of the file is an error that names it."""
    ranges = ranges_of(reading.source)
    try:
        if ranges is None:
            raw = pa.BufferReader(b"".join(reading.source.blocks()))
        elif isinstance(ranges, FileRanges) and reading.source.path is not None:
            raw = parquet_file(reading.source.path)
        else:
            raw = RangeFile(ranges)
        # a small buffer for each column, instead of whole columns of a group of rows that may be huge
        with pa.parquet.ParquetFile(raw, buffer_size=1 << 20, pre_buffer=False) as file:
            yield _Opened(
                file, resolve_documents(file.schema_arrow.names, reading.columns, reading.name), ranges
            )
    except RemoteError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{reading.name}: is not a sound Parquet file: {error}") from error
    finally:
        if ranges is not None:
            ranges.close()


def _cut(reading: Reading, total: int, size: int) -> list[Edge]:
    """Whole groups of rows: one is read from its beginning."""
    found: list[Edge] = []
    with _opened(reading) as opened:
        for group in range(opened.file.num_row_groups):
            own = sum(length for _, length in opened.places(group))
            if found and found[-1][2] + own <= size:
                begin, _, before = found.pop()
                found.append((begin, group + 1, before + own))
            else:
                found.append((group, group + 1, own))
    return found


@declare_documents("parquet", cut=_cut)
def read_parquet(reading: Reading) -> Iterator[Documents | DataError]:
    with _opened(reading) as opened:
        file, metadata = opened.file, opened.file.metadata
        if opened.ranges is not None:
            reading.about_hash = {"columns": sorted(set(opened.chosen.values()))}
            reading.passed = StreamHash(sys.maxsize)  # a digest for each group of rows
        end = file.num_row_groups if reading.end is None else reading.end
        first = sum(metadata.row_group(group).num_rows for group in range(reading.begin))
        for group in range(reading.begin, end):
            about = metadata.row_group(group)
            if opened.ranges is not None and about.num_rows:
                _hash(reading, opened.ranges, opened.places(group))
            rows = max(1, min(_ROWS, _BYTES * about.num_rows // max(1, about.total_byte_size)))
            columns = list(opened.chosen.values())
            for batch in file.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False):
                report = RowProblems(reading.name, first=first)
                try:
                    yield documents_of_columns(batch.column, opened.chosen, report, reading.taken())
                except DataError as error:
                    yield error
                first += len(batch)


def _hash(reading: Reading, ranges: ByteRanges, places: list[tuple[int, int]]) -> None:
    """What is fetched from a store for that is held for Arrow."""
    ranges.hold(places)
    for piece in pieces_of(lambda begin, length: read_range(ranges, begin, length), places):
        reading.passed.add(piece)
    reading.passed.end_block()
