"""What a TREC file can hold, checked before anything is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from evenrank.errors import PROBLEMS_SHOWN, DataError, InputTypeError, ParameterError
from evenrank.ids import as_strings
from evenrank.io.cells import quoted
from evenrank.io.source import check_format, guess_format

WRITTEN = ("trec", "parquet")
RUN_WRITTEN = (*WRITTEN, "csv", "tsv", "jsonl")

_SEPARATING = r"[\x00-\x20]"


def checked_format(
    path: str | os.PathLike[str], format: str | None, written: tuple[str, ...] = WRITTEN
) -> str:
    """The format to write: the one given, else what the name tells, else TREC."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"a path to write to is a str or a Path, got {type(path).__name__}")
    check_format(format, written)
    guessed = format or guess_format(path) or "trec"
    if guessed not in written:
        raise ParameterError(
            f"{os.fspath(path)}: {guessed} is read but not written here: "
            f"name the file .{', .'.join(written)}, or pass format='trec'"
        )
    return guessed


def check_ids(name: str, columns: Mapping[str, Any]) -> None:
    """Raise for ids that would be read back as something else from a file of fields between blanks."""
    problems: list[str] = []
    for role, values in columns.items():
        ids = as_strings(values)
        pattern = rf"{_SEPARATING}|^$" + (r"|^[#\x{FEFF}]" if role == "query" else "")
        bad = np.flatnonzero(pc.match_substring_regex(ids, pattern).to_numpy(zero_copy_only=False))
        problems += [f"{role} {quoted(ids[row].as_py())}" for row in bad[: PROBLEMS_SHOWN + 1].tolist()]
    if problems:
        shown = list(dict.fromkeys(problems))[:PROBLEMS_SHOWN]
        raise DataError(
            "\n".join(
                f"{name}: {what} cannot stand in a TREC file "
                "(empty, a blank or control character inside, or a leading '#'): write Parquet, or rename it"
                for what in shown
            )
        )


def one_word(text: str, default: str) -> str:
    """The text with everything that separates fields replaced.

    >>> one_word("my run", "run")
    'my_run'
    """
    return re.sub(_SEPARATING, "_", text).encode("utf-8", "replace").decode() or default
