"""Counting in plain Python: what the fast kernel must equal, and what runs where numba is absent."""

from __future__ import annotations

from evenrank.evidence.scan.phrases import Phrases, tokenize


def count(text: str, phrases: Phrases) -> tuple[int, list[int], dict[int, int]]:
    """The number of tokens, the terms of each group, and how often each term found occurs.

    From left to right, the longest term that begins at a token counts once for its group, and the next
    search begins after it.

    >>> from evenrank.data.lexicon import Lexicon
    >>> kin = Lexicon.build("kin", {"f": ["mother", "step mother"], "m": ["father"]})
    >>> count("My step mother, my mother and my father", Phrases.of(kin, "word"))
    (8, [2, 1], {1: 1, 0: 1, 2: 1})
    """
    tokens = tokenize(text, phrases.tokenizer)
    groups = [0] * len(phrases.lexicon.groups)
    found: dict[int, int] = {}
    for _, _, term in phrases.find(tokens):
        groups[phrases.lexicon.term_groups[term]] += 1
        found[term] = found.get(term, 0) + 1
    return len(tokens), groups, found
