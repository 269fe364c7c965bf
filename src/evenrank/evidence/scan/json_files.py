"""JSONL files: every thread reads and parses its own blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from evenrank.errors import DataError, Problem
from evenrank.evidence.scan.blocks import Block, LineFile
from evenrank.evidence.scan.counter import PADDING, Texts
from evenrank.evidence.scan.documents import DocumentBatch, document_cells, fetched
from evenrank.evidence.scan.line_files import LineCollection, gather_fast, line_ends
from evenrank.io.background import compile_as_well, is_uncompiled
from evenrank.io.document_lines import LineBlock, chosen_keys, json_objects, table_of_objects, unsound_line
from evenrank.io.documents import NoDocumentsError
from evenrank.io.ranges import ByteRanges
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
        other: Source | ByteRanges | None = None,
        *,
        fast: bool,
    ) -> None:
        super().__init__(path, name, block_bytes, other)
        self.kind = f"jsonl {block_bytes} {sorted((columns or {}).items())}"
        self._columns = columns
        self._first = self._file.first_line().rstrip(b"\r\n") + b"\n"
        first = self._first_object()
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

        def describe(texts: Texts, rows: Sequence[int]) -> DataError:
            first = self._line(block, block.begin)
            problems = []
            for row in rows:
                line = int(np.searchsorted(newlines, id_starts[row]))
                begin = int(newlines[line - 1]) + 1 if line else block.begin
                place = self._unsound_place(block, begin, int(newlines[line]), bool(has_escapes[row]))
                known = None if place is None else unsound_line(first + line, place)
                problems.append(known or Problem(first + line, "invalid UTF-8 in the text"))
            return DataError.listing(self.name, problems)

        texts = Texts(block.data, starts, ends)
        return DocumentBatch(ids, texts, block.bytes_read, describe, block.digest)

    def _unsound_place(self, block: Block, begin: int, end: int, has_escapes: bool) -> int | None:
        """The first byte of a line that is not UTF-8; None where that cannot be told any more."""
        if isinstance(self._file, LineFile):  # what was in memory may be overwritten
            raw = self._file.again(block.offset + begin, end - begin)
        elif has_escapes:  # which were replaced, so that other bytes have moved
            return None
        else:
            raw = bytes(block.data[begin:end])
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            return block.offset + begin + error.start
        return None

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
