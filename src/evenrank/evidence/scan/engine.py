"""From documents to word counts: the pieces of a collection, counted by all cores, in order again."""

from __future__ import annotations

import logging
import os
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.counter import Counter, UnsoundText, make_counter
from evenrank.evidence.scan.documents import Collection, Fetch
from evenrank.evidence.scan.duplicates import IdRun, Uniqueness
from evenrank.evidence.scan.sources import open_collection
from evenrank.io.counts import CountsWriter, counts_batch, counts_of_table, counts_schema, read_counts
from evenrank.io.outputs import (
    check_not_read,
    growing_file,
    move_into_place,
    target_of,
    workers_of,
)
from evenrank.io.resumable import Resumable, check_unchanged
from evenrank.io.source import parquet_file

Progress = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much (None: unknown), and of what: bytes or documents."""


@dataclass
class ScanSummary:
    """What a scan did. ``found`` pieces were there from an earlier run and were not counted again."""

    documents: int = 0
    tokens: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    pieces: int = 0
    found: int = 0
    bytes_read: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class _Piece:
    index: int
    batch: pa.RecordBatch
    ids: IdRun
    bytes_read: int
    digest: bytes


def scan(
    source: object,
    lexicon: Lexicon | str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    tokenizer: str = "word",
    terms: bool = False,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> WordCounts:
    """Count the words of a lexicon in every document of a collection.

    ``source`` is what ``read_documents`` takes: a TSV, JSONL, Parquet or CSV file, ``-``, a table, pairs
    of id and text. ``lexicon`` may be anything that ``read_lexicon`` takes: the name of a shipped one, a
    file. ``terms`` keeps the count of every term; a lexicon with weights always does. With an ``output``
    the counts go to a Parquet file in constant memory; a scan that was interrupted goes on where it stopped,
    and its file is the same, byte for byte. ``threads`` is one a core unless said otherwise.

    >>> kin = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})
    >>> counts = scan([("d1", "My mother's mother"), ("d2", "nobody")], kin)
    >>> counts.counts.tolist(), counts.lengths.tolist()
    ([[2, 0], [0, 0]], [4, 1])
    """
    if output is not None:
        scan_file(
            source, lexicon, output, tokenizer=tokenizer, terms=terms, threads=threads, resume=resume,
            progress=progress, format=format, columns=columns,
        )  # fmt: skip
        return read_counts(output)
    lexicon = _lexicon(lexicon)
    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    counter = make_counter(lexicon, tokenizer, terms=terms)
    schema = counts_schema(lexicon, tokenizer, terms=terms)
    with closing(open_collection(source, format=format, columns=columns, fast=counter.fast)) as collection:
        work = _ScanWork(collection, counter, schema, None)
        batches = [piece.batch for piece in work.run(workers_of(threads), progress)]
        name = collection.name
    if not any(map(len, batches)):
        raise DataError(f"{name}: no documents")
    work.ids.check(lambda: (batch.column(0) for batch in batches), name)
    return counts_of_table(pa.Table.from_batches(batches), lexicon, tokenizer, name)


def scan_file(
    source: object,
    lexicon: Lexicon | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tokenizer: str = "word",
    terms: bool = False,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    block_bytes: int = BLOCK,
) -> ScanSummary:
    """``scan`` into a file, without reading it back: constant memory whatever the size."""
    begin = time.monotonic()
    target = target_of(output)
    for read in (source, lexicon):
        check_not_read(target, output, read)
    lexicon = _lexicon(lexicon)
    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    counter = make_counter(lexicon, tokenizer, terms=terms)
    workers = workers_of(threads)
    opened = open_collection(
        source, format=format, columns=columns, fast=counter.fast, block_bytes=block_bytes
    )
    with closing(opened) as collection:
        fingerprint = collection.fingerprint
        schema = counts_schema(lexicon, tokenizer, terms=terms, source={"name": collection.name})
        settings = {
            "lexicon": lexicon.fingerprint,
            "tokenizer": tokenizer,
            "terms": terms,
            "source": fingerprint,
            "source name": collection.name,
            "pieces": collection.kind,
            "unicode": unicodedata.unidata_version,
            "file": schema.metadata[b"evenrank.counts"].decode(),
        }
        parts = Resumable(
            target, "scan", settings, resume=resume and fingerprint is not None, stamp=collection.stamp,
            recheck=collection.recheck,
        )  # fmt: skip
        try:
            with parts.naming_the_output():
                summary = _write(collection, counter, schema, parts, target, workers, progress, lexicon)
            parts.remove()
        except DataError:  # the source must be mended, and then what was counted of it is of no use
            parts.remove()
            raise
        finally:
            parts.close()
    summary.seconds = time.monotonic() - begin
    logging.getLogger(__name__).info(
        "%s: %d pieces, %d found finished, %d bytes read",
        output, summary.pieces, summary.found, summary.bytes_read,
    )  # fmt: skip
    return summary


def _write(
    collection: Collection,
    counter: Counter,
    schema: pa.Schema,
    parts: Resumable,
    target: Path,
    threads: int,
    progress: Progress | None,
    lexicon: Lexicon,
) -> ScanSummary:
    """Count what is missing, join everything in a file beside the parts, and move it to its place."""
    growing = parts.growing
    summary = ScanSummary(groups=dict.fromkeys(lexicon.groups, 0))
    work = _ScanWork(collection, counter, schema, parts)
    with growing_file(growing) as file:
        writer = CountsWriter(file, schema)
        try:
            digests = []
            for piece in work.run(threads, progress):
                writer.write(piece.batch)
                digests.append(piece.digest)
                _add(summary, piece, finished=piece.index in parts.finished)
            check_unchanged(collection.name, collection.path, collection.stamp)
            writer.close(collection.provenance(digests))
        except BaseException:
            writer.abandon()
            raise
    try:
        if not summary.documents:
            raise DataError(f"{collection.name}: no documents")
        work.ids.check(lambda: _ids(growing), collection.name)
        move_into_place(growing, target)
    except BaseException:
        with suppress(OSError):
            growing.unlink()
        raise
    return summary


def _add(summary: ScanSummary, piece: _Piece, *, finished: bool) -> None:
    summary.pieces += 1
    summary.found += finished
    summary.bytes_read += piece.bytes_read
    summary.documents += len(piece.batch)
    summary.tokens += _total(piece.batch, 1)
    for column, group in enumerate(summary.groups, 2):
        summary.groups[group] += _total(piece.batch, column)


def _total(batch: pa.RecordBatch, column: int) -> int:
    return int(pc.sum(batch.column(column)).as_py() or 0)  # no rows have no sum


def _ids(path: Path) -> Iterator[pa.LargeStringArray]:
    with parquet_file(path) as raw, pa.parquet.ParquetFile(raw) as file:
        for batch in file.iter_batches(1 << 17, columns=["id"]):
            yield batch.column(0).cast(pa.large_string())


class _ScanWork:
    """The pieces of a collection through a pool of threads, out again in their order."""

    def __init__(
        self, collection: Collection, counter: Counter, schema: pa.Schema, parts: Resumable | None
    ) -> None:
        self._collection = collection
        self._counter = counter
        self._schema = schema
        self._parts = parts
        self.ids = Uniqueness(fast=counter.fast)

    def run(self, threads: int, progress: Progress | None) -> Iterator[_Piece]:
        finished: Container[int] = frozenset() if self._parts is None else self._parts.finished
        waiting: deque[tuple[int, Future[_Piece] | None]] = deque()
        pool = ThreadPoolExecutor(threads, thread_name_prefix="scan")
        done = 0
        try:
            for index, fetch in enumerate(self._collection.pieces(finished)):
                waiting.append((index, None if fetch is None else pool.submit(self._count, index, fetch)))
                # a few pieces ahead keep every thread busy, and no more than that stay in memory
                while len(waiting) > threads + 2:
                    yield (piece := self._next(waiting))
                    done = self._account(piece, done, progress)
            while waiting:
                yield (piece := self._next(waiting))
                done = self._account(piece, done, progress)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _next(self, waiting: deque[tuple[int, Future[_Piece] | None]]) -> _Piece:
        index, future = waiting.popleft()
        if future is not None:
            return future.result()
        if self._parts is None:
            raise ParameterError("a piece is finished, but there is no folder that it is in")
        batch = self._parts.load(index, self._schema)
        return _Piece(index, batch, self.ids.run_of(batch.column(0)), 0, self._parts.digest(index))

    def _count(self, index: int, fetch: Fetch) -> _Piece:
        documents = fetch()
        try:
            counts = self._counter(documents.texts)
        except UnsoundText as unsound:
            raise documents.unsound(unsound.row) from unsound
        batch = counts_batch(self._schema, documents.ids, counts.lengths, counts.groups, counts.terms)
        if self._parts is not None:
            self._parts.save(index, batch, documents.digest)
        ids = self.ids.run_of(documents.ids)
        return _Piece(index, batch, ids, documents.bytes_read, documents.digest)

    def _account(self, piece: _Piece, done: int, progress: Progress | None) -> int:
        self.ids.add(piece.ids)
        done += self._collection.done(piece.index, len(piece.batch))
        if progress is not None:
            progress(done, self._collection.total, self._collection.unit)
        return done


def _lexicon(lexicon: object) -> Lexicon:
    if isinstance(lexicon, Lexicon):
        return lexicon
    from evenrank.io.lexicons import read_lexicon

    return read_lexicon(lexicon)
