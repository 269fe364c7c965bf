"""The first scan on a machine: results at once, and the same whichever way counted a piece."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import Lexicon
from evenrank.cli import main
from evenrank.evidence.scan import counter, duplicates, scan_file
from evenrank.evidence.scan.counter import COMPILING, FirstCounter, KernelCounter, SimpleCounter, Texts
from evenrank.evidence.scan.sources import size_of
from evenrank.io import background

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed: evenrank[scan]")

LEXICON = Lexicon.build("sides", {"f": ["she", "her", "mother in law"], "m": ["he", "his"]})
TEXTS = [
    "She saw his mother in law.",
    "\u0130 he HE \u00e9t\u00e9",
    "",
    "nobody",
    "her\u00a0his \u03a3he",
] * 40
FILES = {
    "c.tsv": "".join(f"{n}\t{text}\n" for n, text in enumerate(TEXTS, 1)),
    "c.jsonl": "".join(
        json.dumps({"id": str(n), "text": text}, ensure_ascii=False) + "\n" for n, text in enumerate(TEXTS, 1)
    ),
}


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A machine on which no kernel was compiled before; which way counted, in the order of the calls."""
    ways: list[str] = []
    for kind in (SimpleCounter, KernelCounter):

        def counted(self: object, texts: Texts, kind: type = kind, plain: object = kind.__call__) -> object:
            if threading.current_thread().name != "compile":
                ways.append(kind.__name__)
            return plain(self, texts)  # type: ignore[operator]

        monkeypatch.setattr(kind, "__call__", counted)
    monkeypatch.setattr(KernelCounter, "is_compiled", lambda self: False)
    yield ways
    background.compile_now()


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_the_same_whichever_way_counted(name: str, tmp_path: Path, uncompiled: list[str]) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    scan_file(path, LEXICON, tmp_path / "first.parquet", terms=True, block_bytes=500)
    assert uncompiled[0] == "SimpleCounter"
    assert set(uncompiled[1:]) == {"KernelCounter"}
    for way in (KernelCounter, SimpleCounter):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counter, "FirstCounter", lambda *both, way=way: both[way is SimpleCounter])
            scan_file(path, LEXICON, tmp_path / f"{way.__name__}.parquet", terms=True, block_bytes=500)
    assert len({file.read_bytes() for file in tmp_path.glob("*.parquet")}) == 1
    assert not background.is_uncompiled()


def test_a_message_says_what_takes_long(
    tmp_path: Path, uncompiled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.tsv"
    path.write_text(FILES["c.tsv"], encoding="utf-8")
    assert main(["scan", str(path), "--lexicon", "gender-en", "-o", str(tmp_path / "o.parquet")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(f"evenrank: {COMPILING}")


def test_what_cannot_be_compiled_is_an_error_of_its_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    done: list[int] = []
    background.compile_later(broken, lambda: done.append(1))
    assert background.is_uncompiled()
    background.compile_now()
    assert done == [1]
    assert not background.is_uncompiled()


def test_a_small_collection_needs_no_compiler(tmp_path: Path) -> None:
    """Neither from a file nor from a list, and with the hash of the file."""
    (tmp_path / "c.tsv").write_text(FILES["c.tsv"], encoding="utf-8")
    code = """
import sys, evenrank
evenrank.scan([("a", "he and she")], "gender-en")
evenrank.scan("c.tsv", "gender-en", "o.parquet")
sys.exit("numba" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


@pytest.mark.slow
def test_a_kernel_is_known_by_the_types_of_its_arguments(tmp_path: Path) -> None:
    """Compiled for one tokeniser and kept: a later process knows it, and that the other is not."""
    code = """
import evenrank
from evenrank.evidence.scan.counter import KernelCounter
from evenrank.evidence.scan.phrases import Phrases
words = evenrank.read_lexicon("gender-en")
word, blank = (KernelCounter(Phrases.of(words, tokenizer)) for tokenizer in ("word", "whitespace"))
print(word.is_compiled(), blank.is_compiled())
word.compile()
print(word.is_compiled(), blank.is_compiled())
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    seen = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        ).stdout.split("\n")
        for _ in range(2)
    ]
    assert seen[0] == ["False False", "True False", ""]
    assert seen[1] == ["True False", "True False", ""]


@given(
    ids=st.lists(
        st.one_of(st.integers(0, 30).map(str), st.sampled_from(["a", "\u00e9", "aaaaaaaaa", "aaaaaaaab"]))
    )
)
def test_ids_ascend_either_way(ids: list[str]) -> None:
    array = pa.array(sorted(ids, key=duplicates.size_first) if len(ids) % 2 else ids, pa.large_string())
    assert duplicates._ascend_simple(array) == duplicates._ascend(array)


def test_the_size_of_a_source(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "c.tsv").write_bytes(b"a\tone\n")
    (tmp_path / "c.tsv.gz").write_bytes(gzip.compress(b"a\tone\n"))
    assert size_of(tmp_path / "c.tsv") == 6
    assert size_of(tmp_path / "c.tsv.gz") == 4 * (tmp_path / "c.tsv.gz").stat().st_size
    assert size_of([("a", "one"), ("b", "three")]) == 8
    assert size_of(iter([("a", "one")])) is None
    assert size_of("no such file") is None


def test_the_first_piece_does_not_wait(uncompiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its counts are there before anything is compiled."""
    begun: list[str] = []
    monkeypatch.setattr(counter, "compile_now", lambda: begun.append("compiling"))
    made = counter.make_counter(LEXICON, "word")
    assert isinstance(made, FirstCounter)
    texts = Texts.of(pa.array(["he", "she"], pa.large_string()))
    assert made(texts).groups.tolist() == [[0, 1], [1, 0]]
    assert uncompiled == ["SimpleCounter"]
