"""What is checked of an output before the work begins."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from itertools import count
from pathlib import Path
from typing import Any

from evenrank.errors import EvenrankError, ParameterError
from evenrank.inputs.file_options import STDIN

OUTPUTS = ("output", "figure", "page", "details", "reliable")  # the options that name a file to write
NO_FILES = ("command", "everywhere", "typed", "project", "filled", "title", "tag", "measures", "system")
COLLECTIONS = ("runs", "documents", "data.runs", "data.documents")  # may be a folder: its files are read
WRITTEN_KEYS = ("report.output", "audit.output")  # of a project file
MADE_KEYS = {  # what a project file names and a command makes, so that it may make it anew
    "scan": ("data.words", "groups."),
    "polarise": ("data.polarity",),
    "queryset": ("data.queries",),
    "lexicon": ("data.lexicon",),
}


def check_apart(arguments: argparse.Namespace, *further: str) -> None:
    """No command writes over a file that it reads, or over one that the project file names.

    Inputs are the values of all options that do not name outputs, whatever their form: each is compared as
    the file that it may stand for. ``further`` are outputs that no option names. Standard input can be read
    once.
    """
    options = {name: value for name, value in vars(arguments).items() if name not in NO_FILES}
    outputs = [*further, *(value for name in OUTPUTS if (value := options.pop(name, None)))]
    written = [path for output in outputs if output != STDIN for path in _paths(output)]
    if [text for value in options.values() for text in _texts(value)].count(STDIN) > 1:
        raise ParameterError("standard input (-) can stand for one file only")
    modes = {path: _mode(path) for path in written}
    taken = [path for path, mode in modes.items() if stat.S_ISREG(mode) or stat.S_ISDIR(mode)]
    places = [os.path.realpath(path) for path in written if path in taken or not modes[path]]
    if len(set(places)) < len(places):
        raise ParameterError(f"{outputs[-1]}: two outputs have the same name: choose another one for one")
    if not taken:
        return
    rankers = arguments.command == "select"  # of a folder it reads the rankers in it
    for name, value in options.items():
        for text in _texts(value):
            for path in _paths(text):
                for output in taken:
                    if _is_written(output, path, is_collection=name in COLLECTIONS and not rankers):
                        raise _overwritten(output, "is also an input")
    for key, path, file in _named_by_project(arguments):
        for output in taken:
            if _is_written(output, path, is_collection=key in COLLECTIONS):
                raise _overwritten(output, f"is named by {file} ({key})")


def check_not_read(output: str, read: Iterable[str | None]) -> None:
    """The same for an output that no option names: none of these files is it."""
    for path in filter(None, read):
        if output and _is_written(output, path, is_collection=False):
            raise _overwritten(output, "is also an input")


def check_output(*outputs: str | None, makes_folder: bool = False) -> None:
    """A file called - could not be read again, and a folder that is not there is an error before the work
    and not after it, unless the command makes it."""
    for output in filter(None, outputs):
        from evenrank.io.atomic import no_folder
        from evenrank.io.remote import is_remote

        if output == STDIN:
            raise ParameterError("-: this cannot be written to standard output: give the name of a file")
        if is_remote(output):
            raise ParameterError(
                f"{output}: is in a store, and outputs are written to this machine: name a file or folder "
                "here"
            )
        if not makes_folder and not Path(output).parent.exists():
            raise no_folder(output)


def _named_by_project(arguments: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """The key, the path and the project file of whatever that file may name, and of the file itself."""
    from evenrank.files import read_bytes
    from evenrank.io.toml import parse_toml

    file = arguments.everywhere.file
    if file is None:
        return
    content: dict[str, Any] = {}
    with suppress(EvenrankError, OSError):  # a command that does not read the project may go on
        content = parse_toml(read_bytes(file), str(file))
    yield "itself", str(file), str(file)
    apart = (*WRITTEN_KEYS, *MADE_KEYS.get(arguments.command, ()))
    folder = Path(file).parent
    for key, text in _keys(content):
        if not key.startswith(apart):
            for path in _paths(text):
                yield key, str(folder / path), str(file)
                if any(sign in path for sign in "*?["):
                    with suppress(ValueError, OSError, NotImplementedError):  # no pattern within the folder
                        yield from ((key, str(one), str(file)) for one in folder.glob(path))


def _keys(content: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _keys(value, f"{before}{name}.")
        else:
            yield from ((before + name, text) for text in _texts(value))


def _texts(value: object) -> Iterator[str]:
    """Every text in the value of an option or of a key."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _texts(one)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _texts(vars(value))


def _paths(text: str) -> Iterator[str]:
    """The files that a text may stand for: ``NAME=FILE:option`` may be FILE.

    >>> list(_paths("bm25=runs/a.trec:format=csv"))[-1]
    'runs/a.trec'
    """
    for path in dict.fromkeys((text, text.partition("=")[2])):
        while path:
            yield "/dev/stdin" if path == STDIN else path
            path = path.rpartition(":")[0]


def _mode(path: str) -> int:
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):  # it is not there, or no name that the system takes
        return 0


def _is_written(output: str, path: str, *, is_collection: bool) -> bool:
    try:
        read, written = Path(path), Path(output)
        if written.samefile(read):
            return True
        return is_collection and read.is_dir() and read.samefile(written.resolve().parent)
    except (OSError, ValueError):  # no file, or no name that the system takes
        return False


def _overwritten(output: str, why: str) -> ParameterError:
    path = Path(output)
    stem, dot, suffix = path.name.partition(".")
    free = next(name for n in count(2) if not (name := path.with_name(f"{stem}-{n}{dot}{suffix}")).exists())
    return ParameterError(f"{output}: {why}, and would be overwritten: choose another name, such as {free}")
