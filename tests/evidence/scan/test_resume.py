"""Killed at any moment, a scan goes on where it stopped; its file is whole or not there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, EvenrankWarning, Lexicon
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
BLOCK = 1 << 14
KILLED_BLOCK = 1 << 17
THREADS = 2
SCRIPT = """
import sys
from evenrank import Lexicon
from evenrank.evidence.scan import scan_file
def permitted(done, total, unit):
    # a piece is told, and waits for a byte of the test: nothing ends before it is killed. Then no limit
    print(done, flush=True)
    sys.stdin.buffer.read(1)
lexicon = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
summary = scan_file(sys.argv[1], lexicon, sys.argv[2], threads=2, block_bytes=1 << 17, progress=permitted)
print(summary.found, summary.bytes_read)
"""


def write_collection(path: Path, documents: int, seed: int = 0) -> None:
    generator = random.Random(seed)
    words = ["he", "she", "and", "some", "other", "words", "élan", "He"]
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            file.write(f"{number}\t{' '.join(generator.choices(words, k=generator.randrange(80)))}\n")


def journal_of(output: Path) -> Path:
    return output.with_name(output.name + ".parts") / "journal"


@pytest.mark.parametrize(
    ("times", "documents"), [(1, 30_000), pytest.param(10, 150_000, marks=pytest.mark.slow)]
)
def test_killed(tmp_path: Path, times: int, documents: int) -> None:
    path, output = tmp_path / "c.tsv", tmp_path / "counts.parquet"
    write_collection(path, documents)
    size = path.stat().st_size
    generator = random.Random(1)
    command = [sys.executable, "-c", SCRIPT, str(path), str(output)]
    done = 0
    for _ in range(times):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        goal = done + generator.randrange(1, 8) * KILLED_BLOCK
        while done < goal:
            process.stdin.write(b".")
            process.stdin.flush()
            done = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not output.exists()
    whole = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    found, read = map(int, whole.stdout.splitlines()[-1].split())
    assert found > 0
    assert read <= size - found * KILLED_BLOCK + THREADS * KILLED_BLOCK
    undisturbed = tmp_path / "other/counts.parquet"
    undisturbed.parent.mkdir()
    summary = scan_file(path, LEXICON, undisturbed, threads=1, block_bytes=KILLED_BLOCK)
    assert summary.found == 0
    assert output.read_bytes() == undisturbed.read_bytes()
    assert not output.with_name(output.name + ".parts").exists()


class Stop(Exception):
    """Something goes wrong in the middle."""


def stop_after(pieces: int) -> Any:
    def progress(done: int, total: int | None, unit: str) -> None:
        nonlocal pieces
        pieces -= 1
        if pieces <= 0:
            raise Stop

    return progress


def interrupted(path: Path, output: Path, **options: Any) -> None:
    with pytest.raises(Stop):
        scan_file(path, LEXICON, output, progress=stop_after(3), **options)
    assert not output.exists()


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    write_collection(tmp_path / "c.tsv", 2000)
    return tmp_path / "c.tsv"


def test_other_formats_resume_too(tmp_path: Path) -> None:
    """A part has 16,384 documents of a table, or one group of its rows."""
    folder = tmp_path
    pairs = [(str(number), f"he {'she ' * (number % 7)}") for number in range(120_000)]
    table = pa.table({"id": [i for i, _ in pairs], "text": [text for _, text in pairs]})
    pq.write_table(table, folder / "c.parquet", row_group_size=15_000)
    pq.write_table(table, folder / "one-group.parquet")
    (folder / "c.jsonl").write_text("".join(f'{{"id": "{i}", "text": "{text}"}}\n' for i, text in pairs))
    (folder / "c.csv").write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in pairs))
    for name in ("c.parquet", "one-group.parquet", "c.jsonl", "c.csv"):
        output, whole = folder / f"{name}.counts", folder / f"{name}.whole"
        interrupted(folder / name, output, block_bytes=1 << 18)
        resumed = scan_file(folder / name, LEXICON, output, block_bytes=1 << 18)
        anew = scan_file(folder / name, LEXICON, whole, block_bytes=1 << 18)
        assert 3 <= resumed.found < resumed.pieces == anew.pieces
        assert resumed.bytes_read <= anew.bytes_read * (1 - 0.8 * resumed.found / anew.pieces)
        assert output.read_bytes() == whole.read_bytes()


def test_what_changed_starts_anew(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    options: dict[str, Any] = {"block_bytes": BLOCK}
    interrupted(collection, output, **options)
    other = Lexicon.build("other", {"left": ["he"], "right": ["words"]})
    with pytest.warns(EvenrankWarning, match="starting anew, because .* had another lexicon"):
        assert scan_file(collection, other, output, **options).found == 0
    output.unlink()
    for name, change in {"tokenizer": {"tokenizer": "whitespace"}, "terms": {"terms": True}}.items():
        interrupted(collection, output, **options)
        with pytest.warns(EvenrankWarning, match=f"had another {name}"):
            assert scan_file(collection, LEXICON, output, **options, **change).found == 0
        output.unlink()
    interrupted(collection, output, **options)
    content = bytearray(collection.read_bytes())
    content[len(content) // 2] ^= 1  # the same size, and a time that says nothing
    collection.write_bytes(content)
    with pytest.warns(EvenrankWarning, match="had another source"):
        assert scan_file(collection, LEXICON, output, **options).found == 0


def test_no_resume(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    interrupted(collection, output, block_bytes=BLOCK)
    assert scan_file(collection, LEXICON, output, block_bytes=BLOCK, resume=False).found == 0


def test_a_stream_is_never_resumed(tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    pairs = [(str(number), "he") for number in range(20_000)]
    with pytest.raises(Stop):
        scan_file(iter(pairs), LEXICON, output, progress=stop_after(2))
    assert scan_file(iter(pairs), LEXICON, output).found == 0


def test_an_earlier_output_stays_until_the_new_one_is_whole(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    output.write_bytes(b"before")
    output.chmod(0o640)
    with pytest.raises(Stop):
        scan_file(collection, LEXICON, output, progress=stop_after(3), block_bytes=BLOCK)
    assert output.read_bytes() == b"before"
    scan_file(collection, LEXICON, output, block_bytes=BLOCK)
    assert output.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("room", [6_000, 14_000, 30_000])
def test_a_full_disk_leaves_no_half_file(room: int, collection: Path) -> None:
    """No file may grow beyond so many bytes: first that of the parts, then the output."""
    output, whole = collection.with_name("counts.parquet"), collection.with_name("whole.parquet")
    scan_file(collection, LEXICON, whole, block_bytes=BLOCK)
    code = f"""
