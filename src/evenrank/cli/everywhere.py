"""The options that are the same in all commands: the project file, the seed, notes, and names of measures.

A project file, named or found in the current folder, fills in whatever the other options leave open.
"""

from __future__ import annotations

import argparse
import difflib
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evenrank.cli.streams import say
from evenrank.cli.values import not_negative, option
from evenrank.errors import ParameterError
from evenrank.text import without_userinfo

if TYPE_CHECKING:
    from evenrank.inputs.file_options import FileOption
    from evenrank.inputs.project import Project

PROJECT_FILE = "evenrank.toml"
PROJECT, NO_PROJECT, SEED, NOTES, RENAME = "--project", "--no-project", "--seed", "--notes", "--rename"
EVERYWHERE = "--project FILE, --no-project, --seed N, --notes, --rename MEASURE=LABEL (see: evenrank --help)"


class Everywhere(NamedTuple):
    """What was said of the project file, of chance, of notes and of the names of measures."""

    path: str | None = None  # of the project file
    wanted: bool = True  # whether one is looked for
    seed: int | None = None
    notes: bool = False
    rename: tuple[tuple[str, str], ...] = ()
    project: Project | None = None  # where the command reads it
    command: str = ""
    typed: str = ""  # the whole command line

    @property
    def file(self) -> str | None:
        """The project file, named or in the current folder; never that of a parent."""
        found = self.path or (PROJECT_FILE if Path(PROJECT_FILE).is_file() else None)
        return found if self.wanted else None


def add_everywhere(parser: argparse.ArgumentParser, *, shown: bool = False) -> None:
    """Let a parser take these options; the help of ``evenrank`` shows them, that of a command names them."""

    def add(name: str, help: str, **settings: Any) -> None:
        # without a default, or what stands before the command would be forgotten
        parser.add_argument(
            name, default=argparse.SUPPRESS, help=help if shown else argparse.SUPPRESS, **settings
        )

    add(
        PROJECT,
        "take what the options do not say from this project file (default: evenrank.toml in the current "
        "folder)",
        dest="project_file",
        metavar="FILE",
    )
    add(NO_PROJECT, "do not look for a project file", action="store_true")
    add(SEED, "seed of everything that is drawn at random (default: 0)", metavar="N", type=not_negative)
    add(
        NOTES, "print every note (default: those that change how the values are to be read)",
        action="store_true",
    )  # fmt: skip
    add(
        RENAME, "show a measure under another name, as 'NFaiRR@10=Neutrality'; may be repeated",
        action="append", metavar="MEASURE=LABEL", type=option(rename_of),
    )  # fmt: skip


def everywhere_of(arguments: argparse.Namespace, typed: str) -> Everywhere:
    """What was said of these options, before the command or behind it."""
    given = vars(arguments)
    if "project_file" in given and "no_project" in given:
        raise ParameterError("--project and --no-project exclude each other")
    return Everywhere(
        path=given.get("project_file"),
        wanted="no_project" not in given,
        seed=given.get("seed"),
        notes="notes" in given,
        rename=tuple(given.get("rename", ())),
        command=arguments.command,
        typed=typed,
    )


def rename_of(text: str) -> tuple[str, str]:
    """
    >>> rename_of("GF(attr='gender')@10=Gender")
    ("GF(attr='gender')@10", 'Gender')
    """
    measure, equals, label = text.rpartition("=")
    if not (measure.strip() and equals and label.strip()):
        raise ParameterError(f"must be MEASURE=LABEL, got {text!r}")
    return measure.strip(), label.strip()


def project_of(choice: Everywhere) -> Project | None:
    if choice.file is None:
        return None
    from evenrank.inputs.project import Project

    return Project.read(choice.file, named=choice.path is not None)


def unchecked_project(choice: Everywhere) -> Project | None:
    """The same for whoever looks for its problems."""
    if choice.file is None:
        return None
    from evenrank.inputs.project import Project

    return Project.unchecked(choice.file, named=choice.path is not None)


def apply_everywhere(arguments: argparse.Namespace, choice: Everywhere) -> None:
    """Put these options, and what the project file says, where the command line says nothing."""
    arguments.everywhere, arguments.project, arguments.filled = choice, None, set()
    arguments.typed = choice.typed
    arguments.seed, arguments.notes, arguments.rename = choice.seed, choice.notes, list(choice.rename)
    if not getattr(arguments, "reads_project", False):
        return
    project = project_of(choice)
    if project is None:
        return
    arguments.project, arguments.everywhere = project, choice._replace(project=project)
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
    for name in ("background", "against"):
        if getattr(arguments, name, None):
            runs = list(getattr(arguments, "runs", None) or ()) if name == "background" else []
            setattr(arguments, name, _run_of_project(getattr(arguments, name), runs, project))
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


def _run_of_project(given: FileOption, runs: list[FileOption], project: Project) -> FileOption:
    """A file, or a run that the project file names and that is not among the runs of this command."""
    from evenrank.inputs.run_names import run_names

    known = project.description()
    named = dict(zip(known.names, known.runs, strict=True))
    if given.path in run_names(runs) or given.path not in named or Path(given.path).exists():
        return given
    file = named[given.path]
    return replace(file, name=None, options={**file.options, **given.options})


def _values(project: Project, given: dict[str, Any]) -> dict[str, Any]:
    known = project.description()
    values = {field.name: getattr(known, field.name) for field in fields(known) if field.name != "notes"}
    values |= project.options()
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
