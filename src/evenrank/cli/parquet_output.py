"""Outputs that are Parquet whatever they are called."""

from __future__ import annotations

from pathlib import Path

from evenrank.cli.outputs import check_output
from evenrank.errors import ParameterError


def check_parquet(output: str) -> None:
    """As ``check_output``; and another suffix would promise another format."""
    from evenrank.io.source import format_of_suffix

    check_output(output, makes_folder=True)  # a folder that is missing is named last
    path = Path(output)
    if format_of_suffix(path.suffix.lower()) not in (None, "parquet"):
        raise ParameterError(f"{output}: is written as Parquet: call it {path.with_suffix('.parquet').name}")
    check_output(output)
