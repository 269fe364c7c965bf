"""A scan spread over an executor: partitions out to its workers, their parts in, one commit at the end."""

from __future__ import annotations

import os
import shutil
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, EvenrankError
from evenrank.evidence.scan.counter import make_counter
from evenrank.evidence.scan.documents import Collection
from evenrank.evidence.scan.duplicates import Uniqueness
from evenrank.evidence.scan.part import ARROW, PARQUET, ScanJob, count_partition
from evenrank.evidence.scan.partitions import (
    FileStretch,
    Partition,
    PartitionFile,
    PartitionFiles,
    cut,
    partition_files,
)
from evenrank.evidence.scan.sharded import facts_of_file, provenance_of_files
from evenrank.evidence.scan.spread_ids import check_part_ids
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import CountsWriter, counts_schema, ids_of_counts
from evenrank.io.counts_folder import CountsPart, commit_counts_folder, part_name
from evenrank.io.executor import Executor
from evenrank.io.output_folder import folder_target, new_counts_folder
from evenrank.io.outputs import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.part_folder import PartFolder, is_sealed, settings_key
from evenrank.io.partitioned import FinishedPart, Progress, Record, run_partitions
from evenrank.io.resumable import Stamp


def scan_on(
    executor: Executor,
    source: object,
    lexicon: Lexicon,
    output: str | os.PathLike[str],
    *,
    tokenizer: str,
    terms: bool,
    resume: bool,
    progress: Progress | None,
    format: str | None,
    columns: Mapping[str, str] | None,
    block_bytes: int,
    partition_bytes: int | None = None,
) -> ScanSummary:
    """Scan with the workers of an executor into a file, or into a folder where the output is one.

    The file is that of a scan without an executor, byte for byte; the parts of a folder are the same whatever
    the executor is.
    """
    begin = time.monotonic()
    folder = folder_target(output)
    target = target_of(output) if folder is None else folder
    counter = make_counter(lexicon, tokenizer, terms=terms)  # what is wrong with the options is said here
    files = partition_files(source, format)
    for read in (source, lexicon):
        check_not_read(target, output, read)
    schema = counts_schema(lexicon, tokenizer, terms=terms, source={"name": files.name})
    settings = {
        "lexicon": lexicon.fingerprint,
        "tokenizer": tokenizer,
        "terms": terms,
        "source name": files.name,
        "format": format,
        "columns": dict(columns or {}),
        "block": block_bytes,
        "partition": partition_bytes,
        "unicode": unicodedata.unidata_version,
        "file": schema.metadata[b"evenrank.counts"].decode(),
        "parts": ARROW if folder is None else PARQUET,
    }
    parts = PartFolder(target, "scan", settings, resume=resume)
    job = ScanJob(
        str(parts.folder.resolve()), settings_key(settings), settings["parts"], lexicon, tokenizer, terms,
        schema, files.many, columns, block_bytes,
    )  # fmt: skip
    try:
        work = _SpreadScan(executor, job, files, partition_bytes, fast=counter.fast)
        with parts.naming_the_output():
            finished = work.still_valid(dict(parts.records()))
            done = run_partitions(
                executor, partial(count_partition, job), work.partitions, finished, progress
            )
            with closing(done):
                summary = (
                    work.to_file(done, parts, target) if folder is None else work.to_folder(done, target)
                )
        parts.remove()
    except DataError:
        if not files.many:  # it must be mended, and then what was counted of it is of no use
            parts.remove()
        raise
    finally:
        parts.close()
    summary.seconds = time.monotonic() - begin
    return summary


