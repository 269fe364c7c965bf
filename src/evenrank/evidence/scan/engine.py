"""From documents to word counts: the pieces of a collection, counted by all cores, in order again."""

from __future__ import annotations

import logging
import os
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Container, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, DataErrors, ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.counter import Counter, UnsoundText, make_counter
from evenrank.evidence.scan.documents import Collection, DocumentBatch, Fetch, pieces_in_order
from evenrank.evidence.scan.duplicates import IdRun, Uniqueness
from evenrank.evidence.scan.sources import open_collection, size_of
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.io.counts import (
    CountsWriter,
    counts_batch,
    counts_of_table,
    counts_schema,
    ids_of_counts,
    read_counts,
)
from evenrank.io.output_folder import folder_target
from evenrank.io.outputs import (
    check_not_read,
    growing_file,
    move_into_place,
    target_of,
    workers_of,
)
from evenrank.io.resumable import Resumable, check_unchanged

Progress = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much (None: unknown), and of what: bytes or documents."""


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
    on: object = None,
) -> WordCounts:
    """Count the words of a lexicon in every document of a collection.

    ``source`` is what ``read_documents`` takes: a TSV, JSONL, Parquet or CSV file, ``-``, a table, pairs
    of id and text. ``lexicon`` may be anything that ``read_lexicon`` takes: the name of a shipped one, a
    file. ``terms`` keeps the count of every term; a lexicon with weights always does. With an ``output``
    the counts go to a Parquet file in constant memory; a scan that was interrupted goes on where it stopped,
    and its file is the same, byte for byte. ``threads`` is one a core unless said otherwise. An output whose
    name ends in ``/``, or that is a folder, gets one Parquet file for each partition of the collection.
    ``on`` is a cluster that does the work, with the same result: a client of Dask, a session of Spark,
    ``"dask"``, ``"dask://HOST:PORT"`` or ``"spark"``; it needs an output that all workers can write to.

    >>> kin = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})
    >>> counts = scan([("d1", "My mother's mother"), ("d2", "nobody")], kin)
    >>> counts.counts.tolist(), counts.lengths.tolist()
    ([[2, 0], [0, 0]], [4, 1])
    """
    if output is not None:
        scan_file(
            source, lexicon, output, tokenizer=tokenizer, terms=terms, threads=threads, resume=resume,
            progress=progress, format=format, columns=columns, on=on,
        )  # fmt: skip
        return read_counts(output)
    if on is not None:
        raise ParameterError("on= needs output=, a file or folder that all workers can write to")
    lexicon = _lexicon(lexicon)
    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    counter = make_counter(lexicon, tokenizer, terms=terms, size=size_of(source))
    schema = counts_schema(lexicon, tokenizer, terms=terms)
    with closing(open_collection(source, format=format, columns=columns, fast=counter.fast)) as collection:
        work = _ScanWork(collection, counter, schema, None)
        batches = [piece.batch for piece in work.run(workers_of(threads), progress)]
        name, shard_of = collection.name, getattr(collection, "shard_of", None)
    if not any(map(len, batches)):
        raise DataError(f"{name}: no documents")
    work.ids.check(lambda: (batch.column(0) for batch in batches), name, shard_of)
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
    on: object = None,
    partition_bytes: int | None = None,
) -> ScanSummary:
    """``scan`` into a file or a folder, without reading it back: constant memory whatever the size."""
    if on is not None or folder_target(output) is not None:
        return _spread(
            on, source, _lexicon(lexicon), output, threads=threads, tokenizer=tokenizer, terms=terms,
            resume=resume, progress=progress, format=format, columns=columns, block_bytes=block_bytes,
            partition_bytes=partition_bytes,
        )  # fmt: skip
    begin = time.monotonic()
    target = target_of(output)
    for read in (source, lexicon):
        check_not_read(target, output, read)
    lexicon = _lexicon(lexicon)
    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    counter = make_counter(lexicon, tokenizer, terms=terms, size=size_of(source))
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
        with parts.until_done():
            summary = _write(collection, counter, schema, parts, target, workers, progress, lexicon)
    summary.seconds = time.monotonic() - begin
    logging.getLogger(__name__).info(
        "%s: %d pieces, %d found finished, %d bytes read",
        output, summary.pieces, summary.found, summary.bytes_read,
    )  # fmt: skip
    return summary


def _spread(
    on: object,
    source: object,
    lexicon: Lexicon,
    output: str | os.PathLike[str],
    *,
    threads: int | None,
    terms: bool,
    **options: Any,
) -> ScanSummary:
    """A scan by partitions: with the cluster ``on``, or with the threads of this process."""
    import evenrank
    from evenrank.evidence.scan.spread import scan_on

    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    with evenrank.open_executor(on, threads) as executor:
        return scan_on(executor, source, lexicon, output, terms=terms, **options)


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
                summary.add(piece.batch, piece.bytes_read, finished=piece.index in parts.finished)
            check_unchanged(collection.name, collection.path, collection.stamp)
            writer.close(collection.provenance(digests))
        except BaseException:
            writer.abandon()
            raise
    try:
        if not summary.documents:
            raise DataError(f"{collection.name}: no documents")
        work.ids.check(
            lambda: ids_of_counts([growing]), collection.name, getattr(collection, "shard_of", None)
        )
        move_into_place(growing, target)
    except BaseException:
        with suppress(OSError):
            growing.unlink()
        raise
    return summary


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
        done = 0

        def pass_over(index: int, documents: int) -> None:
            nonlocal done
            done += self._collection.done(index, documents)
            if progress is not None:
                progress(done, self._collection.total, self._collection.unit)

        with closing(self._pieces(threads, pass_over)) as pieces:
            for piece in pieces:
                yield piece
                self.ids.add(piece.ids)
                pass_over(piece.index, len(piece.batch))

    def _pieces(self, threads: int, pass_over: Callable[[int, int], None]) -> Generator[_Piece]:
        """All pieces; where the data of one is wrong, the others are still read, for one error about all.

        ``pass_over`` is called for those that are read and not given out.
        """
        finished: Container[int] = frozenset() if self._parts is None else self._parts.finished
        waiting: deque[tuple[int, Future[_Piece] | None]] = deque()
        pool = ThreadPoolExecutor(threads, thread_name_prefix="scan")
        wrong = DataErrors()
        fetches = enumerate(pieces_in_order(self._collection.pieces(finished)))
        try:
            while not wrong.full:
                # a few pieces ahead keep every thread busy, and no more than that stay in memory
                for index, fetch in islice(fetches, threads + 3 - len(waiting)):
                    waiting.append((index, None if fetch is None else pool.submit(self._count, index, fetch)))
                if not waiting:
                    break
                index = waiting[0][0]
                try:
                    piece = self._next(waiting)
                except DataError as error:
                    wrong.add(error)
                    pass_over(index, 0)
                    continue
                if wrong:
                    pass_over(index, len(piece.batch))
                else:
                    yield piece
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        wrong.check()

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
        batch = counted_batch(documents, self._counter, self._schema)
        if self._parts is not None:
            self._parts.save(index, batch, documents.digest)
        ids = self.ids.run_of(documents.ids)
        return _Piece(index, batch, ids, documents.bytes_read, documents.digest)


def counted_batch(documents: DocumentBatch, counter: Counter, schema: pa.Schema) -> pa.RecordBatch:
    """The counts of some documents, as rows of the output."""
    try:
        counts = counter(documents.texts)
    except UnsoundText as unsound:
        raise documents.unsound(unsound.row) from unsound
    return counts_batch(schema, documents.ids, counts.lengths, counts.groups, counts.terms)


def _lexicon(lexicon: object) -> Lexicon:
    if isinstance(lexicon, Lexicon):
        return lexicon
    from evenrank.io.lexicons import read_lexicon

    return read_lexicon(lexicon)
