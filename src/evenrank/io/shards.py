"""The files of a collection: one file, many that a pattern matches, those of a folder, here or in a store."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from evenrank.errors import DataError, InputTypeError, ParameterError, counted, few
from evenrank.files import regular_file
from evenrank.io.document_formats import document_format_names, format_of_documents
from evenrank.io.remote import (
    REQUESTS,
    RemoteEntry,
    RemoteFile,
    is_remote,
    list_remote,
    matching_remote,
)
from evenrank.io.source import Source, as_text, has_packed_name
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
    if format is not None and format not in document_format_names():
        raise ParameterError(f"format must be one of {', '.join(document_format_names())}, got {format!r}")
    name = os.fspath(source)
    shown = as_text(without_userinfo(name))
    entries = _entries(name)
    if not entries:
        raise _nothing_found(name, shown)
    for entry in entries:
        if not is_remote(entry.address):
            regular_file(entry.address)
    filled = [entry for entry in entries if entry.size]
    if not filled:
        raise DataError(
            f"{shown}: no documents: {counted(len(entries), 'file is', 'files are')} there, all empty"
        )
    entries = sorted(filled, key=lambda entry: natural_order(entry.address))
    formats = [format or format_of_documents(entry.address) for entry in entries]
    kind = _one_format(shown, entries, formats)
    return tuple(Shard(as_text(one.address), one.address, one.size, kind, _stamp(one)) for one in entries)


def check_unchanged(shards: Sequence[Shard]) -> None:
    """Raise if somebody has written to one of these files: what was read of it may be half of this and half
    of that."""
    for shard, now in zip(shards, each_file(_stamp_now, shards), strict=True):
        if now not in (None, shard.stamp):
            raise DataError(
                f"{shard.name}: was changed while it was read: give the same command again when nobody "
                "writes to it"
            )


def each_file(ask: Callable[[Shard], Answer], shards: Sequence[Shard]) -> Iterator[Answer]:
    """What a function says of each file: a store takes its time to answer, but answers many at once."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        yield from (pool.map if any(shard.in_store for shard in shards) else map)(ask, shards)


def _stamp_now(shard: Shard) -> str | None:
    """None if the file is gone: it was there, and what was read is what it was."""
    if shard.in_store:
        return next((_stamp(entry) for entry in list_remote(shard.address)), None)
    try:
        return stamp_of(Path(shard.address))[1]
    except OSError:
        return None


def stamp_of(path: Path) -> tuple[int, str]:
    """The size of a file, and what is the same until somebody writes to it or puts another in its place."""
    status = path.stat()
    return status.st_size, f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


def _stamp(entry: RemoteEntry) -> str:
    if not is_remote(entry.address):
        return stamp_of(Path(entry.address))[1]
    return f"{entry.size}-{entry.changed}"


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Numbers in a name count as numbers.

    >>> sorted(["b-10", "b-9", "a"], key=natural_order)
    ['a', 'b-9', 'b-10']
    """
    pieces = _DIGITS.split(name)
    return [(0, int(piece), piece) if at % 2 else (1, 0, piece) for at, piece in enumerate(pieces)]


def _entries(name: str) -> list[RemoteEntry]:
    if is_remote(name):
        if _PATTERN.search(name):
            return _visible(matching_remote(name), _before_pattern(name))
        return _visible(list_remote(name), name)
    path = Path(name)
    if path.is_dir():
        files = (Path(top) / file for top, _, files in os.walk(path, followlinks=True) for file in files)
        return _visible((_local(file) for file in files), name)
    if path.exists():
        return [_local(path)]
    if _PATTERN.search(name):
        found = (Path(one) for one in glob.iglob(name, recursive=True))  # noqa: PTH207 (it may be absolute)
        return _visible((_local(one) for one in found if not one.is_dir()), _before_pattern(name))
    return []


def _local(path: Path) -> RemoteEntry:
    status = path.stat()
    return RemoteEntry(str(path), status.st_size, status.st_mtime_ns)


def _visible(entries: Iterable[RemoteEntry], top: str) -> list[RemoteEntry]:
    """Those of which no part of the name below ``top`` is hidden."""
    start = top if top.endswith("/") else top + "/"

    def is_shown(address: str) -> bool:
        below = address[len(start) :] if address.startswith(start) else address.rpartition("/")[2]
        return not any(part.startswith(("_", ".")) for part in below.split("/"))

    return [entry for entry in entries if is_shown(entry.address)]


def _before_pattern(name: str) -> str:
    return _PATTERN.split(name, maxsplit=1)[0].rpartition("/")[0]


def _nothing_found(name: str, shown: str) -> DataError:
    if _PATTERN.search(name):
        folder = _before_pattern(name)
        if folder and not is_remote(name) and not Path(folder).is_dir():
            return DataError(f"{shown}: no file matches: there is no folder {as_text(folder)}")
        return DataError(
            f"{shown}: no file matches (names that begin with _ or . are left out): check the pattern"
        )
    if not is_remote(name) and Path(name).is_dir():
        return DataError(f"{shown}: the folder holds no files (names that begin with _ or . are left out)")
    return DataError(f"{shown}: no such file" + (" or folder" if is_remote(name) else ""))


def _one_format(shown: str, entries: Sequence[RemoteEntry], formats: Sequence[str | None]) -> str:
    first: dict[str, str] = {}
    unknown = []
    for entry, kind in zip(entries, formats, strict=True):
        if kind is None:
            unknown.append(as_text(entry.address))
        else:
            first.setdefault(kind, as_text(entry.address))
    if unknown:
        raise ParameterError(
            f"{shown}: the suffix of {few(unknown, 3)} does not tell the format: name the files by a pattern "
            "('shards/*.jsonl.gz', quoted), or pass format= (in the shell FILE:format=NAME), one of "
            f"{', '.join(document_format_names())}"
        )
    if len(first) > 1:
        examples = ", ".join(f"{kind} ({name})" for kind, name in first.items())
        raise DataError(
            f"{shown}: holds files of several formats: {examples}: a collection has one; name its files by a "
            "pattern ('shards/*.jsonl.gz', quoted)"
        )
    return next(iter(first))
