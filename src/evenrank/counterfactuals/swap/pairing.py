"""Which word takes the place of which: a lexicon's partners, a mapping, and first names."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
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

CYCLIC = "cyclic"
HER, HIS, TITLE = "her", "his", "title"

PRONOUNS = frozenset({"she", "he", "her", "him", "his", "hers", "herself", "himself"})
TITLES = frozenset({"mr", "mrs", "ms", "miss", "madam", "sir", "madame", "monsieur", "mister", "missus"})

SPREAD = 1.25  # within a band, the most frequent name has at most so many times the births of the least

Tokens = tuple[str, ...]


class Entry(NamedTuple):
    """What a term becomes. With a ``context`` the text around decides, see ``resolve.py``."""

    new: Tokens  # in lower case
    kind: str
    reversible: bool  # what it becomes becomes it again
    context: str = ""  # her, his: by part of speech; title: only before a name


@dataclass(frozen=True)
class Pairing:
    """Terms, as the tokeniser of the scan sees them, and what each becomes."""

    entries: Mapping[Tokens, Entry]
    name: str
    groups: tuple[str, ...] = ()  # of the lexicon

    @cached_property
    def phrases(self) -> Phrases:
        """The terms, as the scan looks for them; its groups do not matter here."""
        codes = {tokens: code for code, tokens in enumerate(self.entries)}
        names = tuple(map(" ".join, codes))
        lexicon = Lexicon(self.name, ("words",), names, (0,) * len(names), (1.0,))
        return Phrases(lexicon, "word", codes, max(map(len, codes)))

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


def make_pairing(
    lexicon: Lexicon | str | os.PathLike[str] | None,
    kinds: Collection[str],
    seed: int,
    mapping: Mapping[str, str] | str | None,
    one_way: bool,
    share: float,
    from_group: str | None,
) -> Pairing:
    """As ``make_swapper`` says: of ``gender-en`` with names and the words that lead one way."""
    if isinstance(kinds, str) or not kinds or not all(kind in KINDS for kind in kinds):
        raise ParameterError(f"kinds must be some of {', '.join(KINDS)}, got {kinds!r}")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ParameterError(f"share must be above 0 and at most 1, got {share!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be an integer >= 0, got {seed!r}")
    words = _gender() if lexicon is None else read_lexicon(lexicon)
    shipped = mapping is None and words == _gender()
    pairs = _pairs(words, mapping)
    chosen = [(old, new, pairs.get(new) == old) for old, new in pairs.items()]
    if shipped:
        leading = ((row["word"], row["becomes"]) for row in _rows("one-way-en.csv"))
        # a Ms left alone would stand beside a he
        chosen += [(old, new, False) for old, new in leading if one_way or old in TITLES]
        chosen += [(old, new, True) for old, new in _name_pairs(seed).items()]
    entries: dict[Tokens, Entry] = {}
    for old, new, reversible in chosen:
        tokens, becomes = tuple(tokenize(old, "word")), tuple(tokenize(new, "word"))
        if not tokens or not becomes:
            raise DataError(
                f"lexicon {words.name!r}: {old!r} and {new!r} cannot be swapped: one of them has no word"
            )
        entries.setdefault(tokens, Entry(becomes, _kind(old), reversible, _context(old, new)))
    kept = {tokens: entry for tokens, entry in entries.items() if entry.kind in kinds}
    if not kept:
        raise ParameterError(f"lexicon {words.name!r} has no {', '.join(kinds)} to swap")
    if share < 1:
        kept = _sampled(kept, share, seed)
    if from_group is not None:
        kept = _leaving(kept, words, from_group)
    return Pairing(kept, words.name, words.groups)


def _sampled(entries: Mapping[Tokens, Entry], share: float, seed: int) -> dict[Tokens, Entry]:
    """The words of a share of the pairs of every kind, at least one pair of each.

    Words that become one another are kept or left out together, so that a second swap still undoes the first.
    The seed draws one order of the pairs, and a share takes its beginning: the pairs of a smaller share are
    among those of a larger one.
    """
    sets: dict[Tokens, list[Tokens]] = {tokens: [tokens] for tokens in entries}
    for tokens, entry in entries.items():
        both = ((HER,), (HIS,)) if entry.context in (HER, HIS) else ()  # these have two counterparts each
        for other in (entry.new, *both):
            own = sets[tokens]
            if other in sets and sets[other] is not own:
                own.extend(sets[other])
                for moved in sets[other]:
                    sets[moved] = own
    pairs = list({id(own): own for own in sets.values()}.values())
    generator = np.random.default_rng(seed)
    kept: set[Tokens] = set()
    for kind in dict.fromkeys(entry.kind for entry in entries.values()):
        there = [pair for pair in pairs if entries[pair[0]].kind == kind]
        count = max(1, math.floor(share * len(there) + 0.5))
        for place in generator.permutation(len(there))[:count].tolist():
            kept.update(there[place])
    return {tokens: entry for tokens, entry in entries.items() if tokens in kept}


def _leaving(entries: Mapping[Tokens, Entry], lexicon: Lexicon, group: str) -> dict[Tokens, Entry]:
    """The terms of one group; what they become stays what it is, so a second swap does not undo this one."""
    if group not in lexicon.groups:
        known = ", ".join(lexicon.groups)
        raise ParameterError(f"lexicon {lexicon.name!r} has no group {group!r}: it has {known}")
    groups: dict[Tokens, str] = {
        tuple(tokenize(term, "word")): lexicon.groups[place]
        for term, place in zip(lexicon.terms, lexicon.term_groups, strict=True)
    }
    if lexicon == _gender():
        groups |= {(row[group],): group for row in _rows("names-en.csv") for group in ("female", "male")}

    def leaves(tokens: Tokens, entry: Entry) -> bool:
        own = groups.get(tokens)  # a word that leads one way has no group: it leaves that of its counterpart
        return own == group if own is not None else groups.get(entry.new) not in (None, group)

    kept = {
        tokens: entry._replace(reversible=False) for tokens, entry in entries.items() if leaves(tokens, entry)
    }
    if not kept:
        raise ParameterError(f"lexicon {lexicon.name!r}: no word of group {group!r} is to be swapped")
    return kept


@lru_cache(maxsize=1)
def _gender() -> Lexicon:
    return read_lexicon("gender-en")


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
        if mapping != CYCLIC:
            raise ParameterError(f"mapping must be a dict or {CYCLIC!r}, got {mapping!r}")
        words = [lexicon.words(group) for group in lexicon.groups]
        if len({len(group) for group in words}) > 1:
            sizes = ", ".join(f"{name} {len(own)}" for name, own in zip(lexicon.groups, words, strict=True))
            raise DataError(
                f"lexicon {lexicon.name!r}: a cyclic shift needs groups of the same size, got {sizes}"
            )
        following = zip(words, [*words[1:], words[0]], strict=True)
        return {old: new for own, others in following for old, new in zip(own, others, strict=True)}
    given = {lower(old): lower(new) for old, new in mapping.items()}
    unknown = sorted({word for word in (*given, *given.values()) if word not in lexicon.terms})
    if unknown:
        raise DataError(f"mapping: not in the lexicon {lexicon.name!r}: {', '.join(unknown[:20])}")
    return given


def _kind(word: str) -> str:
    if word in PRONOUNS:
        return "pronouns"
    if word in TITLES:
        return "titles"
    return "names" if word in _name_pairs(0) else "nouns"


def _context(old: str, new: str) -> str:
    """``her`` may be him or his, ``his`` may be her or hers; a miss is no title everywhere."""
    if (old, new) in ((HER, "him"), (HER, "his")):
        return HER
    if (old, new) in ((HIS, "hers"), (HIS, "her")):
        return HIS
    return TITLE if old in ("ms", "miss") else ""


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
