"""Ids of queries of which a file has nothing but the words: made from the words, and not from their place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

LONGEST = 64  # letters of words that are their own id
SLUG, HASH = 40, 8  # letters
_BETWEEN = re.compile(r"\W+")


def made_id(words: str) -> str:
    """The words themselves where they are one short word; else a shorter form that a TREC file can hold.

    >>> made_id(" chair"), made_id("table lamp"), made_id("table  lamp ")
    ('chair', 'table_lamp-0fe97486', 'table_lamp-0fe97486')
    """
    kept = normal(words)
    if " " not in kept and len(kept) <= LONGEST:
        return kept
    slug = _BETWEEN.sub("_", kept.lower())[:SLUG].strip("_")
    return f"{slug or 'query'}-{hashlib.sha256(kept.encode()).hexdigest()[:HASH]}"


def normal(words: str) -> str:
    """The words with one blank between them."""
    return " ".join(words.split())


def hold_words(cells: Iterable[str]) -> bool:
    """Whether cells that should be ids are what people asked: a run of TREC has no id with a blank inside."""
    return any(" " in cell.strip() for cell in cells)
