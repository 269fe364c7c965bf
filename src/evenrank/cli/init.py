"""``evenrank init``: a folder in, a commented project file out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, say
from evenrank.errors import DataError, ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.inputs.found_files import FoundFile, FoundFiles

SINGLE = ("qrels", "intents", "words", "polarity", "documents", "queries")  # one file of each kind
MOST_CHOICES = 12  # files that are asked about
MOST_NAMED = 4  # further files in a comment


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "init",
        """Write a project file, evenrank.toml, from the files in this folder: runs, judgements, documents,
        queries and groups are recognised by their content. The file is commented and meant to be edited;
        after it is there, commands need no options for what it says. In a terminal, questions are asked where
        several files are possible; otherwise the first is taken and the others are named in a comment.""",
        """
        evenrank init
        evenrank init --demo
        """,
    )
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="default: the current folder"
    )
    parser.add_argument(
        "--demo",
        action="store_true",
        help="write the sample collection, two runs of it and a project file into the folder",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.inputs.found_files import look_around
    from evenrank.inputs.project import NAME, Project
    from evenrank.io.atomic import atomic_write

    folder = Path(arguments.folder)
    target = folder / NAME
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    if arguments.demo:
        return _write_demo(folder)
    if target.exists():
        raise DataError(
            f"{target}: exists already: edit it, or move it away first (evenrank doctor checks it)"
        )
    found = look_around(folder)
    engines = engine_files(found)
    if not found.of("run") and not engines:
        say("no run and no search engine was found: name yours under [data] runs, or under [engines]")
    text = project_text(found, _asker())
    with atomic_write(target) as file:
        file.write(text.encode())
    problems = Project.read(target).problems()
    try:
        Project.read(target, named=False)
        trusted = ""
    except ParameterError:  # an engine file may have SQL
        trusted = f" --project {NAME}"
    put(text)
    for line in _describe_choices(found):
        say(line)
    command = "evaluate" if found.of("run") or not engines else "audit"
    say(f"wrote {target}: edit it, then try evenrank doctor{trusted} and evenrank {command}{trusted}")
    return 1 if problems else 0


def _write_demo(folder: Path) -> int:
    """All files of the sample and its project, or none."""
    from evenrank.io.atomic import atomic_write
    from evenrank.sample import DEMO, demo_file

    there = [name for name in DEMO if (folder / name).exists()]
    if there:
        raise DataError(f"{folder}: has {', '.join(there)} already: give an empty folder")
    written: list[Path] = []
    try:
        for name in DEMO:
            with atomic_write(folder / name) as file:
                file.write(demo_file(name))
            written.append(folder / name)
    except BaseException:
        for path in written:
            path.unlink()
        raise
    say(f"wrote the demo into {folder}: {', '.join(DEMO)}")
    say("try evenrank audit, compare, gate and report there: they need no options")
    return 0


def _describe_choices(found: FoundFiles) -> list[str]:
    """What was chosen without a question, and why."""
    runs = [file.path for file in found.of("run")]
    if len(runs) < 2:
        return []
    return [
        f"the baseline is {run_name(runs[0])!r}, because its file is the first of {len(runs)} runs in "
        "alphabetical order, and NFaiRR is normalised by its documents: if other runs are to be compared "
        "with another one, change baseline and background in the file"
    ]


def engine_files(found: FoundFiles) -> list[str]:
    """The files of search engines; a database that an engine file names is not one more."""
    files = [file.path for file in found.of("engine")]
    settings = [path for path in files if path.endswith(".toml")]
    return settings or files


Ask = Callable[[str, Sequence[str]], str]


def _asker() -> Ask:
    """Asks which of several files is meant, in a terminal; elsewhere takes the first."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()):
        return lambda question, answers: answers[0]

    def ask(question: str, answers: Sequence[str]) -> str:
        say(question)
        for number, answer in enumerate(answers, 1):
            say(f"  {number}  {answer}")
        say("which number? (1)")
        given = sys.stdin.readline().strip() or "1"
        known = given.isdigit() and 1 <= int(given) <= len(answers)
        return answers[int(given) - 1] if known else answers[0]

    return ask


