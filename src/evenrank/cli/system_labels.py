"""Which run of a command line is which system, of which class."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from evenrank.cli import shared

if TYPE_CHECKING:
    from evenrank.comparison.audits import RunLabel


def system_labels(arguments: argparse.Namespace) -> dict[str, RunLabel]:
    """What is written after the runs as ``:class=..``, or in the records beside them."""
    from evenrank.comparison.audits.system_files import labelled_systems

    known = shared.description(arguments)
    return labelled_systems(
        {name: (file.path, file.options) for name, file in zip(known.names, known.runs, strict=True)}
    )
