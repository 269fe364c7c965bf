"""The command as a whole: help, exit codes, and what never reaches the user."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import evenrank as er
from evenrank import cli
from evenrank.cli import build_parser, main
from evenrank.cli.everywhere import split_everywhere
from evenrank.cli.parser import Parser, _is_option

Evenrank = Callable[..., SimpleNamespace]

COMMANDS = (
    "init",
    "audit",
    "doctor",
    "retrieve",
    "scan",
    "lexicon",
    "queryset",
    "polarise",
    "corpus",
    "measures",
    "evaluate",
    "explain",
    "compare",
    "rerank",
    "debias",
    "select",
    "counterfactual",
    "study",
    "report",
    "gate",
)


def subcommands() -> dict[str, Parser]:
    action = next(a for a in build_parser()._actions if a.dest == "command")
    return dict(action.choices)  # type: ignore[call-overload, no-any-return]


def test_these_are_the_commands() -> None:
    assert tuple(subcommands()) == COMMANDS


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples_that_parse(evenrank: Evenrank, command: str) -> None:
    outcome = evenrank(*filter(None, [command]), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    head, examples = re.split(r"\nexamples?:\n", outcome.out)
    assert head.startswith(f"usage: evenrank {command or 'COMMAND'}")
    joined = examples.replace("\\\n", " ")  # as a shell reads a line that goes on
    lines = [line for line in joined.splitlines() if line.startswith("  ")]
    assert lines
    for line in lines:
        words = shlex.split(line)
        words = words[: words.index(">")] if ">" in words else words
        words = words[words.index("|") + 1 :] if "|" in words else words  # a quoted one is no pipe
        assert words[0] == "evenrank"
        build_parser().parse_args(split_everywhere(words[1:])[0])


def test_version(evenrank: Evenrank) -> None:
    assert evenrank("--version").out == f"evenrank {er.__version__}\n"


@pytest.mark.parametrize("arguments", [["nonsense"], ["doctor", "extra"]])
def test_wrong_usage(evenrank: Evenrank, arguments: list[str]) -> None:
    outcome = evenrank(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("evenrank: ")
    assert outcome.err.rstrip().endswith("--help)")
    assert outcome.err.count("\n") == 1


BUG = "evenrank: unexpected ZeroDivisionError: a b (a bug; EVENRANK_DEBUG=1 shows where)\n"


def failing(error: BaseException) -> Callable[[object], Parser]:
    def parser(_: object) -> Parser:
        made = Parser(prog="evenrank")

        def run(_: object) -> int:
            raise error

        made.set_defaults(run=run)
        return made

    return parser


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (er.DataError("x:1: bad"), 1, "evenrank: x:1: bad\n"),
        (er.MissingEvidenceError("none"), 1, "evenrank: none\n"),
        (er.MissingExtraError("pip install it"), 1, "evenrank: pip install it\n"),
        (er.ParameterError("bad"), 2, "evenrank: bad\n"),
        (PermissionError(13, "Permission denied", "f.trec"), 1, "evenrank: f.trec: Permission denied\n"),
        (MemoryError(), 1, "evenrank: there is not enough memory for this command\n"),
        (KeyboardInterrupt(), 130, "evenrank: interrupted\n"),
        (BrokenPipeError(), 0, ""),
        (ZeroDivisionError("a\nb"), 1, BUG),
        (er.DataError("a\x1b[2Jb"), 1, "evenrank: a\\x1b[2Jb\n"),
    ],
)  # fmt: skip
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(cli, "build_parser", failing(error))
    monkeypatch.setattr(cli, "discard_output", lambda: None)
    assert main([]) == code
    assert capsys.readouterr().err == said


def test_a_bug_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "build_parser", failing(ZeroDivisionError("a")))
    monkeypatch.setenv("EVENRANK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main([])


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
    quotes = "; put the pattern in quotes ('shards/*.jsonl.gz'), so that the shell leaves it alone"
    for words in (["scan", *parts], ["evaluate", "bm25.trec", "--documents", *parts]):
        assert main(words) == 2
        assert f"{named}{quotes} (try: evenrank {words[0]} --help)" in capsys.readouterr().err


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


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from evenrank.cli import main; main(['--help']);"
        "sys.stderr.write(','.join({'numpy', 'polars', 'pyarrow', 'ir_measures'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""


@pytest.mark.needs("altair")
@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_scores_and_a_report_need_neither_pandas_nor_scipy(files: Path, command: str) -> None:
    """Each takes a third of a second to import, whether it is used or not."""
    (files / "texts.tsv").write_text("a\tmy mother\nb\tthe other\n")
    options = ["--documents", "texts.tsv", "-o", "page.html"] if command == "report" else []
    words = [command, "bm25.trec", "dense.trec", "--qrels", "qrels.txt", "-m", "nDCG P@2", *options]
    code = (
        f"import sys; from evenrank.cli import main; code = main({words!r});"
        "sys.stdout.write(','.join({'pandas', 'scipy'} & set(sys.modules)) + str(code))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.endswith(b"0"), done.stderr
    assert not done.stdout.endswith((b"pandas0", b"scipy0"))


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
        ["counterfactual", "--swap-only", "c.tsv", "-o", "-"],
        ["counterfactual", "--swap-only", "c.tsv", "-o", "s.tsv", "--details", "-"],
        ["polarise", "c.tsv", "-o", "-"],
        ["debias", "--set", "examples.triples=t.tsv", "-o", "-"],
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


LEAVING = """
import atexit, sys
import evenrank.__main__ as program
def main():
    sys.stdout.write("data")  # no end of line: nothing but a flush writes it
    sys.stderr.write("said")
    return {code}
atexit.register(lambda: print("tidied", file=open("tidied", "w")))
program.main = main
program.entry()
"""


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.mark.parametrize("code", [0, 3])
def test_leaving_loses_nothing(tmp_path: Path, code: int) -> None:
    """The program leaves without taking Python down: output, what is done at exit, and the code remain."""
    call = [sys.executable, "-c", LEAVING.format(code=code)]
    done = subprocess.run(call, capture_output=True, check=False, cwd=tmp_path, env=BUFFERED)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"data", b"said")
    assert (tmp_path / "tidied").read_text() == "tidied\n"


def test_leaving_when_nobody_reads(tmp_path: Path) -> None:
    call = [sys.executable, "-c", LEAVING.format(code=3)]
    with subprocess.Popen(call, stdout=subprocess.PIPE, cwd=tmp_path, env=BUFFERED) as program:
        assert program.stdout is not None
        program.stdout.close()
        assert program.wait() == 3


def test_what_is_an_option() -> None:
    for word, expected in (("-", False), ("-1", False), ("-.5", False), ("-x", True), ("--x y", False)):
        assert _is_option(word) == expected, word
