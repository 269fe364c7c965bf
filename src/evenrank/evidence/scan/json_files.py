"""JSONL files: every thread reads its own blocks, and Arrow parses them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from evenrank.errors import DataError
from evenrank.evidence.scan.blocks import Block
from evenrank.evidence.scan.documents import DocumentBatch, fetched
from evenrank.evidence.scan.line_files import LineCollection
from evenrank.io.document_lines import JsonReader, LineBlock, json_objects, table_of_objects
from evenrank.io.documents import NoDocumentsError
from evenrank.io.ranges import ByteRanges

_EMPTY = pa.array([], pa.large_string())


class JsonCollection(LineCollection):
    """One object a line."""

    def __init__(
        self, file: ByteRanges, name: str, block_bytes: int, columns: Mapping[str, str] | None
    ) -> None:
        super().__init__(file, name, block_bytes)
        first = self._file.first_line().rstrip(b"\r\n") + b"\n"
        if not first.strip():
            raise NoDocumentsError(f"{name}: no documents")
        objects = json_objects(LineBlock(first, self._file.blank_lines() + 1, self._file.first_place()))
        if objects.problems:
            raise DataError.listing(name, objects.problems)
        self._reader = JsonReader(objects.rows[0], columns, name)
        table_of_objects(objects, self._reader.chosen, name)

    def _documents(self, block: Block) -> DocumentBatch:
        lines = bytes(block.data[block.begin : block.end])
        if not lines.strip():
            return fetched(self.name, _EMPTY, _EMPTY, block.bytes_read, block.digest)
        table = self._reader.parsed(lines)
        if table is None:
            place = block.offset + block.begin
            table = self._reader.careful(LineBlock(lines, self._file.lines_before(place) + 1, place))
        ids, texts = (_one_chunk(table.column(name)) for name in ("id", "text"))
        return fetched(self.name, ids, texts, block.bytes_read, block.digest)


def _one_chunk(column: pa.ChunkedArray) -> pa.LargeStringArray:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([_EMPTY, *column.chunks])
