"""The candidates of ``evenrank select`` that are systems or erasers: found, checked, and run."""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli.progress import work_bar
from evenrank.cli.streams import say
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import FileOption

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.inputs.project import Project
    from evenrank.systems.candidate_runs import SystemCandidate

SEARCHES = "searches"  # of an option that is a system, as ``system`` is what audit tables call a run
SIGNS = ("(", "@", ">>")  # of which a system with settings has one
_NAMED = re.compile(r"([^=()@>/'\"]+)=(.+)", re.DOTALL)
_CALLED = re.compile(r"\s*(\w[\w+]*)\s*(?:[(@]|>>)")


def system_of(text: str) -> FileOption | None:
    """A system with settings or a chain, and perhaps a name before it; a bare word may be a run as well.

    >>> system_of("lexical=BM25(k1=0.9)@20")
    FileOption(path='BM25(k1=0.9)@20', name='lexical', options={'searches': True})
    """
    named = _NAMED.match(text)
    name, term = (named[1].strip(), named[2].strip()) if named is not None else (None, text.strip())
    called = _CALLED.match(term)
    if called is None or not _is_known(called[1], folded=True):
        return None
    return FileOption(term, name or term, {SEARCHES: True})


def _is_known(word: str, *, folded: bool = False) -> bool:
    from evenrank.systems import all_systems
    from evenrank.systems.naming import SHORT

    known = {*all_systems(), *SHORT}
    return word in known or (folded and word.lower() in {one.lower() for one in known})


def split_systems(
    files: Sequence[FileOption], project: Project | None
) -> tuple[tuple[FileOption, ...], list[SystemCandidate]]:
    """The runs among the candidates, and the systems, each of them checked."""
    runs: list[FileOption] = []
    systems: list[SystemCandidate] = []
    for file in files:
        found = _systems_of(file, project)
        if found is None:
            runs.append(file)
        else:
            systems += found
    return tuple(runs), systems


def _systems_of(file: FileOption, project: Project | None) -> list[SystemCandidate] | None:
    """The systems that a candidate stands for; None where it is a run."""
    from evenrank.cli.collection import declared_system
    from evenrank.io.tensors import SUFFIX

    if Path(file.path).suffix.lower() == SUFFIX:
        if file.options:
            raise ParameterError(
                f"{file.path}: is an eraser and no run: leave out :{next(iter(file.options))}"
            )
        return [_checked(file.path, file.name, Path())]
    written = bool(file.get(SEARCHES))
    if not written and (file.options or Path(file.path).exists()):
        return None
    given, folder = declared_system(file.path, project)
    if not written and given == file.path and not _is_known(given):
        return None
    if "{" not in given:
        return [_checked(given, file.name or file.path, folder)]
    from evenrank.comparison.tradeoff import expand

    several = expand(given)
    if file.name not in (None, file.path) and len(several) > 1:
        raise ParameterError(f"{file.name}: is the name of {len(several)} systems: leave it out")
    return [_checked(one, one, folder) for one in several]


def _checked(text: str, name: str | None, folder: Path) -> SystemCandidate:
    from evenrank.systems.candidate_runs import system_candidate

    return system_candidate(text, name, folder=folder)


def check_texts_given(systems: Sequence[SystemCandidate], known: Description) -> None:
    """What a search needs is asked for before anything is read."""
    if not systems:
        return
    if not known.runs:
        raise ParameterError(
            f"{systems[0].name} searches for the queries of a run, as deep as that: name a run too, such as "
            "bm25.trec"
        )
    searching = [one.name for one in systems if one.needs_documents]
    lacking = [*(["--documents FILE"] if searching and known.documents is None else [])]
    lacking += ["--queries FILE"] if known.queries is None else []
    if lacking:
        name = (searching or [systems[0].name])[0]
        raise ParameterError(
            f"{name} searches documents for texts of queries: give {' and '.join(lacking)}, with an id and a "
            "text for each, or give its run"
        )


def run_systems(
    inputs: Inputs, systems: Sequence[SystemCandidate], known: Description, arguments: argparse.Namespace
) -> tuple[Inputs, Mapping[str, tuple[str, str]]]:
    """The inputs with the runs of the systems; by name what made these, and its class."""
    if not systems:
        return inputs, {}
    from evenrank.systems.candidate_runs import with_systems

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    with _folder_of_vectors(known, arguments.baseline) as folder, work_bar() as bar:
        found = with_systems(inputs, systems, baseline=arguments.baseline, cache=folder, progress=bar)
    for note in found.notes:
        say(note)
    return found.inputs, found.made


@contextmanager
def _folder_of_vectors(known: Description, baseline: str | None) -> Iterator[Path]:
    """What ``evenrank retrieve`` has kept beside the baseline; else a folder for this command alone, so that
    candidates with one encoder do not encode the same texts again."""
    from evenrank.cli.retrieve import CACHE

    files = dict(zip(known.names, known.runs, strict=True))
    kept = Path(files.get(baseline or "", known.runs[0]).path).parent / CACHE
    if kept.is_dir():
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="evenrank-") as folder:
        yield Path(folder)
