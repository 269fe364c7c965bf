"""A byte that a disk or a network changed is noticed: in parts that wait for the end, and in the counts."""

from __future__ import annotations

import json
import random
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backwards import Backwards
from collections_in_formats import rows, write

import evenrank as er
from evenrank import Lexicon, read_groups
from evenrank.counterfactuals.swap.files import swap_file
from evenrank.data.words_by_need import joined_counts
from evenrank.errors import DataError, EvenrankError, EvenrankWarning
from evenrank.evidence.scan import derive_groups, scan_file
from evenrank.ids import hash_strings
from evenrank.io.counts import counts_in_pieces
from evenrank.io.counts_by_need import open_counts
from evenrank.io.counts_folder import read_counts_folder
from evenrank.io.counts_index import index_counts

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15}


class Stops(Exception):
    pass


class Damaging(Backwards):
    """Does what it is asked for, and then something to the folder of parts."""

    def __init__(self, folder: Path, damage: Any, after: int | None = None) -> None:
        super().__init__()
        self.folder, self.damage, self.after = folder, damage, after

    def run(self, work: Any, tasks: Any) -> Any:
        for place, task in enumerate(tasks):
            if place == self.after:
                raise Stops
            result = work(task)
            self.damage(self.folder)
            yield place, result


def flip(path: Path, share: float) -> None:
    """Change one bit of a file, at a share of its length."""
    content = bytearray(path.read_bytes())
    content[int(share * (len(content) - 1))] ^= 16
    path.write_bytes(content)


