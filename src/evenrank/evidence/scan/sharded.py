"""A collection of many files: the collections of its files, one after another, as one row of pieces.

Pieces are numbered through all files. A file that can only be read from its beginning does not tell how many
pieces it has; so the last of them carries a digest, and the others none. When a scan goes on, that digest
says that the file is finished, and it is not opened again. Such a file has a piece even where it holds no
document: else its number would be that of the first piece of the next file.

A file that cannot be read has a piece that raises the error, so that the errors of all files come in order.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.errors import DataError
from evenrank.evidence.scan.documents import Collection, DocumentBatch, Fetch, Stretch, fetched, raising
from evenrank.io.compressed import is_packed
from evenrank.io.content_hash import DIGEST_BYTES
from evenrank.io.documents import NoDocumentsError
from evenrank.io.remote import is_remote
from evenrank.io.resumable import Recheck, Stamp
from evenrank.io.shards import Shard, check_files_unchanged

_NONE = bytes(DIGEST_BYTES)
_EMPTY = b"\xff" * DIGEST_BYTES  # marks a file without documents

Open = Callable[[Shard], Collection]


@dataclass
class _OpenShard:
    """A file whose pieces are being fetched. It is closed when the last of them has been."""

    shard: Shard
    first: int
    collection: Collection
    digests: list[bytes | None] = field(default_factory=list)
    waiting: int = 0  # pieces that were given out and are not fetched yet
    read_out: bool = False  # all pieces have been given out


class ShardedCollection:
    """Files in their order. ``open`` opens one of them; it is called when the first of its pieces is near."""

    unit = "bytes"

    def __init__(self, name: str, shards: Sequence[Shard], open: Open, kind: str) -> None:
        self.name = name
        self.kind = f"{len(shards)} files {kind}, a piece for each empty one"
        self.path: Path | None = None
        self.total: int | None = sum(shard.size for shard in shards)
        self._shards = tuple(shards)
        self._open = open
        self._lock = threading.Lock()
        self._firsts: list[int] = []  # the number of the first piece of each file that was reached
        self._rows: list[int] = []  # of each file, as far as pieces are done
        self._counts: dict[int, int] = {}  # how many pieces a file has, once that is known
        self._facts: dict[int, dict[str, Any]] = {}  # the provenance of files that are read
        self._opened: dict[int, _OpenShard] = {}
        self._units: dict[int, tuple[str, int | None, Callable[[int, int], int] | None]] = {}

    @property
    def fingerprint(self) -> str | None:
        listed = "\n".join(f"{shard.address}\t{shard.size}" for shard in self._shards)
        return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def stamp(self) -> Stamp | None:
        """One stamp of all files: whatever was written to one of them changes it."""
        own = "\n".join(f"{shard.address}\t{shard.stamp}" for shard in self._shards)
        digest = hashlib.sha256(own.encode("utf-8", "surrogateescape")).digest()
        return Stamp(self.total or 0, int.from_bytes(digest[:6], "little"), 0, 0, len(self._shards))

    @property
    def recheck(self) -> Recheck | None:
        return None  # a file that was read as one stream has no pieces that could be read again

    def provenance(self, digests: Sequence[bytes]) -> dict[str, Any]:
        """The files in their order, each with its size and the hash of what was read of it."""
        check_files_unchanged((shard.address, shard.stamp) for shard in self._shards)
        files = [
            {"name": shard.address, "bytes": shard.size, **self._facts.get(number, {})}
            for number, shard in enumerate(self._shards)
        ]
        return provenance_of_files(files)

    def pieces(self, finished: Container[int]) -> Iterator[Fetch | None]:
        index = 0
        for number in range(len(self._shards)):
            self._firsts.append(index)
            self._rows.append(0)
            known = self._finished_stream(index, finished)
            if known is not None:
                count, digest = known
                self._counts[number] = count
                self._facts[number] = {} if digest == _EMPTY else {"hash": digest.hex()}
                yield from [None] * count
            else:
                yield from self._pieces_of(number, index, finished)
            index += self._counts[number]

    def stretches(self, size: int) -> list[Stretch]:
        """All of it: partitions are cut file by file."""
        return [Stretch(0, None, self.total or 0)]

    def done(self, index: int, documents: int) -> int:
        number = self._number(index)
        self._rows[number] += documents
        shard, place = self._shards[number], index - self._firsts[number]
        unit, total, done = self._units.get(number, ("", None, None))
        if unit == "bytes" and done is not None:
            return done(place, documents)
        if total:
            return shard.size * documents // total
        return shard.size if self._counts.get(number) == place + 1 else 0

    def shard_of(self, row: int) -> str:
        """The file that a document is in, by its number among all that are done."""
        for shard, rows in zip(self._shards, self._rows, strict=False):
            if row < rows:
                return shard.address
            row -= rows
        return self.name

    def close(self) -> None:
        with self._lock:
            opened, self._opened = list(self._opened.values()), {}
        for one in opened:
            one.collection.close()

    def _number(self, index: int) -> int:
        """The file that a piece is of: the last one that begins there or before, and is not empty."""
        number = bisect_right(self._firsts, index) - 1
        while self._counts.get(number) == 0:
            number -= 1
        return number

    def _finished_stream(self, index: int, finished: Container[int]) -> tuple[int, bytes] | None:
        """How many pieces a file has whose pieces are all finished, where a digest marks the last one."""
        if not isinstance(finished, Mapping):
            return None
        shard = self._shards[len(self._firsts) - 1]
        if not self._is_stream(shard):
            return None
        count = 0
        while (digest := finished.get(index + count)) is not None:
            count += 1
            if digest != _NONE and digest:
                return count, digest
        return None

    def _is_stream(self, shard: Shard) -> bool:
        """Whether a file can only be read from its beginning, by its name and its first bytes."""
        if shard.format not in ("tsv", "jsonl", "parquet"):
            return True
        return shard.packed and (is_remote(shard.address) or is_packed(Path(shard.address)))

    def _pieces_of(self, number: int, first: int, finished: Container[int]) -> Iterator[Fetch | None]:
        shard = self._shards[number]
        try:
            collection = self._open(shard)
        except NoDocumentsError:
            self._counts[number] = 0
            yield from self._without_documents(number)
            return
        except DataError as error:
            self._counts[number] = 1
            yield raising(error)
            return
        opened = _OpenShard(shard, first, collection)
        self._units[number] = collection.unit, collection.total, collection.done
        with self._lock:
            self._opened[number] = opened
        count = 0
        try:
            for fetch in self._marked(collection, _Moved(finished, first)):
                if fetch is None:
                    opened.digests.append(_digest_of(finished, first + count))
                    yield None
                else:
                    opened.digests.append(None)
                    with self._lock:
                        opened.waiting += 1
                    yield self._watched(number, opened, count, fetch)
                count += 1
        except DataError as error:  # of a stream, which parses before it gives a piece
            self._counts[number] = count + 1
            yield raising(error)
            return
        self._counts[number] = count
        opened.read_out = True
        self._close_if_done(number, opened)
        if not count:
            yield from self._without_documents(number)

    def _without_documents(self, number: int) -> Iterator[Fetch | None]:
        shard = self._shards[number]
        if self._is_stream(shard):
            self._counts[number] = 1
            nothing = pa.array([], pa.large_string())
            yield lambda: fetched(shard.address, nothing, nothing, 0, _EMPTY)

    def _marked(self, collection: Collection, finished: Container[int]) -> Iterator[Fetch | None]:
        """The pieces of a file; where it is a stream, the last one is marked by the digest of the file."""
        of_all = getattr(collection, "digest_of_all", None)
        if of_all is None:
            yield from collection.pieces(finished)
            return
        waiting: list[Fetch | None] = []
        try:
            for fetch in collection.pieces(finished):
                yield from waiting
                waiting = [fetch]
        except NoDocumentsError:
            return
        for fetch in waiting:
            mark = of_all()
            yield None if fetch is None else _with_digest(fetch, mark)

    def _watched(self, number: int, opened: _OpenShard, place: int, fetch: Fetch) -> Fetch:
        def watched() -> DocumentBatch:
            batch = fetch()
            with self._lock:
                opened.digests[place] = batch.digest
                opened.waiting -= 1
            self._close_if_done(number, opened)
            return batch

        return watched

    def _close_if_done(self, number: int, opened: _OpenShard) -> None:
        with self._lock:
            if not opened.read_out or opened.waiting or number not in self._opened:
                return
            del self._opened[number]
        digests = [digest or b"" for digest in opened.digests]
        self._facts[number] = facts_of_file(opened.collection, digests)
        opened.collection.close()


def facts_of_file(collection: Collection, digests: Sequence[bytes]) -> dict[str, Any]:
    """What is kept of a file that was read to its end: its hash, and how that can be computed again.

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


class _Moved:
    """The finished pieces of one file, numbered from its own first one."""

    def __init__(self, finished: Container[int], first: int) -> None:
        self._finished, self._first = finished, first

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and index + self._first in self._finished


def _digest_of(finished: Container[int], index: int) -> bytes:
    found = finished.get(index, b"") if isinstance(finished, Mapping) else b""
    return bytes(found)


def _with_digest(fetch: Fetch, digest: bytes) -> Fetch:
    return lambda: replace(fetch(), digest=digest)
