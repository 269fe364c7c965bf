"""A collection of documents in files, cut into partitions that workers map on their own, wherever they are.

A large plain file is cut into ranges of bytes, a large Parquet file into groups of rows; a file that can only
be read from its beginning is one partition, and small files share one. Where a partition ends depends on the
files alone, so that a second attempt, or another executor, finds the same ones. What a worker made of a
partition is a part: a file beside the output (``part_folder.py``) and its record. A part that is there is
not made again.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from evenrank.errors import MAY_PASS, DataError, DataErrors, EvenrankError, ParameterError, counted
from evenrank.io.content_hash import joined_digests
from evenrank.io.documents import NoDocumentsError
from evenrank.io.executor import Executor
from evenrank.io.part_folder import KEPT, SETTINGS, check_seen, part_path, read_record, write_record
from evenrank.io.remote import REQUESTS, RemoteFile, is_remote
from evenrank.io.shards import Shard, check_files_unchanged, is_many, list_shards, stamp_of
from evenrank.io.source import Source, as_source, as_text

PARTITION = 1 << 26
MOST = 20_000  # partitions: a scheduler keeps account of each; larger collections have larger ones

Progress = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much (None: unknown), and of what: bytes or documents."""

Record = dict[str, Any]


class Task(Protocol):
    @property
    def number(self) -> int: ...

    @property
    def bytes(self) -> int: ...


T = TypeVar("T", bound=Task)


class Stretch(NamedTuple):
    """Pieces that follow each other; ``last`` is the first one behind, None where only reading tells."""

    first: int
    last: int | None
    bytes: int


class Collection(Protocol):
    """An open file. Its pieces have the same borders every time."""

    name: str

    @property
    def about_hash(self) -> Mapping[str, Any]:
        """How the hash of the file can be computed again: the size of its blocks, or its columns."""
        ...

    def digests(self) -> list[bytes]:
        """Of what was read of a file as one stream; of others each piece has its own."""
        ...

    def stretches(self, size: int) -> list[Stretch]:
        """All pieces in stretches of about so many bytes, which can be read apart from each other."""
        ...

    def close(self) -> None: ...


class CollectionFile(NamedTuple):
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

    file: CollectionFile
    pieces: Stretch


class Partition(NamedTuple):
    """What one task reads."""

    number: int
    stretches: tuple[FileStretch, ...]

    @property
    def bytes(self) -> int:
        return sum(stretch.pieces.bytes for stretch in self.stretches)


class CollectionFiles(NamedTuple):
    """The files of a collection; ``many`` is whether it stands for any number of them, be it one."""

    name: str
    files: tuple[CollectionFile, ...]
    many: bool


class Job(Protocol):
    """What a worker is told about its work: plain values, which another process can be sent."""

    @property
    def folder(self) -> str:
        """Where the parts are."""
        ...

    @property
    def key(self) -> str:
        """Stands for all settings."""
        ...

    @property
    def kind(self) -> str:
        """The suffix of parts."""
        ...

    @property
    def many(self) -> bool:
        """Whether there may be several files, of which some may be empty."""
        ...

    def open(self, file: CollectionFile) -> Collection: ...


class FinishedPart(NamedTuple):
    """What became of a partition: its file, its record, and whether it was there before."""

    path: Path
    record: Record
    found: bool


def is_in_files(source: object) -> bool:
    """Whether a source is a file or files, which can be read in partitions, and again."""
    if isinstance(source, (str, os.PathLike)) and (is_many(source) or is_remote(source)):
        return True
    file = as_source(source)
    return file is not None and file.path is not None and (file.path.is_file() or not file.path.exists())


def collection_files(source: object, format: str | None = None) -> CollectionFiles:
    """The files of a collection. Workers read them by name, so that nothing but files can be partitioned."""
    if isinstance(source, (str, os.PathLike)) and (is_many(source) or is_remote(source)):
        shards = list_shards(source, format)
        return CollectionFiles(as_text(os.fspath(source)), tuple(map(_of_shard, shards)), many=True)
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
    own = CollectionFile(file.name, str(file.path.resolve()), size, stamp, format)
    return CollectionFiles(file.name, (own,), many=False)


