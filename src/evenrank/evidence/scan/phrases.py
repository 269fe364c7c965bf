"""The terms of a lexicon as the tokeniser sees them: sequences of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evenrank.data.lexicon import Lexicon, lower
from evenrank.data.words import TOKENIZERS
from evenrank.errors import DataError, ParameterError

_WORD = re.compile(r"\w+")
_ASCII_WORDS = "".join(
    character.lower() if _WORD.match(character) else " " for character in map(chr, range(128))
)


def check_tokenizer(tokenizer: str) -> None:
    if tokenizer not in TOKENIZERS:
        raise ParameterError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, got {tokenizer!r}")


def ascii_words(text: str) -> str:
    """An ASCII text in lower case, with a blank in the place of every character that is in no word.

    >>> ascii_words("Mother's day")
    'mother s day'
    """
    return text.translate(_ASCII_WORDS)


def tokenize(text: str, tokenizer: str) -> list[str]:
    """The tokens of a text, in lower case.

    ``word`` is Python's ``\\w+``. ``whitespace`` is what the published code does: it splits on the blank
    (U+0020) and nothing else, so that "his," is not "his". Between two blanks there is no token.

    >>> tokenize("Mother's  day", "word"), tokenize("Mother's  day", "whitespace")
    (['mother', 's', 'day'], ["mother's", 'day'])
    """
    if text.isascii():  # Python's own lower case is the same there, and faster
        if tokenizer == "word":
            return ascii_words(text).split()  # in half the time of the regular expression
        return [token for token in text.lower().split(" ") if token]
    tokens = _WORD.findall(text) if tokenizer == "word" else text.split(" ")
    return [token.lower() if token.isascii() else lower(token) for token in tokens if token]


class TermPlace(NamedTuple):
    place: int  # of its first token
    length: int  # in tokens
    term: int  # its place in the lexicon


@dataclass(frozen=True)
class Phrases:
    """What to look for: for each sequence of tokens the term that it is."""

    lexicon: Lexicon
    tokenizer: str
    terms: dict[tuple[str, ...], int]  # tokens -> the place of the term in the lexicon
    longest: int  # tokens of the longest term

    @classmethod
    def of(cls, lexicon: Lexicon, tokenizer: str) -> Phrases:
        """Read each term with the tokeniser of the text: to ``word``, "step-mother" is two tokens.

        Two spellings of one group may become the same tokens; the first of them gets the counts.
        """
        check_tokenizer(tokenizer)
        terms: dict[tuple[str, ...], int] = {}
        problems: list[str] = []
        for code, term in enumerate(lexicon.terms):
            tokens = tuple(tokenize(term, tokenizer))
            first = terms.setdefault(tokens, code)
            if not tokens:
                problems.append(
                    f"{term!r} can never be found: the tokeniser {tokenizer!r} sees no token in it"
                )
            elif lexicon.term_groups[first] != lexicon.term_groups[code]:
                problems.append(
                    f"{lexicon.terms[first]!r} and {term!r} are in two groups, "
                    f"but the tokeniser {tokenizer!r} cannot tell them apart"
                )
        if problems:
            raise DataError("\n".join(f"lexicon {lexicon.name!r}: {problem}" for problem in problems[:20]))
        return cls(lexicon, tokenizer, terms, max(map(len, terms)))

    @cached_property
    def longest_from(self) -> dict[str, int]:
        """For each token that terms begin with, the tokens of the longest of them."""
        longest: dict[str, int] = {}
        for first, *others in self.terms:
            longest[first] = max(longest.get(first, 0), 1 + len(others))
        return longest

    def find(self, tokens: Sequence[str]) -> Iterator[TermPlace]:
        """From left to right the longest term that begins at a token; the next search begins after it."""
        longest_from = self.longest_from
        free = 0
        for place in [place for place, token in enumerate(tokens) if token in longest_from]:
            if place < free:
                continue
            for length in range(min(longest_from[tokens[place]], len(tokens) - place), 0, -1):
                term = self.terms.get(tuple(tokens[place : place + length]))
                if term is not None:
                    yield TermPlace(place, length, term)
                    free = place + length
                    break


def count(text: str, phrases: Phrases) -> tuple[int, list[int], dict[int, int]]:
    """The number of tokens, the terms of each group, and how often each term found occurs: in plain Python,
    what the fast kernel must equal.

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
