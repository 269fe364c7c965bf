"""Bad lines over all files: the same list wherever the work is done, in the order of files and lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from backwards import Backwards

from evenrank import DataError, Lexicon
from evenrank.evidence.scan import scan_file
from evenrank.io import read_documents

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 300, "partition_bytes": 2000}
BAD = [(0, 4), (1, 1), (1, 90), (2, 3), (4, 1), (5, 70), (6, 100)]  # file and line


def write_shards(folder: Path, suffix: str, bad: list[tuple[int, int]]) -> list[str]:
    """Small files that share a partition and large ones that are cut; where lines are wrong, in order."""
    folder.mkdir()
    for number, size in enumerate([10, 100, 5, 5, 3, 100, 100]):
        lines = []
        for line in range(1, size + 1):
            name = f"d{number}-{line}"
            sound = (
                json.dumps({"id": name, "text": "he and she"}) if "json" in suffix else f"{name}\the and she"
            )
            lines.append("neither JSON nor a tab" if (number, line) in bad else sound)
        content = "".join(line + "\n" for line in lines).encode()
        if suffix.endswith(".gz"):
            content = gzip.compress(content, mtime=0)
        (folder / f"s-{number}{suffix}").write_bytes(content)
    return [f"{folder}/s-{number}{suffix}:{line}" for number, line in bad]


def places(act: Callable[[], object]) -> list[str]:
    """Where the problems are that an error lists."""
    with pytest.raises(DataError) as caught:
        act()
    return [line.partition(": ")[0] for line in str(caught.value).split("\n")]


def ways(folder: Path, client: Any, **sizes: Any) -> list[list[str]]:
    """The lists of the same scan here, in parts, and on a cluster."""
    every = []
    for name, on in (("here", None), ("parts", Backwards()), ("cluster", client)):
        made = folder.with_name(f"{name}.parquet")
        every.append(places(partial(scan_file, folder, LEXICON, made, on=on, **{**SIZES, **sizes})))
        assert not made.exists()
    return every


@pytest.mark.parametrize("suffix", [".jsonl", ".tsv", ".jsonl.gz", ".tsv.gz"])
def test_a_scan_lists_the_same_lines_here_and_on_a_cluster(tmp_path: Path, client: Any, suffix: str) -> None:
    expected = write_shards(tmp_path / "shards", suffix, BAD)
    assert ways(tmp_path / "shards", client) == [expected] * 3


def test_the_twenty_that_are_listed_are_the_first(tmp_path: Path, client: Any) -> None:
    bad = [(number, line) for number in (1, 5, 6) for line in range(50, 80, 2)]
    expected = write_shards(tmp_path / "shards", ".tsv", bad)
    found = ways(tmp_path / "shards", client)
    assert [lines[:-1] for lines in found] == [expected[:20]] * 3
    assert [len(lines) for lines in found] == [21] * 3  # the last one says that there are more


def test_texts_that_are_not_unicode_are_listed_as_well(tmp_path: Path, client: Any) -> None:
    write_shards(tmp_path / "shards", ".tsv", [(2, 2)])
    for number in (0, 5):
        path = tmp_path / "shards" / f"s-{number}.tsv"
        path.write_bytes(path.read_bytes().replace(f"d{number}-3\the".encode(), b"x\t\xff"))
    expected = [f"{tmp_path}/shards/s-{number}.tsv:{line}" for number, line in ((0, 3), (2, 2), (5, 3))]
    assert ways(tmp_path / "shards", client) == [expected] * 3


def spoilt(text: str, suffix: str) -> bytes:
    """A sound line with a byte in its text that no UTF-8 has."""
    line = json.dumps({"id": text, "text": "he X"}) if "json" in suffix else f"{text}\the X"
    return line.encode().replace(b"X", b"\xff")


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".tsv.gz", ".jsonl.gz"])
def test_every_bad_text_of_a_block_is_listed_with_its_line_and_byte(
    tmp_path: Path, client: Any, suffix: str
) -> None:
    """Several in one block, in blocks far apart, in two files, beside a line that is wrong in another way."""
    expected = []
    (tmp_path / "shards").mkdir()
    for number in range(2):
        lines = [spoilt(f"d{number}-{line}", suffix).replace(b"\xff", b"x") for line in range(60)]
        for line in (3, 4, 9, 50):
            lines[line] = spoilt(f"d{number}-{line}", suffix)
        if number:
            lines[51] = b"neither JSON nor a tab"
        content = b"\n" + b"\n".join(lines) + b"\n"
        name = f"{tmp_path}/shards/s-{number}{suffix}"
        expected += [f"{name}:{line + 2}" for line in ((3, 4, 9, 50, 51) if number else (3, 4, 9, 50))]
        Path(name).write_bytes(gzip.compress(content, mtime=0) if suffix.endswith("gz") else content)
    found = ways(tmp_path / "shards", client, block_bytes=600, partition_bytes=1200)
    assert found == [expected] * 3
    with pytest.raises(DataError) as caught:
        scan_file(name, LEXICON, tmp_path / "one.parquet")
    at = [place for place, byte in enumerate(content) if byte == 255]
    said = str(caught.value).split("\n")
    assert all(f"at byte {place} of the file" in line for place, line in zip(at, said[:4], strict=True))
    assert [line.partition(": ")[0] for line in said] == expected[4:]


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_bad_texts_are_listed_by_whoever_reads_documents(tmp_path: Path, suffix: str) -> None:
    lines = [spoilt(f"d{line}", suffix) if line in (1, 4, 5) else spoilt(f"d{line}", suffix)[:-3] + b'"}'
             if "json" in suffix else spoilt(f"d{line}", suffix)[:-1] for line in range(8)]  # fmt: skip
    path = tmp_path / f"c{suffix}"
    path.write_bytes(b"\n".join(lines))
    found = places(lambda: list(read_documents(path)))
    assert found == [f"{path}:{line}" for line in (2, 5, 6)]


def test_a_text_with_escapes_is_named_by_its_line(tmp_path: Path) -> None:
    sound = json.dumps({"id": "a", "text": "he\n\nshe\n"}).encode()
    bad = b'{"id": "b", "text": "\\n\\u00e4 \xff"}'
    for name, pack in (("c.jsonl", bytes), ("c.jsonl.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack(b"\n".join([sound, sound.replace(b'"a"', b'"c"'), bad, b""])))
        made = tmp_path / "o.parquet"
        assert places(partial(scan_file, tmp_path / name, LEXICON, made)) == [f"{tmp_path / name}:3"]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_a_byte_order_mark_inside_of_jsonl_is_refused_by_all(
    tmp_path: Path, suffix: str, evenrank: Callable[..., Any]
) -> None:
    """As where files were joined that begin with one."""
    line = b'{"id": "%d", "text": "he"}\n'
    path = tmp_path / f"c{suffix}"
    content = line % 1 + b"\xef\xbb\xbf" + line % 2
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    for work in (
        lambda: list(read_documents(path)),
        lambda: scan_file(path, LEXICON, tmp_path / "o.parquet"),
    ):
        with pytest.raises(DataError, match=rf"c{suffix}:2: .*(BOM|byte order mark)"):
            work()
    swapped = evenrank("counterfactual", "swap", path, "--tagger", "rules", "-o", tmp_path / "o.jsonl")
    assert swapped.code == 1
    assert f"c{suffix}:2: " in swapped.err
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".tsv", ".tsv.gz"])
def test_the_bar_goes_on_behind_a_bad_line(tmp_path: Path, suffix: str) -> None:
    write_shards(tmp_path / "shards", suffix, [(1, 2)])
    told: list[tuple[int, int | None, str]] = []
    with pytest.raises(DataError):
        scan_file(
            tmp_path / "shards", LEXICON, tmp_path / "o.parquet", threads=1, block_bytes=300,
            progress=lambda *about: told.append(about),
        )  # fmt: skip
    assert len(told) > 20 or suffix.endswith("gz")
    assert told[-1][0] == told[-1][1]
