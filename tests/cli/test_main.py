"""The command as a whole: help, exit codes, and what never reaches the user."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

import evenrank as er
from evenrank.cli import main
from evenrank.grammar import declare, unregister
from evenrank.measures import Direction, Measure, Result

Evenrank = Callable[..., SimpleNamespace]


@pytest.fixture
def fails(files: Path) -> Iterator[Callable[[BaseException], list[str]]]:
    """An evaluation by a measure that ends with this error."""
    raised: list[BaseException] = []

    class Failing(Measure):
        """Fails. 0 is its lowest value; 1 is its highest."""

        in_words = "nothing"
        answers = ("does it fail",)
        family = "relevance"
        formula = "none"
        reference = "this test"
        direction = Direction.HIGHER
        undefined_when: ClassVar = {}
        needs = frozenset({"ranked.relevance"})

        def compute(self, evidence: Any) -> Result:
            raise raised[-1]

    def call(error: BaseException) -> list[str]:
        raised.append(error)
        return ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "Failing"]

    declare(Failing)
    yield call
    unregister("measure", "Failing")


@pytest.mark.parametrize(
    ("error", "code", "named"),
    [
        (er.DataError("x:1: bad"), 1, "x:1"),
        (er.MissingEvidenceError("none"), 1, "none"),
        (er.MissingExtraError("pip install it"), 1, "pip install it"),
        (er.ParameterError("bad"), 2, "bad"),
        (PermissionError(13, "Permission denied", "f.trec"), 1, "f.trec: Permission denied"),
        (MemoryError(), 1, "memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("a\nb"), 1, "ZeroDivisionError: a b"),
        (er.DataError("a\x1b[2Jb"), 1, "a\\x1b[2Jb"),
    ],
)
def test_each_class_of_errors_has_its_exit_code_and_one_line(
    evenrank: Evenrank,
    fails: Callable[[BaseException], list[str]],
    error: BaseException,
    code: int,
    named: str,
) -> None:
    found = evenrank(*fails(error))
    assert (found.code, found.out, found.err.count("\n")) == (code, "", 1)
    assert found.err.startswith("evenrank: ")
    assert named in found.err


def test_a_bug_can_be_looked_at(
    evenrank: Evenrank, fails: Callable[[BaseException], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = fails(ZeroDivisionError("a"))
    assert "EVENRANK_DEBUG=1" in evenrank(*call).err
    monkeypatch.setenv("EVENRANK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(call)


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "evenrank", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_as_a_process(files: Path) -> None:
    arguments = ["evaluate", "-", "--qrels", "qrels.txt", "-m", "RR", "--format", "tsv"]
    done = process(
        *arguments, input=(files / "bm25.trec").read_bytes(), env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[1].startswith("stdin\tRR\t\t0.5\t")
    failed = process("evaluate", "none.trec", "--qrels", "qrels.txt", "-m", "RR")
    assert (failed.returncode, failed.stdout) == (1, b"")
    assert failed.stderr == b"evenrank: none.trec: no such file\n"


def test_a_table_is_utf8_whatever_the_locale(files: Path) -> None:
    done = process(
        "evaluate",
        "bm25.trec",
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0
    assert "RR ↑" in done.stdout.decode()


def test_a_closed_pipe_is_quiet(files: Path) -> None:
    lines = "".join(f"q{place} Q0 a 1 1.0 x\n" for place in range(20000))
    (files / "long.trec").write_text(lines)
    (files / "long.qrels").write_text("".join(f"q{place} 0 a 1\n" for place in range(20000)))
    command = "-m evenrank evaluate long.trec --qrels long.qrels -m RR --view queries"
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$0" {command} | head -1', sys.executable],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"query")


def test_a_pattern_that_the_shell_has_expanded(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "shards").mkdir()
    parts = [f"shards/part-{number}.jsonl.gz" for number in range(6)]
    for part in parts:
        (files / part).touch()
    named = f"unrecognized arguments: {' '.join(parts[1:4])} and 2 more"
    for words in (["scan", *parts], ["evaluate", "bm25.trec", "--documents", *parts]):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert named in said
        assert "quotes" in said
        assert f"(try: evenrank {words[0]} --help)" in said


@pytest.mark.parametrize(
    "words",
    [["scan", "a", "b"], ["scan", "bm25.trec", "qrels.txt"], ["init", "bm25.trec", "dense.trec"],
     ["scan", "a.csv", "x" * 5000 + ".csv"],
     ["evaluate", "bm25.trec", "--documents", "docs.jsonl", "dense.trec"]],
)  # fmt: skip
def test_no_pattern_is_guessed_where_there_was_none(
    files: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert "unrecognized arguments" in error
    assert "pattern" not in error


@pytest.mark.needs("altair")
@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_scores_and_a_report_need_no_pandas(files: Path, command: str) -> None:
    """Each takes a third of a second to import, whether it is used or not; a report has tests."""
    (files / "texts.tsv").write_text("a\tmy mother\nb\tthe other\n")
    options = ["--documents", "texts.tsv", "-o", "page.html"] if command == "report" else []
    words = [command, "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "-m", "nDCG P@2", *options]
    code = (
        f"import sys; from evenrank.cli import main; code = main({words!r});"
        "sys.stdout.write(','.join({'pandas', 'scipy'} & set(sys.modules)) + str(code))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.endswith(b"0"), done.stderr
    assert b"pandas" not in done.stdout.rpartition(b"\n")[2]
    assert command == "report" or done.stdout.rpartition(b"\n")[2] == b"0"


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG", "-o", "-"],
        ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG", "--figure", "-"],
        ["compare", "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "-m", "nDCG", "-o", "-"],
        ["explain", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG", "-o", "-"],
        ["report", "bm25.trec", "--qrels", "qrels.txt", "-m", "nDCG", "-o", "-"],
        [
            "rerank",
            "bm25.trec",
            "--with",
            "Random",
            "--with",
            "Oracle",
            "--qrels",
            "qrels.txt",
            "-m",
            "RR",
            "-o",
            "-",
        ],
        ["scan", "c.tsv", "--lexicon", "gender-en", "-o", "-"],
        ["counterfactual", "swap", "c.tsv", "-o", "-"],
        ["counterfactual", "swap", "c.tsv", "-o", "s.tsv", "--details", "-"],
        ["polarise", "c.tsv", "-o", "-"],
        ["debias", "train", "--set", "examples.triples=t.tsv", "-o", "-"],
    ],
)
def test_no_command_makes_a_file_called_dash(command: list[str], evenrank: Any, files: Path) -> None:
    (files / "c.tsv").write_text("a\tshe\n")
    before = sorted(files.iterdir())
    done = evenrank(*command)
    assert done.code == 2
    assert "cannot be written to standard output: give the name of a file" in done.err
    assert sorted(files.iterdir()) == before


def test_an_option_and_its_value_may_be_one_word(evenrank: Any, files: Path) -> None:
    words = ("evaluate", "bm25.trec", "--qrels", "qrels.txt")
    assert evenrank(*words, "-mRR").out == evenrank(*words, "-m", "RR").out != ""


def test_without_a_command_the_commands_are_listed(evenrank: Any) -> None:
    for words in ([], ["--no-project"]):
        done = evenrank(*words)
        assert (done.code, done.out) == (2, "")
        assert "\nmeasure:\n  measures " in done.err
        assert done.err.endswith("evenrank: name a command, as evenrank evaluate (try: evenrank --help)\n")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("evenrank stu", {"study"}),
        ("evenrank study s", {"serve", "simulate", "status"}),
        ("evenrank study simulate mine --par", {"--participants"}),
        ("evenrank study simulate mine --through ", {"answers", "browser"}),
        ("evenrank evaluate --mi", {"--missing"}),
        ("evenrank evaluate bm", {"bm25.trec"}),
        ("evenrank measures --se", {"--seed"}),
    ],
)
def test_a_shell_completes_words(files: Path, line: str, offered: set[str]) -> None:
    """The shell asks through the environment, and reads the answer from a file here."""
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(files / "answer"),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    subprocess.run([sys.executable, "-m", "evenrank"], env={**os.environ, **asked}, check=True)
    assert {word.strip() for word in (files / "answer").read_text().splitlines()} == offered


@pytest.mark.parametrize("place", [1, 2])
def test_what_every_command_takes_stands_before_or_behind_the_command(
    evenrank: Any, files: Path, place: int
) -> None:
    words = ["evaluate", "bm25.trec", "--qrels", "qrels.txt", "-m", "RR", "--format", "tsv"]
    begin = 0 if place == 1 else len(words)
    told = evenrank(*words[:begin], "--rename", "RR=First", "--seed=3", "--notes", *words[begin:])
    assert (told.code, "First" in told.out) == (0, True)
    words = ["doctor", "--no-project"] if place == 1 else ["--no-project", "doctor"]
    both = evenrank(*words, "--project", "x.toml")
    assert (both.code, "exclude each other" in both.err) == (2, True) if place == 1 else both.code == 2
