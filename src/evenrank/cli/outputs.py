"""What is checked of an output before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.errors import ParameterError
from evenrank.inputs.file_options import STDIN

if TYPE_CHECKING:
    from evenrank.inputs.description import Description


def check_written(
    known: Description, *written: str | None, further: Sequence[str] = (), makes_folder: bool = False
) -> None:
    """``check_output`` for each, against all files that are read."""
    for path in written:
        if path is not None:
            check_output(path, [*known.files(), *further], makes_folder=makes_folder)


def check_output(output: str | None, inputs: Sequence[str | None], *, makes_folder: bool = False) -> None:
    """What is read must not be written over, a file called - could not be read again, and a folder that is
    not there is an error before the work and not after it, unless the command makes it."""
    from evenrank.io.atomic import no_folder
    from evenrank.io.remote import is_remote

    if output is None:
        return
    if output == STDIN:
        raise ParameterError("-: this cannot be written to standard output: give the name of a file")
    if is_remote(output):
        raise ParameterError(
            f"{output}: is in a store, and outputs are written to this machine: name a file or folder here"
        )
    for path in inputs:
        if path is not None and path != STDIN and _same_file(output, path):
            raise ParameterError(f"{output}: is also an input, and would be overwritten: choose another name")
    if not makes_folder and not Path(output).parent.exists():
        raise no_folder(output)


def _same_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other) or Path(one).resolve() == Path(other).resolve()
    except (OSError, ValueError):  # one of them is not there
        return False
