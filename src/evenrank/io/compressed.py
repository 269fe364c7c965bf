"""Plain bytes out of gzip and Zstandard, told by their first bytes, with damage reported."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

from evenrank.errors import DataError, MissingExtraError

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
MAGIC_LENGTH = 4

_PACKED_BLOCK = 1 << 16  # small, because a block may unpack to a thousand times its size


def is_compressed(head: bytes) -> bool:
    return head.startswith((GZIP_MAGIC, ZSTD_MAGIC))


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
    unpacker, packed, produced = make(), head, 0
    while True:
        try:
            plain: bytes = unpacker.decompress(packed)
        except damage as error:
            raise DataError(
                f"{name}: the {kind} data is damaged after {produced:,} bytes of content: {error}"
            ) from error
        produced += len(plain)
        if plain:
            yield plain
        if not unpacker.eof:
            packed = read(_PACKED_BLOCK)
            if not packed:
                raise DataError(
                    f"{name}: the {kind} data is truncated: it ends after {produced:,} bytes of content"
                )
            continue
        packed = unpacker.unused_data or read(_PACKED_BLOCK)
        if kind == "gzip":  # files are padded with zeros on some media
            while packed and not packed.lstrip(b"\0"):
                packed = read(_PACKED_BLOCK)
        if not packed:
            return
        unpacker = make()
