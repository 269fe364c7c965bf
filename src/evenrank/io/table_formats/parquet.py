"""Parquet, column by column."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet

from evenrank.errors import DataError
from evenrank.io.frames import Frame
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.table_formats.declared import Nothing, OpenTable, declare_format


@declare_format("parquet", ".parquet", ".pq")
def open_parquet(source: Source, nothing: Nothing) -> OpenTable:
    def unsound(error: Exception) -> DataError:
        return DataError(f"{source.name}: is not a sound Parquet file: {error}")

    def column(name: str) -> Any:
        try:
            return file.read(columns=[name]).column(0)
        except (pa.ArrowException, OSError) as error:
            raise unsound(error) from error

    try:
        file = pa.parquet.ParquetFile(pa.BufferReader(source.content().buffer))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # names of columns may be damaged too
        raise unsound(error) from error
    metadata = {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in (file.schema_arrow.metadata or {}).items()
        if key.startswith(b"evenrank")
    }
    return OpenTable(Frame(file.schema_arrow.names, column), RowProblems(source.name), metadata)
