"""A byte that a disk or a network changed is noticed in the index of counts, and in counts read by need."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collections_in_formats import rows, write

import evenrank as er
from evenrank import Lexicon
from evenrank.data.words_by_need import joined_counts
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.scan import scan_file
from evenrank.ids import hash_strings
from evenrank.io.counts import counts_in_pieces
from evenrank.io.counts_by_need import open_counts
from evenrank.io.counts_index import index_counts

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})


class Stops(Exception):
    pass


def flip(path: Path, share: float) -> None:
    """Change one bit of a file, at a share of its length."""
    content = bytearray(path.read_bytes())
    content[int(share * (len(content) - 1))] ^= 16
    path.write_bytes(content)


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {file.name: file.read_bytes() for file in files if file.is_file()}


def every_bit_of(path: Path, first: int, count: int) -> Iterator[int]:
    """Change one bit of a file, another one each time, at ``count`` places from ``first`` on, of which the
    first sixteen follow each other, and restore it."""
    content, generator = path.read_bytes(), random.Random(1)
    others = range(first + 16, len(content))
    places = [*range(first, first + 16), *generator.sample(others, min(count, len(others)))]
    try:
        for place in places:
            changed = bytearray(content)
            changed[place] ^= 1 << generator.randrange(8)
            path.write_bytes(changed)
            yield place
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize("loaded", [True, False])
def test_a_damaged_footer_of_counts_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    """Arrow checks pages, and not the footer, which holds names, types and our description."""
    source, counts = write(tmp_path / "c.tsv", rows(30)), tmp_path / "out.parquet"
    scan_file(source, LEXICON, counts, terms=True)
    if not loaded:
        monkeypatch.setattr("evenrank.io.counts_by_need.LOADED", 0)
    sound = er.read_counts(counts)
    content = counts.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    errors = []
    for _ in every_bit_of(counts, footer, 700):
        for read in (lambda: open_counts(counts), lambda: joined_counts(list(counts_in_pieces(counts)))):
            try:
                found = read()
                assert found.doc_ids.equals(sound.doc_ids)
                assert np.array_equal(found.counts, sound.counts)
                assert found.lexicon == sound.lexicon
            except DataError as error:
                errors.append(str(error))
    assert len(errors) > 300
    assert all(str(counts) in error and "scan" in error for error in errors)


@pytest.mark.parametrize("kind", ["blocks", "npy", "json"])
def test_no_bit_of_an_index_changes_what_is_read(tmp_path: Path, kind: str) -> None:
    source, counts = write(tmp_path / "c.tsv", rows(600)), tmp_path / "out.parquet"
    scan_file(source, LEXICON, counts, terms=True)
    index_counts(counts)
    hashes = hash_strings(er.read_counts(counts).doc_ids)[::7]
    (file,) = (tmp_path / "out.parquet.by-hash").glob(f"*.{kind}")
    expected = facts(open_counts(counts), hashes)
    errors = []
    for _ in every_bit_of(file, 0, 200):
        with warnings.catch_warnings():
            warnings.simplefilter("error", EvenrankWarning)
            try:
                assert facts(open_counts(counts), hashes) == expected
            except (EvenrankWarning, DataError) as error:  # with a warning the index is not used
                errors.append(str(error))
    assert len(errors) > 150
    if kind == "json":
        assert all("make it again with evenrank scan" in error for error in errors)
    else:
        cure = "make the index of the counts again"
        assert all(file.name in error and cure in error for error in errors)


def facts(counts: Any, hashes: Any) -> list[Any]:
    found = counts.among(hashes)
    return [
        found.doc_ids.to_pylist(),
        found.lengths.tolist(),
        found.counts.tolist(),
        found.terms.places.tolist(),
    ]


def test_an_index_of_an_earlier_format_is_not_used(tmp_path: Path) -> None:
    source, counts = write(tmp_path / "c.tsv", rows(60)), tmp_path / "out.parquet"
    scan_file(source, LEXICON, counts)
    index_counts(counts)
    path = tmp_path / "out.parquet.by-hash" / "index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 1}))
    with pytest.warns(EvenrankWarning, match=r"\(it has format 1, and this version has 2\).* make it again"):
        open_counts(counts)


@pytest.mark.parametrize("kind", ["arrow", "blocks", "npy"])
def test_a_damaged_part_of_an_interrupted_index_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name, rows_of in (("STRETCH", 300), ("BUCKET", 200)):
        monkeypatch.setattr(f"evenrank.io.counts_index.{name}", rows_of)
    monkeypatch.setattr("evenrank.io.counts.ROW_GROUP", 100)
    source, counts = write(tmp_path / "c.tsv", rows(1000)), tmp_path / "out.parquet"
    scan_file(source, LEXICON, counts, block_bytes=1 << 12)
    index_counts(counts)
    whole = contents(tmp_path / "out.parquet.by-hash")
    (tmp_path / "out.parquet.by-hash" / "index.json").unlink()

    def stop(*_: object) -> None:
        raise Stops

    with monkeypatch.context() as patched:
        patched.setattr("evenrank.io.counts_index._move", stop)
        with pytest.raises(Stops):
            index_counts(counts, threads=1)
    parts = tmp_path / "out.parquet.by-hash.parts"
    damaged = sorted(parts.glob(f"*.{kind}"))[1]
    flip(damaged, 0.7)
    if kind == "arrow":  # it is read where a bucket is still to be joined
        for path in [*parts.glob("*.blocks"), *parts.glob("*.npy")]:
            path.unlink()
    summary = index_counts(counts)
    assert summary.found
    assert contents(tmp_path / "out.parquet.by-hash") == whole
