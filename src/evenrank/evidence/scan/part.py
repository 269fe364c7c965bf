"""One partition of a scan, as a worker does it: read, count, write a part and its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import Counter, make_counter
from evenrank.evidence.scan.documents import Collection, Fetch
from evenrank.evidence.scan.duplicates import Uniqueness
from evenrank.evidence.scan.engine import counted_batch
from evenrank.evidence.scan.partition_work import Piece, do_partition, read_partition
from evenrank.evidence.scan.partitions import FileStretch, Partition, PartitionFile
from evenrank.evidence.scan.sources import open_collection
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.io.atomic import atomic_write
from evenrank.io.counts import CountsWriter
from evenrank.io.part_folder import part_path, sealed
from evenrank.io.partitioned import Record

ARROW, PARQUET = "arrow", "parquet"


class ScanJob(NamedTuple):
    """All that a worker must know: plain values, which another process can be sent."""

    folder: str
    key: str
    kind: str  # ARROW: batches that will be joined to one file; PARQUET: parts of a folder
    lexicon: Lexicon
    tokenizer: str
    terms: bool
    schema: pa.Schema
    many: bool  # files of which some may be empty
    columns: Mapping[str, str] | None
    block_bytes: int

    @property
    def counter(self) -> Counter:
        return _counter(self.lexicon, self.tokenizer, self.terms)

    def open(self, file: PartitionFile) -> Collection:
        return open_collection(
            file.source(), format=file.format, columns=self.columns, fast=self.counter.fast,
            block_bytes=self.block_bytes,
        )  # fmt: skip

    def part(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, self.kind)

    def record(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, "json")


def count_partition(job: ScanJob, partition: Partition) -> Record | DataError:
    """Write the part of a partition, then its record."""
    return do_partition(job, partition, lambda: _count(job, partition))


def _count(job: ScanJob, partition: Partition) -> Record:
    counter = job.counter
    summary = ScanSummary(groups=dict.fromkeys(job.lexicon.groups, 0))
    ids = Uniqueness(fast=counter.fast)
    ends: list[str] = []  # the first id and the last of every batch
    path = job.part(partition.number)
    with atomic_write(path) as file:
        writer = BatchWriter(file, job.schema) if job.kind == ARROW else CountsWriter(file, job.schema)

        def count(fetch: Fetch) -> tuple[bytes, int]:
            documents = fetch()
            batch = counted_batch(documents, counter, job.schema)
            writer.write(batch)
            summary.add(batch, documents.bytes_read, finished=False)
            ids.add(ids.run_of(batch.column(0)))
            if len(batch):
                ends.extend(batch.column(0)[place].as_py() for place in (0, -1))
            return documents.digest, len(batch)

        def pieces(collection: Collection, stretch: FileStretch) -> Iterator[Piece]:
            return (partial(count, fetch) for fetch in stretch.fetches(collection))

        try:
            stretches = read_partition(job, partition, pieces)
            writer.close(_source_of(stretches))
        except BaseException:
            writer.abandon()
            raise
    return {
        "stretches": stretches,
        "rows": summary.documents,
        "tokens": summary.tokens,
        "groups": summary.groups,
        "pieces": summary.pieces,
        "bytes read": summary.bytes_read,
        "ids": [*ends[:1], *ends[-1:]] if ids.ascending else None,
        "part": sealed(path),
    }


def _source_of(stretches: list[dict[str, Any]]) -> dict[str, Any]:
    """The source of a part, where it is one whole file."""
    return stretches[0]["provenance"] or {} if len(stretches) == 1 else {}


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


@lru_cache(maxsize=4)
def _counter(lexicon: Lexicon, tokenizer: str, terms: bool) -> Counter:
    """One for all partitions that a worker is sent."""
    return make_counter(lexicon, tokenizer, terms=terms)
