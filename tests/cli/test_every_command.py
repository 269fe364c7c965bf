"""What holds of every command: help, misspelt names, streams that are closed, full or not read, Ctrl-C."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import commands
import pytest
from effort import some
from helps import command_names, examples_of, help_of, options_of, subcommands_of

Evenrank = Callable[..., SimpleNamespace]

FORBIDDEN = ("Traceback", "Exception ignored", "unexpected", "lost sys.std", "Error:", "terminate called")


NAMES = sorted({name.split()[0] for name in commands.CALLS})
SLOW = {"report"}  # it draws
# of the checks that run a command many times, make test has every third command
THIRD = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW or place % 3 else name
    for place, name in enumerate(commands.CALLS)
]
CALLED = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in commands.CALLS]


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    commands.write_files(folder)
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files of the calls, which is the current folder."""
    there = tmp_path / "files"
    shutil.copytree(prepared, there)
    monkeypatch.chdir(there)
    return there


def words(name: str) -> list[str]:
    return [*name.split(), *commands.CALLS[name]]


def process(line: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A shell line, in which ``"$@"`` is the command with its arguments."""
    return subprocess.run(
        ["bash", "-c", line, "bash", sys.executable, "-m", "evenrank", *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )


def is_quiet(text: str) -> bool:
    return not any(word in text for word in FORBIDDEN)


class Full(io.TextIOWrapper):
    """A device that is full, as Python opens it for stdout."""

    def __init__(self) -> None:
        super().__init__(open("/dev/full", "wb"), encoding="utf-8")  # noqa: PTH123, SIM115


def prints(name: str) -> bool:
    """Whether the call prints something rather than write a file."""
    return not {"-o", "--output"} & set(commands.CALLS[name])


def test_every_command_is_listed_and_called() -> None:
    assert command_names() == NAMES


# they would ask a network, wait for people, or take long
ELSEWHERE = ("://", "serve", "--accuracy", "simulate")


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_help_are_commands_that_are_understood(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Their files are not here, but no word of theirs is unknown; and all lines fit 80 columns."""
    monkeypatch.chdir(tmp_path)
    for one in (name, *subcommands_of(name)):
        assert max(map(len, help_of(*one.split()).splitlines())) <= 80
    for example in examples_of(name):
        assert example[:2] == ["evenrank", name]
        if not any(one in word for word in example for one in ELSEWHERE):
            assert "--help)" not in evenrank(*example[1:]).err, example


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_option_gets_the_nearest_name(evenrank: Evenrank, name: str) -> None:
    """Every long option of the command, with its last two letters in the wrong order, or one letter more."""
    for one in subcommands_of(name):
        check_misspelt_options(evenrank, one)


def check_misspelt_options(evenrank: Evenrank, name: str) -> None:
    known = {option.name for option in options_of(name)}
    for number, option in enumerate(sorted(known)):
        wrong = option + "x" if number % 2 else option[:-2] + option[-1] + option[-2]
        if wrong in known or wrong in (option, "--no", "-p-"):  # with which other options begin
            continue
        outcome = evenrank(*name.split(), wrong)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert wrong in outcome.err
        assert re.search(rf"{option}\b", outcome.err.replace(wrong, ""))
    assert "--zzqqzz" in evenrank(*name.split(), "--zzqqzz", "7").err


def test_tables_are_printed_in_the_same_formats_by_every_command() -> None:
    formats = {
        (option.value.strip("{}") if "{" in option.value else option.meaning.rpartition(": ")[2]).replace(
            " ", ""
        )
        for name in NAMES
        for option in options_of(name)
        if option.name == "--format" and name != "measures"  # which prints pages of text
    }
    assert formats == {"table,tsv,csv,jsonl,markdown,latex"}


@pytest.mark.parametrize("given", ["--projct", "--sede", "--not", "--renam"])
def test_a_misspelt_option_of_every_command(evenrank: Evenrank, given: str) -> None:
    outcome = evenrank("evaluate", given, "x")
    assert outcome.code == 2
    assert f"unknown option {given}; did you mean --" in outcome.err


def test_what_looks_like_an_option_and_is_none(evenrank: Evenrank, files: Path) -> None:
    """A negative number, a text with a blank, a file after --, and stdin."""
    assert "unknown option" not in evenrank("explain", "--query", "-1").err
    assert evenrank("measures", "-x y").code == 2
    assert "unknown option" not in evenrank("measures", "-x y").err
    assert evenrank("measures", "--", "--nDCG").err.count("unknown option") == 0


@pytest.mark.parametrize("every", some([False, True]))
@pytest.mark.parametrize("name", CALLED)
def test_no_message_repeats_a_huge_argument(evenrank: Evenrank, folder: Path, name: str, every: bool) -> None:
    """As each positional argument and each option's value, one at a time: few characters, one way out.

    ``make test`` takes every third option, and each command another third.
    """
    huge = "x" * 100_000
    calls = [[*name.split(), huge], [*name.split(), *commands.CALLS[name], huge]]
    first = 0 if every else list(commands.CALLS).index(name) % 3
    for option in options_of(name.split()[0])[first :: 1 if every else 3]:
        if option.value and option.name != "--title":  # any title will do
            plain, named = ([*words(name), f"{option.name}={value}"] for value in (huge, f"a={huge}"))
            calls += [plain, named] if every else [named if len(calls) % 2 else plain]
    calls.append([*name.split(), f"--{huge}"])
    for call in calls:
        outcome = evenrank(*call)
        assert len(outcome.err) < 6000, call[:-1]
        assert is_quiet(outcome.err), outcome.err[:300]


@pytest.mark.parametrize("name", THIRD)
def test_closed_and_full_streams(
    evenrank: Evenrank,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
) -> None:
    """Messages that cannot be written cost nothing; data that cannot be written is one clear error."""
    usual = evenrank(*words(name))
    assert usual.code in (0, 3)
    assert is_quiet(usual.err)
    expected = 1 if prints(name) else usual.code

    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        outcome = evenrank(*words(name))
        assert (outcome.code, outcome.out) == (usual.code, usual.out)
        patch.setattr(sys, "stdin", None)
        assert evenrank(*words(name)).out == usual.out
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        outcome = evenrank(*words(name))
        assert (outcome.code, outcome.out) == (expected, "")
        assert is_quiet(outcome.err)
        assert ("standard output is closed" in outcome.err) == prints(name)
    if Path("/dev/full").exists():
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Full())
            outcome = evenrank(*words(name))
            assert outcome.code == expected
            assert is_quiet(outcome.err)
            assert ("standard output: No space left on device" in outcome.err) == prints(name)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", Full())
            assert evenrank(*words(name)).out == usual.out


