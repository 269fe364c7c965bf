"""Group words of a text counted slowly, and what makes small collections be counted fast."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from evenrank import Lexicon, WordCounts
from evenrank.evidence.scan import scan_file

LARGE = 1 << 24  # bytes for which words are counted by compiled code on every machine that has a compiler


def compile_counting(folder: Path) -> None:
    """Count a large collection: what is compiled for it counts small ones, too, in this process."""
    path = folder / "large.tsv"
    with path.open("w") as file:
        for number in range(LARGE // 1000 + 300):
            file.write(f"{number}\t{'he and she ' * 91}\n")
    for tokenizer in ("word", "whitespace"):
        scan_file(path, "gender-en", folder / "large.parquet", tokenizer=tokenizer)
    path.unlink()


def lower(text: str) -> str:
    """A character whose lower case is several stays as it is."""
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def tokens_of(text: str, tokenizer: str) -> list[str]:
    found = re.findall(r"\w+", text) if tokenizer == "word" else text.split(" ")
    return [lower(token) for token in found if token]


@lru_cache
def _codes(terms: tuple[str, ...], tokenizer: str) -> tuple[dict[tuple[str, ...], int], int]:
    """The place of each term by its tokens, and the tokens of the longest."""
    codes: dict[tuple[str, ...], int] = {}
    for code, term in enumerate(terms):
        codes.setdefault(tuple(tokens_of(term, tokenizer)), code)
    return codes, max(map(len, codes))


def counted(text: str, lexicon: Lexicon, tokenizer: str = "word") -> tuple[int, list[int], dict[int, int]]:
    """The number of tokens, of each group's terms, and of each term; the longest term at a place counts."""
    (codes, longest), tokens = _codes(lexicon.terms, tokenizer), tokens_of(text, tokenizer)
    groups, terms, place = [0] * len(lexicon.groups), dict[int, int](), 0
    while place < len(tokens):
        ends = range(min(longest, len(tokens) - place), 0, -1)
        size, code = next(
            ((end, codes[found]) for end in ends if (found := tuple(tokens[place : place + end])) in codes),
            (1, None),
        )
        place += size
        if code is not None:
            groups[lexicon.term_groups[code]] += 1
            terms[code] = terms.get(code, 0) + 1
    return len(tokens), groups, terms


def rows(counts: WordCounts) -> list[tuple[str, int, list[int], dict[int, int]]]:
    """Of each document its id and what ``counted`` gives; no terms where none were kept."""
    found: list[Any] = []
    for row, identifier in enumerate(counts.doc_ids.to_pylist()):
        terms = {}
        if counts.terms is not None:
            begin, end = counts.terms.offsets[row : row + 2]
            places, numbers = counts.terms.places[begin:end], counts.terms.values[begin:end]
            terms = dict(zip(places.tolist(), numbers.tolist(), strict=True))
        found.append((identifier, int(counts.lengths[row]), counts.counts[row].tolist(), terms))
    return found
