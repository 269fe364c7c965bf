"""A hash of every byte: any change shows, whichever kernel computes it, however the bytes come."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank.io import content_hash
from evenrank.io.content_hash import (
    SHIFT,
    WORDS,
    StreamHash,
    hash_of_columns,
    hash_of_file,
    joined_digests,
    piece_digest,
    simple_sums,
)

CHUNK = 8 * WORDS
DATA = np.random.default_rng(0).integers(0, 256, 3 * CHUNK + 100, dtype=np.uint8).tobytes()


def test_the_sums_are_those_of_nh() -> None:
    """Black et al. (1999): the sum of products of neighbouring 32-bit words, each with its key, mod 2**64."""
    key = content_hash._key()
    sums = np.empty((3, 2), np.uint64)
    simple_sums(np.frombuffer(DATA[: 3 * CHUNK], "<u8").reshape(-1, WORDS), key, sums)
    halves = np.frombuffer(key.tobytes(), "<u4").tolist()
    words = np.frombuffer(DATA[CHUNK : 2 * CHUNK], "<u4").tolist()
    for column, shift in enumerate((0, 2 * SHIFT)):
        own = [(word + halves[place + shift]) % 2**32 for place, word in enumerate(words)]
        slow = sum(own[place] * own[place + 1] for place in range(0, len(own), 2)) % 2**64
        assert int(sums[1, column]) == slow


@pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed: evenrank[scan]")
@pytest.mark.parametrize("begin", [0, 1, 3])
def test_the_kernel_equals_the_simple_one(begin: int, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = memoryview(DATA)[begin:]
    made = set()
    for uses_kernel in (True, False):
        monkeypatch.setattr(content_hash, "_use_kernel", lambda size, used=uses_kernel: used)
        made.add(piece_digest(piece))
    assert len(made) == 1


def test_every_change_shows() -> None:
    seen = {piece_digest(DATA)}
    for place in range(0, len(DATA), 997):
        changed = bytearray(DATA)
        changed[place] ^= 1
        seen.add(piece_digest(changed))
    words = np.frombuffer(DATA, "<u8", 2 * WORDS).copy()
    for one, other in ((0, 1), (0, WORDS), (5, 900)):  # a sum alone would not see the order
        exchanged = words.copy()
        exchanged[[one, other]] = exchanged[[other, one]]
        seen.add(piece_digest(exchanged.tobytes()))
    seen |= {piece_digest(DATA[:-1]), piece_digest(DATA + b"\0"), piece_digest(b""), piece_digest(b"\0")}
    assert len(seen) == 1 + len(range(0, len(DATA), 997)) + 3 + 4


def test_a_stream_has_the_hash_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(DATA)
    passed = StreamHash(piece=CHUNK)
    for begin in range(0, len(DATA), 777):
        passed.add(DATA[begin : begin + 777])
    assert joined_digests(passed.digests()) == hash_of_file(tmp_path / "f", CHUNK)
    assert passed.bytes == len(DATA)
    assert hash_of_file(tmp_path / "f", 100) != hash_of_file(tmp_path / "f", CHUNK)


def test_only_the_columns_that_are_read_count(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], "text": ["x", "y"], "more": ["1", "2"]})
    others = {
        "one": table,
        "two": table.set_column(2, "more", pa.array(["3", "4"])),
        "three": table.set_column(1, "text", pa.array(["x", "z"])),
    }
    for name, own in others.items():
        pq.write_table(own, tmp_path / f"{name}.parquet", row_group_size=1)
    one, two, three = (
        hash_of_columns(tmp_path / f"{name}.parquet", ["id", "text"]) for name in ("one", "two", "three")
    )
    assert one == two != three


def test_digests_stay_what_they_are() -> None:
    """They are kept in files of counts, and others would make those of an earlier version look changed."""
    found = [piece_digest(data).hex()[:16] for data in (b"", b"some text", bytes(range(256)) * 80)]
    assert found == ["c804ce198ec337e3", "93cf36a4b43d4144", "cd15c40471af00c0"]
