"""Why a document adds nothing to the value of its list."""

from __future__ import annotations

from evenrank.measures import Measure

REASONS = {
    "relevance": "not relevant, or not judged",
    "delegated": "not relevant, or not judged",
    "diversity": "serves no intent that the list has not served, or was not judged",
    "words": "as one-sided as a document can be",
}


def why_nothing(measure: Measure) -> str:
    """In a few words why a document adds 0; empty where the measure does not tell.

    >>> from evenrank.measures import parse_measure
    >>> why_nothing(parse_measure("nDCG@10")), why_nothing(parse_measure("GF@10"))
    ('not relevant, or not judged', '')
    """
    families = {part.family for part in measure.parts()}
    return REASONS.get(families.pop(), "") if len(families) == 1 else ""
