"""Where bytes come from, and what they are called."""

from __future__ import annotations

import gzip
import io
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard

from evenrank import evaluate, read_groups, read_lexicon, read_polarity, read_qrels, read_run
from evenrank.errors import DataError, InputTypeError, MissingExtraError

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
    code = "import evenrank as e; r = e.read_run('-'); assert (r.source, r.name) == ('<stdin>', 'run')"
    subprocess.run([sys.executable, "-c", code], input=LINE, check=True, timeout=PATIENCE)


READERS = (read_run, read_qrels, read_groups, read_lexicon, read_polarity)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "folder", "socket"])
def test_what_is_no_regular_file_is_not_opened(
    read: Callable[..., object], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.chdir(tmp_path)
        listening.bind("socket")
        opened: list[object] = []
        monkeypatch.setattr(Path, "open", lambda path, *_, **__: opened.append(path))
        options = {"name": "sex"} if read is read_groups else {}
        with pytest.raises(DataError, match=name):
            read(name, **options)
        assert opened == []


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

    with pytest.raises(InputTypeError, match="int"):
        read_run(Odd())
    path = tmp_path / "x.trec"
    path.write_bytes(b"1 Q0 \xff 1 2 t\n")
    with path.open(encoding="utf-8") as file, pytest.raises(DataError, match="rb"):
        read_run(file)
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        with pytest.raises(DataError) as caught:
            read_run(file)
        assert str(caught.value).startswith(f"{path}:1: ")
        assert "byte 5" in str(caught.value)


def test_damaged_archives(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(LINE * 1000, mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(DataError, match="gzip"):
        read_run(io.BytesIO(bytes(packed)))
    with pytest.raises(DataError, match=r"gzip.* 13 "):
        read_run(io.BytesIO(gzip.compress(LINE) + b"garbage"))
    with pytest.raises(DataError, match=r"Zstandard.* 13 "):
        read_run(io.BytesIO(zstandard.compress(LINE) + b"garbage"))


def test_zst_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"\[zstd\]'"):
        read_run(io.BytesIO(zstandard.compress(LINE)))


@pytest.mark.parametrize(
    ("place", "measure"),
    [
        ("run", "RR"), ("qrels", "RR"), ("intents", "ERR_IA@2"), ("groups", "AWRF(attr='sex')@2"),
        ("words", "NFaiRR@2"), ("polarity", "DUO@2"), ("background", "RR"),
    ],
)  # fmt: skip
def test_a_generator_that_never_ends_is_no_table(place: str, measure: str) -> None:
    asked = []

    def endless() -> Iterator[dict[str, object]]:
        while len(asked) < 1000:  # so that a failure ends
            asked.append(1)
            yield {"query": "q", "document": f"d{len(asked)}", "score": 1.0, "grade": 1}

    given = {"run": {"q": {"a": 1.0}}, "qrels": {"q": {"a": 1}}} | {place: endless()}
    with pytest.raises(InputTypeError):
        evaluate(given.pop("run"), measure, **given)
    assert len(asked) <= 1
