"""Query sets: which queries should be fair? Sheets for annotators, agreement, and the set that comes out.

``procedure.py`` has the settings, ``sheets.py`` writes and reads sheets, ``outcome.py`` decides what is kept,
``agreement.py`` says how far annotators agree, ``sampling.py`` draws candidates with known weights,
``log_share.py`` estimates from them how much of a log would be kept.
"""

from __future__ import annotations

from evenrank.queryset.outcome import QuerySetOutcome, decide
from evenrank.queryset.procedure import Procedure, read_procedure
from evenrank.queryset.sheets import Inconsistency, Votes, read_sheets, write_sheets

__all__ = [
    "Inconsistency",
    "Procedure",
    "QuerySetOutcome",
    "Votes",
    "decide",
    "read_procedure",
    "read_sheets",
    "write_sheets",
]
