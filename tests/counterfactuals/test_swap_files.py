"""Collections: what stays as it is, what is told, and that a killed swap goes on."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import DataError, EvenrankWarning, ParameterError
from evenrank.cli import main
from evenrank.cli.swap import describe_swap
from evenrank.counterfactuals.swap import blocks, make_swapper, workers
from evenrank.counterfactuals.swap.files import swap_file
from evenrank.counterfactuals.swap.pieces import members_of
from evenrank.counterfactuals.swap.summary import SwapSummary
from evenrank.io.journal import whole_frames

SWAPPER = make_swapper(tagger="rules")


def swapped(source: Any, output: Path, **options: Any) -> SwapSummary:
    return swap_file(source, output, **{"tagger": "rules", "threads": 1, **options})


def test_tsv_keeps_everything_else(tmp_path: Path) -> None:
    raw = "\ufeffhe\tShe met him.\r\n\nher\tHis\t\tcat \r\n 3 \té man\nlast\tno end of line, sir".encode()
    (tmp_path / "c.tsv").write_bytes(raw)
    with pytest.warns(EvenrankWarning, match="byte order mark"):
        summary = swapped(tmp_path / "c.tsv", tmp_path / "s.tsv", block_bytes=16)
    new = "\ufeffhe\tHe met her.\r\n\nher\tHer\t\tcat \r\n 3 \té woman\nlast\tno end of line, madam".encode()
    assert (tmp_path / "s.tsv").read_bytes() == new
    assert (summary.documents, summary.changed, summary.words) == (4, 4, 5)
    assert summary.kinds == {"pronouns": 3, "nouns": 1, "titles": 1, "names": 0}


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
]
NEW_LINES = [
    '{"_id": "she", "title":"His  women" ,"text" : "She is \\"his\\"\\n", "n": [{"text": "she"}], "t": "he"}',
    '{"text":"caf\\u00e9 woman","_id":"2"}',
    '{"_id": "3", "text": "no one", "x": 1.50}\r',
    "",
    '  {"_id": "4", "text": "é he", "title": null}',
    '{"_id": "5", "text": "é \\"he\\""}',
    '{"_id": "6", "text": "he\\/she \\u00C9 é \\ud83d\\ude00 fianc\\u00e9, fiancée"}',
    '{"_id": "7", "text": "C:\\\\users é she"}',
    '{"_id": "8", "text": "C:\\\\users é she"}',
]


@pytest.mark.parametrize("block_bytes", [8, 1 << 20])
def test_jsonl_keeps_other_fields_and_the_way_it_is_written(tmp_path: Path, block_bytes: int) -> None:
    (tmp_path / "c.jsonl").write_text("\n".join(LINES), encoding="utf-8", newline="")
    summary = swapped(tmp_path / "c.jsonl", tmp_path / "s.jsonl", block_bytes=block_bytes)
    assert (tmp_path / "s.jsonl").read_bytes().decode() == "\n".join(NEW_LINES)
    assert (summary.documents, summary.changed, summary.words) == (8, 7, 13)


def test_members() -> None:
    line = ' {"a" : {"b": [1, "}"]}, "c":"\\u0041", "a": 2 } '
    found = members_of(line)
    assert {key: (value, line[start:end]) for key, (value, start, end) in found.items()} == {
        "a": (2, "2"),
        "c": ("A", '"\\u0041"'),
    }
    assert members_of("{}") == {}
    for bad in ("", "[1]", '{"a" 1}', '{"a": 1', '{"a": 1} x', "{a: 1}", '{"a": 1 "b": 2}'):
        with pytest.raises(ValueError):
            members_of(bad)


def test_from_one_format_to_another(tmp_path: Path) -> None:
    documents = {"a": "She met him", "b": "x", "c": "Her cat"}
    news = {own: SWAPPER.swap(text).text for own, text in documents.items()}
    table = pa.table({"id": list(documents), "text": list(documents.values())})
    pq.write_table(table, tmp_path / "c.parquet")
    for source in (tmp_path / "c.parquet", documents):
        for output in ("s.tsv", "s.jsonl", "s.parquet"):
            swapped(source, tmp_path / output)
        assert (tmp_path / "s.tsv").read_text() == "".join(f"{own}\t{text}\n" for own, text in news.items())
        lines = (tmp_path / "s.jsonl").read_text().splitlines()
        assert {row["id"]: row["text"] for row in map(json.loads, lines)} == news
        assert pq.read_table(tmp_path / "s.parquet").to_pydict() == {
            "id": list(news),
            "text": list(news.values()),
        }


@pytest.mark.slow
def test_without_numba_the_bytes_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "c.tsv", 300)
    swapped(tmp_path / "c.tsv", tmp_path / "fast.tsv")
    for module in (blocks, workers):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    swapped(tmp_path / "c.tsv", tmp_path / "slow.tsv")
    assert (tmp_path / "fast.tsv").read_bytes() == (tmp_path / "slow.tsv").read_bytes()


@pytest.mark.parametrize(
    ("content", "source", "output", "error", "message"),
    [
        (b"a\tb\n", "c.tsv", "s.txt", ParameterError, "the output ends in .tsv, .jsonl, .parquet"),
        (b"a\tb\n", "c.tsv", "s.tsv.gz", ParameterError, "the output ends in"),
        (b"a\tshe\nb\xff\n", "c.tsv", "s.tsv", DataError, "c.tsv:2: no tab"),
        (b"a\tshe\nb\t\xff\n", "c.tsv", "s.tsv", DataError, "c.tsv:2: invalid UTF-8 in the text at byte 8"),
        (b'{"id": "a", "text": "b"}\n[1]\n', "c.jsonl", "s.jsonl", DataError, "c.jsonl:2: not JSON"),
        (b"[1]\n", "c.jsonl", "s.jsonl", DataError, "the first line is not JSON"),
        (b'{"id": "a", "text": "x\\ny"}\n', "c.jsonl", "s.tsv", DataError, "line break, which TSV cannot"),
        (b"\n\n", "c.tsv", "s.tsv", DataError, "no documents"),
    ],
)  # fmt: skip
def test_bad_input(
    tmp_path: Path, content: bytes, source: str, output: str, error: type[Exception], message: str
) -> None:
    (tmp_path / source).write_bytes(content)
    with pytest.raises(error, match=message):
        swapped(tmp_path / source, tmp_path / output)
    assert not (tmp_path / output).exists()
    assert not (tmp_path / f"{output}.parts").exists()


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("a\tshe\n")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "c.tsv")
    for output in ("c.tsv", "link.tsv"):
        with pytest.raises(ParameterError, match="is also an input, and would be overwritten"):
            swapped(tmp_path / "c.tsv", tmp_path / output)
    assert (tmp_path / "c.tsv").read_text() == "a\tshe\n"


def write_collection(path: Path, documents: int, seed: int = 0) -> None:
    generator = random.Random(seed)
    words = ["he", "she", "her", "his", "Mary", "the", "dog", "Élan", "him", "women,", "with", "x."]
    with path.open("w", encoding="utf-8") as file:
        for number in range(documents):
            file.write(f"{number}\t{' '.join(generator.choices(words, k=generator.randrange(60)))}\n")


class Stop(Exception):
    """Something goes wrong in the middle."""


@pytest.mark.parametrize("output", ["s.tsv", "s.parquet"])
def test_goes_on_where_it_stopped(tmp_path: Path, output: str) -> None:
    write_collection(tmp_path / "c.tsv", 400)
    seen = []

    def progress(done: int, total: int | None, unit: str) -> None:
        seen.append((done, total, unit))
        if len(seen) == 3:
            raise Stop

    size = (tmp_path / "c.tsv").stat().st_size
    with pytest.raises(Stop):
        swapped(tmp_path / "c.tsv", tmp_path / output, block_bytes=4096, progress=progress)
    assert seen == [(4096 * (place + 1), size, "bytes") for place in range(3)]
    assert not (tmp_path / output).exists()
    summary = swapped(tmp_path / "c.tsv", tmp_path / output, block_bytes=4096)
    assert summary.found >= 3
    assert not (tmp_path / f"{output}.parts").exists()
    (tmp_path / "other").mkdir()
    undisturbed = swapped(tmp_path / "c.tsv", tmp_path / "other" / output, block_bytes=4096)
    assert (tmp_path / output).read_bytes() == (tmp_path / "other" / output).read_bytes()
    assert summary.to_dict() == undisturbed.to_dict()
    assert undisturbed.found == 0


def test_other_settings_start_anew(tmp_path: Path) -> None:
    write_collection(tmp_path / "c.tsv", 400)

    def progress(*_: object) -> None:
        raise Stop

    with pytest.raises(Stop):
        swapped(tmp_path / "c.tsv", tmp_path / "s.tsv", block_bytes=4096, progress=progress)
    with pytest.warns(EvenrankWarning, match="interrupted had another pairs"):
        summary = swapped(tmp_path / "c.tsv", tmp_path / "s.tsv", block_bytes=4096, kinds=("names",))
    assert summary.found == 0


SCRIPT = """
import sys
from evenrank.counterfactuals.swap.files import swap_file
def permitted(done, total, unit):
    # a piece for each byte that the test sends, so that nothing ends before it is killed; then no limit
    sys.stdin.buffer.read(1)