def contents(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {file.name: file.read_bytes() for file in files if file.is_file()}


@pytest.mark.parametrize("share", [0, 0.3, 0.5, 0.8, 1])
@pytest.mark.parametrize("output", ["out.parquet", "out"])
def test_a_damaged_part_of_an_interrupted_scan_is_made_again(
    tmp_path: Path, output: str, share: float
) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    end = "" if output.endswith("parquet") else "/"
    whole, again = tmp_path / "whole" / output, tmp_path / output
    whole.parent.mkdir()
    scan_file(source, LEXICON, f"{whole}{end}", on=Backwards(), **SIZES)
    parts = tmp_path / f"{output}.parts"
    stopping = Damaging(parts, lambda _: None, after=3)
    with pytest.raises(Stops):
        scan_file(source, LEXICON, f"{again}{end}", on=stopping, **SIZES)
    (part,) = (path for path in parts.glob("part-00001-*") if path.suffix != ".json")
    flip(part, share)
    resumed = scan_file(source, LEXICON, f"{again}{end}", on=(executor := Backwards()), **SIZES)
    assert 0 < resumed.found < resumed.pieces
    assert len(executor.done) > 1
    assert contents(again) == contents(whole)


def test_a_part_that_is_damaged_before_it_is_joined_is_an_error_and_then_made_again(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    scan_file(source, LEXICON, tmp_path / "whole.parquet", **SIZES)

    def damage(folder: Path) -> None:
        for part in folder.glob("part-00002-*.arrow"):
            flip(part, 0.5)

    output = tmp_path / "out.parquet"
    with pytest.raises(EvenrankError, match=r"part-00002-.*arrow: is not what a worker wrote.* was kept"):
        scan_file(source, LEXICON, output, on=Damaging(tmp_path / "out.parquet.parts", damage), **SIZES)
    assert not output.exists()
    scan_file(source, LEXICON, output, on=Backwards(), **SIZES)
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_damaged_piece_of_an_interrupted_scan_is_counted_again(tmp_path: Path) -> None:
    source, output = write(tmp_path / "c.tsv", rows(3000)), tmp_path / "out.parquet"
    scan_file(source, LEXICON, tmp_path / "whole.parquet", **SIZES)
    calls = iter(range(9))

    def progress(*_: object) -> None:
        if next(calls, None) is None:
            raise Stops

    with pytest.raises(Stops):
        scan_file(source, LEXICON, output, progress=progress, **SIZES)
    flip(tmp_path / "out.parquet.parts" / "journal", 0.5)
    with pytest.warns(EvenrankWarning, match="journal: is damaged"):
        scan_file(source, LEXICON, output, **SIZES)
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_no_bit_of_finished_counts_changes_them_in_silence(tmp_path: Path) -> None:
    source, output = write(tmp_path / "c.tsv", rows(1000)), tmp_path / "out.parquet"
    scan_file(source, LEXICON, output)
    sound, content = er.read_counts(output), output.read_bytes()
    generator = random.Random(0)
    found = 0
    for _ in range(150):
        changed = bytearray(content)
        changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        output.write_bytes(changed)
        try:
            counts = er.read_counts(output)
        except DataError:
            found += 1
            continue
        assert counts.doc_ids.equals(sound.doc_ids)
        assert counts.counts.tolist() == sound.counts.tolist()
        assert counts.lengths.tolist() == sound.lengths.tolist()
    assert found > 75


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


@pytest.mark.parametrize("output", ["g.parquet", "g"])
def test_no_bit_of_derived_groups_changes_them_in_silence(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", rows(300))
    derive_groups(source, f"{tmp_path}/{output}{'' if output.endswith('parquet') else '/'}", LEXICON)
    sound, place = read_groups(tmp_path / output, "side"), tmp_path / output
    file = place if place.is_file() else place / "part-00000.parquet"
    errors = []
    for _ in every_bit_of(file, 0, 700):
        try:
            found = read_groups(place, "side")
            assert found.fingerprint == sound.fingerprint
            assert found.attribute.target == sound.attribute.target
        except DataError as error:
            errors.append(str(error))
    assert len(errors) > 500
    assert all(str(place) in error for error in errors)
    # of a file without its description nobody knows that it was derived
    own = [error for error in errors if "is not a sound Parquet file of groups" in error]
    assert len(own) > 400
    assert all("derive them again" in error for error in own)


def test_no_bit_of_the_types_of_counts_changes_them_in_silence(tmp_path: Path) -> None:
    """The footer has no checksum: numbers that are said to be true or false would all be 0 or 1."""
    counts = tmp_path / "out.parquet"
    scan_file(write(tmp_path / "c.tsv", rows(300)), LEXICON, counts, terms=True)
    sound, content = er.read_counts(counts), counts.read_bytes()
    for name in (b"length", b"left", b"right"):
        end = content.index(b"\x18" + bytes([len(name)]) + name)
        for bit in range(12 * 8):
            changed = bytearray(content)
            changed[end - 12 + bit // 8] ^= 1 << bit % 8
            counts.write_bytes(changed)
            with suppress(DataError):
                found = er.read_counts(counts)
                np.testing.assert_array_equal(found.counts, sound.counts)
                np.testing.assert_array_equal(found.tokens, sound.tokens)


def test_derived_groups_whose_description_is_lost_are_no_ordinary_table(tmp_path: Path) -> None:
    """Of a damaged list of descriptions Arrow gives none, and the groups would have lost their target."""
    place = tmp_path / "g.parquet"
    derive_groups(write(tmp_path / "c.tsv", rows(300)), str(place), LEXICON)
    sound, content = read_groups(place, "side").fingerprint, place.read_bytes()
    first = content.index(b"evenrank.source") - 24
    for bit in range(24 * 8):
        changed = bytearray(content)
        changed[first + bit // 8] ^= 1 << bit % 8
        place.write_bytes(changed)
        with suppress(DataError):
            assert read_groups(place, "side").fingerprint == sound


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_a_damaged_part_of_groups_is_noticed_before_it_is_used(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    derive_groups(source, f"{tmp_path}/whole-{output}", LEXICON, **SIZES)

    damaged: set[Path] = set()

    def damage(folder: Path) -> None:
        for part in set(folder.glob("part-00002-*.parquet")) - damaged:
            flip(part, 0.5)
            damaged.add(part)

    parts = tmp_path / f"{output.rstrip('/')}.parts"
    with pytest.raises(EvenrankError, match=r"part-00002-.*parquet: is not what a worker wrote.* was kept"):
        derive_groups(source, f"{tmp_path}/{output}", LEXICON, on=Damaging(parts, damage), **SIZES)
    assert not (tmp_path / output).exists()
    derive_groups(source, f"{tmp_path}/{output}", LEXICON, **SIZES)
    assert contents(tmp_path / output) == {
        name.removeprefix("whole-"): content
        for name, content in contents(tmp_path / f"whole-{output}").items()
    }


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


def scanned(source: Path, output: str, on: Any) -> Any:
    return scan_file(source, LEXICON, output, on=on, **SIZES)


def swapped(source: Path, output: str, on: Any) -> Any:
    return swap_file(source, output, tagger="rules", on=on, **SIZES)


def derived(counts: Path, output: str, on: Any) -> Any:
    return derive_groups(counts, output, on=on)


@pytest.mark.parametrize(
    ("work", "output"),
    [(scanned, "o.parquet"), (scanned, "o/"), (swapped, "o.tsv"), (derived, "o.parquet"), (derived, "o/")],
)
@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.replace(b'"part"', b'"qart"'),
        lambda record: re.sub(rb"\d", lambda digit: b"%d" % ((int(digit[0]) + 1) % 10), record, count=1),
        lambda record: re.sub(rb", \"check\": \"\w+\"", b"", record),  # as before there was one
        lambda record: b"[]",
    ],
    ids=["a key", "a digit", "no check", "no object"],
)
def test_a_part_whose_record_is_damaged_is_made_again(
    tmp_path: Path, work: Any, output: str, damage: Any
) -> None:
    source = write(tmp_path / "c.tsv", rows(3000))
    if work is derived:
        scan_file(source, LEXICON, f"{tmp_path}/counts/", **SIZES)
        source = tmp_path / "counts"
    (tmp_path / "whole").mkdir()
    expected = work(source, f"{tmp_path}/whole/{output}", Backwards())
    parts = tmp_path / f"{output.rstrip('/')}.parts"
    with pytest.raises(Stops):
        work(source, f"{tmp_path}/{output}", Damaging(parts, lambda _: None, after=2))
    (record,) = parts.glob("part-00001-*.json")
    sound = record.read_bytes()
    record.write_bytes(damage(sound))
    assert record.read_bytes() != sound
    found = work(source, f"{tmp_path}/{output}", on := Backwards())
    assert contents(tmp_path / output) == contents(tmp_path / "whole" / output)
    assert found.documents == expected.documents
    assert 0 in on.done  # of those that were missing: the first one was found


@pytest.mark.parametrize("kind", ["word counts", "groups"])
def test_no_bit_of_a_commit_changes_it_in_silence(tmp_path: Path, kind: str) -> None:
    source, folder = write(tmp_path / "c.tsv", rows(300)), tmp_path / "out"
    if kind == "groups":
        derive_groups(source, f"{folder}/", LEXICON)
    else:
        scan_file(source, LEXICON, f"{folder}/")
    sound, commit = read_counts_folder(folder, kind), folder / "_evenrank.json"
    errors = 0
    for _ in every_bit_of(commit, 0, 300):
        try:
            assert read_counts_folder(folder, kind) == sound
        except DataError:
            errors += 1
    assert errors > 200
    about = json.loads(commit.read_text())
    del about["check"]  # as before there was one
    commit.write_text(json.dumps(about))
    assert read_counts_folder(folder, kind) == sound
