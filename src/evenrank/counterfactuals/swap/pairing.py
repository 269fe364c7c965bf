"""Which word takes the place of which."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from evenrank.counterfactuals.swap.names import name_pairs, ranks, shipped_names
from evenrank.data.lexicon import Lexicon, lower
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.scan.phrases import tokenize
from evenrank.io.lexicons import read_lexicon

KINDS = ("pronouns", "nouns", "titles", "names")

CYCLIC = "cyclic"
HER, HIS, TITLE = "her", "his", "title"

PRONOUNS = frozenset({"she", "he", "her", "him", "his", "hers", "herself", "himself"})
TITLES = frozenset({"mr", "mrs", "ms", "miss", "madam", "sir", "madame", "monsieur", "mister", "missus"})

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
    longest: int  # tokens of the longest term
    name: str
    groups: tuple[str, ...] = ()  # of the lexicon

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that there are words of."""
        there = {entry.kind for entry in self.entries.values()}
        return tuple(kind for kind in KINDS if kind in there)

    def exceptions(self) -> dict[str, str]:
        """Terms that two swaps do not give back, with what each becomes.

        >>> make_pairing("gender-en", kinds=["titles"]).exceptions()
        {'miss': 'mr', 'ms': 'mr'}
        """
        return {
            " ".join(old): " ".join(entry.new)
            for old, entry in sorted(self.entries.items())
            if not entry.reversible
        }


def make_pairing(
    lexicon: Lexicon | str | os.PathLike[str] | None = None,
    *,
    kinds: Collection[str] = KINDS,
    seed: int = 0,
    mapping: Mapping[str, str] | str | None = None,
    one_way: bool = False,
    share: float = 1.0,
    from_group: str | None = None,
) -> Pairing:
    """The pairs of a lexicon; of ``gender-en`` with names and the words that lead one way.

    ``share`` keeps some of the pairs of every kind, ``from_group`` the words of one group; see
    ``make_swapper``.
    """
    if isinstance(kinds, str) or not kinds or not all(kind in KINDS for kind in kinds):
        raise ParameterError(f"kinds must be some of {', '.join(KINDS)}, got {kinds!r}")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ParameterError(f"share must be above 0 and at most 1, got {share!r}")
    words = _gender() if lexicon is None else read_lexicon(lexicon)
    shipped = mapping is None and words == _gender()
    pairs = _pairs(words, mapping)
    entries: dict[Tokens, Entry] = {}
    for old, new in pairs.items():
        _add(entries, old, new, reversible=pairs.get(new) == old, name=words.name)
    if shipped:
        for old, new in _one_way().items():
            if one_way or old in TITLES:  # a Ms left alone would stand beside a he
                _add(entries, old, new, reversible=False, name=words.name)
        for old, new in name_pairs(seed).items():
            entries.setdefault((old,), Entry((new,), "names", True))
    kept = {tokens: entry for tokens, entry in entries.items() if entry.kind in kinds}
    if not kept:
        raise ParameterError(f"lexicon {words.name!r} has no {', '.join(kinds)} to swap")
    if share < 1:
        kept = _sampled(kept, share, seed)
    if from_group is not None:
        kept = _leaving(kept, words, from_group)
    return Pairing(kept, max(map(len, kept)), words.name, words.groups)


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
        names = ranks()
        groups.update({(name,): "female" for name in names.female})
        groups.update({(name,): "male" for name in names.male})

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
        return _shifted(lexicon)
    given = {lower(old): lower(new) for old, new in mapping.items()}
    unknown = sorted({word for word in (*given, *given.values()) if word not in lexicon.terms})
    if unknown:
        raise DataError(f"mapping: not in the lexicon {lexicon.name!r}: {', '.join(unknown[:20])}")
    return given


def _shifted(lexicon: Lexicon) -> dict[str, str]:
    """Word i of a group becomes word i of the next, that of the last group word i of the first."""
    words = [lexicon.words(group) for group in lexicon.groups]
    if len({len(group) for group in words}) > 1:
        sizes = ", ".join(f"{name} {len(group)}" for name, group in zip(lexicon.groups, words, strict=True))
        raise DataError(
            f"lexicon {lexicon.name!r}: a cyclic shift needs groups of the same size, got {sizes}"
        )
    following = [*words[1:], words[0]]
    return {
        old: new
        for own, others in zip(words, following, strict=True)
        for old, new in zip(own, others, strict=True)
    }


def _add(entries: dict[Tokens, Entry], old: str, new: str, *, reversible: bool, name: str) -> None:
    tokens, becomes = tuple(tokenize(old, "word")), tuple(tokenize(new, "word"))
    if not tokens or not becomes:
        raise DataError(f"lexicon {name!r}: {old!r} and {new!r} cannot be swapped: one of them has no word")
    kind = _kind(old)
    entries.setdefault(tokens, Entry(becomes, kind, reversible, _context(old, new)))


def _kind(word: str) -> str:
    if word in PRONOUNS:
        return "pronouns"
    if word in TITLES:
        return "titles"
    return "names" if word in shipped_names() else "nouns"


def _context(old: str, new: str) -> str:
    """``her`` may be him or his, ``his`` may be her or hers; a miss is no title everywhere."""
    if (old, new) in ((HER, "him"), (HER, "his")):
        return HER
    if (old, new) in ((HIS, "hers"), (HIS, "her")):
        return HIS
    return TITLE if old in ("ms", "miss") else ""


@lru_cache(maxsize=1)
def _one_way() -> dict[str, str]:
    text = (files("evenrank") / "counterfactuals/swap/one-way-en.csv").read_text(encoding="utf-8")
    return {row["word"]: row["becomes"] for row in csv.DictReader(text.splitlines())}
