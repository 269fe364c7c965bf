"""No command writes over what it reads, or over what the project file names; other outputs are replaced."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import commands
import pytest
from helps import command_names, options_of

Evenrank = Callable[..., SimpleNamespace]

FILES = {  # calls whose inputs are files, and which have outputs that the calls of all commands do not
    **commands.CALLS,
    "lexicon sensitivity": ["mine=a.trec", "--words", "counts.parquet", "-m", "NFaiRR@3"],
    "scan --field": ["opensearch", "counts.parquet", "--lexicon", "lexicon.csv"],
    "scan --field=groups": ["documents.tsv", "--lexicon", "lexicon.csv"],
    "queryset collect": ["groups.csv", "ids.txt"],
    "queryset sheets": ["queries.tsv"],
    "rerank --repeat": ["7", "a.trec", "--with", "Random"],
    "compare --scores": ["groups.csv", "--scores", "ids.txt"],
    "study analyse": ["study"],
    "polarise --perspectives": ["ids.txt", "debates.csv", "--documents", "documents.tsv"],
    "counterfactual rank": ["--mapping", "target.csv", "documents.tsv", "queries.tsv"],
    "evaluate --target": ["side=target.csv", "a.trec", "--groups", "side=groups.csv:values=left,right",
                          "--by", "categories.csv", "--queries", "ids.txt", "-m", "GF@3"],
    "debias train": ["--qrels", "qrels.txt", "--documents", "documents.tsv", "--queries", "queries.tsv"],
}  # fmt: skip


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    commands.write_files(folder)
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(prepared, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    return tmp_path / "files"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written_by(command: str) -> list[str]:
    """The options of a command that name something to write, as their help says."""
    return [
        option.name
        for option in options_of(command)
        if (option.value in ("FILE", "FOLDER", "PATH") and option.meaning.split()[0] in ("write", "draw"))
        or (option.name in ("--output", "--figure") and option.value)
    ]


def calls() -> Iterator[tuple[str, str]]:
    for name in FILES:
        command, _, action = name.partition(" ")
        has_actions = action and not action.startswith("-")
        for option in written_by(name if has_actions else command):
            yield name, option


def words_of(name: str, option: str = "--output") -> list[str]:
    """The words of a call without its own output, if that is the option to be tried."""
    words = [*name.split(), *FILES[name]]
    if "-o" in words and option == "--output":
        del words[words.index("-o") : words.index("-o") + 2]
    return words


def files_in(words: list[str], folder: Path) -> list[str]:
    """The files of this folder that a call names, also behind a name and before options."""
    parts = [part for word in words for half in word.split("=", 1) for part in (half, half.split(":")[0])]
    return [part for part in dict.fromkeys(parts) if (folder / part).is_file()]


def test_every_command_that_writes_is_called(folder: Path) -> None:
    """With a file of its own to read, for each of its outputs."""
    named = {name.split()[0] for name, _ in calls() if files_in(words_of(name), folder)}
    assert named == {name for name in command_names() if written_by(name)} - {
        "study",
        "corpus",
    }  # they read a folder


@pytest.mark.parametrize(("name", "option"), list(calls()))
def test_an_input_is_never_written_over(evenrank: Evenrank, folder: Path, name: str, option: str) -> None:
    words = words_of(name, option)
    before = contents(folder)
    for number, path in enumerate(files_in(words, folder)):
        link = folder.parent / f"link{number}{Path(path).suffix}"
        link.symlink_to(folder / path)
        hard = folder.parent / f"hard{number}{Path(path).suffix}"
        os.link(folder / path, hard)
        for output in (path, f"../files/{path}", str(link), str(hard)):
            outcome = evenrank(*words, option, output)
            assert outcome.code == 2, (output, outcome.err)
            assert outcome.out == ""
            assert f"{output}: is also an input" in outcome.err
        assert contents(folder) == before


PROJECT = """
[data]
runs = ["a.trec", "r*.trec"]
qrels = "qrels.txt"
words = "counts.parquet"
documents = "documents.tsv"
queries = "queries.tsv"
[groups]
side = "groups.csv:values=left,right"
[targets]
side = "target.csv"
[report]
output = "report.html"
"""
NAMED = ("a.trec", "runs.trec", "qrels.txt", "counts.parquet", "documents.tsv", "queries.tsv", "groups.csv",
         "target.csv", "evenrank.toml")  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["rerank", "b.trec", "--with", "Oracle", "--qrels", "ids.txt", "-o"],
        ["lexicon", "show", "gender-en", "-o"],  # this one does not read a project file
    ],
)
def test_what_the_project_names_is_never_written_over(
    evenrank: Evenrank, folder: Path, words: list[str]
) -> None:
    shutil.copy("b.trec", "runs.trec")
    Path("evenrank.toml").write_text(PROJECT)
    Path("elsewhere").mkdir()
    before = contents(folder)
    for path in NAMED:
        outcome = evenrank(*words, path)
        assert (outcome.code, outcome.out) == (2, ""), path
        assert outcome.err.count("would be overwritten") == 1
    os.chdir("elsewhere")
    words = [f"../{word}" if Path(f"../{word}").is_file() else word for word in words]
    for path in NAMED:  # as seen from the folder of the file, wherever the command runs
        outcome = evenrank(*words, f"../{path}", "--project", "../evenrank.toml")
        assert (outcome.code, outcome.out) == (2, ""), path
        assert outcome.err.count("would be overwritten") == 1
    assert contents(folder) == before


def test_what_a_command_makes_it_may_make_anew(evenrank: Evenrank, folder: Path) -> None:
    """The counts that the project names, the report, an output of the last time, and what nobody names."""
    shutil.copy("b.trec", "r1.trec")
    Path("evenrank.toml").write_text(PROJECT)
    for words in (
        ["scan", "documents.tsv", "--lexicon", "gender-en", "-o", "counts.parquet", "--terms"],
        ["scan", "documents.tsv", "--lexicon", "lexicon.csv"],  # where the project says
        ["rerank", "a.trec", "--with", "Oracle", "-o", "oracle.trec"],
        ["report", "a.trec", "b.trec", "-m", "RR"],  # the first and the second time
        ["report", "a.trec", "-m", "RR"],
        ["rerank", "a.trec", "--with", "Random", "-o", "oracle.trec"],
        ["rerank", "a.trec", "--with", "Random", "-o", "runs.trec"],  # a name that no file has yet
        ["rerank", "b.trec", "--with", "Random", "-o", "a.trec", "--no-project"],
    ):
        before = contents(folder)
        outcome = evenrank(*words)
        assert outcome.code == 0, outcome.err
        assert contents(folder) != before
    outcome = evenrank("rerank", "a.trec", "--with", "Random", "-o", "runs.trec")
    assert (outcome.code, "runs-2.trec" in outcome.err) == (2, True)


def test_standard_input_is_an_input(folder: Path) -> None:
    import subprocess
    import sys

    before = contents(folder)
    command = [sys.executable, "-m", "evenrank", "rerank", "-", "--with", "Random", "-o", "a.trec"]
    with Path("a.trec").open() as stdin:
        assert subprocess.run(command, stdin=stdin, capture_output=True, check=False).returncode == 2
        onwards = [*command[:-1], "-"]
        assert subprocess.run(onwards, stdin=stdin, capture_output=True, check=False).returncode == 0
    assert contents(folder) == before


def test_outputs_differ(evenrank: Evenrank, folder: Path) -> None:
    words = [*words_of("counterfactual swap"), "-o", "swapped.tsv"]
    assert evenrank(*words, "--details", "../files/swapped.tsv").code == 2
    assert not Path("swapped.tsv").exists()
    assert evenrank(*words, "--details", "pairs.json").code == 0
    assert evenrank(*words_of("evaluate"), "-o", "/dev/null").code == 2  # it has no suffix
    assert evenrank(*words_of("rerank"), "-o", "/dev/null").code == 0


def test_a_folder_that_is_read_is_an_input(evenrank: Evenrank, folder: Path) -> None:
    Path("runs").mkdir()
    shutil.copy("a.trec", "runs/a.csv")
    Path("evenrank.toml").write_text('[data]\nruns = ["runs"]\n')
    words = ["evaluate", "b.trec", "--qrels", "qrels.txt", "-m", "RR", "-o"]
    assert evenrank(*words, "runs/a.csv").code == 2
    assert evenrank("evaluate", "runs", "--no-project", *words[2:], "runs/a.csv").code == 2
    assert Path("runs/a.csv").read_bytes() == Path("a.trec").read_bytes()
    assert evenrank("corpus", "release", "study", "-o", "study").code == 2


def test_the_rejected_queries_have_a_place_of_their_own(evenrank: Evenrank, folder: Path) -> None:
    shutil.copy("groups.csv", "kept.rejected.csv")
    before = contents(folder)
    assert evenrank("queryset", "collect", "kept.rejected.csv", "-o", "kept.csv").code == 2
    assert contents(folder) == before
