"""Rows for programs, with every digit: CSV, TSV and JSON lines. Text never becomes a formula."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenrank.grammar import Term

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")  # the last, so that what is put on can be taken off
DELIMITERS = {"csv": ",", "tsv": "\t"}

Record = Mapping[str, Any]
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class ReasonCounts(dict[str, int]):
    """How often, by reason: JSON has them all, a cell of TSV or CSV their sum."""


def as_cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: it gets an apostrophe, which reading takes off.

    >>> as_cell("=1+1"), as_cell("bm25")
    ("'=1+1", 'bm25')
    """
    return "'" + text if text.startswith(FORMULAS) else text


def of_cell(text: str) -> str:
    """What ``as_cell`` was given; an apostrophe that it has not put there stays.

    >>> of_cell("'=1+1"), of_cell("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text[:1] == "'" and text[1:].startswith(FORMULAS) else text


def exact(value: Any) -> str:
    """A value for a program: all digits of a number, and an empty cell where there is no value.

    >>> exact(0.1), exact(math.nan), exact(None), exact(True), exact("=1"), exact(-math.inf)
    ('0.1', '', '', 'true', "'=1", '-inf')
    """
    if isinstance(value, str):
        return as_cell(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, ReasonCounts):
        return str(sum(value.values()))
    return as_cell(json.dumps(value, ensure_ascii=False))


def delimited(records: Iterable[Record], delimiter: str, fields: Sequence[str] | None = None) -> str:
    """CSV or TSV with a head. Cells with a delimiter, a quote or a line end are quoted."""
    if fields is None:
        records = tuple(records)
        fields = list(dict.fromkeys(name for record in records for name in record))
    special = re.compile(f'[{delimiter}"\r\n]').search

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if special(text) else text

    lines = [map(as_cell, fields), *([exact(record.get(name)) for name in fields] for record in records)]
    return "".join(delimiter.join(map(cell, line)) + "\n" for line in lines)


def json_line(record: Record) -> str:
    try:
        return _JSON(record) + "\n"
    except (TypeError, ValueError):  # there is something in it that JSON has not
        return _JSON(plain(record)) + "\n"


def plain(value: Any) -> Any:
    """The value in what JSON has: NaN is null, infinity a word, a tuple a list; a measure is its name."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return repr(value) if isinstance(value, Term) else value
