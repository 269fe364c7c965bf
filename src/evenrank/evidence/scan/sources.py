"""Which way a source is read."""

from __future__ import annotations

from collections.abc import Mapping

from evenrank.errors import ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.documents import Collection, ParquetCollection, Stream
from evenrank.io.compressed import MAGIC_LENGTH, is_compressed
from evenrank.io.document_formats import document_format_names, format_of_documents
from evenrank.io.source import as_source, check_format


def open_collection(
    source: object,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    fast: bool = True,
    block_bytes: int = BLOCK,
) -> Collection:
    """Plain files in pieces that threads read on their own; everything else as one stream."""
    check_format(format, document_format_names())
    if block_bytes < 1:
        raise ParameterError(f"block_bytes must be at least 1, got {block_bytes}")
    file = as_source(source)
    if file is None or file.path is None or not file.path.is_file():
        return Stream(source, format, columns)
    file.check()
    with file.path.open("rb") as opened:
        compressed = is_compressed(opened.read(MAGIC_LENGTH))
    kind = format or format_of_documents(file.path)
    if kind == "parquet":
        return ParquetCollection(file.path, file.name, columns)
    if compressed or not file.path.stat().st_size:
        return Stream(source, format, columns)
    # the modules are imported here and not above: who reads a table needs neither
    if kind == "tsv" and columns is None:
        from evenrank.evidence.scan.line_files import TsvCollection

        return TsvCollection(file.path, file.name, block_bytes, fast=fast)
    if kind == "jsonl":
        from evenrank.evidence.scan.json_files import JsonCollection

        # parsing by way of Arrow holds a block several times over
        return JsonCollection(file.path, file.name, max(1, block_bytes // 2), columns, fast=fast)
    return Stream(source, format, columns)
