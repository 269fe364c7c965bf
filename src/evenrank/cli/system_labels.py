"""Which run of a command line is which system, of which class."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli import shared

if TYPE_CHECKING:
    from evenrank.comparison.audits import RunLabel


def system_labels(arguments: argparse.Namespace) -> dict[str, RunLabel]:
    """What the tables of runs in the project file say (``class``, ``system``), or the records beside them."""
    from evenrank.io.run_record import read_record

    known = shared.description(arguments)
    files = {name: (file.path, file.options) for name, file in zip(known.names, known.runs, strict=True)}
    if not any(
        {"class", "system"} & options.keys() or read_record(path)[0] for path, options in files.values()
    ):
        return {}
    from evenrank.comparison.audits.system_files import labelled_systems  # which loads all of comparison

    return labelled_systems(files)
