"""A byte that a disk or a network changed is noticed: in parts that wait, and in what is made of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backwards import InRounds, Stops
from collections_in_formats import rows, write

import evenrank as er
from evenrank import DataError, Lexicon, read_groups
from evenrank.evidence.scan import derive_groups, scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15}


def flip(path: Path, share: float) -> None:
    """Change one bit of a file, at a share of its length."""
    content = bytearray(path.read_bytes())
    content[int(share * (len(content) - 1))] ^= 16
    path.write_bytes(content)


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {"" if file == path else file.name: file.read_bytes() for file in files}


def with_other_bits(path: Path, count: int) -> Iterator[bytes]:
    """A file with one bit changed, at its first sixteen bytes and ``count`` others, and then as it was.

    Not in the footer of a Parquet file, which has no checksum.
    """
    content, generator = path.read_bytes(), random.Random(1)
    footer = 8 + int.from_bytes(content[-8:-4], "little") if content.endswith(b"PAR1") else 0
    others = range(16, len(content) - footer)
    for place in [*range(16), *generator.sample(others, min(count, len(others)))]:
        changed = bytearray(content)
        changed[place] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        yield changed
    path.write_bytes(content)


def is_same(found: Any, sound: Any) -> bool:
    return bool(
        found.doc_ids.equals(sound.doc_ids)
        and np.array_equal(found.counts, sound.counts)
        and np.array_equal(found.lengths, sound.lengths)
        and found.lexicon == sound.lexicon
    )


@pytest.mark.parametrize("share", [0, 0.3, 0.5, 0.8, 1])
@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_a_damaged_part_of_an_interrupted_scan_is_made_again(
    tmp_path: Path, output: str, share: float
) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    scan_file(source, LEXICON, f"{tmp_path}/whole-{output}", on=(whole := InRounds()), **SIZES)
    with pytest.raises(Stops):
        scan_file(source, LEXICON, f"{tmp_path}/{output}", on=InRounds(0, after=3), **SIZES)
    parts = tmp_path / f"{output.rstrip('/')}.parts"
    (part,) = (path for path in parts.glob("part-00001-*") if path.suffix != ".json")
    flip(part, share)
    resumed = scan_file(source, LEXICON, f"{tmp_path}/{output}", on=(again := InRounds()), **SIZES)
    assert 0 < resumed.found < resumed.pieces
    assert again.rounds == [whole.rounds[0] - 2]
    assert contents(tmp_path / output) == contents(tmp_path / f"whole-{output}")


def scanned(source: Path, output: str, on: Any) -> Any:
    return scan_file(source, LEXICON, output, on=on, **SIZES)


@pytest.mark.parametrize("output", ["o.parquet", "o/"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.replace(b'"digest"', b'"tigest"'),
        lambda record: record.replace(b'"digest": "', b'"digest": "0'),
        lambda record: record[:-9],
        lambda record: b"[]",
    ],
    ids=["a key", "the digest", "its end", "no object"],
)
def test_a_part_whose_record_is_damaged_is_made_again(tmp_path: Path, output: str, damage: Any) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    expected = scanned(source, f"{tmp_path}/whole-{output}", whole := InRounds())
    with pytest.raises(Stops):
        scanned(source, f"{tmp_path}/{output}", InRounds(0, after=2))
    (record,) = tmp_path.glob("o*.parts/part-00001-*.json")
    sound = record.read_bytes()
    record.write_bytes(damage(sound))
    assert record.read_bytes() != sound
    found = scanned(source, f"{tmp_path}/{output}", again := InRounds())
    assert contents(tmp_path / output) == contents(tmp_path / f"whole-{output}")
    assert found.documents == expected.documents
    assert again.rounds == [whole.rounds[0] - 1]


def test_no_bit_of_finished_counts_changes_them_in_silence(tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    scan_file(write(tmp_path / "c.tsv", rows(1000)), LEXICON, output)
    sound = er.read_counts(output)
    errors = []
    for _ in with_other_bits(output, 150):
        try:
            assert is_same(er.read_counts(output), sound)
        except DataError as error:
            errors.append(str(error))
    assert len(errors) > 75
    assert all(str(output) in error for error in errors)


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_no_bit_of_derived_groups_changes_them_in_silence(tmp_path: Path, output: str) -> None:
    derive_groups(write(tmp_path / "c.tsv", rows(300)), f"{tmp_path}/{output}", LEXICON)
    place = tmp_path / output
    sound = read_groups(place, "side")
    errors = []
    for _ in with_other_bits(place if place.is_file() else place / "part-00000.parquet", 700):
        try:
            found = read_groups(place, "side")
            assert found.fingerprint == sound.fingerprint
            assert found.attribute.target == sound.attribute.target
        except DataError as error:
            errors.append(str(error))
    assert len(errors) > 500
    assert all(str(place) in error for error in errors)
    # of a file without its description nobody knows that it was derived
    assert sum("derive them again" in error for error in errors) > 400
