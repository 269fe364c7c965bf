"""Which word takes the place of which: a lexicon's partners, a mapping, and first names."""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan.phrases import Phrases, tokenize
from evenrank.io.lexicons import read_lexicon

KINDS = ("pronouns", "nouns", "titles", "names")

PRONOUNS = frozenset({"she", "he", "her", "him", "his", "hers", "herself", "himself"})
TITLES = frozenset({"mr", "mrs", "ms", "miss", "madam", "sir", "madame", "monsieur", "mister", "missus"})

_TWO = {"her": ("him", "his"), "his": ("hers", "her")}  # alone, and before the noun that it belongs to

SPREAD = 1.25  # within a band, the most frequent name has at most so many times the births of the least

Tokens = tuple[str, ...]


class Entry(NamedTuple):
    """What a term becomes. Of her and his, and of some titles, the text around decides."""

    new: Tokens  # in lower case
    kind: str
    reversible: bool  # what it becomes becomes it again
    before_noun: Tokens = ()  # what it becomes there, where that is something else
    before_name: bool = False  # it becomes something there alone: ms, miss


@dataclass(frozen=True)
class Pairing:
    """Terms of a lexicon, as the tokeniser of the scan sees them, and what each becomes."""

    lexicon: Lexicon
    entries: Mapping[Tokens, Entry]

    @classmethod
    def of(
        cls, lexicon: Lexicon, mapping: Mapping[str, str] | str | None, seed: int, *, one_way: bool
    ) -> Pairing:
        """All pairs of a lexicon; of ``gender-en`` also first names and words that lead one way."""
        pairs = _pairs(lexicon, mapping)
        chosen = [(old, new, pairs.get(new) == old) for old, new in pairs.items()]
        if mapping is None and lexicon == gender():
            leading = ((row["word"], row["becomes"]) for row in _rows("one-way-en.csv"))
            # a Ms left alone would stand beside a he
            chosen += [(old, new, False) for old, new in leading if one_way or old in TITLES]
            chosen += [(old, new, True) for old, new in _name_pairs(seed).items()]
        entries: dict[Tokens, Entry] = {}
        for old, new, reversible in chosen:
            tokens, becomes = _tokens(old), _tokens(new)
            if not tokens or not becomes:
                raise DataError(f"lexicon {lexicon.name!r}: {old!r} or {new!r} has no word to be swapped")
            alone, owning = _TWO.get(old, ("", ""))
            is_one_of_two = new in (alone, owning)
            entries.setdefault(tokens, Entry(
                _tokens(alone) if is_one_of_two else becomes, _kind(old), reversible,
                _tokens(owning) if is_one_of_two else (), old in ("ms", "miss"),
            ))  # fmt: skip
        return cls(lexicon, entries)

    @cached_property
    def phrases(self) -> Phrases:
        """The terms, as the scan looks for them; its groups do not matter here."""
        codes = {tokens: code for code, tokens in enumerate(self.entries)}
        names = tuple(map(" ".join, codes))
        terms = Lexicon(self.lexicon.name, ("words",), names, (0,) * len(names), (1.0,))
        return Phrases(terms, "word", codes, max(map(len, codes)))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that there are words of."""
        there = {entry.kind for entry in self.entries.values()}
        return tuple(kind for kind in KINDS if kind in there)

    def exceptions(self) -> dict[str, str]:
        """Terms that two swaps do not give back, with what each becomes: 'ms' becomes 'mr'."""
        return {
            " ".join(old): " ".join(entry.new)
            for old, entry in sorted(self.entries.items())
            if not entry.reversible
        }

    def of_kinds(self, kinds: Collection[str]) -> Pairing:
        """The terms of these kinds alone."""
        if isinstance(kinds, str) or not kinds or not set(kinds) <= set(KINDS):
            raise ParameterError(f"kinds must be some of {', '.join(KINDS)}, got {kinds!r}")
        kept = {tokens: entry for tokens, entry in self.entries.items() if entry.kind in kinds}
        if not kept:
            raise ParameterError(f"lexicon {self.lexicon.name!r} has no {', '.join(kinds)} to swap")
        return replace(self, entries=kept)

    def sampled(self, share: float, seed: int) -> Pairing:
        """The words of a share of the pairs of every kind, at least one pair of each.

        Words that become one another are kept or left out together, so that a second swap still undoes the
        first. The seed draws one order of the pairs, and a share takes its beginning: the pairs of a smaller
        share are among those of a larger one.
        """
        if not isinstance(share, (int, float)) or not 0 < share <= 1:
            raise ParameterError(f"share must be above 0 and at most 1, got {share!r}")
        if share == 1:
            return self
        pairs = self._pair_of_each()  # (E,)
        kinds = np.array([entry.kind for entry in self.entries.values()])
        kind_of_pair = kinds[np.unique(pairs, return_index=True)[1]]
        generator = np.random.default_rng(seed)
        kept = np.zeros(len(kind_of_pair), np.bool_)
        for kind in dict.fromkeys(kinds.tolist()):
            there = np.flatnonzero(kind_of_pair == kind)
            count = max(1, math.floor(share * len(there) + 0.5))
            kept[there[generator.permutation(len(there))[:count]]] = True
        chosen = zip(self.entries.items(), kept[pairs].tolist(), strict=True)
        return replace(self, entries={tokens: entry for (tokens, entry), own in chosen if own})

    def _pair_of_each(self) -> np.ndarray:
        """(E,): the number of the pair that each term belongs to, in the order of their first terms."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        places = {tokens: place for place, tokens in enumerate(self.entries)}
        links = [(places[old], places[e.new]) for old, e in self.entries.items() if e.new in places]
        # her and his have two counterparts each
        links += pairwise(place for place, e in enumerate(self.entries.values()) if e.before_noun)
        starts, ends = np.array(links, np.int64).reshape(-1, 2).T
        size = (len(places), len(places))
        found: np.ndarray = connected_components(coo_matrix((np.ones(len(links)), (starts, ends)), size))[1]
        return found

    def leaving(self, group: str | None) -> Pairing:
        """The terms of one group; what they become stays what it is, so a second swap does not undo this
        one."""
        if group is None:
            return self
        self.lexicon.words(group)  # raises where there is no such group
        groups = {_tokens(word): own for own in self.lexicon.groups for word in self.lexicon.words(own)}
        if self.lexicon == gender():
            groups |= {(row[sex],): sex for row in _rows("names-en.csv") for sex in ("female", "male")}

        def leaves(tokens: Tokens, entry: Entry) -> bool:
            own = groups.get(tokens)  # a word that leads one way has none: it leaves that of its counterpart
            return own == group if own is not None else groups.get(entry.new) not in (None, group)

        kept = {
            tokens: entry._replace(reversible=False)
            for tokens, entry in self.entries.items()
            if leaves(tokens, entry)
        }
        if not kept:
            raise ParameterError(f"lexicon {self.lexicon.name!r}: no word of {group!r} is to be swapped")
        return replace(self, entries=kept)


