"""Counterfactual data substitution: every group word becomes its counterpart, and nothing else changes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evenrank.counterfactuals.swap.pairing import KINDS, Entry, Pairing, Tokens, as_cased, gender
from evenrank.counterfactuals.swap.rules import WORDS, is_determiner
from evenrank.counterfactuals.swap.tagger import are_determiners, chosen_tagger
from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import ParameterError
from evenrank.io.lexicons import read_lexicon

if TYPE_CHECKING:
    from evenrank.counterfactuals.swap.blocks import BlockSwapper

_WORD = re.compile(r"\w+")
_BEFORE_NAME = re.compile(r"\.?\s+([^\W\d_]\w*)")
_MANY = 1 << 18  # characters: the kernel takes a moment to load


class Found(NamedTuple):
    """A term in a text: the places of its tokens, and what it becomes."""

    spans: tuple[tuple[int, int], ...]
    entry: Entry


class Swap(NamedTuple):
    """``text[start:end]`` of the original was ``old`` and became ``new``."""

    start: int
    end: int
    old: str
    new: str
    kind: str

    @property
    def pair(self) -> tuple[str, str, str]:
        """What became what, in lower case, and of which kind."""
        return lower(self.old), lower(self.new), self.kind


@dataclass(frozen=True)
class Swapped:
    """A text after the swap; ``changes`` are in the order of the text and do not overlap."""

    text: str
    changes: tuple[Swap, ...]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where the new words stand in the new text: (start, end) of each change.

        >>> swapped = Swapped("She saw", (Swap(0, 2, "He", "She", "pronouns"),))
        >>> list(swapped.spans())
        [(0, 3)]
        """
        shift = 0
        for change in self.changes:
            begin = change.start + shift
            yield begin, begin + len(change.new)
            shift += len(change.new) - (change.end - change.start)


class Swapper:
    """Swaps the words of a pairing. The same text gives the same text, every time and in every batch."""

    def __init__(self, pairing: Pairing, tagger: str = "rules") -> None:
        self.pairing = pairing
        self.tagger = chosen_tagger(tagger)
        self._entries = list(pairing.entries.values())

    def swap(self, text: str) -> Swapped:
        """One text, with what was changed.

        >>> make_swapper().swap("HER brother's wife met Her.").text
        "HIS sister's husband met Him."
        """
        return self.swap_all([text])[0]

    def swap_many(self, texts: Iterable[str]) -> list[str]:
        """The new texts alone: much faster where there are many and numba is installed."""
        given = list(texts)
        if sum(map(len, given)) < _MANY:
            return [swapped.text for swapped in self.swap_all(given)]
        return self.blocks.swap_strings(given)[0]

    @cached_property
    def blocks(self) -> BlockSwapper:
        from evenrank.counterfactuals.swap.blocks import BlockSwapper

        return BlockSwapper(self)

    def swap_all(self, texts: list[str]) -> list[Swapped]:
        """Many texts at once, each with what was changed in it."""
        terms = [list(self._found(text)) for text in texts]
        news = [[_new_words(text, term) for term in own] for text, own in zip(texts, terms, strict=True)]
        if self.tagger == "spacy":
            self._ask_the_tagger(texts, terms, news)
        return [_replaced(*one) for one in zip(texts, terms, news, strict=True)]

    def _found(self, text: str) -> Iterator[Found]:
        """From left to right the longest term that begins at a token, as the scan finds them."""
        small = text.lower() if text.isascii() else lower(text)  # of the same length
        spans = [match.span() for match in _WORD.finditer(text)]
        for place, length, term in self.pairing.phrases.find([small[start:end] for start, end in spans]):
            yield Found(tuple(spans[place : place + length]), self._entries[term])

    def _ask_the_tagger(
        self, texts: list[str], terms: list[list[Found]], news: list[list[Tokens | None]]
    ) -> None:
        """Put its answers where no rule is sure."""
        unsure = [
            (row, place)
            for row, own in enumerate(terms)
            for place, term in enumerate(own)
            if term.entry.before_noun and not is_determiner(texts[row], *term.spans[0]).sure
        ]
        answers = are_determiners([(texts[row], terms[row], place) for row, place in unsure])
        for (row, place), answer in zip(unsure, answers, strict=True):
            entry = terms[row][place].entry
            if answer is not None:
                news[row][place] = entry.before_noun if answer else entry.new


