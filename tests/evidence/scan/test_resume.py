"""Killed at any moment, a scan goes on where it stopped; its file is whole or not there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, EvenrankWarning, Lexicon
from evenrank.evidence.scan import scan_file

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
BLOCK = 1 << 14
SIZES: Any = {"block_bytes": BLOCK, "partition_bytes": BLOCK}
KILLED_BLOCK = 1 << 17
SCRIPT = """
import sys
from evenrank import Lexicon
from evenrank.evidence.scan import scan_file
def permitted(done, total, unit):
    # a piece is told, and waits for a byte of the test: nothing ends before it is killed. Then no limit
    print(done, flush=True)
    sys.stdin.buffer.read(1)
lexicon = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
options = {"threads": 2, "block_bytes": 1 << 17, "partition_bytes": 1 << 18}
summary = scan_file(sys.argv[1], lexicon, sys.argv[2], progress=permitted, **options)
print(summary.found, summary.bytes_read)
"""


def write_collection(path: Path, documents: int, seed: int = 0) -> None:
    generator = random.Random(seed)
    words = ["he", "she", "and", "some", "other", "words", "élan", "He"]
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            file.write(f"{number}\t{' '.join(generator.choices(words, k=generator.randrange(80)))}\n")


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
        # two blocks are a part: one of five was begun by a thread that had finished a part
        goal = done + generator.randrange(5, 12) * KILLED_BLOCK
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
    assert read <= size - (found - 1) * KILLED_BLOCK  # the last block may be shorter
    undisturbed = tmp_path / "other/counts.parquet"
    undisturbed.parent.mkdir()
    options = {"block_bytes": KILLED_BLOCK, "partition_bytes": 2 * KILLED_BLOCK}
    summary = scan_file(path, LEXICON, undisturbed, threads=1, **options)  # type: ignore[arg-type]
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


def interrupted(path: Path, output: Path, after: int = 5, **options: Any) -> None:
    with pytest.raises(Stop):
        scan_file(path, LEXICON, output, progress=stop_after(after), threads=2, **options)
    assert not output.exists()


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    write_collection(tmp_path / "c.tsv", 2000)
    return tmp_path / "c.tsv"


def test_other_formats_resume_too(tmp_path: Path) -> None:
    """What can be cut goes on where it stopped; a stream, or one group of rows, begins anew."""
    folder = tmp_path
    pairs = [(str(number), f"he {'she ' * (number % 7)}") for number in range(120_000)]
    table = pa.table({"id": [i for i, _ in pairs], "text": [text for _, text in pairs]})
    pq.write_table(table, folder / "c.parquet", row_group_size=5_000)
    pq.write_table(table, folder / "one-group.parquet")
    (folder / "c.jsonl").write_text("".join(f'{{"id": "{i}", "text": "{text}"}}\n' for i, text in pairs))
    (folder / "c.csv").write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in pairs))
    for name, after, goes_on in (
        ("c.parquet", 12, 1), ("one-group.parquet", 5, 0), ("c.jsonl", 12, 1), ("c.csv", 1, 0),
    ):  # fmt: skip
        output, whole = folder / f"{name}.counts", folder / f"{name}.whole"
        interrupted(folder / name, output, after, block_bytes=1 << 17, partition_bytes=1 << 17)
        resumed = scan_file(folder / name, LEXICON, output, block_bytes=1 << 17, partition_bytes=1 << 17)
        anew = scan_file(folder / name, LEXICON, whole, block_bytes=1 << 17, partition_bytes=1 << 17)
        assert goes_on <= resumed.found < resumed.pieces == anew.pieces
        assert resumed.bytes_read <= anew.bytes_read * (1 - 0.8 * resumed.found / anew.pieces)
        assert output.read_bytes() == whole.read_bytes()


def test_what_changed_starts_anew(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    options: dict[str, Any] = SIZES
    interrupted(collection, output, **options)
    other = Lexicon.build("other", {"left": ["he"], "right": ["words"]})
    with pytest.warns(EvenrankWarning):
        assert scan_file(collection, other, output, **options).found == 0
    output.unlink()
    changes: list[dict[str, Any]] = [{"tokenizer": "whitespace"}, {"terms": True}]
    for change in changes:
        interrupted(collection, output, **options)
        with pytest.warns(EvenrankWarning):
            assert scan_file(collection, LEXICON, output, **options, **change).found == 0
        output.unlink()
    interrupted(collection, output, **options)
    content = bytearray(collection.read_bytes())
    content[len(content) // 2] ^= 1  # the same size
    collection.write_bytes(content)
    assert scan_file(collection, LEXICON, output, **options).found == 0


def test_no_resume(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    interrupted(collection, output, **SIZES)
    assert scan_file(collection, LEXICON, output, **SIZES, resume=False).found == 0


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
        scan_file(collection, LEXICON, output, progress=stop_after(3), **SIZES)
    assert output.read_bytes() == b"before"
    scan_file(collection, LEXICON, output, **SIZES)
    assert output.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("room", [500, 14_000])
def test_a_full_disk_leaves_no_half_file(room: int, collection: Path) -> None:
    """No file may grow beyond so many bytes: a part, then the output."""
    output, whole = collection.with_name("counts.parquet"), collection.with_name("whole.parquet")
    scan_file(collection, LEXICON, whole, **SIZES)
    code = f"""
