"""Killed at any moment, a scan goes on where it stopped; its file is whole or not there."""

from __future__ import annotations

import errno
import json
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import Lexicon
from evenrank.errors import DataError, EvenrankWarning
from evenrank.evidence.scan import engine, scan_file
from evenrank.io.counts import CountsWriter
from evenrank.io.journal import Journal, JournalEntry, whole_frames
from evenrank.io.resumable import Resumable

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
BLOCK = 1 << 14
KILLED_BLOCK = 1 << 17
THREADS = 2
PATIENCE = 600  # seconds until what does nothing is given up; a slow machine is no error
SCRIPT = """
import logging, sys
from evenrank.data.lexicon import Lexicon
from evenrank.evidence.scan import scan_file
logging.basicConfig(level=logging.INFO, format="%(message)s")
def permitted(done, total, unit):
    # a piece for each byte that the test sends, so that nothing ends before it is killed; then no limit
    sys.stdin.buffer.read(1)
lexicon = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
scan_file(sys.argv[1], lexicon, sys.argv[2], threads=2, block_bytes=1 << 17, progress=permitted)
"""


def write_collection(path: Path, documents: int, seed: int = 0) -> None:
    generator = random.Random(seed)
    words = ["he", "she", "and", "some", "other", "words", "élan", "He"]
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            file.write(f"{number}\t{' '.join(generator.choices(words, k=generator.randrange(80)))}\n")


def journal_of(output: Path) -> Path:
    return output.with_name(output.name + ".parts") / "journal"


def parts_of(output: Path) -> list[JournalEntry]:
    try:
        with journal_of(output).open("rb") as file:
            return list(whole_frames(file, key_of(output)))
    except FileNotFoundError:
        return []


def key_of(output: Path) -> bytes:
    """What the journal's frames begin their CRC with: the settings, without the stamp of the source."""
    kept = json.loads((journal_of(output).parent / "settings.json").read_bytes())
    del kept["stamp"]
    return json.dumps(kept, sort_keys=True).encode()


@pytest.mark.parametrize(
    ("times", "documents"), [(1, 30_000), pytest.param(10, 150_000, marks=pytest.mark.slow)]
)
def test_killed(tmp_path: Path, times: int, documents: int) -> None:
    path, output = tmp_path / "c.tsv", tmp_path / "counts.parquet"
    write_collection(path, documents)
    size = path.stat().st_size
    generator = random.Random(1)
    for _ in range(times):
        finished = len(parts_of(output))
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(path), str(output)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        goal, deadline = finished + generator.randrange(1, 8), time.monotonic() + PATIENCE
        assert process.stdin is not None
        process.stdin.write(b"." * (goal + 4))  # it is at work, and far from its end, when it is killed
        process.stdin.flush()
        while len(parts_of(output)) < goal and process.poll() is None and time.monotonic() < deadline:
            time.sleep(generator.random() * 0.005)  # between two looks
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not output.exists()
        assert len(parts_of(output)) >= goal
    finished = len(parts_of(output))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), str(output)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    _, found, read = (int(word) for word in done.stderr.replace(",", " ").split() if word.isdigit())
    assert found == finished
    assert read <= size - finished * KILLED_BLOCK + THREADS * KILLED_BLOCK
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
    assert len(parts_of(output)) >= 3


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    write_collection(tmp_path / "c.tsv", 2000)
    return tmp_path / "c.tsv"


def test_other_formats_resume_too(collection: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenrank.evidence.scan import documents, parquet_files

    for module in (documents, parquet_files):
        monkeypatch.setattr(module, "ROWS", 100)
    folder = collection.parent
    pairs = [line.partition("\t")[::2] for line in collection.read_text(encoding="utf-8").split("\n")[:-1]]
    table = pa.table({"id": [i for i, _ in pairs], "text": [text for _, text in pairs]})
    pq.write_table(table, folder / "c.parquet", row_group_size=300)
    pq.write_table(table, folder / "one-group.parquet")
    (folder / "c.jsonl").write_text("".join(f'{{"id": "{i}", "text": "{text}"}}\n' for i, text in pairs))
    (folder / "c.csv").write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in pairs))
    for name in ("c.parquet", "one-group.parquet", "c.jsonl", "c.csv"):
        output, whole = folder / f"{name}.counts", folder / f"{name}.whole"
        interrupted(folder / name, output, block_bytes=BLOCK)
        finished = len(parts_of(output))
        resumed = scan_file(folder / name, LEXICON, output, block_bytes=BLOCK)
        anew = scan_file(folder / name, LEXICON, whole, block_bytes=BLOCK)
        assert resumed.found == finished
        assert resumed.pieces == anew.pieces > finished
        assert resumed.bytes_read <= anew.bytes_read * (1 - 0.8 * finished / anew.pieces)
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


