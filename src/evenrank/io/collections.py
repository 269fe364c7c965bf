"""A collection of documents in files, cut into parts that workers make something of, wherever they are.

A part is a large file's stretch, a file, or some small files together; where it ends depends on the files
alone, so that a second attempt, or another executor, finds the same ones. What a worker makes of it is a file
beside the output, and its record (``part_folder.py``). A part that is there is not made again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import pyarrow as pa

from evenrank.errors import MAY_PASS, DataError, DataErrors, EvenrankError, ParameterError, counted
from evenrank.io.atomic import atomic_write
from evenrank.io.content_hash import joined_digests
from evenrank.io.document_formats import document_formats
from evenrank.io.documents import format_of
from evenrank.io.executor import Executor, ThreadExecutor, ahead
from evenrank.io.part_folder import KEPT, PartFolder, check_seen, part_path, read_record, write_record
from evenrank.io.reading import Reading
from evenrank.io.remote import is_remote
from evenrank.io.shards import Shard, check_unchanged, each_file, is_many, list_shards, local_file
from evenrank.io.source import as_source, as_text

PART = 1 << 26
MOST = 20_000  # parts: a scheduler keeps account of each; larger collections have larger ones

Progress = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much (None: unknown), and of what: bytes or documents."""

Record = dict[str, Any]


class Stretch(NamedTuple):
    """What is read of a file: see ``Reading``."""

    file: Shard
    begin: int
    end: int | None
    bytes: int


class Partition(NamedTuple):
    """What one task reads, and where it writes what it makes of that."""

    number: int
    path: str
    stretches: tuple[Stretch, ...]

    @property
    def bytes(self) -> int:
        return sum(stretch.bytes for stretch in self.stretches)


class Collection(NamedTuple):
    """Files; ``many`` is whether the name stands for any number of them, be it one."""

    name: str
    files: tuple[Shard, ...]
    many: bool


class Work(Protocol):
    """What is made of a collection: a plain value, which another process can be sent."""

    @property
    def columns(self) -> Mapping[str, str] | None: ...

    @property
    def block_bytes(self) -> int: ...

    def read(self, reading: Reading, format: str) -> Iterator[Any]:
        """The pieces of a file, which know how many bytes were read for them: its documents, unless more of
        it is needed than these. What is wrong with one is given in its place."""
        ...

    def make(self, piece: Any) -> Any:
        """What becomes of a piece, which knows how many ``documents`` it had. Any thread may call it."""
        ...

    def write(self, file: BinaryIO, made: Iterator[Any]) -> Record:
        """Write what was made, in its order, and say what must be known of it."""
        ...


class FinishedPart(NamedTuple):
    """A file, its record, and whether it was there before."""

    path: Path
    record: Record
    found: bool


def is_in_files(source: object) -> bool:
    """Whether a source is a file or files, which can be read in parts, and again."""
    if isinstance(source, (str, os.PathLike)) and (is_many(source) or is_remote(source)):
        return True
    file = as_source(source)
    return file is not None and file.path is not None and (file.path.is_file() or not file.path.exists())


def collection_of(source: object, format: str | None = None) -> Collection:
    """The files of a collection. Workers read them by name, so that nothing but files can be cut."""
    if isinstance(source, (str, os.PathLike)) and (is_many(source) or is_remote(source)):
        shards = list_shards(source, format)
        return Collection(as_text(os.fspath(source)), tuple(map(_whole_address, shards)), many=True)
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
    _, size, stamp = local_file(file.path)
    own = Shard(file.name, str(file.path.resolve()), size, format_of(file, format), stamp)
    return Collection(file.name, (own,), many=False)


def _whole_address(shard: Shard) -> Shard:
    """Workers need not stand in the same folder."""
    return shard if shard.in_store else shard._replace(address=str(Path(shard.address).resolve()))