class _SpreadScan:
    """The partitions of a scan, and what becomes of their parts."""

    def __init__(
        self,
        executor: Executor,
        job: ScanJob,
        files: PartitionFiles,
        size: int | None,
        *,
        fast: bool,
    ) -> None:
        self._executor, self._job, self._fast = executor, job, fast
        self._name, self._files, self._many = files
        if not files.many:  # what is wrong with the beginning of it is said before any worker is asked
            self._open(self._files[0]).close()
        self.partitions = cut(self._files, self._open, size)

    def _open(self, file: PartitionFile) -> Collection:
        return self._job.open(file, fast=self._fast)

    def still_valid(self, records: Mapping[int, Record]) -> dict[int, Record]:
        """The finished partitions whose files are what they were, and whose parts are whole."""
        found = {}
        for partition in self.partitions:
            record = records.get(partition.number)
            if record is not None and self._is_valid(partition, record):
                found[partition.number] = record
        return found

    def _is_valid(self, partition: Partition, record: Record) -> bool:
        kept = record.get("stretches", [])
        if len(kept) != len(partition.stretches) or not is_sealed(
            self._job.part(partition.number), record["part"], read=True
        ):
            return False
        return all(self._is_same(*pair) for pair in zip(partition.stretches, kept, strict=True))

    def _is_same(self, stretch: FileStretch, kept: Mapping[str, Any]) -> bool:
        """Whether a stretch is what was counted: by the file's stamp, or else by its content."""
        about = stretch.to_dict()
        if {name: kept.get(name) for name in about} != about:
            return False
        if kept["stamp"] == stretch.file.stamp:
            return True
        if stretch.file.in_store:
            return False
        with closing(self._open(stretch.file)) as collection:
            if collection.recheck is None:
                known = kept["provenance"] or {}
                if "hash" not in known:
                    return False
                return bool(known["hash"] == hash_of_file(Path(stretch.file.address), known["block"]))
            first = stretch.pieces.first
            again = (collection.recheck(first + place) for place in range(len(kept["digests"])))
            return bool([digest.hex() for digest in again] == kept["digests"])

    def to_file(self, done: Iterator[FinishedPart], parts: PartFolder, target: Path) -> ScanSummary:
        """Join the batches of all parts, in their order, to the file that a scan here would write."""
        summary = ScanSummary(groups=dict.fromkeys(self._job.lexicon.groups, 0))
        ids = Uniqueness(fast=self._fast)
        stretches: list[dict[str, Any]] = []
        growing = parts.growing
        with growing_file(growing) as file:
            writer = CountsWriter(file, self._job.schema)
            try:
                for part in done:
                    for batch in self._batches(part):
                        writer.write(batch)
                        ids.add(ids.run_of(batch.column(0)))
                    stretches += part.record["stretches"]
                    _add(summary, part)
                writer.close(self._finished(summary, stretches))
            except BaseException:
                writer.abandon()
                raise
        try:
            ids.check(lambda: ids_of_counts([growing]), self._name, self._shard_of(stretches))
            move_into_place(growing, target)
        except BaseException:
            with suppress(OSError):
                growing.unlink()
            raise
        return summary

    def to_folder(self, done: Iterator[FinishedPart], target: Path) -> ScanSummary:
        """Move the parts to their places when all are there, and commit them."""
        summary = ScanSummary(groups=dict.fromkeys(self._job.lexicon.groups, 0))
        found = list(done)
        for part in found:
            self._check_seen(part)
            _add(summary, part)
        stretches = [stretch for part in found for stretch in part.record["stretches"]]
        source = {"name": self._name, **self._finished(summary, stretches)}
        files = [self._job.part(part.number) for part in found]
        check_part_ids(
            self._executor, files, [part.record["ids"] for part in found], summary.documents, self._name,
            lambda places: self._shard_of([own for at in places for own in found[at].record["stretches"]]),
        )  # fmt: skip
        with new_counts_folder(target) as new:
            listed = []
            for part, file in zip(found, files, strict=True):
                name = part_name(part.number)
                _link(file, new / name)
                listed.append(CountsPart(name, part.record["rows"], **part.record["part"]))
            commit_counts_folder(new, listed, source)
        return summary

    def _shard_of(self, stretches: Sequence[Mapping[str, Any]]) -> Callable[[int], str] | None:
        """The file of a document, by its number among those of some stretches; None if there is one file."""
        if not self._many:
            return None
        ends = np.cumsum([stretch["rows"] for stretch in stretches])
        return lambda row: str(stretches[int(np.searchsorted(ends, row, side="right"))]["file"])

    def _batches(self, part: FinishedPart) -> Iterator[pa.RecordBatch]:
        self._check_seen(part)
        with pa.memory_map(os.fspath(self._job.part(part.number))) as file:
            yield from pa.ipc.open_stream(file)

    def _check_seen(self, part: FinishedPart) -> None:
        path = self._job.part(part.number)
        if not is_sealed(path, part.record["part"]):
            raise EvenrankError(
                f"{path}: a worker wrote it, but it is not seen here: choose an output in a folder that all "
                "workers share with this machine"
            )

    def _finished(self, summary: ScanSummary, stretches: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The provenance of all that was read, if nobody has written to it meanwhile."""
        if not summary.documents:
            raise DataError(f"{self._name}: no documents")
        for file in self._files:
            _check_unchanged(file)
        if not self._many:
            return self._provenance(self._files[0], stretches, "provenance")
        by_file: dict[str, list[dict[str, Any]]] = {}
        for stretch in stretches:
            by_file.setdefault(stretch["file"], []).append(stretch)
        return provenance_of_files(
            [
                {"name": file.name, "bytes": file.size}
                | self._provenance(file, by_file.get(file.name, []), "facts")
                for file in self._files
            ]
        )

    def _provenance(
        self, file: PartitionFile, stretches: Sequence[dict[str, Any]], kept: str
    ) -> dict[str, Any]:
        """Of a file that one worker read whole, as that has it; else from the digests of its pieces."""
        if stretches and stretches[0]["last"] is None:
            found: dict[str, Any] = stretches[0][kept] or {}
            return found
        digests = [bytes.fromhex(digest) for stretch in stretches for digest in stretch["digests"]]
        with closing(self._open(file)) as collection:
            return facts_of_file(collection, digests) if kept == "facts" else collection.provenance(digests)


def _add(summary: ScanSummary, part: FinishedPart) -> None:
    record = part.record
    summary.pieces += record["pieces"]
    summary.documents += record["rows"]
    summary.tokens += record["tokens"]
    for group, count in record["groups"].items():
        summary.groups[group] += count
    if part.found:
        summary.found += record["pieces"]
    else:
        summary.bytes_read += record["bytes read"]


def _check_unchanged(file: PartitionFile) -> None:
    if file.in_store:
        return
    try:
        now = Stamp.of(Path(file.address))
    except OSError:  # it is gone, but what was read is what it was
        return
    if f"{now.size}-{now.modified}" != file.stamp:
        raise DataError(
            f"{file.name}: was changed while it was read: give the same command again when nobody writes "
            "to it"
        )


def _link(file: Path, name: Path) -> None:
    """The part under its new name, and under its own until the folder is in its place."""
    try:
        os.link(file, name)
    except OSError:  # a file system without links
        shutil.copyfile(file, name)