def project_text(found: FoundFiles, ask: Ask) -> str:
    """The project file for what was found."""
    lines = ["# What evenrank knows about this project. Paths are relative to this file.", "", "[data]"]
    runs = [file.path for file in found.of("run")]
    first = run_name(runs[0]) if runs else ""
    lines.append(f"runs = [{', '.join(map(quoted, runs))}]" if runs else '# runs = ["runs/*.trec"]')
    chosen: dict[str, FoundFile] = {}
    for kind in SINGLE:
        files = found.of(kind)
        if not files:
            lines.append(f'# {kind} = "{_example(kind)}"')
            continue
        names = [file.path for file in files]
        path = names[0] if len(names) == 1 else ask(f"Several files may be the {kind}:", names[:MOST_CHOICES])
        chosen[kind] = files[names.index(path)]
        others = [name for name in names if name != path]
        lines.append(f"{kind} = {quoted(path)}" + (f"  # or {_some(others)}" if others else ""))
    queries = chosen.get("queries")
    if queries is not None and queries.fields:
        lines.append(
            f"# by = {quoted(next(iter(queries.fields)))}  # split results by this column of the queries"
        )
    lines.append(
        '# lexicon = "gender-en"  # count these words in the documents (evenrank scan keeps the counts)'
    )
    background = f"background = {quoted(first)}" if len(runs) > 1 else '# background = "collection"'
    lines.append(f'{background}  # the run that NFaiRR is normalised by, or "collection"')
    lines += ["", *_groups(found, chosen.get("documents"))]
    lines += ["", *_engines(found)]
    lines += ["", "[measures]", '# use = ["nDCG@10", "NFaiRR@10"]  # default: chosen by what is known']
    if len(runs) > 1:
        lines[1:1] = [
            f"baseline = {quoted(first)}  # the run that others are compared with: the first by name"
        ]
    off = "" if len(runs) > 1 and "qrels" in chosen else "# "  # a gate needs a baseline and judgements
    lines += [
        "", f"{off}[gate]  # what a new run must fulfil: evenrank gate", f"{off}alpha = 0.05",
        f'{off}[gate.measures."nDCG@10"]', f"{off}allowed = 0.02  # it may fall by this much",
        "", "[report]", '# title = "Our search"',
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def run_name(path: str) -> str:
    return Path(path).name.partition(".")[0]


def _groups(found: FoundFiles, documents: FoundFile | None) -> list[str]:
    """Attributes of files of groups, and of fields of the documents that have few values."""
    own = {} if documents is None else documents.fields
    fields = [
        (name, file.path + options) for file in found.of("groups") for name, options in file.fields.items()
    ]
    lines = ["[groups]", *_once(fields)]
    known = {name for name, _ in fields}
    lines += _once([(name, "documents" + options) for name, options in own.items() if name not in known])
    if len(lines) == 1:
        lines.append('# gender = "gender.csv"       # a table of documents and their groups')
        lines.append('# seller_size = "documents"   # a field of the documents')
    lines += ["", "[targets]", '# gender = "uniform"          # the share that each group should get']
    return lines


def _engines(found: FoundFiles) -> list[str]:
    """The search engines that an audit asks."""
    lines = ["[engines]  # search engines that evenrank audit asks: engine files, databases or addresses"]
    lines += _once([(run_name(path), path) for path in engine_files(found)])
    if len(lines) == 1:
        lines.append('# shop = "opensearch+http://localhost:9200/products"')
    return [
        *lines,
        "",
        "[audit]",
        '# target = "catalogue"        # what groups should get: catalogue, candidates or equal',
        "# depth = 100                 # documents that are asked for",
    ]


def _example(kind: str) -> str:
    return {"qrels": "qrels.txt", "intents": "intents.qrels", "words": "counts.parquet"}.get(
        kind, f"{kind}.csv"
    )


def _once(entries: Sequence[tuple[str, str]]) -> list[str]:
    """A line for each key; what has the key of an earlier one is a comment, since no key may stand twice."""
    lines, known = list[str](), set[str]()
    for name, value in entries:
        lines.append(f"{'# ' if name in known else ''}{_key(name)} = {quoted(value)}")
        known.add(name)
    return lines


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else quoted(name)


def quoted(text: str) -> str:
    r"""
    >>> print(quoted('a "b"'))
    "a \"b\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
