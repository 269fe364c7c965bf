"""A scan by partitions: out to the workers of an executor, their parts in, one commit at the end."""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.part import ARROW, PARQUET, ScanJob, count_partition, counter_of
from evenrank.evidence.scan.partitions import partition_files
from evenrank.evidence.scan.sources import size_of
from evenrank.evidence.scan.spread_files import SpreadFiles
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.evidence.scan.unique_ids import ShardOf, check_ids
from evenrank.io.counts import CountsWriter, counts_schema, writing
from evenrank.io.counts_folder import CountsPart, commit_counts_folder, part_name
from evenrank.io.executor import Executor, ThreadExecutor
from evenrank.io.output_folder import folder_target, new_counts_folder
from evenrank.io.outputs import growing_file, move_into_place, target_of
from evenrank.io.part_folder import PartFolder, settings_key
from evenrank.io.partitioned import FinishedPart, Progress, run_partitions

JOINED = 1 << 24  # bytes of a partition whose part is joined with others: all cores have their share


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

    The file, and the parts of a folder, are the same whatever the executor is, byte for byte.
    """
    begin = time.monotonic()
    here = isinstance(executor, ThreadExecutor)
    folder = folder_target(output)
    target = target_of(output) if folder is None else folder
    size = size_of(source) if here else None
    counter_of(lexicon, tokenizer, terms, size)  # what is wrong with the options is said here
    files = partition_files(source, format)
    schema = counts_schema(lexicon, tokenizer, terms=terms, source={"name": files.name})
    if partition_bytes is None and folder is None:
        partition_bytes = JOINED
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
    parts = PartFolder(target, settings, resume=resume)
    job = ScanJob(
        str(parts.folder.resolve()), settings_key(settings), settings["parts"], lexicon, tokenizer, terms,
        schema, files.many, None if columns is None else dict(columns), block_bytes, size=size,
    )  # fmt: skip
    with parts.until_done(keep_sound=files.many and not (here and folder is None)):
        spread = SpreadFiles(files, job, partition_bytes)
        finished = spread.still_valid(dict(parts.records()))
        work = partial(count_partition, job)
        if isinstance(executor, ThreadExecutor):
            threads = max(1, executor.threads // max(1, len(spread.partitions)))
            advance = None if progress is None else _Advance(spread, finished, progress)
            work, progress = partial(count_partition, job._replace(threads=threads), advance=advance), None
        done = run_partitions(executor, work, spread.partitions, finished, progress)
        with closing(done):
            scanned = _SpreadScan(executor, job, spread)
            summary = (
                scanned.to_file(done, parts, target) if folder is None else scanned.to_folder(done, target)
            )
    summary.seconds = time.monotonic() - begin
    logging.getLogger(__name__).info(
        "%s: %d pieces, %d found finished, %d bytes read",
        output, summary.pieces, summary.found, summary.bytes_read,
    )  # fmt: skip
    return summary


class _Advance:
    """Bytes that the threads of this process have read, for a progress bar."""

    def __init__(self, files: SpreadFiles, finished: Mapping[int, Any], progress: Progress) -> None:
        sizes = {partition.number: partition.bytes for partition in files.partitions}
        self._total, self._done = sum(sizes.values()), sum(sizes[number] for number in finished)
        self._progress, self._lock = progress, threading.Lock()

    def __call__(self, bytes_read: int) -> None:
        with self._lock:
            self._done = min(self._total, self._done + bytes_read)
            self._progress(self._done, self._total, "bytes")


class _SpreadScan:
    """What becomes of the parts of a scan."""

    def __init__(self, executor: Executor, job: ScanJob, files: SpreadFiles) -> None:
        self._executor, self._job, self._files = executor, job, files

    def to_file(self, done: Iterator[FinishedPart], parts: PartFolder, target: Path) -> ScanSummary:
        """Join the batches of all parts, in their order."""
        found = []
        with growing_file(parts.growing) as file, writing(CountsWriter(file, self._job.schema)) as writer:
            for part in done:
                for batch in self._batches(part):
                    writer.write(batch)
                found.append(part)
            summary, provenance = self._summary(found)
            writer.close(provenance)
        try:
            self._check_ids(found, summary)
        except BaseException:
            parts.growing.unlink()
            raise
        move_into_place(parts.growing, target)
        return summary

    def to_folder(self, done: Iterator[FinishedPart], target: Path) -> ScanSummary:
        """Move the parts to their places when all are there, and commit them."""
        found = list(done)
        files = [self._files.part(part) for part in found]
        summary, provenance = self._summary(found)
        self._check_ids(found, summary)
        with new_counts_folder(target) as new:
            listed = []
            for part, file in zip(found, files, strict=True):
                name = part_name(part.number)
                _link(file, new / name)
                listed.append(CountsPart(name, part.record["rows"], **part.record["part"]))
            commit_counts_folder(new, listed, {"name": self._files.name, **provenance})
        return summary

    def _batches(self, part: FinishedPart) -> Iterator[pa.RecordBatch]:
        with self._files.part(part, read=True).open("rb") as file:
            yield from pa.ipc.open_stream(file)

    def _summary(self, found: Sequence[FinishedPart]) -> tuple[ScanSummary, dict[str, Any]]:
        """What was done, and the provenance of all that was read."""
        summary = ScanSummary(groups=dict.fromkeys(self._job.lexicon.groups, 0))
        for part in found:
            _add(summary, part)
        if not summary.documents:
            raise DataError(f"{self._files.name}: no documents")
        return summary, self._files.provenance([one for part in found for one in part.record["stretches"]])

    def _check_ids(self, found: Sequence[FinishedPart], summary: ScanSummary) -> None:
        def shard_of(places: Sequence[int]) -> ShardOf | None:
            return self._files.shard_of([own for at in places for own in found[at].record["stretches"]])

        files = [self._job.part(part.number) for part in found]
        ends = [part.record["ids"] for part in found]
        check_ids(self._executor, files, ends, summary.documents, self._files.name, shard_of)


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


def _link(file: Path, name: Path) -> None:
    """The part under its new name, and under its own until the folder is in its place."""
    try:
        os.link(file, name)
    except OSError:  # a file system without links
        shutil.copyfile(file, name)
