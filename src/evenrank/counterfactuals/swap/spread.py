"""A swap spread over an executor: workers swap partitions, and their pieces are joined here in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, make_block_swapper
from evenrank.counterfactuals.swap.frames import FRAME, frame_of, piece_of
from evenrank.counterfactuals.swap.pieces import JsonLines, Piece, TsvLines, swap_batch
from evenrank.counterfactuals.swap.summary import SwapSummary
from evenrank.counterfactuals.swap.swapper import make_swapper
from evenrank.counterfactuals.swap.workers import Job, open_lines
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import UnsoundText
from evenrank.evidence.scan.documents import Collection, Fetch
from evenrank.evidence.scan.partition_work import do_partition, read_partition
from evenrank.evidence.scan.partitions import FileStretch, Partition, PartitionFile, partition_files
from evenrank.evidence.scan.sources import open_collection
from evenrank.evidence.scan.spread_files import SpreadFiles
from evenrank.io.atomic import atomic_write
from evenrank.io.executor import Executor
from evenrank.io.part_folder import PartFolder, part_path, sealed, settings_key
from evenrank.io.partitioned import FinishedPart, Progress, Record, run_partitions

Write = Callable[[Iterator[tuple[Piece, bool]], Path, Callable[[], dict[str, Any]]], SwapSummary]
"""Joins pieces, each with whether it was finished before, in a growing file and moves that to its place."""


class SwapPartJob(NamedTuple):
    """All that a worker must know: plain values, which another process can be sent."""

    folder: str
    key: str
    job: Job
    lines: bool  # the file is read and written as lines, else as documents
    many: bool

    def open(self, file: PartitionFile) -> Collection:
        if self.lines:
            found: Any = open_lines(self.job._replace(path=Path(file.address), name=file.name))
            return found  # type: ignore[no-any-return]  # both kinds of lines are collections too
        return open_collection(
            file.source(), format=file.format, columns=self.job.columns, block_bytes=self.job.block_bytes
        )

    def part(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, "arrow")

    def record(self, number: int) -> Path:
        return part_path(self.folder, number, self.key, "json")


def swap_partition(job: SwapPartJob, partition: Partition) -> Record | DataError:
    """Write the swapped pieces of a partition, then its record."""
    return do_partition(job, partition, lambda: _swap(job, partition))


def _swap(job: SwapPartJob, partition: Partition) -> Record:
    blocks = _blocks(job)
    path = job.part(partition.number)
    bytes_read: list[int] = []
    with atomic_write(path) as file, pa.ipc.new_stream(file, FRAME) as writer:

        def write(swapped: Callable[[], Piece]) -> tuple[bytes, int]:
            piece = swapped()
            writer.write_batch(frame_of(piece))
            bytes_read.append(piece.bytes_read)
            return piece.digest, piece.documents

        def pieces(collection: Collection, stretch: FileStretch) -> Iterator[Callable[[], tuple[bytes, int]]]:
            return (partial(write, swapped) for swapped in _pieces(job, collection, stretch, blocks))

        stretches = read_partition(job, partition, pieces)
    return {"stretches": stretches, "bytes read": bytes_read, "part": sealed(path)}


def _pieces(
    job: SwapPartJob, collection: Collection, stretch: FileStretch, blocks: BlockSwapper
) -> Iterator[Callable[[], Piece]]:
    if isinstance(collection, (TsvLines, JsonLines)):
        first, last, _ = stretch.pieces
        for index in range(first, len(collection) if last is None else last):
            yield partial(collection.swapped, index, blocks)
        return
    for fetch in stretch.fetches(collection):
        yield partial(_swapped, fetch, blocks, job.job)


def _swapped(fetch: Fetch, blocks: BlockSwapper, job: Job) -> Piece:
    documents = fetch()
    own = documents.ids, documents.texts, documents.bytes_read
    try:
        return swap_batch(*own, blocks, job.output, job.name)._replace(digest=documents.digest)
    except UnsoundText as unsound:
        raise documents.unsound(unsound.row) from unsound


_made: dict[str, BlockSwapper] = {}


def _blocks(job: SwapPartJob) -> BlockSwapper:
    """One for all partitions of a swap that a worker is sent: the key is of everything that it depends on."""
    if job.key not in _made:
        _made.clear()
        _made[job.key] = make_block_swapper(make_swapper(**job.job.options))
    return _made[job.key]


def swap_on(
    executor: Executor,
    job: Job,
    source: object,
    target: Path,
    settings: Mapping[str, Any],
    write: Write,
    *,
    lines: bool,
    resume: bool,
    progress: Progress | None,
    format: str | None,
    partition_bytes: int | None = None,
) -> SwapSummary:
    """Swap with the workers of an executor; the file is that of a swap without one, byte for byte."""
    files = partition_files(source, format)
    own = {**settings, "source": None, "partition": partition_bytes}  # files are checked one by one
    parts = PartFolder(target, "swap", own, resume=resume)
    told = SwapPartJob(str(parts.folder.resolve()), settings_key(own), job, lines, files.many)
    with parts.until_done(keep_sound=files.many):
        spread = SpreadFiles(files, told, partition_bytes)
        finished = spread.still_valid(dict(parts.records()))
        work = partial(swap_partition, told)
        stretches: list[dict[str, Any]] = []
        with closing(run_partitions(executor, work, spread.partitions, finished, progress)) as done:
            pieces = _joined(done, spread, stretches, job.output)
            summary = write(pieces, parts.growing, lambda: spread.provenance(stretches))
    return summary


def _joined(
    done: Iterator[FinishedPart], spread: SpreadFiles, stretches: list[dict[str, Any]], output: str
) -> Iterator[tuple[Piece, bool]]:
    for part in done:
        stretches += part.record["stretches"]
        with pa.memory_map(os.fspath(spread.part(part, read=True))) as file:
            for frame, read in zip(pa.ipc.open_stream(file), part.record["bytes read"], strict=True):
                yield piece_of(frame, output, bytes_read=0 if part.found else read), part.found
