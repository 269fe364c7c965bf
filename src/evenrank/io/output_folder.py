"""Outputs that are folders: which names mean one, and how a new one takes its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenrank.errors import DataError, InputTypeError
from evenrank.io.atomic import refuse_standard_output
from evenrank.io.counts_folder import COMMIT, COUNTS, is_counts_folder, others_in
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


@contextmanager
def new_counts_folder(target: Path, kind: str = COUNTS) -> Iterator[Path]:
    """A new folder that takes the place of ``target`` when the block ends.

    Earlier counts lose their commit first: if the process is killed then, what is left is seen as unfinished.
    """
    with whole_folder(target) as new:
        yield new
        if target.is_dir():
            _refuse_others(target, kind)
            (target / COMMIT).unlink(missing_ok=True)
            shutil.rmtree(target)
