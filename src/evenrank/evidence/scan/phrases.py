"""The terms of a lexicon as the tokeniser sees them: sequences of tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenrank.data.lexicon import Lexicon, lower
from evenrank.data.words import TOKENIZERS
from evenrank.errors import DataError, ParameterError

_WORD = re.compile(r"\w+")


def check_tokenizer(tokenizer: str) -> None:
    if tokenizer not in TOKENIZERS:
        raise ParameterError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, got {tokenizer!r}")


def tokenize(text: str, tokenizer: str) -> list[str]:
    """The tokens of a text, in lower case.

    ``word`` is Python's ``\\w+``. ``whitespace`` is what the published code does: it splits on the blank
    (U+0020) and nothing else, so that "his," is not "his". Between two blanks there is no token.

    >>> tokenize("Mother's  day", "word"), tokenize("Mother's  day", "whitespace")
    (['mother', 's', 'day'], ["mother's", 'day'])
    """
    if text.isascii():  # Python's own lower case is the same there, and faster
        small = text.lower()
        return _WORD.findall(small) if tokenizer == "word" else [token for token in small.split(" ") if token]
    tokens = _WORD.findall(text) if tokenizer == "word" else text.split(" ")
    return [lower(token) for token in tokens if token]


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
