"""What a worker does with a partition, whatever the work is: read its files, and keep a record of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from evenrank.errors import MAY_PASS, DataError, DataErrors
from evenrank.evidence.scan.documents import Collection
from evenrank.evidence.scan.partitions import FileStretch, Partition, PartitionFile
from evenrank.io.documents import NoDocumentsError
from evenrank.io.part_folder import is_sealed, read_record, write_record
from evenrank.io.partitioned import Record


class PartJob(Protocol):
    """What a worker is told about its work."""

    @property
    def many(self) -> bool:
        """Whether there may be several files, of which some may be empty."""
        ...

    def open(self, file: PartitionFile) -> Collection: ...

    def part(self, number: int) -> Path: ...

    def record(self, number: int) -> Path: ...


Piece = Callable[[], tuple[bytes, int]]
"""Does the work on a piece; gives its digest and how many documents it has."""

Pieces = Callable[[Collection, FileStretch], Iterator[Piece]]
"""The pieces of a stretch of an open file."""


def do_partition(
    job: PartJob, partition: Partition, work: Callable[[], dict[str, Any]]
) -> Record | DataError:
    """Do the work on a partition and keep its record; what is wrong with the data is given back.

    A partition that is finished is not done again: the worker that did it was lost before anybody had taken
    the result. A store or a disk that fails says nothing about the data: its error is raised, so that the
    executor does the task again, as it does where a worker is lost.
    """
    try:
        kept = _kept(job, partition)
        if kept is not None:
            return kept
        record = work()
        write_record(job.record(partition.number), record)
        return record
    except MAY_PASS:
        raise
    except DataError as error:
        return error.with_traceback(None)


def read_partition(job: PartJob, partition: Partition, pieces: Pieces) -> list[dict[str, Any]]:
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


def _read_stretch(job: PartJob, stretch: FileStretch, pieces: Pieces, wrong: DataErrors) -> dict[str, Any]:
    """Read some pieces of a file, or all of them."""
    digests: list[bytes] = []
    rows = 0
    whole: dict[str, Any] | None = None
    facts: dict[str, Any] = {}
    _check_size(stretch)
    try:
        with closing(job.open(stretch.file)) as collection:
            for piece in pieces(collection, stretch):
                try:
                    digest, documents = piece()
                except (NoDocumentsError, *MAY_PASS):
                    raise
                except DataError as error:
                    wrong.add(error)
                    if wrong.full:
                        break
                else:
                    digests.append(digest)
                    rows += documents
            if stretch.whole and not wrong:
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
    """What is kept of one of many files."""
    of_all = getattr(collection, "digest_of_all", None)
    last = [*digests[:-1], of_all()] if of_all is not None and digests else digests
    return facts_of_file(collection, last)


def _kept(job: PartJob, partition: Partition) -> Record | None:
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


def facts_of_file(collection: Collection, digests: Sequence[bytes]) -> dict[str, Any]:
    """What is kept of one of many files: its hash, and how that can be computed again.

    Of a file that was read as one stream, the digest of its last piece is that of all of it.
    """
    if getattr(collection, "digest_of_all", None) is not None:
        return {"hash": digests[-1].hex()} if digests else {}
    facts = dict(collection.provenance(digests))
    facts.pop("bytes", None)
    return facts


def provenance_of_files(files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The hash of all files in their order, and what is known of each."""
    whole = hashlib.sha256("\n".join(f"{one.get('hash', '')}" for one in files).encode())
    return {"hash": whole.hexdigest(), "bytes": sum(one["bytes"] for one in files), "files": list(files)}
