"""Outputs that are folders: which names mean one, and how a new one takes its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, InputTypeError
from evenrank.io.atomic import refuse_standard_output
from evenrank.io.counts_folder import (
    COMMIT,
    COUNTS,
    CountsPart,
    commit_counts_folder,
    is_counts_folder,
    others_in,
    part_name,
)
from evenrank.io.folders import whole_folder


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
    counts = is_counts_folder(folder, kind)
    others = others_in(folder, kind) if counts else sorted(entry.name for entry in folder.iterdir())
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
    """A new folder in the place of ``target``, of ``parts``: file, rows, and what tells that it is whole.

    Earlier counts lose their commit first: if the process is killed then, what is left is seen as unfinished.
    """
    with whole_folder(target) as new:
        listed = []
        for number, (file, rows, seal) in enumerate(parts):
            listed.append(CountsPart(part_name(number), rows, **seal))
            _link(file, new / part_name(number))
        commit_counts_folder(new, listed, source, kind=kind)
        if target.is_dir():
            _refuse_others(target, kind)
            (target / COMMIT).unlink(missing_ok=True)
            shutil.rmtree(target)


def _link(file: Path, name: Path) -> None:
    """The part under its new name, and under its own until the folder is in its place."""
    try:
        os.link(file, name)
    except OSError:  # a file system without links
        shutil.copyfile(file, name)