@pytest.mark.parametrize("where", ["part", "output", "end"])
def test_a_full_disk_leaves_no_half_file(
    where: str, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = collection.with_name("counts.parquet")

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if where == "part":
            patch.setattr(Journal, "__init__", full_after(Journal.__init__, 3000))
        elif where == "output":
            patch.setattr(CountsWriter, "write", refuse)
        else:
            patch.setattr(engine.os, "fsync", lambda descriptor: refuse() if output_open() else None)

            def output_open() -> bool:
                growing = output.with_name(output.name + ".parts") / "output"
                return growing.exists() and growing.stat().st_size > 1000

        with pytest.raises(OSError, match="No space left on device"):
            scan_file(collection, LEXICON, output, block_bytes=BLOCK)
    assert not output.exists()
    folder = output.with_name(output.name + ".parts")
    assert not (folder / "output").exists()
    assert not list(folder.glob(".*.tmp"))
    kept = parts_of(output)
    assert journal_of(output).stat().st_size == max((part.offset + part.size for part in kept), default=0)
    assert scan_file(collection, LEXICON, output, block_bytes=BLOCK).found == len(kept)
    assert output.exists()


def full_after(open_journal: Any, room: int) -> Any:
    """A journal on a disk with so many bytes left: the write that meets its end is taken in part."""

    class Disk:
        def __init__(self, file: Any) -> None:
            self.file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, piece: memoryview) -> int:
            left = room - self.file.tell()
            if left <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return int(self.file.write(piece[:left]))

    def __init__(self: Journal, path: Path, key: bytes) -> None:
        open_journal(self, path, key)
        self._file = Disk(self._file)  # type: ignore[assignment]

    return __init__


def test_two_scans_cannot_write_the_same_file(collection: Path) -> None:
    output = collection.with_name("counts.parquet")
    holding = Resumable(output, "scan", {}, resume=False)
    with pytest.raises(DataError, match="another scan is writing it"):
        scan_file(collection, LEXICON, output)
    holding.remove()
    scan_file(collection, LEXICON, output)


@pytest.mark.parametrize("damage", ["cut", "header", "content", "order", "lost"])
def test_a_damaged_part_is_counted_again(damage: str, collection: Path) -> None:
    """And so is all behind it: nothing that is not whole is used, whatever befell the disk."""
    output, whole = collection.with_name("counts.parquet"), collection.with_name("whole.parquet")
    scan_file(collection, LEXICON, whole, block_bytes=BLOCK)
    interrupted(collection, output, block_bytes=BLOCK)
    frame = parts_of(output)[1]
    content = bytearray(journal_of(output).read_bytes())
    if damage == "cut":
        del content[frame.offset + frame.size - 1 :]
    elif damage == "header":
        content[frame.offset - 20] ^= 1
    elif damage == "content":
        content[frame.offset + frame.size // 2] ^= 1
    elif damage == "order":  # two words of 64 bits that change places leave their sum as it was
        words = np.frombuffer(content, "<u8", frame.size // 8, frame.offset)
        one, other = np.flatnonzero(words != words[0])[0], 0
        words[[one, other]] = words[[other, one]]
    else:  # the length of the file was written, its last blocks were not
        content[frame.offset + 100 :] = bytes(len(content) - frame.offset - 100)
    journal_of(output).write_bytes(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EvenrankWarning)
        assert scan_file(collection, LEXICON, output, block_bytes=BLOCK).found == 1
    said = [str(warning.message) for warning in caught]
    expected = f"{journal_of(output)}: is damaged: starting anew after 1 piece that can still be used"
    assert said == ([] if damage == "cut" else [expected])  # a frame that is cut is what a kill leaves
    assert output.read_bytes() == whole.read_bytes()


def test_a_file_that_shrinks(collection: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