if __name__ == "__main__":
    threads = int(sys.argv[3])
    swap_file(
        sys.argv[1], sys.argv[2], tagger="rules", threads=threads, block_bytes=1 << 13, progress=permitted
    )
"""


def frames(output: Path) -> int:
    try:
        folder = output.with_name(output.name + ".parts")
        kept = json.loads((folder / "settings.json").read_bytes())
        del kept["stamp"]
        with (folder / "journal").open("rb") as file:
            return len(list(whole_frames(file, json.dumps(kept, sort_keys=True).encode())))
    except FileNotFoundError:
        return 0


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_killed_at_any_moment(tmp_path: Path, threads: int) -> None:
    source, output = tmp_path / "c.tsv", tmp_path / "s.tsv"
    write_collection(source, 20_000)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(source), str(output), str(threads)]
    for _ in range(2):
        before = frames(output)
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(b"." * (before + 9))  # it is at work, and far from its end, when it is killed
        process.stdin.flush()
        deadline = time.monotonic() + 600  # until what does nothing is given up
        while frames(output) < before + 5 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)  # between two looks
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not output.exists()
        assert frames(output) >= before + 5
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    swapped(source, tmp_path / "whole.tsv")
    assert output.read_bytes() == (tmp_path / "whole.tsv").read_bytes()


@pytest.mark.slow
def test_processes_write_the_same_bytes(tmp_path: Path) -> None:
    write_collection(tmp_path / "c.tsv", 2000)
    (tmp_path / "c.jsonl").write_text("".join(f'{{"id": "{n}", "text": "she {n}"}}\n' for n in range(2000)))
    for source, output in (("c.tsv", "s.tsv"), ("c.jsonl", "s.jsonl"), ("c.tsv", "s.parquet")):
        made = []
        for threads in (1, 2):
            swapped(tmp_path / source, tmp_path / output, threads=threads, block_bytes=1 << 11)
            made.append((tmp_path / output).read_bytes())
        assert made[0] == made[1]
    documents = [(str(number), f"she {number} " * 9) for number in range(80_000)]
    for threads in (1, 2):
        summary = swapped(iter(documents), tmp_path / f"{threads}.jsonl", threads=threads)
        assert summary.pieces > 17
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    (tmp_path / "bad.tsv").write_bytes((tmp_path / "c.tsv").read_bytes() + b"x\t\xff\n")
    with pytest.raises(DataError, match=r"bad\.tsv:2001: invalid UTF-8 in the text"):
        swapped(tmp_path / "bad.tsv", tmp_path / "s.tsv", threads=2, block_bytes=1 << 12)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.tsv").write_text("d1\tMs Hall, she met Mary\nd2\tnothing\n")
    command = ["counterfactual", "--swap-only", "c.tsv", "--tagger", "rules"]
    assert main([*command, "-o", "s.tsv", "--details", "r.json"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        "wrote s.tsv: 1 of 2 documents changed, 3 words swapped: pronouns 1, nouns 0, titles 1, names 1"
        in said.err
    )
    assert "a second swap would not restore: ms -> mr 1" in said.err
    report = json.loads(Path("r.json").read_text())
    assert report["not_restored"] == [{"word": "ms", "becomes": "mr", "count": 1}]
    assert {pair["word"] for pair in report["pairs"]} == {"ms", "she", "mary"}
    assert main([*command, "-o", "p.tsv", "--kinds", "pronouns"]) == 0
    assert Path("p.tsv").read_text() == "d1\tMs Hall, he met Mary\nd2\tnothing\n"
    Path("m.csv").write_text("word,becomes\nshe,he\n")
    assert main([*command, "-o", "m.tsv", "--mapping", "m.csv"]) == 0
    assert Path("m.tsv").read_text() == "d1\tMs Hall, he met Mary\nd2\tnothing\n"
    capsys.readouterr()
    for wrong, message, code in (
        (["-o", "c.tsv"], "c.tsv: is also an input, and would be overwritten", 2),
        (["-o", "s.tsv", "--mapping", "none.csv"], "there is no file none.csv", 2),
        (["-o", "s.tsv", "--mapping", "c.tsv"], "c.tsv: must have the columns word and becomes", 1),
        (["-o", "s.tsv", "--kinds", "verbs"], "kinds must be some of", 2),
    ):
        assert main([*command, *wrong]) == code
        assert message in capsys.readouterr().err


def test_words_swapped_equally_often_stand_in_one_order() -> None:
    """Not in that in which the pieces of a file were done."""
    words = [("she", "he", "pronouns"), ("ms", "mr", "titles"), ("aunt", "uncle", "nouns")]
    told = []
    for order in (words, words[::-1]):
        summary = SwapSummary("rules", tally=Counter(order), exceptions={old: new for old, new, _ in words})
        assert summary.most_often() == [(word, 1) for word in sorted(words)]
        assert list(summary.one_way) == [(old, new) for old, new, _ in sorted(words)]
        told.append(describe_swap(summary, "s.tsv"))
    assert told[0] == told[1]


@pytest.mark.skipif(find_spec("spacy") is None, reason="spaCy is not installed: evenrank[swap]")
@pytest.mark.slow
def test_the_tagger_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.tsv").write_text("d1\tThe committee admired her speech\n")
    arguments = ["counterfactual", "--swap-only", str(tmp_path / "c.tsv"), "-o", str(tmp_path / "s.tsv")]
    assert main([*arguments, "--tagger", "spacy"]) == 0
    assert "her and his by en_core_web_sm" in capsys.readouterr().err
    assert (tmp_path / "s.tsv").read_text() == "d1\tThe committee admired his speech\n"


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_folder_names_the_bytes_that_are_bad(tmp_path: Path, suffix: str, threads: int) -> None:
    """The block of a bad text has been overwritten when it is known to be bad."""
    row = b'{"id": "d%d", "text": "no pronoun here %s"}' if suffix == "jsonl" else b"d%d\tno pronoun here %s"
    lines = [row % (number, b"x" * 20) for number in range(200)]
    for number in (3, 4, 150):
        lines[number] = lines[number].replace(b"pronoun", b"abc\xff")
    content = b"\n".join(lines) + b"\n"
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / f"a.{suffix}").write_bytes(content)
    with pytest.raises(DataError) as caught:
        swapped(tmp_path / "c", tmp_path / "s.parquet", threads=threads, block_bytes=300)
    found = [re.fullmatch(rf".*a\.{suffix}:(\d+): .* at byte (\d+) of .*", line) for line in
             str(caught.value).split("\n")]  # fmt: skip
    at = [place for place, byte in enumerate(content) if byte == 255]
    assert [one and (int(one[1]), int(one[2])) for one in found] == list(zip((4, 5, 151), at, strict=True))
