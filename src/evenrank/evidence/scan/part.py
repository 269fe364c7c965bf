"""One partition of a scan, as a worker does it: read, count, write a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import Counter, UnsoundText, make_counter
from evenrank.evidence.scan.documents import DocumentBatch, Documents, Fetch, pieces_in_order
from evenrank.evidence.scan.sources import open_collection
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.evidence.scan.unique_ids import Ascent
from evenrank.io.atomic import atomic_write
from evenrank.io.collections import (
    CollectionFile,
    FileStretch,
    Partition,
    Piece,
    Record,
    do_part,
    part_of,
    read_partition,
)
from evenrank.io.counts import CountsWriter, counts_batch, writing
from evenrank.io.executor import ahead
from evenrank.io.part_folder import sealed

ARROW, PARQUET = "arrow", "parquet"

Advance = Callable[[int], None]
"""Called with how many bytes more were read, where the work is done in this process."""


class ScanJob(NamedTuple):
    """All that a worker must know: plain values, which another process can be sent."""

    folder: str
    key: str
    kind: str  # ARROW: batches that will be joined to one file; PARQUET: parts of a folder
    lexicon: Lexicon
    tokenizer: str
    terms: bool
    schema: pa.Schema
    many: bool
    columns: Mapping[str, str] | None
    block_bytes: int
    threads: int = 1  # that count one partition
    size: int | None = None  # of the collection, where all of it is counted in this process

    @property
    def counter(self) -> Counter:
        return counter_of(self.lexicon, self.tokenizer, self.terms, self.size)

    def open(self, file: CollectionFile) -> Documents:
        return open_collection(
            file.source(), format=file.format, columns=self.columns, fast=self.counter.fast,
            block_bytes=self.block_bytes,
        )  # fmt: skip


@lru_cache(maxsize=4)
def counter_of(lexicon: Lexicon, tokenizer: str, terms: bool, size: int | None) -> Counter:
    """One for all partitions that a worker is sent."""
    return make_counter(lexicon, tokenizer, terms=terms, size=size)


def counted_batch(documents: DocumentBatch, counter: Counter, schema: pa.Schema) -> pa.RecordBatch:
    """The counts of some documents, as rows of the output."""
    try:
        counts = counter(documents.texts)
    except UnsoundText as unsound:
        raise documents.unsound(unsound.row) from unsound
    return counts_batch(schema, documents.ids, counts.lengths, counts.groups, counts.terms)


def count_partition(job: ScanJob, partition: Partition, advance: Advance | None = None) -> Record | DataError:
    """Write the part of a partition, then its record."""
    told = 0

    def tell(bytes_read: int) -> None:
        nonlocal told
        told += bytes_read
        if advance is not None:
            advance(bytes_read)

    done = do_part(part_of(job, partition), lambda path: _count(job, partition, path, tell))
    if told < partition.bytes:  # what could not be used is behind us as well
        tell(partition.bytes - told)
    return done


def _count(job: ScanJob, partition: Partition, path: Path, advance: Advance) -> Record:
    counter = job.counter
    summary = ScanSummary(groups=dict.fromkeys(job.lexicon.groups, 0))
    ascent = Ascent()

    def count(fetch: Fetch) -> tuple[pa.RecordBatch, int, bytes]:
        documents = fetch()
        return counted_batch(documents, counter, job.schema), documents.bytes_read, documents.digest

    with atomic_write(path) as file:
        made = BatchWriter(file, job.schema) if job.kind == ARROW else CountsWriter(file, job.schema)

        def keep(counted: Callable[[], tuple[pa.RecordBatch, int, bytes]]) -> tuple[bytes, int]:
            batch, bytes_read, digest = counted()
            writer.write(batch)
            summary.add(batch, bytes_read)
            ascent.add(batch.column(0))
            advance(bytes_read)
            return digest, len(batch)

        def pieces(collection: Documents, stretch: FileStretch) -> Iterator[Piece]:
            first, last, _ = stretch.pieces
            fetches = pieces_in_order(collection.pieces(first, last))
            with closing(ahead(count, fetches, job.threads)) as calls:
                for call in calls:
                    yield partial(keep, call)

        with writing(made) as writer:
            stretches = read_partition(job, partition, pieces)
            writer.close()
    return {
        "stretches": stretches,
        "documents": summary.documents,
        "tokens": summary.tokens,
        "groups": summary.groups,
        "pieces": summary.pieces,
        "bytes read": summary.bytes_read,
        "ids": ascent.ends,
        "part": sealed(path),
    }


class BatchWriter:
    """Batches as Arrow writes them, each as it is: what is joined later must have the same borders."""

    def __init__(self, file: Any, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_stream(file, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self, source: Mapping[str, Any] | None = None) -> None:
        self._writer.close()

    def abandon(self) -> None:
        """Nothing is held that would have to be given up."""
