"""The options that are the same in all commands, wherever they stand: the project file, the seed, notes,
labels, and the cluster, which only commands with collection-sized work take.

A project file, named or found in the current folder, fills in whatever the other options leave open.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evenrank.cli.streams import say
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import STDIN_NAME
from evenrank.text import without_userinfo

if TYPE_CHECKING:
    from evenrank.inputs.file_options import FileOption
    from evenrank.inputs.project import Project

PROJECT, NO_PROJECT, SEED, NOTES, RENAME = "--project", "--no-project", "--seed", "--notes", "--rename"
ON = "--on"
NAMES = (PROJECT, NO_PROJECT, SEED, NOTES, RENAME, ON)
WITH_VALUE = (PROJECT, SEED, RENAME, ON)
ON_COMMANDS = "scan, counterfactual --swap-only, polarise and retrieve"
EVERYWHERE = "--project FILE, --no-project, --seed N, --notes, --rename MEASURE=LABEL (see: evenrank --help)"


class Everywhere(NamedTuple):
    """What was said of the project file, of chance, of notes and of the names of measures."""

    path: str | None = None  # of the project file
    wanted: bool = True  # whether one is looked for
    seed: int | None = None
    notes: bool = False
    rename: tuple[tuple[str, str], ...] = ()
    on: str | None = None  # the cluster that does the work


def add_everywhere(parser: argparse.ArgumentParser) -> None:
    """Show these options in the help of ``evenrank``; ``split_everywhere`` reads them."""
    parser.add_argument(
        PROJECT, metavar="FILE",
        help="take what the options do not say from this project file (default: evenrank.toml in the "
        "current folder)",
    )  # fmt: skip
    parser.add_argument(NO_PROJECT, action="store_true", help="do not look for a project file")
    parser.add_argument(SEED, metavar="N", help="seed of everything that is drawn at random (default: 0)")
    parser.add_argument(
        NOTES,
        action="store_true",
        help="print every note (default: those that change how the values are to be read)",
    )
    parser.add_argument(
        RENAME, action="append", metavar="MEASURE=LABEL",
        help="show a measure under another name, as 'NFaiRR@10=Neutrality'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        ON, metavar="CLUSTER",
        help=f"let a cluster do the work of {ON_COMMANDS}: dask (processes on this machine), "
        "dask://HOST:PORT (a scheduler that is running), spark (the active session, or one on this machine); "
        "default: the threads of this process",
    )  # fmt: skip


def split_everywhere(words: Sequence[str]) -> tuple[list[str], Everywhere]:
    """The command line without the options that every command takes, and those.

    >>> split_everywhere(["evaluate", "--project", "a.toml", "-m", "RR"])[0]
    ['evaluate', '-m', 'RR']
    """
    left: list[str] = []
    given: dict[str, list[str]] = {}
    waiting = iter(words)
    for word in waiting:
        name, equals, value = word.partition("=")
        if word == "--":
            left += [word, *waiting]
        elif word in (NO_PROJECT, NOTES):
            given[word] = []
        elif name in WITH_VALUE:
            found = value if equals else next(waiting, None)
            if found is None:
                raise ParameterError(f"{name} needs a value (try: evenrank --help)")
            given.setdefault(name, []).append(found)
        else:  # standard input with options would be taken for an option
            left.append(STDIN_NAME + word[1:] if word.startswith("-:") else word)
    if PROJECT in given and NO_PROJECT in given:
        raise ParameterError("--project and --no-project exclude each other")
    return left, Everywhere(
        path=given[PROJECT][-1] if PROJECT in given else None,
        wanted=NO_PROJECT not in given,
        seed=_seed(given[SEED][-1]) if SEED in given else None,
        notes=NOTES in given,
        rename=tuple(map(rename_of, given.get(RENAME, ()))),
        on=given[ON][-1] if ON in given else None,
    )


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ParameterError(f"--seed must be an integer >= 0, got {text!r}")
    return int(text)


def rename_of(text: str) -> tuple[str, str]:
    """
    >>> rename_of("GF(attr='gender')@10=Gender")
    ("GF(attr='gender')@10", 'Gender')
    """
    measure, equals, label = text.rpartition("=")
    if not (measure.strip() and equals and label.strip()):
        raise ParameterError(f"--rename must be MEASURE=LABEL, got {text!r}")
    return measure.strip(), label.strip()


def project_of(choice: Everywhere) -> Project | None:
    from evenrank.inputs.project import Project, find_project

    if not choice.wanted:
        return None
    if choice.path is not None:
        return Project.read(choice.path)
    found = find_project()
    return None if found is None else Project.read(found, named=False)


def unchecked_project(choice: Everywhere) -> Project | None:
    """The same for whoever looks for its problems."""
    from evenrank.inputs.project import Project, find_project

    path = choice.path if choice.path is not None else find_project()
    if not choice.wanted or path is None:
        return None
    return Project.unchecked(path, named=choice.path is not None)


def apply_everywhere(arguments: argparse.Namespace, choice: Everywhere) -> None:
    """Put these options, and what the project file says, where the command line says nothing."""
    arguments.everywhere, arguments.project, arguments.filled = choice, None, set()
    arguments.seed, arguments.notes, arguments.rename = choice.seed, choice.notes, list(choice.rename)
    arguments.on = choice.on
    if choice.on is not None and not getattr(arguments, "takes_cluster", False):
        raise ParameterError(f"{ON}: {arguments.command} does not run on a cluster; {ON_COMMANDS} do")
    if not getattr(arguments, "reads_project", False):
        return
    project = project_of(choice)
    if project is None:
        return
    arguments.project = project
    if getattr(arguments, "runs", None):
        arguments.runs = _by_name(arguments.runs, project)
    given = dict(vars(arguments))
    filled = {
        name: value
        for name, value in _values(project, given).items()
        if name in given and given[name] in (None, []) and value not in (None, [], ())
    }
    if given.get("measures"):
        filled.pop("cutoffs", None)  # they belong to the measures of the file
    for name, value in filled.items():
        setattr(arguments, name, value)
    _forget_absent_baseline(arguments, filled)
    if getattr(arguments, "background", None):
        arguments.background = _background_file(
            arguments.background, getattr(arguments, "runs", None) or [], project
        )
    arguments.filled = set(filled)
    if filled or project.table(arguments.command):
        hint = f" ({NO_PROJECT} ignores it)" if choice.path is None else ""
        say(f"project file: {project.name}{hint}")


def _forget_absent_baseline(arguments: argparse.Namespace, filled: dict[str, Any]) -> None:
    """The baseline of the file belongs to its runs: it does not apply to others, nor to a run alone."""
    given = filled.get("baseline")
    if given is None or arguments.command == "gate" or not arguments.runs:
        return
    from evenrank.inputs.run_names import run_names

    names = run_names(arguments.runs)
    if len(names) == 1 or not set([given] if isinstance(given, str) else given) <= set(names):
        arguments.baseline = None


def _by_name(runs: list[FileOption], project: Project) -> list[FileOption]:
    """The runs, where one that is no file may be named as in the project file."""
    known = project.description()
    named = dict(zip(known.names, known.runs, strict=True))
    others = project.systems()  # select takes these too
    for run in runs:
        if run.name == run.path or run.path in others:  # a re-ranker or a system, written out
            continue
        close = difflib.get_close_matches(run.path, named, 2, 0.6)
        if run.path not in named and close and not Path(run.path).exists():
            raise ParameterError(
                f"{without_userinfo(run.path)}: no such file, and {project.name} has no run of that name; "
                f"did you mean {' or '.join(close)}?"
            )
    return [
        replace(named[run.path], name=run.path)
        if run.path in named and run.name is None and not Path(run.path).exists()
        else run
        for run in runs
    ]


def _background_file(background: FileOption, runs: list[FileOption], project: Project) -> FileOption:
    """The background, which may be a run of the project file that is not among the runs of this command."""
    from evenrank.inputs.run_names import run_names

    known = project.description()
    named = dict(zip(known.names, known.runs, strict=True))
    if background.path in run_names(runs) or background.path not in named or Path(background.path).exists():
        return background
    file = named[background.path]
    return replace(file, name=None, options={**file.options, **background.options})


def _values(project: Project, given: dict[str, Any]) -> dict[str, Any]:
    known = project.description()
    values: dict[str, Any] = {
        "runs": list(known.runs),
        "qrels": list(known.qrels),
        "words": known.words,
        "groups": [[option] for option in known.groups],
        "target": list(known.targets),
        "polarity": known.polarity,
        "background": known.background,
        "table": list(known.tables),
        "queries": known.queries,
        "by": known.by,
        "documents": known.documents,
        "columns": known.columns,
        **project.options(),
    }
    if given.get("scores"):  # these are compared as they are
        for name in ("runs", "measures", "cutoffs", "queries", "by", "baseline"):
            values.pop(name, None)
    parts = [str(values.pop(key)) for key in ("test", "correction", "alpha") if key in values]
    if parts:
        from evenrank.cli.significance import test_of

        values["test"] = test_of(",".join(parts))
        values["alpha"] = values["test"].alpha
    if given.get("baseline_is_list"):
        values["baseline"] = None if values.get("baseline") is None else [values["baseline"]]
    if given.get("command") == "report":
        values["output"] = values.get("report_output")
    else:
        values.pop("system", None)  # the run that a report shows first
    return values
