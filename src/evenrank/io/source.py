"""Anything that holds a file's bytes: a path, ``-`` for standard input, an open file, a file of a store.

What is packed with gzip or Zstandard is told by its first bytes, and damage is reported.
"""

from __future__ import annotations

import mmap
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from evenrank.errors import (
    DataError,
    DiskError,
    EvenrankWarning,
    InputTypeError,
    MissingExtraError,
    ParameterError,
    shortened,
)
from evenrank.files import regular_file
from evenrank.io.remote import RemoteFile, is_remote
from evenrank.text import without_userinfo

Format = str

# of runs, judgements and tables; documents and groups have further ones
SUFFIXES: dict[Format, tuple[str, ...]] = {
    "trec": (".trec", ".run", ".qrels"),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAGIC_LENGTH = 4
PACKED_SUFFIXES = (".gz", ".zst")

# small, because a block may unpack to a thousand times its size, and one of Zstandard to more
_PACKED_BLOCK = {"gzip": 1 << 16, "Zstandard": 1 << 12}
_BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"
# only these and those of formats are cut from a run's name: ``input.bm25`` is a name with a dot
_OTHER_SUFFIXES = {".txt", ".res", ".out"}


class Content(NamedTuple):
    """Bytes in memory, or mapped there from a file, after ``skipped`` bytes of a byte order mark."""

    buffer: pa.Buffer
    skipped: int = 0


@dataclass(frozen=True)
class Source:
    """Where bytes come from, and what to call it in a message."""

    name: str
    path: Path | None = None
    stream: Any = None
    watch: Callable[[bytes], object] | None = None  # is given all that is read, as it lies in the file

    @property
    def stem(self) -> str | None:
        """The file's name without folder and known suffixes; None for what is no file."""
        if self.path is None:
            return None
        name = _without_packing(as_text(self.path.name))
        suffix = Path(name).suffix
        known = format_of_suffix(suffix.lower()) or suffix.lower() in _OTHER_SUFFIXES
        return (name.removesuffix(suffix) if known else name) or self.path.name

    @property
    def guessed_format(self) -> Format | None:
        return guess_format(self.path or self.name)

    def check(self) -> None:
        """Raise now if there is no readable file."""
        if self.path is not None:
            self._opened(self.path).close()

    def content(self) -> Content:
        """The whole content, without a byte order mark. A plain file is mapped, not copied."""
        buffer = self._buffer()
        if buffer.size < len(_BOM) or buffer.slice(0, len(_BOM)).to_pybytes() != _BOM:
            return Content(buffer)
        warn_of_bom(self.name)
        return Content(buffer.slice(len(_BOM)), skipped=len(_BOM))

    def _buffer(self) -> pa.Buffer:
        if self.path is None:
            return pa.py_buffer(b"".join(self.blocks()))
        with self._opened(self.path) as file:
            if os.fstat(file.fileno()).st_size:
                compressed = is_compressed(file.read(MAGIC_LENGTH))
                file.seek(0)
                if not compressed:
                    return pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            return pa.py_buffer(b"".join(plain_blocks(file.read, self.name, _BLOCK)))

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes]:
        """The content in pieces, with no more than a few of them in memory."""
        with nullcontext(self.stream) if self.path is None else self._opened(self.path) as file:
            yield from plain_blocks(self._watched(_byte_reader(file, self.name)), self.name, size)

    def blocks_without_bom(self, size: int = _BLOCK) -> Iterator[bytes]:
        """The content in pieces, without a byte order mark at its beginning."""
        blocks = self.blocks(size)
        head = b""
        while len(head) < len(_BOM) and (piece := next(blocks, None)) is not None:
            head += piece  # a stream may give less than a mark at a time
        if head.startswith(_BOM):
            warn_of_bom(self.name)
            head = head[len(_BOM) :]
        yield head
        yield from blocks

    def _watched(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        def watched(size: int) -> bytes:
            piece = read(size)
            if self.watch is not None:
                self.watch(piece)
            return piece

        return watched

    def _opened(self, path: Path) -> BinaryIO:
        name = shortened(without_userinfo(self.name), 200)  # an address that was mistyped may hold a password
        try:
            return regular_file(path).open("rb")
        except DataError:
            raise
        except FileNotFoundError as error:
            hint = " (to read text itself, pass io.StringIO(text))" if "\n" in name else ""
            raise DataError(f"{name}: no such file{hint}") from error
        except OSError as error:
            kind = DataError if isinstance(error, PermissionError) else DiskError
            raise kind(f"{name}: cannot be read: {error.strerror}") from error
        except ValueError as error:  # a NUL inside the name
            raise DataError(f"{shortened(repr(name))}: is not a file name: {error}") from error


def as_source(value: object) -> Source | None:
    """The source that ``value`` stands for, or None if it is not a path or a file."""
    if isinstance(value, Source):
        return value
    if isinstance(value, str) and value == "-":
        if sys.stdin is None:
            raise DataError(
                "<stdin>: standard input is closed: name a file instead of -, or give it one with <"
            )
        return Source("<stdin>", stream=getattr(sys.stdin, "buffer", sys.stdin))
    if isinstance(value, str) and is_remote(value):
        return Source(as_text(value), stream=RemoteFile(value))
    if isinstance(value, (str, os.PathLike)):
        name = os.fsdecode(os.fspath(value))
        if not name:
            raise DataError("the file name is empty")
        return Source(as_text(name), path=Path(name))
    if callable(getattr(value, "read", None)):
        label = getattr(value, "name", None)
        return Source(label if isinstance(label, str) and label else "<file>", stream=value)
    return None


def as_text(name: str) -> str:
    """File names are bytes to the system; what is not UTF-8 in them is replaced, or no file could hold them.

    >>> as_text("gr\\udcfcn.trec")
    'gr\ufffdn.trec'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def parquet_file(path: Path) -> pa.OSFile:
    """For pyarrow, which takes a name that is not UTF-8 as bytes only."""
    return pa.OSFile(os.fsencode(regular_file(path)))


def guess_format(
    path: str | os.PathLike[str], more: Mapping[str, Format] = MappingProxyType({})
) -> Format | None:
    """The format that a name tells, before ``.gz`` or ``.zst``; ``more`` are suffixes of the caller's."""
    suffix = Path(_without_packing(os.fspath(path))).suffix.lower()
    return more.get(suffix) or format_of_suffix(suffix)


def format_of_suffix(suffix: str) -> Format | None:
    """
    >>> format_of_suffix(".ndjson")
    'jsonl'
    """
    return next((format for format, suffixes in SUFFIXES.items() if suffix in suffixes), None)


def format_names() -> tuple[Format, ...]:
    """What ``format=`` takes for runs and judgements: TREC, or any table."""
    return tuple(SUFFIXES)


def check_format(format: str | None, accepted: tuple[str, ...] | None = None) -> None:
    accepted = format_names() if accepted is None else accepted
    if format is not None and format not in accepted:
        raise ParameterError(f"format must be one of {', '.join(accepted)}, got {format!r}")


def warn_of_bom(name: str) -> None:
    warnings.warn(f"{name}: begins with a byte order mark, which was dropped", EvenrankWarning, stacklevel=2)


def _without_packing(name: str) -> str:
    suffix = Path(name).suffix
    return name[: -len(suffix)] if suffix.lower() in PACKED_SUFFIXES else name


def _byte_reader(stream: Any, name: str) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        try:
            piece = stream.read(size)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}: is not text in the encoding of the open file ({error.encoding}): use mode='rb'"
            ) from error
        except (OSError, EOFError) as error:
            raise DataError(f"{name}: cannot be read: {error}") from error
        if isinstance(piece, str):
            return piece.encode("utf-8", "surrogateescape")
        if piece is None:
            raise DataError(f"{name}: has no data yet: it is a stream that does not block")
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise InputTypeError(f"{name}: read() must give bytes or str, got {type(piece).__name__}")
        return bytes(piece)

    return read


