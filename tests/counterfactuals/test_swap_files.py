"""Collections: what stays as it is, what is told, and that a killed swap leaves nothing wrong behind."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank.cli import main
from evenrank.counterfactuals.swap import make_swapper

SWAPPER = make_swapper(tagger="rules")


def command(source: Path, output: Path, *options: str) -> list[str]:
    tagger = [] if "--tagger" in options else ["--tagger", "rules"]
    return ["counterfactual", "swap", str(source), "-o", str(output), *tagger, *options]


def swapped(source: Path, output: Path, *options: str) -> dict[str, Any]:
    """What is told of the swap; the output stands alone when it is done."""
    details = output.with_name("details.json")
    assert main(command(source, output, "--details", str(details), *options)) == 0
    assert not list(output.parent.glob("*.parts"))
    found: dict[str, Any] = json.loads(details.read_text())
    return found


def test_tsv_keeps_everything_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = "\ufeffhe\tShe met him.\r\n\nher\tHis\t\tcat \r\n 3 \té man\nlast\tno end of line, sir".encode()
    (tmp_path / "c.tsv").write_bytes(raw)
    told = swapped(tmp_path / "c.tsv", tmp_path / "s.tsv")
    assert "byte order mark" in capsys.readouterr().err
    new = "\ufeffhe\tHe met her.\r\n\nher\tHer\t\tcat \r\n 3 \té woman\nlast\tno end of line, madam".encode()
    assert (tmp_path / "s.tsv").read_bytes() == new
    assert (told["documents"], told["documents_changed"], told["words"]) == (4, 4, 5)
    assert told["kinds"] == {"pronouns": 3, "nouns": 1, "titles": 1, "names": 0}


LINES = [
    '{"_id": "she", "title":"Her  men" ,"text" : "He is \\"hers\\"\\n", "n": [{"text": "she"}], "t": "he"}',
    '{"text":"caf\\u00e9 man","_id":"2"}',
    '{"_id": "3", "text": "no one", "x": 1.50}\r',
    "",
    '  {"_id": "4", "text": "é she", "title": null}',
    '{"_id": "5", "text": "é \\"she\\""}',
    '{"_id": "6", "text": "she\\/he \\u00C9 é \\ud83d\\ude00 fianc\\u00E9e, fiancé"}',
    '{"_id": "7", "text": "C:\\\\users é \\u0068e"}',
    '{"_id": "8", "text": "C:\\\\users é he"}',
    ' {"_id" : "9", "x": {"text": [1, "}"]}, "text":"\\u0041 he" } ',
]
NEW_LINES = [
    '{"_id": "she", "title":"His  women" ,"text" : "She is \\"his\\"\\n", "n": [{"text": "she"}], "t": "he"}',
    '{"text":"caf\\u00e9 woman","_id":"2"}',
    '{"_id": "3", "text": "no one", "x": 1.50}\r',
    "",
    '  {"_id": "4", "text": "é he", "title": null}',
    '{"_id": "5", "text": "é \\"he\\""}',
    '{"_id": "6", "text": "he/she \\u00c9 \\u00e9 \\ud83d\\ude00 fianc\\u00e9, fianc\\u00e9e"}',
    '{"_id": "7", "text": "C:\\\\users \\u00e9 she"}',
    '{"_id": "8", "text": "C:\\\\users é she"}',
    ' {"_id" : "9", "x": {"text": [1, "}"]}, "text":"A she" } ',
]


def test_jsonl_keeps_other_fields_and_the_way_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("\n".join(LINES), encoding="utf-8", newline="")
    told = swapped(tmp_path / "c.jsonl", tmp_path / "s.jsonl")
    assert (tmp_path / "s.jsonl").read_bytes().decode() == "\n".join(NEW_LINES)
    assert (told["documents"], told["documents_changed"], told["words"]) == (9, 8, 14)


@pytest.mark.parametrize("kind", ["tsv", pytest.param("jsonl", marks=pytest.mark.slow)])
def test_a_file_of_several_blocks_is_swapped_line_by_line(tmp_path: Path, kind: str) -> None:
    """Blocks end in the middle of a line, of a word or of a letter."""
    generator = random.Random(3)
    words = ["he", "Her", "Élan", "Mary", "women,", "fiancée", *["日本", "é", "x."] * 100]
    texts = [" ".join(generator.choices(words, k=10_000)) for _ in range(250)]
    news = SWAPPER.swap_many(texts)

    def lines(given: list[str]) -> bytes:
        row = '{"id": "%d", "text": "%s"}\n' if kind == "jsonl" else "%d\t%s\n"
        return "".join(row % numbered for numbered in enumerate(given)).encode()

    (tmp_path / f"c.{kind}").write_bytes(lines(texts))
    assert (tmp_path / f"c.{kind}").stat().st_size > 9 << 20
    told = swapped(tmp_path / f"c.{kind}", tmp_path / f"s.{kind}")
    assert (tmp_path / f"s.{kind}").read_bytes() == lines(news)
    assert told["words"] > 10_000


def test_what_was_swapped_is_counted_word_by_word(tmp_path: Path) -> None:
    texts = write_collection(tmp_path / "c.tsv", 300)
    told = swapped(tmp_path / "c.tsv", tmp_path / "s.tsv")
    changes = Counter(
        (change.old.lower(), change.new.lower(), change.kind)
        for text in SWAPPER.swap_all(texts)
        for change in text.changes
    )
    expected = sorted(changes.items(), key=lambda item: (-item[1], item[0]))
    found = [((pair["word"], pair["becomes"], pair["kind"]), pair["count"]) for pair in told["pairs"]]
    assert found == expected
    assert told["words"] == changes.total()


def write_collection(path: Path, documents: int) -> list[str]:
    generator = random.Random(0)
    words = ["he", "she", "her", "his", "Mary", "the", "dog", "Élan", "him", "women,", "with", "x."]
    texts = [" ".join(generator.choices(words, k=generator.randrange(60))) for _ in range(documents)]
    path.write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(texts)), encoding="utf-8")
    return texts


def test_from_one_format_to_another(tmp_path: Path) -> None:
    documents = {"a": "She met him", "b": "x", "c": "Her cat"}
    news = {own: SWAPPER.swap(text).text for own, text in documents.items()}
    table = pa.table({"id": list(documents), "text": list(documents.values())})
    pq.write_table(table, tmp_path / "c.parquet")
    for output in ("s.tsv", "s.jsonl", "s.parquet"):
        swapped(tmp_path / "c.parquet", tmp_path / output)
    assert (tmp_path / "s.tsv").read_text() == "".join(f"{own}\t{text}\n" for own, text in news.items())
    lines = (tmp_path / "s.jsonl").read_text().splitlines()
    assert {row["id"]: row["text"] for row in map(json.loads, lines)} == news
    found = pq.read_table(tmp_path / "s.parquet").to_pydict()
    assert found == {"id": list(news), "text": list(news.values())}


@pytest.mark.slow
def test_without_numba_the_bytes_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "c.tsv", 300)
    fast = swapped(tmp_path / "c.tsv", tmp_path / "fast.tsv")
    monkeypatch.setitem(sys.modules, "numba", None)
    slow = swapped(tmp_path / "c.tsv", tmp_path / "slow.tsv")
    assert (tmp_path / "fast.tsv").read_bytes() == (tmp_path / "slow.tsv").read_bytes()
    assert fast == slow


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    ids = [str(number) for number in range(80_000)]
    table = pa.table({"id": ids, "text": [f"she {number}, the aunt of {number}" for number in ids]})
    pq.write_table(table, tmp_path / "c.parquet")
    told = [
        swapped(tmp_path / "c.parquet", tmp_path / f"{threads}.jsonl", "--threads", threads)
        for threads in ("1", "2")
    ]
    assert told[0] == told[1]
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("content", "source", "output", "code", "named"),
    [
        (b"a\tb\n", "c.tsv", "s.txt", 2, ".tsv, .jsonl, .parquet"),
        (b"a\tb\n", "c.tsv", "s.tsv.gz", 2, "s.tsv.gz"),
        (b"a\tshe\nb\xff\n", "c.tsv", "s.tsv", 1, "c.tsv:2"),
        (b"a\tshe\nb\t\xff\n", "c.tsv", "s.tsv", 1, "byte 8"),
        (b'{"id": "a", "text": "b"}\n{"id": 1, "text": "x"\n', "c.jsonl", "s.jsonl", 1, "c.jsonl:2"),
        (b"[1]\n", "c.jsonl", "s.jsonl", 1, "c.jsonl"),
        (b'{"id": "a", "text": "x\\ny"}\n', "c.jsonl", "s.tsv", 1, "TSV"),
        (b"\n\n", "c.tsv", "s.tsv", 1, "c.tsv"),
    ],
)  # fmt: skip
def test_bad_input_is_named_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
    content: bytes, source: str, output: str, code: int, named: str,
) -> None:  # fmt: skip
    (tmp_path / source).write_bytes(content)
    assert main(command(tmp_path / source, tmp_path / output)) == code
    assert named in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [source]


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("a\tshe\n")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "c.tsv")
    for output in ("c.tsv", "link.tsv"):
        assert main(command(tmp_path / "c.tsv", tmp_path / output)) == 2
    assert (tmp_path / "c.tsv").read_text() == "a\tshe\n"


KILLED = """
import os, signal, sys
from evenrank.cli import main

