"""Counterfactual data substitution: every group word becomes its counterpart, and nothing else changes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from evenrank.counterfactuals.swap.case import as_cased
from evenrank.counterfactuals.swap.pairing import KINDS, Pairing, make_pairing
from evenrank.counterfactuals.swap.resolve import Found, Tokens, resolved
from evenrank.counterfactuals.swap.tagger import chosen_tagger
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
        self._firsts = frozenset(tokens[0] for tokens in pairing.entries)

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
        from evenrank.counterfactuals.swap.blocks import swap_strings

        return swap_strings(self._blocks, given)[0]

    @cached_property
    def _blocks(self) -> BlockSwapper:
        from evenrank.counterfactuals.swap.blocks import make_block_swapper

        return make_block_swapper(self)

    def swap_all(self, texts: list[str]) -> list[Swapped]:
        """Many texts at once, each with what was changed in it."""
        found = [list(self._found(text)) for text in texts]
        news = resolved(texts, found, self.tagger)
        return [
            _applied(text, tuple(changes_of(text, terms, becomes)))
            for text, terms, becomes in zip(texts, found, news, strict=True)
        ]

    def _found(self, text: str) -> Iterator[Found]:
        """From left to right the longest term that begins at a token, as the scan finds them."""
        small = text.lower() if text.isascii() else lower(text)  # of the same length
        spans = [match.span() for match in _WORD.finditer(text)]
        tokens = [small[start:end] for start, end in spans]
        entries, longest = self.pairing.entries, self.pairing.longest
        place = 0
        while place < len(tokens):
            if tokens[place] not in self._firsts:
                place += 1
                continue
            used = 1
            for length in range(min(longest, len(tokens) - place), 0, -1):
                entry = entries.get(tuple(tokens[place : place + length]))
                if entry is not None:
                    yield Found(tuple(spans[place : place + length]), entry)
                    used = length
                    break
            place += used


def changes_of(text: str, terms: list[Found], becomes: list[Tokens | None]) -> Iterator[Swap]:
    """What is replaced where: the terms found in a text, and what each becomes."""
    for found, new in zip(terms, becomes, strict=True):
        if new is None:
            continue
        if len(new) == len(found.spans):  # token by token, so that what stands between stays
            for (start, end), word in zip(found.spans, new, strict=True):
                old = text[start:end]
                if lower(old) != word:
                    yield Swap(start, end, old, as_cased(old, word), found.entry.kind)
        else:
            start, end = found.spans[0][0], found.spans[-1][1]
            old = text[start:end]
            yield Swap(start, end, old, as_cased(old, " ".join(new)), found.entry.kind)


def _applied(text: str, changes: tuple[Swap, ...]) -> Swapped:
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
    pairing = make_pairing(
        lexicon, kinds=kinds, seed=seed, mapping=mapping, one_way=one_way, share=share, from_group=from_group
    )
    return Swapper(pairing, tagger)