import resource, sys
from evenrank import Lexicon
from evenrank.evidence.scan import scan_file
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))
lexicon = Lexicon.build("sides", {{"left": ["he"], "right": ["she"]}})
try:
    scan_file(sys.argv[1], lexicon, sys.argv[2], block_bytes={BLOCK}, partition_bytes={BLOCK})
except OSError as error:
    print(error.strerror)
"""
    command = [sys.executable, "-c", code, str(collection), str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("File too large")
    assert not output.exists()
    summary = scan_file(collection, LEXICON, output, **SIZES)
    assert (summary.found > 0) == (room > 10_000)
    assert output.read_bytes() == whole.read_bytes()
    assert not output.with_name(output.name + ".parts").exists()


def test_two_scans_of_one_output_leave_a_whole_file(collection: Path) -> None:
    """Of two at the same time, the one that ends later may find its parts gone."""
    output, whole = collection.with_name("counts.parquet"), collection.with_name("whole.parquet")
    scan_file(collection, LEXICON, whole, **SIZES)
    begun, ended = threading.Event(), threading.Event()
    errors: list[BaseException] = []

    def wait(done: int, total: int | None, unit: str) -> None:
        begun.set()
        ended.wait()

    def first() -> None:
        try:
            scan_file(collection, LEXICON, output, **SIZES, progress=wait)
        except DataError as error:
            errors.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait()
    try:
        scan_file(collection, LEXICON, output, **SIZES)
    finally:
        ended.set()
        thread.join()
    assert output.read_bytes() == whole.read_bytes()
    assert [str(output) in str(error) for error in errors] == [True]


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("arrow", "changed"),
        *((kind, damage) for kind in ("arrow", "json") for damage in ("cut", "lost", "gone")),
    ],
)
def test_a_damaged_part_is_counted_again(damage: str, kind: str, collection: Path) -> None:
    """Nothing that is not whole is used, whatever befell the disk."""
    output, whole = collection.with_name("counts.parquet"), collection.with_name("whole.parquet")
    scan_file(collection, LEXICON, whole, **SIZES)
    interrupted(collection, output, 7, **SIZES)
    folder = output.with_name(output.name + ".parts")
    finished = len(list(folder.glob("part-*.json")))
    part = sorted(folder.glob(f"part-*.{kind}"))[0]
    content = bytearray(part.read_bytes())
    middle = len(content) // 2
    if damage == "cut":
        part.write_bytes(content[:middle])
    elif damage == "changed":
        content[middle] ^= 1
        part.write_bytes(content)
    elif damage == "lost":  # the length of the file was written, its last blocks were not
        part.write_bytes(content[:middle] + bytes(len(content) - middle))
    else:
        part.unlink()
    assert scan_file(collection, LEXICON, output, **SIZES).found == finished - 1
    assert output.read_bytes() == whole.read_bytes()


def test_a_folder_that_somebody_else_made_is_not_touched(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    folder = output.with_name(output.name + ".parts")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(DataError) as caught:
        scan_file(collection, LEXICON, output)
    assert str(folder) in str(caught.value)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert not output.exists()


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
