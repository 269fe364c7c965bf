"""One table and one number format for everything that is printed or written.

A ``Table`` holds cells that are still values: text, counts, numbers with their interval and marks. It is
laid out for people (``to_text``, ``to_markdown``, ``to_latex``, ``to_html``) with four decimals and with
names from outside neutralised, and written for programs (``to_tsv``, ``to_csv``, ``to_jsonl``) with every
digit.

``cells.py`` writes numbers and cells, ``table.py`` lays out tables, ``terminal.py`` fits one into a terminal,
``records.py`` writes rows for programs.
"""

from __future__ import annotations

from evenrank.tables.cells import (
    UNDEFINED,
    Column,
    Interval,
    Tone,
    Value,
    count_of,
    estimate,
    interval,
    number,
    p_value,
    verdict_cell,
)
from evenrank.tables.records import (
    DELIMITERS,
    ReasonCounts,
    Record,
    delimited,
    exact,
    json_line,
    of_cell,
    plain,
)
from evenrank.tables.table import FORMATS, WIDTH, Table, printed
from evenrank.tables.terminal import wants_colour

__all__ = [
    "DELIMITERS",
    "FORMATS",
    "UNDEFINED",
    "WIDTH",
    "Column",
    "Interval",
    "ReasonCounts",
    "Record",
    "Table",
    "Tone",
    "Value",
    "count_of",
    "delimited",
    "estimate",
    "exact",
    "interval",
    "json_line",
    "number",
    "of_cell",
    "p_value",
    "plain",
    "printed",
    "verdict_cell",
    "wants_colour",
]
