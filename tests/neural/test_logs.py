"""Logs: JSON lines, and the records that TensorBoard reads."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from evenrank.neural.logs import Log, crc32c


def test_checksums_are_those_of_castagnoli() -> None:
    """The check value of the catalogue of checksums, and one of RFC 3720."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_logs_are_records_that_tensorboard_reads(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.write("tune", 300, {"utility": 0.5})
    (path,) = tmp_path.glob("events.out.tfevents.*")
    data, events = path.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        for part, checksum in (
            (data[:8], data[8:12]),
            (data[12 : 12 + length], data[12 + length : 16 + length]),
        ):
            crc = crc32c(part)
            assert _masked(crc) == checksum
        events.append(data[12 : 12 + length])
        data = data[16 + length :]
    assert b"brain.Event:2" in events[0]
    assert b"tune/utility\x15" + struct.pack("<f", 0.5) in events[1]
    assert b"\x10\xac\x02" in events[1]  # step 300 as a varint
    row = json.loads((tmp_path / "log.jsonl").read_text())
    assert (row["stage"], row["step"], row["utility"]) == ("tune", 300, 0.5)


def test_infinite_numbers_are_null_in_json(tmp_path: Path) -> None:
    with Log(tmp_path) as log:
        log.write("tune", 1, {"gradient": float("inf"), "utility": 0.5})
    refuse = lambda name: pytest.fail(f"{name} is no JSON")  # noqa: E731
    row = json.loads((tmp_path / "log.jsonl").read_text(), parse_constant=refuse)
    assert (row["gradient"], row["utility"]) == (None, 0.5)


def _masked(crc: int) -> bytes:
    rotated = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)
