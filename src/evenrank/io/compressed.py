"""Plain bytes out of gzip and Zstandard, told by their first bytes, with damage reported."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.files import regular_file

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAGIC_LENGTH = 4
PACKED_SUFFIXES = (".gz", ".zst")

RATIO = "EVENRANK_UNPACK_RATIO"  # the variable that sets the limit; 0 lifts it
DEFAULT_RATIO = 200  # text packs 3 to 10 times, a run of one query and one tag perhaps 50 times

# small, because a block may unpack to a thousand times its size, and one of Zstandard to more
_PACKED_BLOCK = {"gzip": 1 << 16, "Zstandard": 1 << 12}
_ALWAYS_ALLOWED = 1 << 28  # bytes: what any machine can hold is no attack


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


def unpack_ratio() -> int:
    """How many times its size a compressed file may unpack to; 0 for any."""
    given = os.environ.get(RATIO, "")
    if not given:
        return DEFAULT_RATIO
    if not (given.isascii() and given.isdigit()):
        raise ParameterError(f"{RATIO} must be an integer >= 0 (0 is no limit), got {given!r}")
    return int(given)


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
    head: bytes,
    read: Callable[[int], bytes],
    name: str,
    kind: str,
    make: Callable[[], Any],
    damage: type[Exception],
) -> Iterator[bytes]:
    """Every member (frame) of a compressed stream, one after another."""
    unpacker, packed, produced, taken = make(), head, 0, len(head)
    limit, size = unpack_ratio(), _PACKED_BLOCK[kind]
    while True:
        try:
            plain: bytes = unpacker.decompress(packed)
        except damage as error:
            raise DataError(
                f"{name}: the {kind} data is damaged after {produced:,} bytes of content: {error}"
            ) from error
        produced += len(plain)
        if limit and produced > max(_ALWAYS_ALLOWED, limit * taken):
            raise DataError(
                f"{name}: the {kind} data unpacks to more than {limit:,} times its size ({taken:,} bytes "
                f"gave {produced:,} so far), which may be an attack. If it is not, set {RATIO}=0 in the "
                "environment, or unpack the file first"
            )
        if plain:
            yield plain
        if not unpacker.eof:
            packed = read(size)
            taken += len(packed)
            if not packed:
                raise DataError(
                    f"{name}: the {kind} data is truncated: it ends after {produced:,} bytes of content"
                )
            continue
        packed = unpacker.unused_data
        if not packed:
            packed = read(size)
            taken += len(packed)
        if kind == "gzip":  # files are padded with zeros on some media
            while packed and not packed.lstrip(b"\0"):
                packed = read(size)
                taken += len(packed)
        if not packed:
            return
        unpacker = make()
