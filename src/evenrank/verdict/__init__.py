"""Who is favoured by a ranking, by how much, how sure that is, and what to do: a value and its words.

``verdicts`` makes the values, ``advised`` tries re-rankers for what they found, ``sentences`` says them in
plain English. Audit, report and gate all say the same.
"""

from __future__ import annotations

from evenrank.verdict.advice import advised
from evenrank.verdict.attributes import without_verdict
from evenrank.verdict.judge import verdicts
from evenrank.verdict.sentences import describe, describe_all
from evenrank.verdict.value import Advice, GroupFinding, RelevanceFinding, Verdict, WorstQuery

__all__ = [
    "Advice",
    "GroupFinding",
    "RelevanceFinding",
    "Verdict",
    "WorstQuery",
    "advised",
    "describe",
    "describe_all",
    "verdicts",
    "without_verdict",
]
