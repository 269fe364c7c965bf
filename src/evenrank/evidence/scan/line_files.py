"""TSV and JSONL files: every thread reads, splits and parses its own blocks."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json

from evenrank.data.strings import Int64s
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.evidence.scan.blocks import Block, LineFile, fingerprint
from evenrank.evidence.scan.counter import Bytes, Texts
from evenrank.evidence.scan.documents import Documents, Fetch, document_cells, fetched
from evenrank.io.document_lines import json_tables
from evenrank.io.names import resolve_documents
from evenrank.io.report import Report
from evenrank.io.source import Source, warn_of_bom

_TAB, _NEWLINE, _RETURN = 9, 10, 13

Split = Callable[[Bytes, int, int], tuple[Int64s, Int64s, Int64s]]


class LineCollection:
    """A plain file of lines. ``_documents`` says what the lines of a block are."""

    unit = "bytes"
    kind = "lines"

    def __init__(self, path: Path, name: str, block_bytes: int) -> None:
        self.name = name
        self._path = path
        self._file = LineFile(path, name, block_bytes)
        self.total: int | None = self._file.bytes
        if self._file.starts_with_mark:
            warn_of_bom(name)

    @property
    def fingerprint(self) -> str | None:
        return fingerprint(self._path)

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        for index in range(len(self._file)):
            yield None if index in finished else self._fetch(index)

    def _fetch(self, index: int) -> Fetch:
        return lambda: self._documents(self._file.read(index))

    def _documents(self, block: Block) -> Documents:
        raise NotImplementedError

    def done(self, index: int, documents: int) -> int:
        begin = index * self._file.block_bytes
        return min(self._file.block_bytes, self._file.bytes - begin)

    def close(self) -> None:
        self._file.close()

    def _line(self, block: Block, place: int) -> int:
        """The number of the line that holds a place of the block."""
        return self._file.lines_before(block.offset + place) + 1


class TsvCollection(LineCollection):
    """``id``, a tab, the text, which is the rest of the line. Nothing of the text is copied."""

    def __init__(self, path: Path, name: str, block_bytes: int, *, fast: bool) -> None:
        super().__init__(path, name, block_bytes)
        self.kind = f"tsv {block_bytes}"
        self._split: Split = _split_fast if fast else _split_simple
        self._gather = _gather_fast if fast else _gather_simple

    def _documents(self, block: Block) -> Documents:
        starts, tabs, ends = self._split(block.data, block.begin, block.end)
        wrong = np.flatnonzero(tabs <= starts)  # -1 where there is no tab
        if len(wrong):
            raise self._bad_lines(block, starts, tabs, wrong)
        ids = self._gather(block.data, starts, tabs)
        try:
            ids.validate(full=True)
        except pa.ArrowInvalid as error:
            raise self._bad_ids(block, starts, tabs) from error

        def unsound(row: int) -> DataError:
            begin, end = int(tabs[row]) + 1, int(ends[row])
            return self._unsound(block, begin, bytes(block.data[begin:end]), "text")

        return Documents(ids, Texts(block.data, tabs + 1, ends), block.bytes_read, unsound)

    def _bad_lines(self, block: Block, starts: Int64s, tabs: Int64s, wrong: Int64s) -> DataError:
        problems = []
        line, counted = self._line(block, block.begin), block.begin
        for row in wrong[: PROBLEMS_SHOWN + 1].tolist():
            start = int(starts[row])
            line += bytes(block.data[counted:start]).count(b"\n")
            counted = start
            empty = tabs[row] == start
            problems.append(
                Problem(line, "the id is empty" if empty else "no tab: a line is an id, a tab and the text")
            )
        return DataError.listing(self.name, problems)

    def _bad_ids(self, block: Block, starts: Int64s, tabs: Int64s) -> DataError:
        for start, tab in zip(starts.tolist(), tabs.tolist(), strict=True):
            raw = bytes(block.data[start:tab])
            try:
                raw.decode()
            except UnicodeDecodeError:
                return self._unsound(block, start, raw, "id")
        return DataError(f"{self.name}: an id is not UTF-8")

    def _unsound(self, block: Block, begin: int, raw: bytes, role: str) -> DataError:
        try:
            raw.decode()
            at = 0
        except UnicodeDecodeError as error:
            at = error.start
        what = f"invalid UTF-8 in the {role} at byte {block.offset + begin + at} of the file"
        return DataError.listing(self.name, [Problem(self._line(block, begin), what)])


class JsonCollection(LineCollection):
    """One object a line. Arrow parses a block; where it stumbles, the careful reader has the last word."""

    def __init__(self, path: Path, name: str, block_bytes: int, columns: Mapping[str, str] | None) -> None:
        super().__init__(path, name, block_bytes)
        self.kind = f"jsonl {block_bytes} {sorted((columns or {}).items())}"
        self._columns = columns
        self._first = self._file.first_line().rstrip(b"\r\n") + b"\n"
        self._check_first()
        first = json.loads(self._first)
        self._chosen = resolve_documents(list(first), columns, name)
        if "text" not in (columns or {}):
            self._chosen.setdefault("title", "title")  # it may be left out where it is empty
        types = {name: pa.string() for name in self._chosen.values()}
        if isinstance(first[self._chosen["id"]], int):
            types[self._chosen["id"]] = pa.int64()
        # types are given, or Arrow takes an id such as 2020-01-01 for a date
        self._options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )

    def _check_first(self) -> None:
        """What the careful reader has to say about the first object, with the number of its line."""
        if not self._first.strip():
            raise DataError(f"{self.name}: no documents")
        before = 0
        with self._path.open("rb") as file:
            for line in file:
                if line.strip():
                    break
                before += 1
        self._careful(self._first, before, skip=0)

    def _documents(self, block: Block) -> Documents:
        lines = bytes(block.data[block.begin : block.end])
        if not lines.strip():
            empty = pa.array([], pa.large_string())
            return fetched(self.name, empty, empty, block.bytes_read)
        table = self._parsed(lines)
        if table is None:
            before = self._file.lines_before(block.offset + block.begin)
            table = self._careful(self._first + lines, before - 1, skip=1)
        ids, texts = table
        return fetched(self.name, ids, texts, block.bytes_read)

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
            ids, texts = document_cells(table.column, self._chosen, Report(self.name))
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


def _split_fast(data: Bytes, begin: int, end: int) -> tuple[Int64s, Int64s, Int64s]:
    from evenrank.evidence.scan.lines import count_newlines, split_lines

    room = count_newlines(data, begin, end) + 1
    starts, tabs, ends = (np.empty(room, np.int64) for _ in range(3))
    lines = split_lines(data, begin, end, starts, tabs, ends)
    return starts[:lines], tabs[:lines], ends[:lines]


def _split_simple(data: Bytes, begin: int, end: int) -> tuple[Int64s, Int64s, Int64s]:
    rows = []
    start = begin
    for line in bytes(data[begin:end]).split(b"\n"):
        content = line.removesuffix(b"\r")
        if content:
            tab = content.find(b"\t")
            rows.append((start, start + tab if tab >= 0 else -1, start + len(content)))
        start += len(line) + 1
    edges = np.array(rows, np.int64).reshape(-1, 3)
    return edges[:, 0].copy(), edges[:, 1].copy(), edges[:, 2].copy()


def _gather_fast(data: Bytes, starts: Int64s, ends: Int64s) -> pa.LargeStringArray:
    from evenrank.evidence.scan.lines import gather

    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts)])
    out = np.empty(int(offsets[-1]), np.uint8)
    gather(data, starts, ends, offsets, out)
    return pa.LargeStringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(out))


def _gather_simple(data: Bytes, starts: Int64s, ends: Int64s) -> pa.LargeStringArray:
    pieces = [bytes(data[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts)])
    return pa.LargeStringArray.from_buffers(
        len(starts), pa.py_buffer(offsets), pa.py_buffer(b"".join(pieces))
    )