def _of_shard(shard: Shard) -> CollectionFile:
    address = shard.address if is_remote(shard.address) else str(Path(shard.address).resolve())
    return CollectionFile(as_text(shard.address), address, shard.size, shard.stamp, shard.format)


def cut(files: CollectionFiles, job: Job, size: int | None = None) -> list[Partition]:
    """The partitions of a collection, of about ``size`` bytes each."""
    if not files.many:  # what is wrong with the beginning of it is said before any worker is asked
        job.open(files.files[0]).close()
    total = sum(file.size for file in files.files)
    size = max(PARTITION if size is None else size, -(-total // MOST))
    partitions: list[Partition] = []
    waiting: list[FileStretch] = []
    held = 0
    for stretch in _stretches(files.files, job, size):
        if waiting and held + stretch.pieces.bytes > size:
            partitions.append(Partition(len(partitions), tuple(waiting)))
            waiting, held = [], 0
        waiting.append(stretch)
        held += stretch.pieces.bytes
    if waiting:
        partitions.append(Partition(len(partitions), tuple(waiting)))
    return partitions


def _stretches(files: Sequence[CollectionFile], job: Job, size: int) -> Iterator[FileStretch]:
    def cut_file(file: CollectionFile) -> list[Stretch]:
        if file.size <= size:  # many small files are not opened one by one to be planned
            return [Stretch(0, None, file.size)]
        try:
            with closing(job.open(file)) as collection:
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


def part_of(job: Job, partition: Partition) -> Path:
    """The file of a part. Its name stands for the settings and for the files as they are now."""
    read = hashlib.sha256(repr((job.key, partition)).encode()).hexdigest()
    return part_path(job.folder, partition.number, job.key[:SETTINGS] + read[:SETTINGS], job.kind)


def map_documents(
    executor: Executor,
    job: Job,
    work: Callable[[Partition], Record | DataError],
    partitions: Sequence[Partition],
    finished: Mapping[int, Record],
    progress: Progress | None = None,
) -> Generator[FinishedPart]:
    """The parts of all partitions; ``work`` is a function that another process can import."""
    return map_parts(executor, work, partitions, partial(part_of, job), finished, progress)


def finished_parts(tasks: Iterable[T], path_of: Callable[[T], Path]) -> dict[int, Record]:
    """The records of parts that are there from an earlier run, by their numbers."""
    found = ((task.number, read_record(path_of(task))) for task in tasks)
    return {number: record for number, record in found if record is not None}


def map_parts(
    executor: Executor,
    work: Callable[[T], Record | DataError],
    tasks: Sequence[T],
    path_of: Callable[[T], Path],
    finished: Mapping[int, Record],
    progress: Progress | None = None,
) -> Generator[FinishedPart]:
    """The parts of all tasks in their order, as soon as those before them are there.

    What is wrong with the data of one does not keep the others from being read: in the end one error lists
    the problems of all of them, at most twenty. ``work`` calls ``do_part``; parts that are ``finished`` are
    there from an earlier run.
    """
    log = logging.getLogger(__name__)
    log.info("%s: %d partitions, %d finished before", executor.name, len(tasks), len(finished))
    if executor.link is not None:
        log.info("%s shows the work at %s", executor.name, executor.link)
    missing = [task for task in tasks if task.number not in finished]
    total, wrong = sum(task.bytes for task in tasks), DataErrors()
    done = total - sum(task.bytes for task in missing)
    with closing(mapped(executor, work, missing)) as results:
        for task in tasks:
            path = path_of(task)
            if task.number in finished:
                outcome: Record | DataError = finished[task.number]
            else:
                outcome = next(results)
                done += task.bytes
                if progress is not None:
                    progress(done, total, "bytes")
            if isinstance(outcome, DataError):
                wrong.add(outcome)
                if wrong.full:
                    break
            elif not wrong:
                check_seen(path, outcome)
                yield FinishedPart(path, outcome, task.number in finished)
    wrong.check()


def mapped(executor: Executor, work: Callable[[Any], Any], tasks: Sequence[Any]) -> Generator[Any]:
    """``executor.map``, which must give as many results as there are tasks."""
    results = executor.map(work, tasks) if tasks else iter(())
    try:
        for place, _ in enumerate(tasks):
            try:
                yield next(results)
            except StopIteration:
                raise EvenrankError(
                    f"{executor.name} ended without {counted(len(tasks) - place, 'result', 'results')} of "
                    f"{len(tasks)}; {KEPT}"
                ) from None
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()


Piece = Callable[[], tuple[bytes, int]]
"""Does the work on a piece; gives its digest and how many documents it has."""

Pieces = Callable[[Any, FileStretch], Iterator[Piece]]
"""The pieces of a stretch of an open file."""


def do_part(path: Path, make: Callable[[Path], Record]) -> Record | DataError:
    """Make a part, then its record; what is wrong with the data is given back.

    A part that is there is not made again: the worker that did it was lost before anybody had taken the
    result. A store or a disk that fails says nothing about the data: its error is raised, so that the
    executor does the task again, as it does where a worker is lost.
    """
    try:
        record = read_record(path)
        if record is None:
            record = make(path)
            write_record(path, record)
        return record
    except MAY_PASS:
        raise
    except DataError as error:
        return error.with_traceback(None)


def read_partition(job: Job, partition: Partition, pieces: Pieces) -> list[Record]:
    """Read all stretches of a partition; what a record keeps of each.

    What is wrong with one piece does not keep the others from being read: one error lists all problems.
    """
    wrong = DataErrors()
    found = []
    for stretch in partition.stretches:
        if wrong.full:
            break
        try:
            found.append(_read_stretch(job, stretch, pieces, wrong))
        except MAY_PASS:
            raise
        except DataError as error:
            wrong.add(error)
    wrong.check()
    return found


def _read_stretch(job: Job, stretch: FileStretch, pieces: Pieces, wrong: DataErrors) -> Record:
    digests: list[bytes] = []
    documents = 0
    about_hash: dict[str, Any] = {}
    _check_size(stretch.file)
    try:
        with closing(job.open(stretch.file)) as collection:
            for piece in pieces(collection, stretch):
                try:
                    digest, own = piece()
                except (NoDocumentsError, *MAY_PASS):
                    raise
                except DataError as error:
                    wrong.add(error)
                    if wrong.full:
                        break
                else:
                    documents += own
                    if digest:
                        digests.append(digest)
            digests += collection.digests()
            about_hash = dict(collection.about_hash)
    except NoDocumentsError:
        if not job.many:
            raise
    return {
        "file": stretch.file.name,
        "documents": documents,
        "digests": [digest.hex() for digest in digests],
        "about hash": about_hash,
    }


def _check_size(file: CollectionFile) -> None:
    """A worker that sees another file under the same name would count something else."""
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


def provenance_of(files: CollectionFiles, stretches: Iterable[Record]) -> dict[str, Any]:
    """The hash of all that was read, if nobody has written to it meanwhile; and of many files each."""
    check_files_unchanged((file.address, file.stamp) for file in files.files)
    by_file: dict[str, list[Record]] = {}
    for stretch in stretches:
        by_file.setdefault(stretch["file"], []).append(stretch)
    listed = []
    for file in files.files:
        own = by_file.get(file.name, [])
        digests = [bytes.fromhex(digest) for stretch in own for digest in stretch["digests"]]
        about_hash = own[0]["about hash"] if own else {}
        own_hash = joined_digests(digests)
        listed.append({"name": file.name, "bytes": file.size, "hash": own_hash, **about_hash})
    if not files.many:
        return {name: value for name, value in listed[0].items() if name != "name"}
    whole = hashlib.sha256("\n".join(one["hash"] for one in listed).encode())
    return {"hash": whole.hexdigest(), "bytes": sum(file.size for file in files.files), "files": listed}