def planned(
    collection: Collection, work: Work, folder: PartFolder, kind: str, size: int | None = None
) -> list[Partition]:
    """The parts of a collection, of about ``size`` bytes each; ``kind`` is the suffix of what is made."""
    total = sum(file.size for file in collection.files)
    size = max(PART if size is None else size, -(-total // MOST))
    groups: list[list[Stretch]] = []
    held = size
    for stretch in _stretches(collection, work, size):
        if held + stretch.bytes > size or not groups:
            groups.append([])
            held = 0
        groups[-1].append(stretch)
        held += stretch.bytes
    parts = []
    for number, group in enumerate(map(tuple, groups)):
        # the name of its file stands for the settings, and for the files as they are now
        key = hashlib.sha256(repr((folder.key, number, group)).encode()).hexdigest()
        path = part_path(folder.folder.resolve(), number, folder.settings + key[: len(folder.settings)], kind)
        parts.append(Partition(number, str(path), group))
    return parts


def _stretches(collection: Collection, work: Work, size: int) -> Iterator[Stretch]:
    def cut(file: Shard) -> list[Stretch]:
        whole = [Stretch(file, 0, None, file.size)]
        if file.size <= size and collection.many:  # small files are not opened one by one to be planned
            return whole
        reading = Reading(file.source(), work.columns, block=work.block_bytes)
        try:
            edges = document_formats()[file.format].cut(reading, file.size, size)
        except MAY_PASS:
            raise
        except DataError:
            if not collection.many:  # it is said before any worker is asked
                raise
            return whole  # whoever reads it says it, beside what is wrong with other files
        return [Stretch(file, *edge) for edge in edges]

    for found in each_file(cut, collection.files):
        yield from found


def map_documents(
    executor: Executor, work: Work, parts: Sequence[Partition], progress: Progress | None = None
) -> Generator[FinishedPart]:
    """What is made of all parts, in their order, each as soon as those before it are there.

    What is wrong with the data of one does not keep the others from being read: in the end one error lists
    the problems of all of them, at most twenty.
    """
    log = logging.getLogger(__name__)
    found = [read_record(Path(part.path)) for part in parts]
    missing = [part for part, record in zip(parts, found, strict=True) if record is None]
    log.info("%s: %d partitions, %d finished before", executor.name, len(parts), len(parts) - len(missing))
    if executor.link is not None:
        log.info("%s shows the work at %s", executor.name, executor.link)
    advance = _Advance(parts, missing, progress)
    do = partial(do_part, work)
    here = isinstance(executor, ThreadExecutor)
    if isinstance(executor, ThreadExecutor):  # they tell themselves how far they are
        do = partial(do, threads=max(1, executor.threads // max(1, len(parts))), advance=advance)
    wrong = DataErrors()
    with closing(mapped(executor, do, missing)) as results:
        for part, record in zip(parts, found, strict=True):
            outcome: Record | DataError = next(results) if record is None else record
            if record is None and not here:
                advance(part.bytes)
            if isinstance(outcome, DataError):
                wrong.add(outcome)
                if wrong.full:
                    break
            elif not wrong:
                check_seen(Path(part.path), outcome)
                yield FinishedPart(Path(part.path), outcome, record is not None)
    wrong.check()


class _Advance:
    """Bytes that were read, by whatever thread, for a progress bar."""

    def __init__(
        self, parts: Sequence[Partition], missing: Sequence[Partition], progress: Progress | None
    ) -> None:
        self._total = sum(part.bytes for part in parts)
        self._done = self._total - sum(part.bytes for part in missing)
        self._progress, self._lock = progress, threading.Lock()

    def __call__(self, bytes_read: int) -> None:
        with self._lock:
            self._done = min(self._total, self._done + bytes_read)
            if self._progress is not None:
                self._progress(self._done, self._total, "bytes")


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


def do_part(
    work: Work, part: Partition, *, threads: int = 1, advance: Callable[[int], None] | None = None
) -> Record | DataError:
    """Make something of the documents of a part, then its record; ``threads`` make, and one reads.

    What is wrong with the data is given back. A part that is there is not made again: the worker that did it
    was lost before anybody had taken the result. A store or a disk that fails says nothing about the data:
    its error is raised, so that the executor does the task again, as it does where a worker is lost.
    """
    path, told = Path(part.path), 0

    def tell(bytes_read: int) -> None:
        nonlocal told
        told += bytes_read
        if advance is not None:
            advance(bytes_read)

    try:
        record = read_record(path)
        if record is None:
            stretches: list[Record] = []
            with atomic_write(path) as file:
                record = work.write(file, _made_of_part(work, part, threads, stretches, tell))
            read = sum(stretch["bytes"] for stretch in stretches)
            record = write_record(path, {**record, "stretches": stretches, "bytes read": read})
        return record
    except MAY_PASS:
        raise
    except DataError as error:
        return error.with_traceback(None)
    finally:
        if told < part.bytes:  # what could not be used is behind us as well
            tell(part.bytes - told)


def _made_of_part(
    work: Work, part: Partition, threads: int, stretches: list[Record], tell: Callable[[int], None]
) -> Iterator[Any]:
    """``stretches`` gets what must be known of each that was read."""
    wrong = DataErrors()
    for file, begin, end, _ in part.stretches:
        reading = Reading(file.source(), work.columns, begin, end, work.block_bytes)
        documents = 0
        try:
            if not (file.in_store or Path(file.address).is_file()):
                raise DataError(
                    f"{file.name}: a worker does not see it as {file.address}: put the collection where all "
                    "workers see it under the same name"
                )
            for made in made_of(work, work.read(reading, file.format), threads, tell):
                documents += made.documents
                yield made
        except MAY_PASS:
            raise
        except DataError as error:
            wrong.add(error)
            if wrong.full:
                break
        stretches.append({
            "file": file.name,
            "documents": documents,
            "bytes": reading.passed.bytes,
            "digests": [digest.hex() for digest in reading.passed.digests()],
            "about hash": reading.about_hash,
        })  # fmt: skip
    wrong.check()


def made_of(work: Work, pieces: Iterator[Any], threads: int, tell: Callable[[int], None]) -> Generator[Any]:
    """What is made of pieces, in their order. Where some are wrong, the others are still read, but no
    longer given: in the end there is one error about all."""
    wrong = DataErrors()

    def make(piece: Any) -> tuple[Any, int]:
        if isinstance(piece, DataError):
            raise piece
        return work.make(piece), piece.bytes_read

    def in_order() -> Iterator[Any]:
        """An error that ends the reading comes after what is wrong with the pieces before it."""
        try:
            yield from pieces
        except DataError as error:
            yield error

    with closing(ahead(make, in_order(), threads)) as calls:
        for call in calls:
            try:
                made, bytes_read = call()
            except MAY_PASS:
                raise
            except DataError as error:
                wrong.add(error)
                if wrong.full:
                    break
            else:
                if not wrong:
                    yield made
                tell(bytes_read)
    wrong.check()


def write_stream(
    work: Work, documents: Iterator[Any], file: BinaryIO, threads: int, progress: Progress | None
) -> Record:
    """Make something of what comes through a pipe or from memory: read once, it cannot be gone on with."""
    read = list[int]()

    def made() -> Iterator[Any]:
        done = 0
        for piece in made_of(work, documents, threads, read.append):
            yield piece
            done += piece.documents
            if progress is not None:
                progress(done, None, "documents")

    record = work.write(file, made())
    return {**record, "bytes read": sum(read)}


def batches_of(part: Path) -> Iterator[pa.RecordBatch]:
    """What a part in Arrow's format holds."""
    with part.open("rb") as file, pa.ipc.open_stream(file) as batches:
        yield from batches


def provenance_of(collection: Collection, parts: Iterable[FinishedPart]) -> dict[str, Any]:
    """The hash of all that was read, if nobody has written to it meanwhile; and of many files each."""
    check_unchanged(collection.files)
    by_file: dict[str, list[Record]] = {}
    for part in parts:
        for stretch in part.record["stretches"]:
            by_file.setdefault(stretch["file"], []).append(stretch)
    listed = []
    for file in collection.files:
        own = by_file.get(file.name, [])
        digests = [bytes.fromhex(digest) for stretch in own for digest in stretch["digests"]]
        about_hash = own[0]["about hash"] if own else {}
        listed.append({"name": file.name, "bytes": file.size, "hash": joined_digests(digests), **about_hash})
    if not collection.many:
        return {name: value for name, value in listed[0].items() if name != "name"}
    whole = hashlib.sha256("\n".join(one["hash"] for one in listed).encode())
    return {"hash": whole.hexdigest(), "bytes": sum(file.size for file in collection.files), "files": listed}
