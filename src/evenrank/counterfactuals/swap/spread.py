"""A swap by partitions: the workers of an executor swap them, and their pieces are joined here in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, make_block_swapper
from evenrank.counterfactuals.swap.pieces import SCHEMAS, JsonLines, Piece, TsvLines, swapped_documents
from evenrank.counterfactuals.swap.summary import SwapCounts
from evenrank.counterfactuals.swap.swapper import make_swapper
from evenrank.errors import DataError
from evenrank.evidence.scan.documents import Documents
from evenrank.evidence.scan.sources import open_collection
from evenrank.io.atomic import atomic_write
from evenrank.io.collections import (
    CollectionFile,
    FileStretch,
    Partition,
    Record,
    do_part,
    part_of,
    read_partition,
)
from evenrank.io.part_folder import sealed
from evenrank.io.ranges import FileRanges


class SwapJob(NamedTuple):
    """All that a worker must know: plain values, which another process can be sent."""

    folder: str
    key: str
    options: Mapping[str, Any]  # of make_swapper
    output: str
    name: str
    lines: bool  # the file is read and written as lines, else as documents
    many: bool
    columns: Mapping[str, str] | None
    block_bytes: int
    kind: str = "arrow"  # of the parts

    def open(self, file: CollectionFile) -> Documents:
        if self.lines:
            ranges = FileRanges(Path(file.address), file.name)
            if self.output == "jsonl":
                return JsonLines(ranges, file.name, self.block_bytes, self.columns)
            return TsvLines(ranges, file.name, self.block_bytes, fast=find_spec("numba") is not None)
        return open_collection(
            file.source(), format=file.format, columns=self.columns, block_bytes=self.block_bytes
        )


def swap_partition(job: SwapJob, partition: Partition) -> Record | DataError:
    """Write the swapped pieces of a partition, then its record."""
    return do_part(part_of(job, partition), partial(_swap, job, partition))


def _swap(job: SwapJob, partition: Partition, path: Path) -> Record:
    blocks, counts = _blocks(job), SwapCounts()
    with atomic_write(path) as file, pa.ipc.new_stream(file, SCHEMAS[job.output]) as writer:

        def keep(swapped: Callable[[], Piece]) -> tuple[bytes, int]:
            piece = swapped()
            writer.write_batch(piece.rows)
            counts.add(piece.counts)
            return piece.digest, piece.counts.documents

        def pieces(collection: Documents, stretch: FileStretch) -> Iterator[Callable[[], tuple[bytes, int]]]:
            first, last, _ = stretch.pieces
            if isinstance(collection, (TsvLines, JsonLines)):
                for index in range(first, len(collection) if last is None else last):
                    yield partial(keep, partial(collection.swapped, index, blocks))
            else:
                for fetch in collection.pieces(first, last):
                    yield partial(keep, partial(swapped_documents, fetch, blocks, job.output, job.name))

        stretches = read_partition(job, partition, pieces)
    return {**counts.to_record(), "stretches": stretches, "part": sealed(path)}


_made: dict[str, BlockSwapper] = {}


def _blocks(job: SwapJob) -> BlockSwapper:
    """One for all partitions of a swap that a worker is sent: the key is of everything that it depends on."""
    if job.key not in _made:
        _made.clear()
        _made[job.key] = make_block_swapper(make_swapper(**job.options))
    return _made[job.key]