def kill(event, given):
    if event == "os.rename" and str(given[1]).endswith("s.tsv"):  # all is done, and nothing is in its place
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
main(sys.argv[1:])
"""


@pytest.mark.parametrize("options", [[], pytest.param(["--kinds", "names"], marks=pytest.mark.slow)])
def test_a_swap_that_was_killed_goes_on_or_starts_anew(tmp_path: Path, options: list[str]) -> None:
    """What an interrupted swap of other words left is not used."""
    write_collection(tmp_path / "c.tsv", 400)
    words = command(tmp_path / "c.tsv", tmp_path / "s.tsv")
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "s.tsv").exists()
    assert list(tmp_path.glob("*.parts"))
    told = swapped(tmp_path / "c.tsv", tmp_path / "s.tsv", *options)
    (tmp_path / "other").mkdir()
    undisturbed = swapped(tmp_path / "c.tsv", tmp_path / "other" / "s.tsv", *options)
    assert (tmp_path / "s.tsv").read_bytes() == (tmp_path / "other" / "s.tsv").read_bytes()
    assert told == undisturbed


@pytest.mark.parametrize("suffix", ["tsv", pytest.param("jsonl", marks=pytest.mark.slow)])
def test_a_folder_names_the_bytes_that_are_bad(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The block of a bad text has been overwritten when it is known to be bad."""
    row = b'{"id": "d%d", "text": "no pronoun here %s"}' if suffix == "jsonl" else b"d%d\tno pronoun here %s"
    lines = [row % (number, b"x" * 100_000) for number in range(200)]
    for number in (3, 4, 150):
        lines[number] = lines[number].replace(b"pronoun", b"abc\xff")
    content = b"\n".join(lines) + b"\n"
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / f"a.{suffix}").write_bytes(content)
    assert main(command(tmp_path / "c", tmp_path / "s.parquet")) == 1
    found = re.findall(rf"a\.{suffix}:(\d+): .* at byte (\d+) of ", capsys.readouterr().err)
    at = [place for place, byte in enumerate(content) if byte == 255]
    assert [(int(line), int(byte)) for line, byte in found] == list(zip((4, 5, 151), at, strict=True))


@pytest.mark.needs("spacy")
@pytest.mark.slow
def test_the_tagger_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.tsv").write_text("d1\tThe committee admired her speech\n")
    told = swapped(tmp_path / "c.tsv", tmp_path / "s.tsv", "--tagger", "spacy")
    assert "rules" not in told["tagger"]
    assert "en_core_web_sm" in capsys.readouterr().err
    assert (tmp_path / "s.tsv").read_text() == "d1\tThe committee admired his speech\n"
