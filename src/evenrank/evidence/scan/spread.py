"""A scan spread over an executor: partitions out to its workers, their parts in, one commit at the end."""

from __future__ import annotations

import os
import shutil
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import make_counter
from evenrank.evidence.scan.duplicates import ShardOf, Uniqueness
from evenrank.evidence.scan.part import ARROW, PARQUET, ScanJob, count_partition
from evenrank.evidence.scan.partitions import (
    partition_files,
)
from evenrank.evidence.scan.spread_files import SpreadFiles
from evenrank.evidence.scan.spread_ids import check_part_ids
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.io.counts import CountsWriter, counts_schema, ids_of_counts
from evenrank.io.counts_folder import CountsPart, commit_counts_folder, part_name
from evenrank.io.executor import Executor
from evenrank.io.output_folder import folder_target, new_counts_folder
from evenrank.io.outputs import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.part_folder import PartFolder, settings_key
from evenrank.io.partitioned import FinishedPart, Progress, run_partitions


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
    make_counter(lexicon, tokenizer, terms=terms)  # what is wrong with the options is said here
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
        schema, files.many, None if columns is None else dict(columns), block_bytes,
    )  # fmt: skip
    with parts.until_done(keep_sound=files.many):
        spread = SpreadFiles(files, job, partition_bytes)
        work = _SpreadScan(executor, job, spread)
        finished = spread.still_valid(dict(parts.records()))
        done = run_partitions(executor, partial(count_partition, job), spread.partitions, finished, progress)
        with closing(done):
            summary = work.to_file(done, parts, target) if folder is None else work.to_folder(done, target)
    summary.seconds = time.monotonic() - begin
    return summary


class _SpreadScan:
    """What becomes of the parts of a scan."""

    def __init__(self, executor: Executor, job: ScanJob, files: SpreadFiles) -> None:
        self._executor, self._job, self._files = executor, job, files

    def to_file(self, done: Iterator[FinishedPart], parts: PartFolder, target: Path) -> ScanSummary:
        """Join the batches of all parts, in their order, to the file that a scan here would write."""
        summary = ScanSummary(groups=dict.fromkeys(self._job.lexicon.groups, 0))
        ids = Uniqueness(fast=self._job.counter.fast)
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
                writer.close(self._provenance(summary, stretches))
            except BaseException:
                writer.abandon()
                raise
        try:
            ids.check(lambda: ids_of_counts([growing]), self._files.name, self._files.shard_of(stretches))
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
            self._files.part(part)
            _add(summary, part)
        stretches = [stretch for part in found for stretch in part.record["stretches"]]
        source = {"name": self._files.name, **self._provenance(summary, stretches)}
        files = [self._job.part(part.number) for part in found]

        def shard_of(places: Sequence[int]) -> ShardOf | None:
            return self._files.shard_of([own for at in places for own in found[at].record["stretches"]])

        ends = [part.record["ids"] for part in found]
        check_part_ids(self._executor, files, ends, summary.documents, self._files.name, shard_of)
        with new_counts_folder(target) as new:
            listed = []
            for part, file in zip(found, files, strict=True):
                name = part_name(part.number)
                _link(file, new / name)
                listed.append(CountsPart(name, part.record["rows"], **part.record["part"]))
            commit_counts_folder(new, listed, source)
        return summary

    def _batches(self, part: FinishedPart) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(os.fspath(self._files.part(part, read=True))) as file:
            yield from pa.ipc.open_stream(file)

    def _provenance(self, summary: ScanSummary, stretches: Sequence[dict[str, Any]]) -> dict[str, Any]:
        if not summary.documents:
            raise DataError(f"{self._files.name}: no documents")
        return self._files.provenance(stretches)


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
