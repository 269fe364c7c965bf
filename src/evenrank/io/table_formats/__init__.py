"""Formats of files with named columns: each is one file that declares its name, suffixes and how to open it.

Every module of this folder is loaded when a format is first looked for, so a new format is one new file;
runs, judgements, groups, queries and whatever else is a table can then be read from it.
"""

from __future__ import annotations

from functools import cache

from evenrank.io.table_formats.declared import FORMATS, TableFormat
from evenrank.modules import load_folder

TREC_SUFFIXES = (".trec", ".run", ".qrels")


@cache
def _load() -> None:
    load_folder(__name__, __path__)


def table_formats() -> dict[str, TableFormat]:
    """The formats by name."""
    _load()
    return FORMATS


def format_names() -> tuple[str, ...]:
    """What ``format=`` takes for runs and judgements: TREC, or any table."""
    return ("trec", *table_formats())


def format_of_suffix(suffix: str) -> str | None:
    """
    >>> format_of_suffix(".ndjson")
    'jsonl'
    """
    if suffix in TREC_SUFFIXES:
        return "trec"
    return next((name for name, one in table_formats().items() if suffix in one.suffixes), None)


def known_suffixes() -> set[str]:
    return {*TREC_SUFFIXES, *(suffix for one in table_formats().values() for suffix in one.suffixes)}
