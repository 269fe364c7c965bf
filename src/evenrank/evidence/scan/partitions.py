"""A collection cut into partitions that workers read on their own, whatever machine they are on.

A large plain file is cut into ranges of bytes, a large Parquet file into groups of rows; a file that can only
be read from its beginning is one partition, and small files share one. Where a partition ends depends on the
files alone, so that a second attempt, or another engine, finds the same ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.errors import MAY_PASS, DataError, ParameterError
from evenrank.evidence.scan.documents import Collection, Fetch, Stretch
from evenrank.io.remote import REQUESTS, RemoteFile, is_remote
from evenrank.io.shards import Shard, is_many, list_shards, stamp_of
from evenrank.io.source import Source, as_source, as_text

PARTITION = 1 << 26
MOST = 20_000  # partitions: a scheduler keeps account of each; larger collections have larger ones


class PartitionFile(NamedTuple):
    """A file of a collection, as every worker must see it."""

    name: str  # as the user wrote it
    address: str  # a whole path: workers need not stand in the same folder
    size: int
    stamp: str
    format: str | None

    def source(self) -> Source:
        if self.in_store:
            return Source(self.name, stream=RemoteFile(self.address))
        return Source(self.name, path=Path(self.address))

    @property
    def in_store(self) -> bool:
        return is_remote(self.address)


class FileStretch(NamedTuple):
    """Some pieces of one file, or all of them."""

    file: PartitionFile
    pieces: Stretch

    @property
    def whole(self) -> bool:
        return self.pieces.last is None

    def fetches(self, collection: Collection) -> Iterator[Fetch]:
        return collection.pieces(self.pieces.first, self.pieces.last)

    def to_dict(self) -> dict[str, Any]:
        """What a record says of it; the stamp is checked apart from the rest."""
        first, last, _ = self.pieces
        return {"file": self.file.name, "size": self.file.size, "first": first, "last": last}


class Partition(NamedTuple):
    """What one task reads."""

    number: int
    stretches: tuple[FileStretch, ...]

    @property
    def bytes(self) -> int:
        return sum(stretch.pieces.bytes for stretch in self.stretches)


Open = Callable[[PartitionFile], Collection]


class PartitionFiles(NamedTuple):
    """The files of a collection; ``many`` is whether it stands for any number of them, be it one."""

    name: str
    files: tuple[PartitionFile, ...]
    many: bool


def is_partitioned(source: object) -> bool:
    """Whether a source is a file or files, which can be read in partitions, and again."""
    if isinstance(source, (str, os.PathLike)) and (is_many(source) or is_remote(source)):
        return True
    file = as_source(source)
    return file is not None and file.path is not None and (file.path.is_file() or not file.path.exists())


def partition_files(source: object, format: str | None = None) -> PartitionFiles:
    """The files of a collection. Workers read them by name, so that nothing but files can be partitioned."""
    if isinstance(source, (str, os.PathLike)) and (is_many(source) or is_remote(source)):
        shards = list_shards(source, format)
        return PartitionFiles(as_text(os.fspath(source)), tuple(map(_of_shard, shards)), many=True)
    file = as_source(source)
    if file is None or file.path is None:
        name = "documents" if file is None else file.name
        raise ParameterError(
            f"{name}: a cluster, or a folder as output, needs a collection in partitions, and only files can "
            "be cut into them: save it to a file first, or write to a file (counts.parquet) without a cluster"
        )
    file.check()
    if not file.path.is_file():
        raise DataError(f"{file.name}: is not a plain file, which workers could read in partitions")
    size, stamp = stamp_of(file.path)
    own = PartitionFile(file.name, str(file.path.resolve()), size, stamp, format)
    return PartitionFiles(file.name, (own,), many=False)


def _of_shard(shard: Shard) -> PartitionFile:
    address = shard.address if is_remote(shard.address) else str(Path(shard.address).resolve())
    return PartitionFile(as_text(shard.address), address, shard.size, shard.stamp, shard.format)


def cut(files: Sequence[PartitionFile], opened: Open, size: int | None = None) -> list[Partition]:
    """The partitions of a collection, of about ``size`` bytes each."""
    total = sum(file.size for file in files)
    size = max(PARTITION if size is None else size, -(-total // MOST))
    partitions: list[Partition] = []
    waiting: list[FileStretch] = []
    held = 0
    for stretch in _stretches(files, opened, size):
        if waiting and held + stretch.pieces.bytes > size:
            partitions.append(Partition(len(partitions), tuple(waiting)))
            waiting, held = [], 0
        waiting.append(stretch)
        held += stretch.pieces.bytes
    if waiting:
        partitions.append(Partition(len(partitions), tuple(waiting)))
    return partitions


def _stretches(files: Sequence[PartitionFile], opened: Open, size: int) -> Iterator[FileStretch]:
    def cut_file(file: PartitionFile) -> list[Stretch]:
        if file.size <= size:  # many small files are not opened one by one to be planned
            return [Stretch(0, None, file.size)]
        try:
            with closing(opened(file)) as collection:
                return collection.stretches(size)
        except MAY_PASS:
            raise
        except DataError:  # whoever reads it says what is wrong, beside what is wrong with other files
            return [Stretch(0, None, file.size)]

    with ThreadPoolExecutor(REQUESTS) as pool:
        # a store takes its time to answer, but answers many at once
        found = pool.map(cut_file, files) if any(file.in_store for file in files) else map(cut_file, files)
        for file, stretches in zip(files, found, strict=True):
            for pieces in stretches:
                yield FileStretch(file, pieces)
