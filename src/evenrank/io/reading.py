"""A file of documents while it is read, and what comes of it: documents, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Int64s, integers
from evenrank.errors import PROBLEMS_SHOWN, DataError
from evenrank.ids import as_strings, offsets_of
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.content_hash import PIECE, StreamHash
from evenrank.io.ranges import ranges_of, read_range
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source

Bytes = npt.NDArray[np.uint8]

SCHEMA = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])

_AT_ONCE = 1 << 22  # bytes


class Texts(NamedTuple):
    """Texts inside one array of bytes: text d is ``data[starts[d]:ends[d]]``, in UTF-8."""

    data: Bytes
    starts: Int64s
    ends: Int64s

    @classmethod
    def of(cls, strings: pa.LargeStringArray) -> Texts:
        offsets, buffer = offsets_of(strings), strings.buffers()[2]
        data = np.empty(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)
        return cls(data, offsets[:-1], offsets[1:])

    @property
    def size(self) -> int:
        """Bytes of all texts."""
        return int((self.ends - self.starts).sum())

    def rows(self, begin: int, end: int) -> Texts:
        return Texts(self.data, self.starts[begin:end], self.ends[begin:end])

    def strings(self) -> pa.LargeStringArray:
        """The texts alone. The array is seen as strings that alternate, a text and what stands between two
        texts; Arrow needs only where each begins, so that nothing is copied but the texts."""
        edges = np.append(np.stack([self.starts, self.ends], axis=1).ravel(), self.ends[-1:])
        both = pa.LargeStringArray.from_buffers(
            2 * len(self.starts), pa.py_buffer(edges.astype(np.int64)), pa.py_buffer(self.data)
        )
        return both.take(integers(np.arange(0, 2 * len(self.starts), 2)))

    def is_sound(self, row: int) -> bool:
        try:
            return bytes(self.data[self.starts[row] : self.ends[row]]).decode() is not None
        except UnicodeDecodeError:
            return False


@dataclass(frozen=True)
class Documents:
    """Some documents of a source, as they were read at once."""

    name: str  # of the source
    ids: pa.LargeStringArray
    texts: Texts  # of which nobody has asked yet whether they are UTF-8
    bytes_read: int = 0
    bad_lines: Callable[[], DataError] | None = None  # what is wrong with the lines they stand on, if they do

    @classmethod
    def of(
        cls, name: str, ids: pa.LargeStringArray, texts: pa.LargeStringArray, bytes_read: int = 0
    ) -> Documents:
        return cls(name, ids, Texts.of(texts), bytes_read)

    def batch(self) -> pa.RecordBatch:
        """Ids and texts as strings."""
        texts = self.texts.strings()
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid as error:
            raise self.unsound() from error
        return pa.RecordBatch.from_arrays([self.ids, texts], schema=SCHEMA)

    def unsound(self) -> DataError:
        """The error to raise when a text is not UTF-8: it lists all that are not, up to twenty."""
        if self.bad_lines is not None:
            return self.bad_lines()
        bad = (row for row in range(len(self.ids)) if not self.texts.is_sound(row))
        return DataError.joined([
            DataError(f"{self.name}: the text of document {self.ids[row].as_py()!r} is not UTF-8")
            for row in islice(bad, PROBLEMS_SHOWN + 1)
        ])  # fmt: skip


def documents_of_columns(
    column: Callable[[str], Any], chosen: Mapping[str, str], report: RowProblems, bytes_read: int = 0
) -> Documents:
    """Documents out of the columns of a table, every cell checked; ``chosen`` says which are id, title and
    text."""
    ids = id_cells(column(chosen["id"]), "id", report)
    titles = text_cells(column(chosen["title"]), "title", report) if "title" in chosen else None
    texts = text_cells(column(chosen["text"]), "text", report, titles=titles)
    report.check()
    return Documents.of(report.source, ids, texts, bytes_read)


class Reading:
    """A file, or a stretch of it: the lines that begin at the bytes from ``begin`` to ``end``, of Parquet the
    groups of rows with these numbers. Without ``end`` it goes to the end of the file."""

    def __init__(
        self,
        source: Source,
        columns: Mapping[str, str] | None = None,
        begin: int = 0,
        end: int | None = None,
        block: int = PIECE,
    ) -> None:
        self.name, self.columns = source.name, columns
        self.begin, self.end, self.block = begin, end, block
        self.passed = StreamHash(block)
        self.source = replace(source, watch=self.passed.add)
        self.about_hash: dict[str, Any] = {"block": block}  # how the hash can be computed again
        self._taken = 0
        self._counted = (0, 1)  # a place of the file, and the number of the line there

    def taken(self) -> int:
        """How many bytes have passed since it was last asked."""
        before, self._taken = self._taken, self.passed.bytes
        return self._taken - before

    def line_at(self, place: int) -> int:
        """The number of the line that begins at a place. The file is read up to there: for messages."""
        counted, line = self._counted
        file = ranges_of(self.source)
        if file is None or place < counted:
            return line
        with closing(file):
            for begin in range(counted, place, _AT_ONCE):
                line += read_range(file, begin, min(_AT_ONCE, place - begin)).count(b"\n")
        self._counted = place, line
        return line

    def gathered(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Documents]:
        """Ids and texts that come one after the other, some megabytes at a time."""
        ids: list[str] = []
        texts: list[str] = []
        held = 0
        for identifier, text in pairs:
            ids.append(identifier)
            texts.append(text)
            held += len(text)
            if held >= _AT_ONCE:
                yield Documents.of(self.name, as_strings(ids), as_strings(texts), self.taken())
                ids, texts, held = [], [], 0
        if ids:
            yield Documents.of(self.name, as_strings(ids), as_strings(texts), self.taken())
