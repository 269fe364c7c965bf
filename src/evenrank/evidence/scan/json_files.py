"""JSONL files: every thread reads its own blocks, and Arrow parses them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json

from evenrank.errors import DataError
from evenrank.evidence.scan.blocks import Block
from evenrank.evidence.scan.documents import DocumentBatch, document_cells, fetched
from evenrank.evidence.scan.line_files import LineCollection
from evenrank.io.document_lines import LineBlock, chosen_keys, json_objects, table_of_objects
from evenrank.io.documents import NoDocumentsError
from evenrank.io.ranges import ByteRanges
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source


class JsonCollection(LineCollection):
    """One object a line. Arrow parses a block; where it stumbles, the careful reader has the last word."""

    def __init__(
        self,
        path: Path | None,
        name: str,
        block_bytes: int,
        columns: Mapping[str, str] | None,
        other: Source | ByteRanges | None = None,
    ) -> None:
        super().__init__(path, name, block_bytes, other)
        self._columns = columns
        self._first = self._file.first_line().rstrip(b"\r\n") + b"\n"
        first = self._first_object()
        types = {name: pa.string() for name in self._chosen.values()}
        if isinstance(first[self._chosen["id"]], int):
            types[self._chosen["id"]] = pa.int64()
        # types are given, or Arrow takes an id such as 2020-01-01 for a date
        self._options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )

    def _first_object(self) -> dict[str, Any]:
        """The first object, which says what the keys are, if the careful reader takes it."""
        if not self._first.strip():
            raise NoDocumentsError(f"{self.name}: no documents")
        block = LineBlock(self._first, self._file.blank_lines() + 1, self._file.first_place())
        objects = json_objects(block)
        if objects.problems:
            raise DataError.listing(self.name, objects.problems)
        self._chosen = chosen_keys(objects.rows[0], self._columns, self.name)
        table_of_objects(objects, self._chosen, self.name)
        return objects.rows[0]

    def _documents(self, block: Block) -> DocumentBatch:
        ids, texts = self._tables(block)
        return fetched(self.name, ids, texts, block.bytes_read, block.digest)

    def _tables(self, block: Block) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
        """Ids and texts by way of Arrow or the careful reader."""
        lines = bytes(block.data[block.begin : block.end])
        if not lines.strip():
            empty = pa.array([], pa.large_string())
            return empty, empty
        parsed = self._parsed(lines)
        if parsed is not None:
            return parsed
        place = block.offset + block.begin
        return self._careful(LineBlock(lines, self._file.lines_before(place) + 1, place))

    def _parsed(self, lines: bytes) -> tuple[pa.LargeStringArray, pa.LargeStringArray] | None:
        """What Arrow reads; None if anything about it is unusual."""
        try:
            table = pa.json.read_json(
                pa.BufferReader(lines),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
                parse_options=self._options,
            )
            if len(table) != lines.count(b"\n") + (not lines.endswith(b"\n")):
                return None  # blank lines, or an object over several lines: Arrow takes that, we do not
            titles = self._chosen.get("title")
            for name in self._chosen.values():
                column = table.column(name)
                if column.null_count and name == titles:
                    column = column.fill_null("")
                    table = table.set_column(table.column_names.index(name), name, column)
            ids, texts = document_cells(table.column, self._chosen, RowProblems(self.name))
            ids.validate(full=True)
            texts.validate(full=True)
            return ids, texts
        except (pa.ArrowException, DataError):
            return None

    def _careful(self, lines: LineBlock) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
        table = table_of_objects(json_objects(lines), self._chosen, self.name).combine_chunks()
        schema = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
        batch = pa.Table.to_batches(table.cast(schema))
        joined = pa.concat_batches(batch) if batch else pa.RecordBatch.from_pylist([], schema)
        return joined.column("id"), joined.column("text")
