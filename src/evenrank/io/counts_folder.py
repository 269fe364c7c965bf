"""Word counts as a folder of Parquet parts, for collections whose counts are too many for one file.

``part-00000.parquet``, ``part-00001.parquet``, ... are ordinary files of counts. ``_evenrank.json`` is the
commit, written last and in one step: it names every part with its rows, its size and its digest, and holds
the provenance of the source. A folder without it is unfinished, and is refused.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.errors import DamagedError, DataError, InputTypeError, counted
from evenrank.io.atomic import atomic_write, refuse_standard_output, whole_folder

COMMIT = "_evenrank.json"
INDEX_FOLDER = "_by_hash"  # what earlier versions wrote beside the parts

_FORMAT = 1
COUNTS = "word counts"
GROUPS = "groups"  # which documents have, derived from such counts

_PART = re.compile(r"part-\d{5,}\.parquet")
_OTHERWISE = {  # what can be done with a folder of the other kind
    COUNTS: "derive groups with evenrank scan FOLDER --field groups -o groups/, or give them as --words",
    GROUPS: "give them as --groups NAME=FOLDER",
}


class CountsPart(NamedTuple):
    """One file of a folder, as the commit names it."""

    name: str
    rows: int
    bytes: int
    digest: str


@dataclass(frozen=True)
class CountsFolder:
    """What the commit of a folder says."""

    path: Path
    parts: tuple[CountsPart, ...]
    source: Mapping[str, Any]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def files(self) -> list[Path]:
        return [self.path / part.name for part in self.parts]


def part_name(number: int) -> str:
    """
    >>> part_name(17)
    'part-00017.parquet'
    """
    return f"part-{number:05d}.parquet"


def commit_counts_folder(
    folder: Path,
    parts: Iterable[CountsPart],
    source: Mapping[str, Any],
    kind: str = COUNTS,
) -> CountsFolder:
    """Write the commit: from now on the folder is whole. The parts must lie in it."""
    done = CountsFolder(folder, tuple(parts), dict(source))
    about = {
        "format": _FORMAT,
        "kind": kind,
        "rows": done.rows,
        "layout": "in order",  # of the collection, as earlier versions want it said
        "source": done.source,
        "parts": [part._asdict() for part in done.parts],
    }
    with atomic_write(folder / COMMIT) as file:
        file.write((json.dumps(about, indent=1) + "\n").encode())
    return done


def is_counts_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder was written by a scan, whatever it holds."""
    return (Path(path) / COMMIT).is_file()


def read_counts_folder(path: str | os.PathLike[str], kind: str = COUNTS) -> CountsFolder:
    """What is in a folder of counts; one that is unfinished or lacks a part is refused."""
    folder = Path(path)
    try:
        raw = (folder / COMMIT).read_bytes()
    except FileNotFoundError as error:
        raise DamagedError(
            f"{folder}: is no finished folder of {kind} ({COMMIT} is not there): give the same "
            "evenrank scan again, and it continues"
        ) from error
    except OSError as error:
        raise DataError(f"{folder / COMMIT}: cannot be read: {error.strerror}") from error
    try:
        about = json.loads(raw)
        if about["kind"] in _OTHERWISE and about["kind"] != kind:
            raise DataError(f"{folder}: holds {about['kind']}, not {kind}: {_OTHERWISE[about['kind']]}")
        if about["kind"] != kind:
            raise ValueError(f"it is about {about['kind']!r}")
        if about["format"] != _FORMAT:
            raise DamagedError(
                f"{folder}: has format {about['format']} of folders of {kind}, this version has "
                f"{_FORMAT}: scan again"
            )
        parts = tuple(CountsPart(**part) for part in about["parts"])
        found = CountsFolder(folder, parts, about["source"])
        if found.rows != about["rows"] or any(Path(part.name).name != part.name for part in parts):
            raise ValueError("its parts do not agree with it")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DamagedError(f"{folder / COMMIT}: is damaged: {error}: scan again") from error
    _check_files(found)
    return found


def _check_files(folder: CountsFolder) -> None:
    """Parts that are not there, or have another size, are seen without reading them."""
    wrong = []
    for part, file in zip(folder.parts, folder.files, strict=True):
        if not file.exists():
            wrong.append(f"{part.name} is not there")
        elif file.stat().st_size != part.bytes:
            wrong.append(f"{part.name} has another size")
    if wrong:
        raise DamagedError(
            f"{folder.path}: {counted(len(wrong), 'part is', 'parts are')} not what was written "
            f"({'; '.join(wrong[:3])}): scan again"
        )


def folder_target(output: str | os.PathLike[str], kind: str = COUNTS) -> Path | None:
    """The folder that an output means: its name ends in a slash, or it is a folder; None if it is a file.

    A folder that holds anything but what is written (``kind``) is refused: what is in it would have to go.
    """
    if not isinstance(output, (str, os.PathLike)):
        raise InputTypeError(f"output is a str or a Path, got {type(output).__name__}")
    refuse_standard_output(output)
    path = Path(output)
    if not os.fspath(output).endswith(("/", os.sep)) and not path.is_dir():
        return None
    if path.exists() and not path.is_dir():
        raise DataError(f"{output}: is a file: name a folder, or leave the slash out to replace it")
    if path.is_dir():
        _refuse_others(path, kind)
    return Path(os.path.realpath(path))


def _refuse_others(folder: Path, kind: str) -> None:
    """What a scan did not write must not be deleted by one."""
    written: set[str] = set()
    if is_counts_folder(folder):
        try:
            written = {part.name for part in read_counts_folder(folder, kind).parts}
        except DamagedError:
            written = {entry.name for entry in folder.iterdir() if _PART.fullmatch(entry.name)}
        written |= {COMMIT, INDEX_FOLDER}
    others = sorted(entry.name for entry in folder.iterdir() if entry.name not in written)
    if others:
        raise DataError(
            f"{folder}: is a folder with something else in it ({others[0]!r}): name a new folder, or a file"
        )


def write_parts(
    target: Path,
    parts: Sequence[tuple[Path, int, Mapping[str, Any]]],
    source: Mapping[str, Any],
    kind: str = COUNTS,
) -> None:
    """A new folder in the place of ``target``, of ``parts``: file, rows, and what tells that it is whole."""
    with whole_folder(target, replace=True, keep=False) as new:
        listed = []
        for number, (file, rows, seal) in enumerate(parts):
            listed.append(CountsPart(part_name(number), rows, **seal))
            try:  # under its own name, too, until the folder is in its place
                os.link(file, new / part_name(number))
            except OSError:  # a file system without links
                shutil.copyfile(file, new / part_name(number))
        commit_counts_folder(new, listed, source, kind=kind)
        if target.is_dir():
            _refuse_others(target, kind)
