"""One partition of a scan, as a worker does it: read, count, write a part and its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import Counter, make_counter
from evenrank.evidence.scan.documents import Collection
from evenrank.evidence.scan.duplicates import Uniqueness
from evenrank.evidence.scan.engine import counted_batch
from evenrank.evidence.scan.partitions import FileStretch, Partition, PartitionFile
from evenrank.evidence.scan.sharded import facts_of_file
from evenrank.evidence.scan.sources import open_collection
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.io.atomic import atomic_write
from evenrank.io.counts import CountsWriter
from evenrank.io.documents import NoDocumentsError
from evenrank.io.part_folder import is_sealed, part_path, read_record, sealed, write_record
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

    def open(self, file: PartitionFile, *, fast: bool) -> Collection:
        return open_collection(
            file.source(), format=file.format, columns=self.columns, fast=fast, block_bytes=self.block_bytes
        )

    def part(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, self.kind)

    def record(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, "json")


def count_partition(job: ScanJob, partition: Partition) -> Record | DataError:
    """Write the part of a partition, then its record; what is wrong with the data is given back."""
    try:
        kept = _kept(job, partition)
        if kept is not None:
            return kept  # the worker that did it was lost before anybody had taken the result
        return _count(job, partition)
    except DataError as error:
        return error.with_traceback(None)


def _kept(job: ScanJob, partition: Partition) -> Record | None:
    """The record of a finished partition, if it is about these files as they are and its part is sound."""
    record = read_record(job.record(partition.number))
    if record is None or not is_sealed(job.part(partition.number), record["part"], read=True):
        return None
    wanted = [{**stretch.to_dict(), "stamp": stretch.file.stamp} for stretch in partition.stretches]
    kept = record["stretches"]
    same = len(kept) == len(wanted) and all(
        {name: own.get(name) for name in about} == about for own, about in zip(kept, wanted, strict=True)
    )
    return record if same else None


def _count(job: ScanJob, partition: Partition) -> Record:
    counter = _counter(job.lexicon, job.tokenizer, job.terms)
    summary = ScanSummary(groups=dict.fromkeys(job.lexicon.groups, 0))
    ids = Uniqueness(fast=counter.fast)
    ends: list[str] = []  # the first id and the last of every batch
    stretches = []
    path = job.part(partition.number)
    with atomic_write(path) as file:
        writer = BatchWriter(file, job.schema) if job.kind == ARROW else CountsWriter(file, job.schema)

        def add(batch: pa.RecordBatch, bytes_read: int) -> None:
            writer.write(batch)
            summary.add(batch, bytes_read, finished=False)
            ids.add(ids.run_of(batch.column(0)))
            if len(batch):
                ends.extend(batch.column(0)[place].as_py() for place in (0, -1))

        try:
            for stretch in partition.stretches:
                stretches.append(_count_stretch(job, stretch, counter, add))
            writer.close(_source_of(partition, stretches))
        except BaseException:
            writer.abandon()
            raise
    record = {
        "stretches": stretches,
        "rows": summary.documents,
        "tokens": summary.tokens,
        "groups": summary.groups,
        "pieces": summary.pieces,
        "bytes read": summary.bytes_read,
        "ids": [*ends[:1], *ends[-1:]] if ids.ascending else None,
        "part": sealed(path),
    }
    write_record(job.record(partition.number), record)
    return record


def _count_stretch(
    job: ScanJob, stretch: FileStretch, counter: Counter, add: Callable[[pa.RecordBatch, int], None]
) -> dict[str, Any]:
    digests: list[bytes] = []
    rows = 0
    whole, facts = None, {}
    _check_size(stretch)
    try:
        with closing(job.open(stretch.file, fast=counter.fast)) as collection:
            for fetch in stretch.fetches(collection):
                documents = fetch()
                add(counted_batch(documents, counter, job.schema), documents.bytes_read)
                digests.append(documents.digest)
                rows += len(documents.ids)
            if stretch.whole:
                whole, facts = collection.provenance(digests), _facts(collection, digests)
    except NoDocumentsError:
        if not job.many:
            raise
    return {
        **stretch.to_dict(),
        "stamp": stretch.file.stamp,
        "rows": rows,
        "digests": [digest.hex() for digest in digests],
        "provenance": whole,
        "facts": facts,
    }


def _facts(collection: Collection, digests: list[bytes]) -> dict[str, Any]:
    """What a scan of many files keeps of one."""
    of_all = getattr(collection, "digest_of_all", None)
    last = [*digests[:-1], of_all()] if of_all is not None and digests else digests
    return facts_of_file(collection, last)


def _check_size(stretch: FileStretch) -> None:
    """A worker that sees another file under the same name would count something else."""
    file = stretch.file
    if file.in_store:
        return
    try:
        size = Path(file.address).stat().st_size
    except FileNotFoundError as error:
        raise DataError(
            f"{file.name}: a worker does not see it as {file.address}: put the collection where all workers "
            "see it under the same name"
        ) from error
    if size != file.size:
        raise DataError(
            f"{file.name}: has {size:,} bytes where a worker reads it, not {file.size:,}: give the same "
            "command again when nobody writes to it, and all workers see the same file"
        )


def _source_of(partition: Partition, stretches: list[dict[str, Any]]) -> dict[str, Any]:
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