import resource, sys
from evenrank import Lexicon
from evenrank.evidence.scan import scan_file
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
lexicon = Lexicon.build("sides", {{"left": ["he"], "right": ["she"]}})
try:
    scan_file(sys.argv[1], lexicon, sys.argv[2], block_bytes={BLOCK})
except OSError as error:
    print(error.strerror)
"""
    command = [sys.executable, "-c", code, str(collection), str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("File too large")
    assert not output.exists()
    kept = output.with_name(output.name + ".parts")
    assert sorted(path.name for path in kept.iterdir()) == ["journal", "lock", "settings.json"]
    summary = scan_file(collection, LEXICON, output, block_bytes=BLOCK)
    assert summary.found > 0
    assert output.read_bytes() == whole.read_bytes()


def test_two_scans_cannot_write_the_same_file(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    begun, refused = threading.Event(), threading.Event()

    def wait(done: int, total: int | None, unit: str) -> None:
        begun.set()
        refused.wait()

    first = threading.Thread(target=scan_file, args=(collection, LEXICON, output), kwargs={"progress": wait})
    first.start()
    begun.wait()
    try:
        with pytest.raises(DataError, match=r"counts\.parquet"):
            scan_file(collection, LEXICON, output)
    finally:
        refused.set()
        first.join()
    assert output.exists()


@pytest.mark.parametrize("damage", ["cut", "begin", "middle", "order", "lost"])
def test_a_damaged_part_is_counted_again(damage: str, collection: Path) -> None:
    """And so is all behind it: nothing that is not whole is used, whatever befell the disk."""
    output, whole = collection.with_name("counts.parquet"), collection.with_name("whole.parquet")
    scan_file(collection, LEXICON, whole, block_bytes=BLOCK)
    interrupted(collection, output, block_bytes=BLOCK)
    content = bytearray(journal_of(output).read_bytes())
    middle = len(content) // 2
    if damage == "cut":
        del content[middle:]
    elif damage == "begin":
        content[10] ^= 1
    elif damage == "middle":
        content[middle] ^= 1
    elif damage == "order":  # two words of 64 bits that change places leave their sum as it was
        words = np.frombuffer(content, "<u8", len(content) // 8)
        one = len(words) // 2
        other = one + int(np.flatnonzero(words[one:] != words[one])[0])
        words[[one, other]] = words[[other, one]]
    else:  # the length of the file was written, its last blocks were not
        content[middle:] = bytes(len(content) - middle)
    journal_of(output).write_bytes(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EvenrankWarning)
        found = scan_file(collection, LEXICON, output, block_bytes=BLOCK).found
    assert found == 0 if damage == "begin" else 0 < found < 3 + THREADS
    said = [str(warning.message) for warning in caught]
    # what is cut is what a kill leaves
    assert len(said) == (damage != "cut")
    assert all(str(journal_of(output)) in message for message in said)
    assert output.read_bytes() == whole.read_bytes()


def test_a_file_that_shrinks(collection: Path) -> None:
    def truncate(done: int, total: int | None, unit: str) -> None:
        collection.write_bytes(b"")

    with pytest.raises(DataError, match="became shorter while it was read"):
        scan_file(
            collection,
            LEXICON,
            collection.with_name("o.parquet"),
            progress=truncate,
            threads=1,
            block_bytes=2000,
        )
