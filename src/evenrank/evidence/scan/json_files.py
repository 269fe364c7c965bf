"""JSONL files: every thread reads and parses its own blocks."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json

from evenrank.errors import DataError, Problem
from evenrank.evidence.scan.blocks import Block
from evenrank.evidence.scan.counter import PADDING, Texts
from evenrank.evidence.scan.documents import DocumentBatch, document_cells, fetched, named
from evenrank.evidence.scan.line_files import LineCollection, gather_fast, line_ends
from evenrank.io.background import compile_as_well, is_uncompiled
from evenrank.io.column_names import resolve_documents
from evenrank.io.document_lines import json_tables
from evenrank.io.documents import NoDocumentsError
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source


class JsonCollection(LineCollection):
    """One object a line. A block of plain ones is read as it is; else Arrow parses it, and where Arrow
    stumbles, the careful reader has the last word."""

    def __init__(
        self,
        path: Path | None,
        name: str,
        block_bytes: int,
        columns: Mapping[str, str] | None,
        packed: Source | None = None,
        *,
        fast: bool,
    ) -> None:
        super().__init__(path, name, block_bytes, packed)
        self.kind = f"jsonl {block_bytes} {sorted((columns or {}).items())}"
        self._columns = columns
        self._first = self._file.first_line().rstrip(b"\r\n") + b"\n"
        self._check_first()
        first = json.loads(self._first)
        self._chosen = resolve_documents(list(first), columns, name)
        if "text" not in (columns or {}):
            self._chosen.setdefault("title", "title")  # it may be left out where it is empty
        self._keys = [self._chosen.get(role, "").encode() for role in ("id", "text", "title")]
        # keys that are the same could not be told apart
        self._fast = fast and len(set(self._keys)) == len(self._keys)
        if self._fast:
            compile_as_well(self._compile)
        types = {name: pa.string() for name in self._chosen.values()}
        if isinstance(first[self._chosen["id"]], int):
            types[self._chosen["id"]] = pa.int64()
        # types are given, or Arrow takes an id such as 2020-01-01 for a date
        self._options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )

    def _compile(self) -> None:
        line = np.frombuffer(bytearray(self._first + bytes(PADDING)), np.uint8)
        self._plain(Block(line, 0, len(self._first), 0, len(self._first), b""))

    def _check_first(self) -> None:
        """What the careful reader has to say about the first object, with the number of its line."""
        if not self._first.strip():
            raise NoDocumentsError(f"{self.name}: no documents")
        self._careful(self._first, self._file.blank_lines(), skip=0)

    def _documents(self, block: Block) -> DocumentBatch:
        if self._fast and not is_uncompiled() and (plain := self._plain(block)) is not None:
            return plain
        ids, texts = self._tables(block)
        return fetched(self.name, ids, texts, block.bytes_read, block.digest)

    def _plain(self, block: Block) -> DocumentBatch | None:
        """The documents of a block where they are plain; None if anything about one is unusual."""
        from evenrank.evidence.scan.json_lines import read_objects, unescape

        newlines = line_ends(block.data, block.begin, block.end)
        rows = np.empty((5, len(newlines)), np.int64)
        key_ends = np.cumsum([len(key) for key in self._keys])
        keys = np.frombuffer(b"".join(self._keys), np.uint8)
        found = read_objects(block.data, block.begin, newlines, keys, key_ends, rows)
        if found < 0:
            return None
        id_starts, id_ends, starts, ends, has_escapes = rows[:, :found]
        try:
            ids = gather_fast(block.data, id_starts, id_ends)
        except pa.ArrowInvalid:
            return None
        unescape(block.data, starts, ends, has_escapes)
        return named(self.name, ids, Texts(block.data, starts, ends), block.bytes_read, block.digest)

    def _tables(self, block: Block) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
        """Ids and texts by way of Arrow or the careful reader."""
        lines = bytes(block.data[block.begin : block.end])
        if not lines.strip():
            empty = pa.array([], pa.large_string())
            return empty, empty
        parsed = self._parsed(lines)
        if parsed is not None:
            return parsed
        before = self._file.lines_before(block.offset + block.begin)
        return self._careful(self._first + lines, before - 1, skip=1)

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
            return ids, texts
        except (pa.ArrowException, DataError):
            return None

    def _careful(
        self, lines: bytes, before: int, *, skip: int
    ) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
        try:
            tables = list(json_tables(Source(self.name, stream=io.BytesIO(lines)), self._columns))
        except DataError as error:
            if not error.problems:
                raise
            moved = [Problem(problem.line + before, problem.what) for problem in error.problems]
            raise DataError.listing(self.name, moved) from error
        table = pa.concat_tables(tables).slice(skip).combine_chunks()
        schema = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
        batch = pa.Table.to_batches(table.cast(schema))
        joined = pa.concat_batches(batch) if batch else pa.RecordBatch.from_pylist([], schema)
        return joined.column("id"), joined.column("text")
