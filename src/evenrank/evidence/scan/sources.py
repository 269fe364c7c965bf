"""Which way a source is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from evenrank.errors import ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.documents import Documents, Stream
from evenrank.io.document_formats import document_format_names, format_of_documents
from evenrank.io.ranges import ByteRanges, FileRanges, RemoteRanges, stored_ranges
from evenrank.io.remote import RemoteFile
from evenrank.io.source import Source, as_source, check_format, is_packed, parquet_file

_IN_PIECES = ("tsv", "jsonl", "parquet")
_UNPACKED = 4  # times the size of a compressed file


def open_collection(
    source: object,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    fast: bool = True,
    block_bytes: int = BLOCK,
) -> Documents:
    """Plain files in pieces that threads read on their own; everything else as one stream."""
    check_format(format, document_format_names())
    if block_bytes < 1:
        raise ParameterError(f"block_bytes must be at least 1, got {block_bytes}")
    file = as_source(source)
    in_store = file is not None and isinstance(file.stream, RemoteFile)
    if file is None or not (in_store or (file.path is not None and file.path.is_file())):
        return Stream(source, format, columns)
    file.check()
    kind = format or format_of_documents(file.path or file.name)
    if kind not in _IN_PIECES or (kind == "tsv" and columns is not None):
        return Stream(source, format, columns)
    # the modules are imported here and not above: who reads a table needs neither
    if kind == "parquet":
        from evenrank.evidence.scan.parquet_files import ParquetCollection, StoredParquetCollection

        if file.path is None:
            return StoredParquetCollection(RemoteRanges(file.stream.name), file.name, columns)
        return ParquetCollection(file.path, file.name, columns, parquet_file(file.path))
    ranges = _ranges(file)
    if ranges is None:
        return Stream(source, format, columns)
    if kind == "tsv":
        from evenrank.evidence.scan.line_files import TsvCollection

        return TsvCollection(ranges, file.name, block_bytes, fast=fast)
    from evenrank.evidence.scan.json_files import JsonCollection

    # parsing by way of Arrow holds a block several times over
    return JsonCollection(ranges, file.name, max(1, block_bytes // 2), columns)


def _ranges(file: Source) -> ByteRanges | None:
    """A file that can be read from any place; None if it is packed, or empty."""
    if file.path is None:
        ranges = stored_ranges(file.stream.name)
        if ranges is None or ranges.size:
            return ranges
        ranges.close()
        return None
    if is_packed(file.path) or not file.path.stat().st_size:
        return None
    return FileRanges(file.path, file.name)


def size_of(source: object) -> int | None:
    """About how many bytes of text there are, where that can be told before they are read."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if not path.is_file():
            return None
        return path.stat().st_size * (_UNPACKED if is_packed(path) else 1)
    if isinstance(source, (list, tuple)):
        pairs = (row for row in source if isinstance(row, (list, tuple)) and len(row) > 1)
        return sum(len(text) for _, text, *_ in pairs if isinstance(text, str))
    return None
