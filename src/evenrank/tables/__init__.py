"""One table and one number format for everything that is printed or written.

A ``Table`` holds cells that are still values: text, counts, numbers with their interval and marks. It is
laid out for people (``to_text``, ``to_markdown``, ``to_latex``, ``to_html``) with four decimals and with
names from outside neutralised, and written for programs (``to_tsv``, ``to_csv``, ``to_jsonl``) with every
digit.

``cells.py`` writes numbers and cells, ``table.py`` lays out tables, ``terminal.py`` fits one into a terminal,
``records.py`` writes rows for programs.
"""

from __future__ import annotations

from evenrank.tables.cells import UNDEFINED as UNDEFINED
from evenrank.tables.cells import Column as Column
from evenrank.tables.cells import Interval as Interval
from evenrank.tables.cells import Tone as Tone
from evenrank.tables.cells import Value as Value
from evenrank.tables.cells import count_of as count_of
from evenrank.tables.cells import estimate as estimate
from evenrank.tables.cells import interval as interval
from evenrank.tables.cells import number as number
from evenrank.tables.cells import p_value as p_value
from evenrank.tables.cells import verdict_cell as verdict_cell
from evenrank.tables.records import DELIMITERS as DELIMITERS
from evenrank.tables.records import ReasonCounts as ReasonCounts
from evenrank.tables.records import Record as Record
from evenrank.tables.records import delimited as delimited
from evenrank.tables.records import exact as exact
from evenrank.tables.records import json_line as json_line
from evenrank.tables.records import of_cell as of_cell
from evenrank.tables.records import plain as plain
from evenrank.tables.table import FORMATS as FORMATS
from evenrank.tables.table import WIDTH as WIDTH
from evenrank.tables.table import Table as Table
from evenrank.tables.table import printed as printed
