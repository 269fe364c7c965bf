"""Parquet, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError
from evenrank.io.column_names import resolve_documents
from evenrank.io.document_formats.declared import declare_documents
from evenrank.io.document_tables import frame_table
from evenrank.io.ranges import RangeFile, RemoteRanges
from evenrank.io.remote import RemoteFile
from evenrank.io.source import Source, parquet_file
from evenrank.io.table_files import NamedTable


@declare_documents("parquet")
def read_parquet(source: Source, columns: Mapping[str, str] | None) -> Iterator[pa.Table]:
    try:
        file = pa.parquet.ParquetFile(_opened(source))
        chosen = resolve_documents(file.schema_arrow.names, columns, source.name)
        row = 0
        for batch in file.iter_batches(batch_size=1 << 13, columns=list(chosen.values())):
            yield frame_table(
                NamedTable(batch.schema.names, batch.column), columns, source.name, first_row=row
            )
            row += len(batch)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source.name}: is not a sound Parquet file: {error}") from error


def _opened(source: Source) -> Any:
    """Anything that Arrow can read from any place: of a file in a store only what is needed comes here."""
    if source.path is not None:
        return parquet_file(source.path)
    if isinstance(source.stream, RemoteFile):
        return RangeFile(RemoteRanges(source.name))  # which asks again where a request fails
    return pa.BufferReader(source.content().buffer)