@lru_cache(maxsize=1)
def gender() -> Lexicon:
    return read_lexicon("gender-en")


def _tokens(term: str) -> Tokens:
    return tuple(tokenize(term, "word"))


def _pairs(lexicon: Lexicon, mapping: Mapping[str, str] | str | None) -> dict[str, str]:
    """What becomes what: partners; word i of a group word i of the next (cyclic); or what a dict says."""
    if mapping is None:
        if not lexicon.partners:
            raise ParameterError(
                f"lexicon {lexicon.name!r} has no partners: give a mapping, or mapping='cyclic' for the "
                "next group's word of the same place"
            )
        return dict(lexicon.partners)
    if isinstance(mapping, str):
        if mapping != "cyclic":
            raise ParameterError(f"mapping must be a dict or 'cyclic', got {mapping!r}")
        words = [lexicon.words(group) for group in lexicon.groups]
        if len({len(group) for group in words}) > 1:
            sizes = ", ".join(f"{name} {len(own)}" for name, own in zip(lexicon.groups, words, strict=True))
            raise DataError(
                f"lexicon {lexicon.name!r}: a cyclic shift needs groups of the same size, got {sizes}"
            )
        following = zip(words, [*words[1:], words[0]], strict=True)
        return {old: new for own, others in following for old, new in zip(own, others, strict=True)}
    given = {lower(old): lower(new) for old, new in mapping.items()}
    unknown = sorted({*given, *given.values()}.difference(lexicon.terms))
    if unknown:
        raise DataError(f"mapping: not in the lexicon {lexicon.name!r}: {', '.join(unknown[:20])}")
    return given


def _kind(word: str) -> str:
    if word in PRONOUNS:
        return "pronouns"
    if word in TITLES:
        return "titles"
    return "names" if word in _name_pairs(0) else "nouns"


@lru_cache(maxsize=8)
def _name_pairs(seed: int) -> dict[str, str]:
    """Each first name and its counterpart, both ways: one of the other sex that is about equally frequent.

    The names of a band of frequency are paired by a draw.
    """
    rows = _rows("names-en.csv")  # the most frequent first
    births = [(int(row["female_births"]), int(row["male_births"])) for row in rows]
    borders = [0]
    for rank, own in enumerate(births):
        if any(most > SPREAD * least for most, least in zip(births[borders[-1]], own, strict=True)):
            borders.append(rank)
    generator = np.random.default_rng(seed)
    pairs: dict[str, str] = {}
    for begin, end in pairwise([*borders, len(rows)]):
        for place, other in enumerate(generator.permutation(end - begin).tolist()):
            female, male = rows[begin + place]["female"], rows[begin + other]["male"]
            pairs |= {female: male, male: female}
    return pairs


@lru_cache(maxsize=2)
def _rows(name: str) -> list[dict[str, str]]:
    """A table that comes with the package."""
    text = (files("evenrank") / "counterfactuals/swap" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def upper(text: str) -> str:
    """Upper case, character by character: a character whose upper case is several stays as it is.

    >>> upper("fiancé ß")
    'FIANCÉ ß'
    """
    return "".join(large if len(large := character.upper()) == 1 else character for character in text)


def as_cased(old: str, new: str) -> str:
    """``new``, which is in lower case, as ``old`` is written.

    Lower stays lower, Title stays Title, UPPER stays UPPER. Anything else goes letter by letter, and
    beyond the end of ``old`` as its last letter is. So the way back finds the same case, except where
    the new word is the shorter one and the old one changes its case behind that.

    >>> as_cased("He", "she"), as_cased("HE", "she"), as_cased("he", "she"), as_cased("JoAnn", "craig")
    ('She', 'SHE', 'she', 'CrAig')
    """
    if old == lower(old):
        return new
    if len(old) > 1 and old == upper(old):
        return upper(new)
    if old[1:] == lower(old[1:]):
        return upper(new[:1]) + new[1:]
    last = len(old) - 1
    return "".join(
        character if (own := old[min(place, last)]) == lower(own) else upper(character)
        for place, character in enumerate(new)
    )