def is_compressed(head: bytes) -> bool:
    return head.startswith((GZIP_MAGIC, ZSTD_MAGIC))


def has_packed_name(name: str) -> bool:
    return name.lower().endswith(PACKED_SUFFIXES)


def is_packed(path: Path) -> bool:
    """Whether a file is compressed, by its first bytes; one that cannot be opened is left to its reader."""
    try:
        with regular_file(path).open("rb") as file:
            return is_compressed(file.read(MAGIC_LENGTH))
    except OSError:
        return False


def plain_blocks(read: Callable[[int], bytes], name: str, block: int) -> Iterator[bytes]:
    """The content of a stream in blocks, decompressed where its first bytes say so."""
    head = b""
    while len(head) < MAGIC_LENGTH and (more := read(MAGIC_LENGTH - len(head))):
        head += more
    if head.startswith(GZIP_MAGIC):
        yield from _unpacked(head, read, name, "gzip", lambda: zlib.decompressobj(31), zlib.error)
    elif head.startswith(ZSTD_MAGIC):
        try:
            import zstandard
        except ImportError as error:
            raise MissingExtraError.for_job(f"reading {name} (Zstandard)", "zstandard", "zstd") from error
        engine = zstandard.ZstdDecompressor()
        yield from _unpacked(head, read, name, "Zstandard", engine.decompressobj, zstandard.ZstdError)
    elif head:
        yield head + read(block)
        while more := read(block):
            yield more


def _unpacked(
    packed: bytes,
    read: Callable[[int], bytes],
    name: str,
    kind: str,
    make: Callable[[], Any],
    damage: type[Exception],
) -> Iterator[bytes]:
    """Every member (frame) of a compressed stream, one after another."""
    padding = b"\0" if kind == "gzip" else b""  # behind a member, as on some media
    unpacker, produced = make(), 0
    while packed:
        try:
            plain: bytes = unpacker.decompress(packed)
        except damage as error:
            raise DataError(
                f"{name}: the {kind} data is damaged after {produced:,} bytes of content: {error}"
            ) from error
        produced += len(plain)
        if plain:
            yield plain
        packed = unpacker.unused_data.lstrip(padding) if unpacker.eof else b""
        while not packed and (more := read(_PACKED_BLOCK[kind])):
            packed = more.lstrip(padding) if unpacker.eof else more
        if unpacker.eof and packed:
            unpacker = make()
    if not unpacker.eof:
        raise DataError(f"{name}: the {kind} data is truncated: it ends after {produced:,} bytes of content")
