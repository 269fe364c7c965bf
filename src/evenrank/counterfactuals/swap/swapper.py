"""Counterfactual data substitution: every group word becomes its counterpart, and nothing else changes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evenrank.counterfactuals.swap.pairing import KINDS, Pairing, Tokens, as_cased, make_pairing
from evenrank.counterfactuals.swap.resolve import Found, chosen_tagger, resolved
from evenrank.data.lexicon import Lexicon, lower

if TYPE_CHECKING:
    from evenrank.counterfactuals.swap.blocks import BlockSwapper

_WORD = re.compile(r"\w+")
_MANY = 1 << 18  # characters: the kernel takes a moment to load


class Swap(NamedTuple):
    """``text[start:end]`` of the original was ``old`` and became ``new``."""

    start: int
    end: int
    old: str
    new: str
    kind: str


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

    def swap_all(self, texts: list[str], found: list[list[Found]] | None = None) -> list[Swapped]:
        """Many texts at once, each with what was changed in it; ``found`` are their terms, if known."""
        terms = [list(self._found(text)) for text in texts] if found is None else found
        news = resolved(texts, terms, self.tagger)
        return [
            _replaced(text, tuple(_changes(text, own, becomes)))
            for text, own, becomes in zip(texts, terms, news, strict=True)
        ]

    def _found(self, text: str) -> Iterator[Found]:
        """From left to right the longest term that begins at a token, as the scan finds them."""
        small = text.lower() if text.isascii() else lower(text)  # of the same length
        spans = [match.span() for match in _WORD.finditer(text)]
        for place, length, term in self.pairing.phrases.find([small[start:end] for start, end in spans]):
            yield Found(tuple(spans[place : place + length]), self._entries[term])


def _changes(text: str, terms: list[Found], becomes: list[Tokens | None]) -> Iterator[Swap]:
    """What is replaced where: the terms found in a text, and what each becomes."""
    for found, new in zip(terms, becomes, strict=True):
        if new is None:
            continue
        spans = found.spans
        if len(new) != len(spans):  # else token by token, so that what stands between stays
            spans, new = ((spans[0][0], spans[-1][1]),), (" ".join(new),)
        for (start, end), word in zip(spans, new, strict=True):
            old = text[start:end]
            if lower(old) != word:
                yield Swap(start, end, old, as_cased(old, word), found.entry.kind)


def _replaced(text: str, changes: tuple[Swap, ...]) -> Swapped:
    pieces, end = [], 0
    for change in changes:
        pieces += [text[end : change.start], change.new]
        end = change.end
    return Swapped("".join([*pieces, text[end:]]), changes)


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
    return Swapper(make_pairing(lexicon, kinds, seed, mapping, one_way, share, from_group), tagger)
