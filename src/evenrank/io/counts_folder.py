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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.errors import DamagedError, DataError, InputTypeError
from evenrank.io.atomic import atomic_write, refuse_standard_output, whole_folder
from evenrank.io.content_hash import hash_of_file

COMMIT = "_evenrank.json"

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


class CountsFolder(NamedTuple):
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


def is_counts_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a folder was written by a scan, whatever it holds."""
    return (Path(path) / COMMIT).is_file()


def read_counts_folder(path: str | os.PathLike[str], kind: str = COUNTS) -> CountsFolder:
    """What is in a folder of counts. One that is unfinished, or of which a part is not there or has another
    size, is refused: that is seen without reading the parts."""
    folder = Path(path)
    try:
        about = json.loads((folder / COMMIT).read_bytes())
        found = about["kind"]
        if found != kind and found in _OTHERWISE:
            raise DataError(f"{folder}: holds {found}, not {kind}: {_OTHERWISE[found]}")
        if (found, about["format"]) != (kind, _FORMAT):
            raise ValueError(f"it is about {found!r} in format {about['format']!r}")
        parts = tuple(CountsPart(**part) for part in about["parts"])
        for part in parts:
            if not _PART.fullmatch(part.name) or (folder / part.name).stat().st_size != part.bytes:
                raise ValueError(f"{part.name!r} is not what was written")
        if sum(part.rows for part in parts) != about["rows"]:
            raise ValueError("its rows are not those of its parts")
        return CountsFolder(folder, parts, about["source"])
    except FileNotFoundError as error:
        lost = Path(error.filename).name
        again = "give the same evenrank scan again, and it continues" if lost == COMMIT else "scan again"
        raise DamagedError(
            f"{folder}: is no finished folder of {kind} ({lost} is not there): {again}"
        ) from error
    except OSError as error:
        raise DataError(f"{folder / COMMIT}: cannot be read: {error.strerror}") from error
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DamagedError(f"{folder / COMMIT}: is damaged: {error}: scan again") from error


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
    names = {entry.name for entry in folder.iterdir()}
    written = {COMMIT} if COMMIT in names else set()
    if written:
        try:
            written |= {part.name for part in read_counts_folder(folder, kind).parts}
        except DamagedError:
            written |= {name for name in names if _PART.fullmatch(name)}
    if others := sorted(names - written):
        raise DataError(
            f"{folder}: is a folder with something else in it ({others[0]!r}): name a new folder, or a file"
        )


def write_parts(
    target: Path,
    parts: Sequence[tuple[Path, int]],
    source: Mapping[str, Any],
    kind: str = COUNTS,
) -> None:
    """A new folder in the place of ``target``, of ``parts``: files, and how many rows each has."""
    with whole_folder(target, replace=True, keep=False) as new:
        listed = []
        for number, (file, rows) in enumerate(parts):
            size = file.stat().st_size
            part = CountsPart(f"part-{number:05d}.parquet", rows, size, hash_of_file(file))
            listed.append(part._asdict())
            try:  # under its own name, too, until the folder is in its place
                os.link(file, new / part.name)
            except OSError:  # a file system without links
                shutil.copyfile(file, new / part.name)
        about = {
            "format": _FORMAT,
            "kind": kind,
            "rows": sum(part["rows"] for part in listed),
            "source": dict(source),
            "parts": listed,
        }
        with atomic_write(new / COMMIT) as commit:
            commit.write((json.dumps(about, indent=1) + "\n").encode())
        if target.is_dir():
            _refuse_others(target, kind)
