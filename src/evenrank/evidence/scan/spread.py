"""A scan by partitions: out to the workers of an executor, their parts in, one commit at the end."""

from __future__ import annotations

import logging
import os
import threading
import time
import unicodedata
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.part import ARROW, PARQUET, ScanJob, count_partition, counter_of
from evenrank.evidence.scan.sources import size_of
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.evidence.scan.unique_ids import check_ids
from evenrank.ids import as_strings
from evenrank.io.atomic import growing_file, move_into_place, target_of
from evenrank.io.collections import (
    CollectionFiles,
    FinishedPart,
    Partition,
    Progress,
    Record,
    collection_files,
    cut,
    finished_parts,
    map_documents,
    part_of,
    provenance_of,
)
from evenrank.io.counts import CountsWriter, counts_schema, ids_of_counts, writing
from evenrank.io.counts_folder import folder_target, write_parts
from evenrank.io.executor import Executor, ThreadExecutor
from evenrank.io.part_folder import PartFolder

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
    files = collection_files(source, format)
    schema = counts_schema(lexicon, tokenizer, terms=terms, source={"name": files.name})
    if partition_bytes is None and folder is None:
        partition_bytes = JOINED
    kind = ARROW if folder is None else PARQUET
    settings = {
        "lexicon": lexicon.fingerprint,
        "tokenizer": tokenizer,
        "terms": terms,
        "columns": dict(columns or {}),
        "block": block_bytes,
        "unicode": unicodedata.unidata_version,
        "file": schema.metadata[b"evenrank.counts"].decode(),
    }
    parts = PartFolder(target, settings, resume=resume)
    job = ScanJob(
        str(parts.folder.resolve()), parts.key, kind, lexicon, tokenizer, terms, schema, files.many,
        None if columns is None else dict(columns), block_bytes, size=size,
    )  # fmt: skip
    with parts.until_done(keep_sound=files.many and not (here and folder is None)):
        partitions = cut(files, job, partition_bytes)
        finished = finished_parts(partitions, partial(part_of, job))
        work = partial(count_partition, job)
        if isinstance(executor, ThreadExecutor):
            job = job._replace(threads=max(1, executor.threads // max(1, len(partitions))))
            advance = None if progress is None else _Advance(partitions, finished, progress)
            work, progress = partial(count_partition, job, advance=advance), None
        with closing(map_documents(executor, job, work, partitions, finished, progress)) as done:
            if folder is None:
                summary = _to_file(done, job, files, parts, target)
            else:
                summary = _to_folder(done, job, files, target)
    summary.seconds = time.monotonic() - begin
    logging.getLogger(__name__).info(
        "%s: %d pieces, %d found finished, %d bytes read",
        output, summary.pieces, summary.found, summary.bytes_read,
    )  # fmt: skip
    return summary


class _Advance:
    """Bytes that the threads of this process have read, for a progress bar."""

    def __init__(self, partitions: Sequence[Partition], finished: Container[int], progress: Progress) -> None:
        self._total = sum(partition.bytes for partition in partitions)
        self._done = sum(partition.bytes for partition in partitions if partition.number in finished)
        self._progress, self._lock = progress, threading.Lock()

    def __call__(self, bytes_read: int) -> None:
        with self._lock:
            self._done = min(self._total, self._done + bytes_read)
            self._progress(self._done, self._total, "bytes")


def _to_file(
    done: Iterator[FinishedPart], job: ScanJob, files: CollectionFiles, parts: PartFolder, target: Path
) -> ScanSummary:
    """Join the batches of all parts, in their order."""
    found = []
    with growing_file(parts.growing) as file, writing(CountsWriter(file, job.schema)) as writer:
        for part in done:
            for batch in _batches(part.path):
                writer.write(batch)
            found.append(part)
        summary = _summary(found, job, files)
        writer.close(provenance_of(files, _stretches(found)))
    try:
        _check_ids(found, summary, files)
    except BaseException:
        parts.growing.unlink()
        raise
    move_into_place(parts.growing, target)
    return summary


def _to_folder(
    done: Iterator[FinishedPart], job: ScanJob, files: CollectionFiles, target: Path
) -> ScanSummary:
    """Move the parts to their places when all are there, and commit them."""
    found = list(done)
    summary = _summary(found, job, files)
    source = {"name": files.name, **provenance_of(files, _stretches(found))}
    _check_ids(found, summary, files)
    write_parts(target, [(path, record["documents"], record["part"]) for path, record, _ in found], source)
    return summary


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    with path.open("rb") as file:
        yield from pa.ipc.open_stream(file)


def _stretches(found: Sequence[FinishedPart]) -> list[Record]:
    return [stretch for part in found for stretch in part.record["stretches"]]


def _summary(found: Sequence[FinishedPart], job: ScanJob, files: CollectionFiles) -> ScanSummary:
    summary = ScanSummary(groups=dict.fromkeys(job.lexicon.groups, 0))
    for _, record, was_there in found:
        summary.pieces += record["pieces"]
        summary.documents += record["documents"]
        summary.tokens += record["tokens"]
        for group, count in record["groups"].items():
            summary.groups[group] += count
        if was_there:
            summary.found += record["pieces"]
        else:
            summary.bytes_read += record["bytes read"]
    if not summary.documents:
        raise DataError(f"{files.name}: no documents")
    return summary


def _check_ids(found: Sequence[FinishedPart], summary: ScanSummary, files: CollectionFiles) -> None:
    stretches = _stretches(found)
    ends = list(accumulate(stretch["documents"] for stretch in stretches))

    def ids() -> Iterator[pa.LargeStringArray]:
        for path, *_ in found:
            if path.suffix == ".arrow":
                yield from (as_strings(batch.column(0)) for batch in _batches(path))
            else:
                yield from ids_of_counts([path])

    check_ids(
        ids,
        [part.record["ids"] for part in found],
        summary.documents,
        files.name,
        (lambda row: str(stretches[bisect_right(ends, row)]["file"])) if files.many else None,
    )
