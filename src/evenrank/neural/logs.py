"""What training says while it runs: numbers by step, as JSON lines and as TensorBoard reads them.

TensorBoard's files are records of a length, the event, and a checksum of each; an event is a message of
protocol buffers with a time, a step, and names with numbers. Both are simple enough to be written here.
"""

from __future__ import annotations

import json
import math
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO


def _table() -> tuple[int, ...]:
    found = []
    for number in range(256):
        for _ in range(8):
            number = (number >> 1) ^ (0x82F63B78 if number & 1 else 0)  # Castagnoli's polynomial, reversed
        found.append(number)
    return tuple(found)


_CRC = _table()


def crc32c(data: bytes) -> int:
    """The checksum of the records.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    value = 0xFFFFFFFF
    for byte in data:
        value = _CRC[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    value = crc32c(data)
    rotated = ((value >> 15) | (value << 17)) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


def record(event: bytes) -> bytes:
    length = struct.pack("<Q", len(event))
    return length + _masked(length) + event + _masked(event)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _bytes_field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def scalar_event(when: float, step: int, values: Mapping[str, float]) -> bytes:
    """An event with numbers under names."""
    summary = b"".join(
        _bytes_field(1, _bytes_field(1, name.encode()) + b"\x15" + struct.pack("<f", value))
        for name, value in values.items()
    )
    return b"\x09" + struct.pack("<d", when) + b"\x10" + _varint(step) + _bytes_field(5, summary)


def first_event(when: float) -> bytes:
    return b"\x09" + struct.pack("<d", when) + _bytes_field(3, b"brain.Event:2")


class Log:
    """Numbers by step, appended to ``log.jsonl`` and to a file of TensorBoard's in the same folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        now = time.time()
        self._events: BinaryIO = (folder / f"events.out.tfevents.{now:.6f}.evenrank").open("ab")
        self._events.write(record(first_event(now)))
        self._lines = (folder / "log.jsonl").open("a", encoding="utf-8")

    def write(self, stage: str, step: int, values: Mapping[str, float]) -> None:
        now = time.time()
        self._events.write(
            record(scalar_event(now, step, {f"{stage}/{name}": value for name, value in values.items()}))
        )
        # JSON has no infinity, which a gradient is in float16 while its scale is sought
        rounded = {
            name: float(f"{value:.6g}") if math.isfinite(value) else None for name, value in values.items()
        }
        self._lines.write(json.dumps({"time": round(now, 3), "stage": stage, "step": step, **rounded}) + "\n")
        self._events.flush()
        self._lines.flush()

    def close(self) -> None:
        self._events.close()
        self._lines.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