def _new_words(text: str, term: Found) -> Tokens | None:
    """What a term becomes, by the rules where it has two counterparts; None where it stays."""
    entry, (start, end) = term.entry, term.spans[0]
    if entry.before_noun and is_determiner(text, start, end).determiner:
        return entry.before_noun
    return None if entry.before_name and not _is_title(text, start, end) else entry.new


def _is_title(text: str, start: int, end: int) -> bool:
    """Ms and Miss before a name: not the verb, the unit or the state."""
    name = _BEFORE_NAME.match(text, end)
    if name is None or not (text[start].isupper() and name[1][0].isupper()):
        return False
    return lower(name[1]) not in WORDS["CLOSED"] | WORDS["DEGREE"]  # Miss Me: a headline


def changes_of(text: str, term: Found) -> Iterator[Swap]:
    """What is replaced of a term, by the rules alone."""
    return _changes(text, term, _new_words(text, term))


def _changes(text: str, term: Found, new: Tokens | None) -> Iterator[Swap]:
    if new is None:
        return
    spans = term.spans
    if len(new) != len(spans):  # else token by token, so that what stands between stays
        spans, new = ((spans[0][0], spans[-1][1]),), (" ".join(new),)
    for (start, end), word in zip(spans, new, strict=True):
        old = text[start:end]
        if lower(old) != word:
            yield Swap(start, end, old, as_cased(old, word), term.entry.kind)


def _replaced(text: str, terms: list[Found], news: list[Tokens | None]) -> Swapped:
    changes = [change for term, new in zip(terms, news, strict=True) for change in _changes(text, term, new)]
    pieces, done = list[str](), 0
    for change in changes:
        pieces += [text[done : change.start], change.new]
        done = change.end
    return Swapped("".join([*pieces, text[done:]]), tuple(changes))


def make_swapper(
    lexicon: Lexicon | str | os.PathLike[str] | None = None,
    *,
    kinds: Collection[str] = KINDS,
    seed: int = 0,
    tagger: str = "auto",
    mapping: Mapping[str, str] | str | None = None,
    one_way: bool = False,
    share: float = 1.0,
    from_group: str | None = None,
) -> Swapper:
    """A swapper for a lexicon; for ``gender-en``, with first names, if none is given.

    ``kinds`` are those to swap: pronouns, nouns, titles, names. ``tagger`` decides what ``her`` and ``his``
    are: ``spacy``, ``rules``, or ``auto`` (spaCy where it is installed). ``mapping`` says what each term
    becomes where there are no partners, or more than two groups: a dict, or ``"cyclic"``: word i of a group
    becomes word i of the next. ``one_way`` swaps words too whose counterpart does not lead back, such as
    actress and mum. ``seed`` draws which names are paired among equally frequent ones.

    ``share`` swaps some of the word pairs alone, drawn by the seed: that share of every kind, at least one
    pair of each; the pairs of a smaller share are among those of a larger one. ``from_group`` swaps the words
    of one group alone, as ``"female"``: the other group's words stay.

    >>> make_swapper(kinds=["pronouns"]).swap("She met Mr. Smith's mother.").text
    "He met Mr. Smith's mother."
    """
    if not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be an integer >= 0, got {seed!r}")
    words = gender() if lexicon is None else read_lexicon(lexicon)
    whole = Pairing.of(words, mapping, seed, one_way=one_way)
    return Swapper(whole.of_kinds(kinds).sampled(share, seed).leaving(from_group), tagger)
