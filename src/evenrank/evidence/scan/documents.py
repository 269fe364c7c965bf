"""A collection as numbered pieces of work, whatever it is kept in.

A piece is fetched, if it takes reading and parsing, by the thread that counts it; pieces have the same
borders every time, so that those which are finished need not be done again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from evenrank.errors import PROBLEMS_SHOWN, DataError
from evenrank.evidence.scan.counter import Texts
from evenrank.io.cells import id_cells, text_cells
from evenrank.io.content_hash import DIGEST_BYTES, PIECE, StreamHash, joined_digests
from evenrank.io.documents import read_documents
from evenrank.io.fingerprint import fingerprint
from evenrank.io.resumable import Recheck, Stamp
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

    def alone(self) -> DocumentBatch:
        """The same documents in memory that the next piece does not overwrite."""
        if not len(self.texts.starts):
            return self
        begin, end = int(self.texts.starts[0]), int(self.texts.ends[-1])
        data, starts, ends = self.texts
        return replace(self, texts=Texts(data[begin:end].copy(), starts - begin, ends - begin))

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


def pieces_in_order(pieces: Iterator[Fetch | None]) -> Iterator[Fetch | None]:
    """Pieces, and an error that ends them as the last one, so that errors of pieces before it come first."""
    try:
        yield from pieces
    except DataError as error:
        yield raising(error)


class Stretch(NamedTuple):
    """Pieces that follow each other; ``last`` is the first one behind, None where only reading tells."""

    first: int
    last: int | None
    bytes: int


class Collection(Protocol):
    name: str
    kind: str  # how pieces are cut; part of what a resumed scan must agree on
    unit: str  # what ``total`` and progress count: "bytes" or "documents"
    total: int | None

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        ...

    @property
    def fingerprint(self) -> str | None:
        """Tells one content from another; None for what can be read only once."""
        ...

    @property
    def stamp(self) -> Stamp | None:
        """Of the file when it was opened; None for what is no file."""
        ...

    @property
    def recheck(self) -> Recheck | None:
        """The digest of a piece, read anew; None where pieces have none."""
        ...

    def provenance(self, digests: Sequence[bytes]) -> dict[str, Any]:
        """The hash of all that was read, from the digests of all pieces; how it can be computed again."""
        ...

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        """All pieces in order; None for the finished ones, which are not read where that is possible."""
        ...

    def stretches(self, size: int) -> list[Stretch]:
        """All pieces in stretches of about so many bytes, which can be read apart from each other."""
        ...

    def done(self, index: int, documents: int) -> int:
        """How much of ``total`` piece ``index`` is."""
        ...

    def close(self) -> None: ...


class Stream:
    """Anything that ``read_documents`` reads, from the beginning; finished batches are passed over."""

    unit = "documents"
    total: int | None = None

    def __init__(self, source: object, format: str | None, columns: Mapping[str, str] | None) -> None:
        file = as_source(source)
        self.name = _name(source, file)
        self.kind = f"batches {format} {sorted((columns or {}).items())}"
        self.path = None if file is None or file.path is None or not file.path.is_file() else file.path
        self.stamp = None if self.path is None else Stamp.of(self.path)
        is_there = file is not None and (file.path is None or file.path.exists())
        self._passed = StreamHash() if is_there else None
        if file is not None and self._passed is not None:
            source = replace(file, watch=self._passed.add)
        self._content = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self._batches = read_documents(source, format=format, columns=columns, batch_rows=ROWS)

    @property
    def fingerprint(self) -> str | None:
        return None if self.path is None else fingerprint(self.path)

    @property
    def recheck(self) -> Recheck | None:
        return None  # one stream has no pieces that could be read again

    def provenance(self, digests: Sequence[bytes]) -> dict[str, Any]:
        if self.path is None or self._passed is None:
            return {}
        return {
            "hash": joined_digests(self._passed.digests()), "block": PIECE, "bytes": self._passed.bytes,
        }  # fmt: skip

    def digest_of_all(self) -> bytes:
        """Of everything that was read, when the last piece has been given out."""
        if self._passed is None or not self._passed.bytes:  # by Arrow, which read what it needed
            return self._content.digest()
        return bytes.fromhex(joined_digests(self._passed.digests()))[:DIGEST_BYTES]

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        before = 0
        for index, batch in enumerate(self._batches):
            if self._passed is None or not self._passed.bytes:
                self._content.update(batch.serialize())
            passed = _content_bytes(batch) if self._passed is None else self._passed.bytes - before
            before = 0 if self._passed is None else self._passed.bytes
            yield None if index in finished else _batch(self.name, batch, passed)

    def stretches(self, size: int) -> list[Stretch]:
        return [Stretch(0, None, 0 if self.path is None else self.path.stat().st_size)]

    def done(self, index: int, documents: int) -> int:
        return documents

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
