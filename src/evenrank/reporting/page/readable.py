"""What measures are called in words, for readers who never read a paper; the exact name stands beside it."""

from __future__ import annotations

from evenrank.measures import Measure


def readable(measure: Measure) -> str:
    """In words what a measure is about, as it declares itself; empty where its name has to do.

    >>> from evenrank.measures import parse_measure
    >>> readable(parse_measure("nDCG@10")), readable(parse_measure("0.5*nDCG@10 + 0.5*ERR@10"))
    ('relevance', '')
    """
    return type(measure).in_words
