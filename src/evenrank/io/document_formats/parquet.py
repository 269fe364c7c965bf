"""Parquet by its groups of rows, some rows at a time: of a file in a store only what is needed comes here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError, RemoteError
from evenrank.io.column_names import resolve_documents
from evenrank.io.content_hash import column_ranges, pieces_of
from evenrank.io.document_formats.declared import Edge, declare_documents
from evenrank.io.ranges import AnyFile, ranges_of, read_range
from evenrank.io.reading import Documents, Reading, documents_of_columns
from evenrank.io.remote import RemoteFile
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import parquet_file

_ROWS, _BYTES = 1 << 14, 1 << 23  # at a time


class _Opened(NamedTuple):
    """An open file, and which columns of it are what; ``ranges`` is its bytes, where it is one."""

    file: pa.parquet.ParquetFile
    chosen: dict[str, str]
    ranges: AnyFile | None

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
        else:
            raw = ranges if reading.source.path is None else parquet_file(reading.source.path)
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
        end = file.num_row_groups if reading.end is None else reading.end
        first = sum(metadata.row_group(group).num_rows for group in range(reading.begin))
        for group in range(reading.begin, end):
            about = metadata.row_group(group)
            if opened.ranges is not None and about.num_rows:
                places = opened.places(group)
                pieces = pieces_of(partial(read_range, opened.ranges), places)
                if isinstance(opened.ranges, RemoteFile):
                    opened.ranges.hold(places)
                    pieces = iter([*pieces])  # before others are held
                reading.passed.add_block(pieces, sum(length for _, length in places))
            rows = max(1, min(_ROWS, _BYTES * about.num_rows // max(1, about.total_byte_size)))
            columns = list(opened.chosen.values())
            for batch in file.iter_batches(rows, row_groups=[group], columns=columns, use_threads=False):
                report = RowProblems(reading.name, first=first)
                try:
                    yield documents_of_columns(batch.column, opened.chosen, report, reading.taken())
                except DataError as error:
                    yield error
                first += len(batch)
        reading.passed.digests()  # other threads read the file for them, until it is closed
