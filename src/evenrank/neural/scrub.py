"""The baseline that needs no training: take the words of the groups out of queries and documents."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evenrank.data.lexicon import Lexicon, lower
from evenrank.evidence.scan.phrases import Phrases
from evenrank.neural.examples import Examples

_WORD = re.compile(r"\w+")


def scrub(text: str, phrases: Phrases) -> str:
    """The text without the terms that a scan would count in it; what stands around them stays.

    >>> kin = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})
    >>> scrub("My mother's garden, Father.", Phrases.of(kin, "word"))
    "My 's garden, ."
    """
    found = list(_WORD.finditer(text))
    tokens = [lower(match.group()) for match in found]
    kept, end, place = [], 0, 0
    while place < len(tokens):
        for length in range(min(phrases.longest, len(tokens) - place), 0, -1):
            if tuple(tokens[place : place + length]) in phrases.terms:
                kept.append(text[end : found[place].start()])
                end = found[place + length - 1].end()
                place += length
                break
        else:
            place += 1
    return "".join([*kept, text[end:]])


def scrubbed(texts: Mapping[str, str], lexicon: Lexicon) -> dict[str, str]:
    """Texts by id without the terms of a lexicon."""
    phrases = Phrases.of(lexicon, "word")
    return {name: scrub(text, phrases) for name, text in texts.items()}


def scrub_examples(examples: Examples, lexicon: Lexicon) -> Examples:
    """The same triples with scrubbed texts."""
    phrases = Phrases.of(lexicon, "word")
    return examples.with_texts(
        [scrub(text, phrases) for text in examples.query_texts],
        [scrub(text, phrases) for text in examples.documents],
    )