@pytest.mark.parametrize(
    "closed", some(["<&- >&- 2>&-", "> /dev/full", "2>&-", ">&-", "<&-", ">&- 2>&-", "2> /dev/full"], 2)
)
def test_closed_and_full_streams_of_a_process(folder: Path, closed: str) -> None:
    if "full" in closed and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = process(f'"$@" {closed}', "evaluate", *commands.CALLS["evaluate"])
    lost = closed.startswith((">", "<&- >"))
    assert done.returncode == (1 if lost else 0)
    assert ("nDCG@3" in done.stdout) == (not lost)
    assert is_quiet(done.stderr)


def test_a_closed_stdin_that_is_read(folder: Path) -> None:
    done = process('"$@" <&-', "evaluate", "-", "--qrels", "qrels.txt", "-m", "RR")
    assert done.returncode == 1
    assert done.stderr.startswith("evenrank: <stdin>: standard input is closed")
    assert done.stderr.count("\n") == 1


OPENS_AT_THE_END = """
import atexit, os, runpy, sys
atexit.register(lambda: os.open("a.trec", os.O_RDONLY) > 2 and os.mkdir("apart"))
sys.argv = ["evenrank", "--version"]
runpy.run_module("evenrank", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_takes_the_place_of_a_closed_stream(folder: Path, closed: str) -> None:
    """Or what a library prints would be written into it."""
    call = ["bash", "-c", f'"$@" {closed}', "bash", sys.executable, "-c", OPENS_AT_THE_END]
    subprocess.run(call, check=False)
    assert Path("apart").is_dir()


@pytest.mark.slow
@pytest.mark.parametrize("name", commands.CALLS)
def test_every_command_as_a_process(folder: Path, name: str) -> None:
    """Closed streams, a full device, and a reader who has read enough."""
    usual = process('"$@"', *words(name))
    expected = 1 if prints(name) else usual.returncode
    for closed, code in (
        (">&-", expected), ("2>&-", usual.returncode), ("<&-", usual.returncode), ("<&- >&- 2>&-", expected),
        ("> /dev/full", expected), ("2> /dev/full", usual.returncode),
    ):  # fmt: skip
        done = process(f'"$@" {closed}', *words(name))
        assert (done.returncode, is_quiet(done.stderr)) == (code, True), (closed, done.stderr)
        assert done.stdout in ("", usual.stdout)
    piped = process('set -o pipefail; "$@" | head -c 1', *words(name))
    assert (piped.returncode, is_quiet(piped.stderr)) == (usual.returncode, True), piped.stderr


# a finder that is asked for every module before it is loaded: Ctrl-C comes when this one is
INTERRUPTED_AT = """
import os, runpy, signal, sys
module = sys.argv.pop(1)
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
runpy.run_module("evenrank", run_name="__main__", alter_sys=True)
"""


def interrupted(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT, module, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    "module",
    ["evenrank.cli", "argparse", "numpy", "pyarrow.lib"],
)
def test_an_interrupt_while_modules_are_loaded(folder: Path, module: str) -> None:
    done = interrupted(module, "evaluate", *commands.CALLS["evaluate"])
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "evenrank: interrupted\n")


def test_nothing_is_loaded_before_an_interrupt_is_caught() -> None:
    """Not even typing: what is loaded before the function runs cannot say that it was interrupted."""
    seen = (
        "import sys; before = set(sys.modules); import evenrank.__main__; print(*set(sys.modules) - before)"
    )
    source = str(Path(sys.modules["evenrank"].__file__ or "").parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {source!r}); {seen}"],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    loaded = done.stdout.split()
    assert {name.partition(".")[0] for name in loaded} <= {"__future__", "evenrank"}
    assert len(loaded) <= 4  # the package, its version, and where the command begins


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for name in commands.CALLS if name.split()[0] not in ("debias", "doctor", "init", "measures")],
)
def test_an_interrupt_of_every_command_that_reads_tables(folder: Path, name: str) -> None:
    """While it loads what it needs, which all of them do after the arguments were read."""
    done = interrupted("pyarrow.lib", *words(name))
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("evenrank: interrupted\n")
    assert is_quiet(done.stderr)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("metrics", "measures"),
        ("train", "debias"),
        ("evaluate a.trec --lexicon x", "--words"),
        ("audit a.trec --words x", "--lexicon"),
        ("scan a.tsv --participants 3", "study"),
        ("evaluate a.trec --cutofs 3", "--cutoffs"),
    ],
)
def test_a_word_of_another_command_leads_somewhere(evenrank: Evenrank, words: str, named: str) -> None:
    done = evenrank(*words.split())
    assert done.code == 2
    assert re.search(rf"; .*{named}\b", done.err), done.err
    assert "--on?" not in done.err


def test_a_query_that_is_taken_for_a_run(evenrank: Evenrank, files: Path) -> None:
    done = evenrank("explain", str(files / "bm25.trec"), "q 2")
    assert (done.code, "--query 'q 2'" in done.err) == (2, True), done.err
