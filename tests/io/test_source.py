"""Where bytes come from, and what they are called."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard

from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError, MissingExtraError
from evenrank.io import read_run
from evenrank.io.source import as_source

LINE = b"1 Q0 a 1 2 t\n"
PATIENCE = 600  # seconds until what waits for ever is given up; a slow machine is no error


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("bm25.trec", "bm25"),
        ("bm25.trec.gz", "bm25"),
        ("input.bm25", "input.bm25"),
        ("a.b.run.zst", "a.b"),
        (".trec", ".trec"),
    ],
)
def test_names_of_runs(name: str, stem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LINE)
    assert read_run(path).name == stem


def test_standard_input() -> None:
    code = "import evenrank.io as e; r = e.read_run('-'); assert (r.source, r.name) == ('<stdin>', 'run')"
    subprocess.run([sys.executable, "-c", code], input=LINE, check=True, timeout=PATIENCE)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(LINE,), daemon=True)
    writer.start()
    found: list[Run] = []
    reader = threading.Thread(target=lambda: found.append(read_run(path)), daemon=True)
    reader.start()
    reader.join(PATIENCE)
    assert [run.documents("1") for run in found] == [["a"]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_checking_a_pipe_does_not_open_it(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    source = as_source(path)
    assert source is not None
    checker = threading.Thread(target=source.check, daemon=True)  # opening would wait for a writer
    checker.start()
    checker.join(PATIENCE)
    assert not checker.is_alive()


def test_a_stream_that_gives_little_at_a_time() -> None:
    class Drip(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self, size: int = -1) -> bytes:
            taken, self.data = self.data[:1], self.data[1:]
            return taken

    assert read_run(Drip(LINE)).documents("1") == ["a"]
    assert read_run(Drip(zstandard.compress(LINE))).documents("1") == ["a"]


def test_files_that_do_not_give_bytes(tmp_path: Path) -> None:
    class Odd:
        def read(self, size: int) -> int:
            return 3

    with pytest.raises(InputTypeError, match=r"read\(\) must give bytes or str, got int"):
        read_run(Odd())
    path = tmp_path / "x.trec"
    path.write_bytes(b"1 Q0 \xff 1 2 t\n")
    with path.open(encoding="utf-8") as file, pytest.raises(DataError, match="use mode='rb'"):
        read_run(file)
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        with pytest.raises(DataError) as caught:
            read_run(file)
        assert str(caught.value) == f"{path}:1: invalid UTF-8 at byte 5 of the file"


def test_damaged_archives(tmp_path: Path) -> None:
    import gzip

    packed = bytearray(gzip.compress(LINE * 1000, mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(DataError, match="the gzip data is damaged after"):
        read_run(io.BytesIO(bytes(packed)))
    with pytest.raises(DataError, match="the gzip data is damaged after 13 bytes"):
        read_run(io.BytesIO(gzip.compress(LINE) + b"garbage"))
    with pytest.raises(DataError, match="the Zstandard data is damaged after 13 bytes"):
        read_run(io.BytesIO(zstandard.compress(LINE) + b"garbage"))


def test_zst_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evenrank\[zstd\]'"):
        read_run(io.BytesIO(zstandard.compress(LINE)))
