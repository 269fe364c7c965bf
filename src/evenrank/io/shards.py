"""The files of a collection: one file, many that a pattern matches, those of a folder, here or in a store."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from evenrank.errors import DataError, InputTypeError, ParameterError, counted, few
from evenrank.files import regular_file
from evenrank.io.document_formats import document_format_names, format_of_documents
from evenrank.io.remote import (
    REQUESTS,
    RemoteFile,
    StoredFile,
    is_remote,
    list_remote,
    matching_remote,
)
from evenrank.io.source import Source, as_text, check_format, has_packed_name
from evenrank.text import without_userinfo

Answer = TypeVar("Answer")

_PATTERN = re.compile(r"[*?\[]")
_DIGITS = re.compile(r"(\d+)")


class Shard(NamedTuple):
    """One file of a collection: ``address`` is a path, or that of a file in a store.

    ``stamp`` says when it was written, as far as its store knows: where size and stamp are the same, so is
    the content.
    """

    name: str  # as the user wrote it
    address: str
    size: int
    format: str
    stamp: str

    @property
    def in_store(self) -> bool:
        return is_remote(self.address)

    def source(self) -> Source:
        if self.in_store:
            return Source(self.name, stream=RemoteFile(self.address))
        return Source(self.name, path=Path(self.address))


def is_many(source: object) -> bool:
    """Whether a source stands for files that must be looked for: a pattern, a folder, a folder in a store.

    >>> is_many("shards/*.jsonl.gz"), is_many("docs.jsonl")
    (True, False)
    """
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return False
    name = os.fspath(source)
    if is_remote(name):
        return bool(_PATTERN.search(name)) or name.endswith("/") or format_of_documents(name) is None
    path = Path(name)
    try:
        if path.is_dir():
            return True
        return bool(_PATTERN.search(name)) and not path.exists()
    except (OSError, ValueError):  # no name that the system takes
        return False


def pattern_like(name: str) -> str:
    """The pattern of the files in the same folder with the same suffix; nothing for a name without one.

    >>> pattern_like("shards/part-0.jsonl.gz")
    'shards/*.jsonl.gz'
    """
    path = Path(name)
    suffixes = path.suffixes[-2:] if has_packed_name(name) else path.suffixes[-1:]
    return str(path.with_name("*" + "".join(suffixes))) if suffixes else ""


def list_shards(source: str | os.PathLike[str], format: str | None = None) -> tuple[Shard, ...]:
    """The files of a collection in their natural order: ``part-2`` stands before ``part-10``.

    ``source`` is a file, a pattern (``shards/*.jsonl.gz``, ``**/*.parquet``), a folder with everything below
    it, or any of these in a store (``s3://bucket/folder``). Names that begin with ``_`` or ``.`` are left
    out, as Spark and Hive do. All files must have one format: that of their names, or ``format``.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise InputTypeError(f"shards are looked for by a path or an address, got {type(source).__name__}")
    check_format(format, document_format_names())
    name = os.fspath(source)
    shown = as_text(without_userinfo(name))
    entries = sorted(_entries(name), key=lambda entry: natural_order(entry.address))
    if not entries:
        what = "no file matches" if _PATTERN.search(name) else "no such file, or no files in this folder"
        raise DataError(f"{shown}: {what} (names that begin with _ or . are left out): check the name")
    for entry in entries:
        if not is_remote(entry.address):
            regular_file(entry.address)
    filled = [entry for entry in entries if entry.size]
    if not filled:
        raise DataError(
            f"{shown}: no documents: {counted(len(entries), 'file is', 'files are')} there, all empty"
        )
    formats: dict[str | None, list[str]] = {}
    for entry in filled:
        formats.setdefault(format or format_of_documents(entry.address), []).append(as_text(entry.address))
    kind = next(iter(formats))
    if len(formats) > 1 or kind is None:
        found = ", ".join(f"{one or 'unknown'} ({few(names, 3)})" for one, names in formats.items())
        raise (ParameterError if None in formats else DataError)(
            f"{shown}: a collection has one format, told by the suffixes of its files; here are {found}: "
            "name files by a pattern ('shards/*.jsonl.gz', quoted), give all of them the "
            "same suffix, or say format= (in the project file format in [data.documents]), one of "
            f"{', '.join(document_format_names())}"
        )
    return tuple(Shard(as_text(one.address), one.address, one.size, kind, one.stamp) for one in filled)


def check_unchanged(shards: Sequence[Shard]) -> None:
    """Raise if somebody has written to one of these files: what was read of it may be half of this and half
    of that. One that is gone was there, and what was read is what it was."""
    for shard, now in zip(shards, each_file(lambda shard: _entries(shard.address), shards), strict=True):
        if now and now[0].stamp != shard.stamp:
            raise DataError(
                f"{shard.name}: was changed while it was read: give the same command again when nobody "
                "writes to it"
            )


def each_file(ask: Callable[[Shard], Answer], shards: Sequence[Shard]) -> Iterator[Answer]:
    """What a function says of each file: a store takes its time to answer, but answers many at once."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        yield from (pool.map if any(shard.in_store for shard in shards) else map)(ask, shards)


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Numbers in a name count as numbers.

    >>> sorted(["b-10", "b-9", "a"], key=natural_order)
    ['a', 'b-9', 'b-10']
    """
    pieces = _DIGITS.split(name)
    return [(0, int(piece), piece) if at % 2 else (1, 0, piece) for at, piece in enumerate(pieces)]


def _entries(name: str) -> list[StoredFile]:
    """The files that a name stands for; of a folder or a pattern those of which no part of the name below it
    is hidden."""
    path, is_pattern = Path(name), _PATTERN.search(name) is not None
    top = _PATTERN.split(name, maxsplit=1)[0].rpartition("/")[0]
    if is_remote(name):
        found = matching_remote(name) if is_pattern else list_remote(name)
        top = top if is_pattern else name
    elif path.is_dir():
        files = (Path(top) / file for top, _, files in os.walk(path, followlinks=True) for file in files)
        found, top = [local_file(file) for file in files], name
    elif path.exists():
        return [local_file(path)]
    elif is_pattern:
        paths = (Path(one) for one in glob.iglob(name, recursive=True))  # noqa: PTH207 (it may be absolute)
        found = [local_file(one) for one in paths if not one.is_dir()]
    else:
        return []
    start = top if top.endswith("/") else top + "/"

    def is_shown(address: str) -> bool:
        below = address[len(start) :] if address.startswith(start) else address.rpartition("/")[2]
        return not any(part.startswith(("_", ".")) for part in below.split("/"))

    return [entry for entry in found if is_shown(entry.address)]


def local_file(path: Path) -> StoredFile:
    """The stamp is the same until somebody writes to the file or puts another in its place."""
    status = path.stat()
    stamp = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
    return StoredFile(str(path), status.st_size, stamp)
