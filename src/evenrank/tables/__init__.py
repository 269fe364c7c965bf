"""One table and one number format for everything that is printed or written.

A ``Table`` holds cells that are still values: text, counts, numbers with their interval and marks. It is
laid out for people (``to_text``, ``to_markdown``, ``to_latex``, ``to_html``) with four decimals and with
names from outside neutralised, and written for programs (``to_tsv``, ``to_csv``, ``to_jsonl``) with every
digit.

``numbers.py`` writes a number, ``cells.py`` a cell, ``table.py`` lays out a table, ``terminal.py`` fits it
into a terminal, ``parts.py`` splits a wide one, ``records.py`` writes rows for programs, ``printing.py``
prints several tables.
"""

from __future__ import annotations

from evenrank.tables.cells import Column, Interval, Tone, Value, verdict_cell
from evenrank.tables.numbers import UNDEFINED, count_of, estimate, interval, number, p_value
from evenrank.tables.parts import in_parts
from evenrank.tables.printing import FORMATS, printed
from evenrank.tables.records import (
    DELIMITERS,
    ReasonCounts,
    Record,
    as_cell,
    delimited,
    exact,
    json_line,
    json_number,
    of_cell,
    plain,
)
from evenrank.tables.table import BEST, NO_INTERVALS, TOO_WIDE, WIDTH, Table
from evenrank.tables.terminal import wants_colour

__all__ = [
    "BEST",
    "DELIMITERS",
    "FORMATS",
    "NO_INTERVALS",
    "TOO_WIDE",
    "UNDEFINED",
    "WIDTH",
    "Column",
    "Interval",
    "ReasonCounts",
    "Record",
    "Table",
    "Tone",
    "Value",
    "as_cell",
    "count_of",
    "delimited",
    "estimate",
    "exact",
    "in_parts",
    "interval",
    "json_line",
    "json_number",
    "number",
    "of_cell",
    "p_value",
    "plain",
    "printed",
    "verdict_cell",
    "wants_colour",
]
