"""A collection as numbered pieces of work, whatever it is kept in.

A piece is fetched, if it takes reading and parsing, by the thread that counts it; pieces have the same
borders every time, so that a stretch of them can be given to any worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from evenrank.errors import PROBLEMS_SHOWN, DataError
from evenrank.evidence.scan.counter import Texts
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.collections import Collection, Stretch
from evenrank.io.content_hash import PIECE, StreamHash
from evenrank.io.documents import read_documents
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source

ROWS = 1 << 14


@dataclass(frozen=True)
class DocumentBatch:
    """Some documents; ``texts`` may be overwritten when the thread fetches its next piece."""

    ids: pa.LargeStringArray
    texts: Texts
    bytes_read: int
    describe: Callable[[Texts, Sequence[int]], DataError]  # the error for rows whose texts are not UTF-8
    digest: bytes = b""  # of what was read for them, where a piece of a file is

    def unsound(self, first: int) -> DataError:
        """The error to raise when a text is not UTF-8: it lists this row and later ones, up to twenty."""
        rows = list(islice(_unsound_rows(self.texts, first), PROBLEMS_SHOWN + 1))
        return self.describe(self.texts, rows or [first])


def _unsound_rows(texts: Texts, first: int) -> Iterator[int]:
    for row in range(first, len(texts.starts)):
        if unsound_byte(texts, row) is not None:
            yield row


def unsound_byte(texts: Texts, row: int) -> int | None:
    """Where the text of a row is not UTF-8, counted from its beginning; None if all of it is."""
    try:
        bytes(texts.data[texts.starts[row] : texts.ends[row]]).decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


Fetch = Callable[[], DocumentBatch]


def raising(error: DataError) -> Fetch:
    """A piece that cannot be read: its error comes when its turn does."""

    def fetch() -> DocumentBatch:
        raise error

    return fetch


def pieces_in_order(pieces: Iterator[Fetch]) -> Iterator[Fetch]:
    """Pieces, and an error that ends them as the last one, so that errors of pieces before it come first."""
    try:
        yield from pieces
    except DataError as error:
        yield raising(error)


class Documents(Collection, Protocol):
    """An open collection whose pieces are documents."""

    def pieces(self, first: int = 0, last: int | None = None) -> Iterator[Fetch]:
        """The pieces from a number to another in order; of what is read as one stream always all."""
        ...


class Stream:
    """Anything that ``read_documents`` reads, from the beginning."""

    def __init__(self, source: object, format: str | None, columns: Mapping[str, str] | None) -> None:
        file = as_source(source)
        self.name = _name(source, file)
        self.path = None if file is None or file.path is None or not file.path.is_file() else file.path
        is_there = file is not None and (file.path is None or file.path.exists())
        self._passed = StreamHash() if is_there else None
        if file is not None and self._passed is not None:
            source = replace(file, watch=self._passed.add)
        self._batches = read_documents(source, format=format, columns=columns, batch_rows=ROWS)

    @property
    def about_hash(self) -> Mapping[str, Any]:
        return {"block": PIECE}

    def digests(self) -> list[bytes]:
        return [] if self._passed is None else self._passed.digests()

    def pieces(self, first: int = 0, last: int | None = None) -> Iterator[Fetch]:
        before = 0
        for batch in self._batches:
            passed = _content_bytes(batch) if self._passed is None else self._passed.bytes - before
            before = 0 if self._passed is None else self._passed.bytes
            yield _batch(self.name, batch, passed)

    def stretches(self, size: int) -> list[Stretch]:
        return [Stretch(0, None, 0 if self.path is None else self.path.stat().st_size)]

    def close(self) -> None:
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()


def document_cells(
    column: Callable[[str], Any], chosen: Mapping[str, str], report: RowProblems
) -> tuple[pa.LargeStringArray, pa.LargeStringArray]:
    """Ids and texts out of the columns of a table, every cell checked."""
    ids = id_cells(column(chosen["id"]), "id", report)
    titles = text_cells(column(chosen["title"]), "title", report) if "title" in chosen else None
    texts = text_cells(column(chosen["text"]), "text", report, titles=titles)
    report.check()
    return ids, texts


def fetched(
    name: str, ids: pa.LargeStringArray, texts: pa.LargeStringArray, bytes_read: int, digest: bytes = b""
) -> DocumentBatch:
    return named(name, ids, Texts.of(texts), bytes_read, digest)


def named(
    name: str, ids: pa.LargeStringArray, texts: Texts, bytes_read: int, digest: bytes = b""
) -> DocumentBatch:
    """Documents that are called by their id where something is wrong with one."""

    def describe(texts: Texts, rows: Sequence[int]) -> DataError:
        return DataError.joined(
            [DataError(f"{name}: the text of document {ids[row].as_py()!r} is not UTF-8") for row in rows]
        )

    return DocumentBatch(ids, texts, bytes_read, describe, digest)


def _batch(name: str, batch: pa.RecordBatch, bytes_read: int) -> Fetch:
    return lambda: fetched(name, batch.column("id"), batch.column("text"), bytes_read)


def _content_bytes(batch: pa.RecordBatch) -> int:
    """Of ids and texts, where nothing else was read."""
    return sum(int(pc.sum(pc.binary_length(column)).as_py() or 0) for column in batch.columns)


def _name(source: object, file: Source | None) -> str:
    if file is not None:
        return file.name
    return source if isinstance(source, str) else "documents"
