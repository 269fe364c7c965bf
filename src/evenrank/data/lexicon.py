"""Words that stand for groups of people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from evenrank.errors import DataError, ParameterError

TARGET_TOLERANCE = 1e-6


def lower(text: str) -> str:
    """Lower case, character by character: a character whose lower case is several stays as it is.

    >>> lower("ÉCLAIR İ")
    'éclair İ'
    """
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


@dataclass(frozen=True, eq=False, repr=False)
class Lexicon:
    """Named groups, the words that stand for each, and the share that each should have.

    A term is one word, or several separated by a blank; the longest match counts. Words are lower-cased.
    ``partners`` maps a term to its counterpart in another group, both ways.

    >>> Lexicon.build("sides", {"left": ["he", "Man"], "right": ["she", "woman"]})
    <Lexicon 'sides': 2 groups, 4 terms>
    """

    name: str
    groups: tuple[str, ...]
    terms: tuple[str, ...]  # by group, then in the order given
    term_groups: tuple[int, ...]  # the group of each term
    targets: tuple[float, ...]  # J_g, one for each group, summing to 1
    partners: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        name: str,
        words: Mapping[str, Iterable[str]],
        *,
        targets: Mapping[str, float] | None = None,
        partners: Mapping[str, str] | None = None,
    ) -> Lexicon:
        """From the words of each group. Everything that is wrong is said at once."""
        if len(words) < 2:
            raise ParameterError(f"lexicon {name!r}: a share needs at least two groups, got {len(words)}")
        owner: dict[str, str] = {}
        problems: list[str] = []
        for group, members in words.items():
            own: set[str] = set()
            for word in members:
                term = lower(word)
                if not term.strip():
                    problems.append(f"group {group!r} holds an empty word")
                elif term != " ".join(term.split()):
                    problems.append(f"{word!r}: the words of a term are separated by one blank")
                elif term in own:
                    problems.append(f"{word!r} is twice in group {group!r} (case does not count)")
                elif term in owner:
                    problems.append(f"{word!r} is in group {owner[term]!r} and in {group!r}")
                else:
                    own.add(term)
                    owner[term] = group
            if not own:
                problems.append(f"group {group!r} has no words")
        pairs = {lower(a): lower(b) for a, b in (partners or {}).items()}
        problems += _partner_problems(pairs, owner)
        if problems:
            raise DataError("\n".join(f"lexicon {name!r}: {problem}" for problem in problems[:20]))
        groups = tuple(words)
        return cls(
            name,
            groups,
            tuple(owner),
            tuple(groups.index(group) for group in owner.values()),
            _shares(name, groups, targets),
            pairs,
        )

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return f"<Lexicon {self.name!r}: {len(self.groups)} groups, {len(self.terms):,} terms>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lexicon):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def words(self, group: str) -> tuple[str, ...]:
        """The terms of one group."""
        if group not in self.groups:
            raise ParameterError(
                f"lexicon {self.name!r} has no group {group!r}; it has {', '.join(self.groups)}"
            )
        code = self.groups.index(group)
        return tuple(term for term, own in zip(self.terms, self.term_groups, strict=True) if own == code)

    def to_dict(self) -> dict[str, list[str]]:
        return {group: list(self.words(group)) for group in self.groups}

    def joined(self, other: Lexicon, name: str | None = None) -> Lexicon:
        """Both lexicons together; they must have the same groups and targets."""
        if self.groups != other.groups or self.targets != other.targets:
            raise ParameterError(f"{self!r} and {other!r} have other groups or targets and cannot be joined")
        return Lexicon.build(
            name or f"{self.name}+{other.name}",
            {group: [*self.words(group), *other.words(group)] for group in self.groups},
            targets=dict(zip(self.groups, self.targets, strict=True)),
            partners={**self.partners, **other.partners},
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of groups, terms and targets; the name and the partners do not change what is counted."""
        content = [self.groups, self.terms, self.term_groups, self.targets]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _partner_problems(pairs: Mapping[str, str], owner: Mapping[str, str]) -> list[str]:
    problems = []
    for term, partner in pairs.items():
        if term not in owner or partner not in owner:
            problems.append(f"partners {term!r} and {partner!r} must both be terms")
        elif owner[term] == owner[partner]:
            problems.append(f"partners {term!r} and {partner!r} are in the same group")
        elif pairs.get(partner) != term:
            problems.append(f"partner of {term!r} is {partner!r}, but not the other way round")
    return problems


def _shares(name: str, groups: tuple[str, ...], targets: Mapping[str, float] | None) -> tuple[float, ...]:
    if targets is None:
        return (1 / len(groups),) * len(groups)
    if set(targets) != set(groups):
        raise ParameterError(
            f"lexicon {name!r}: targets are for {sorted(targets)}, the groups are {sorted(groups)}"
        )
    shares = tuple(float(targets[group]) for group in groups)
    # so written that a NaN, which compares with nothing, is refused
    if not (all(share >= 0 for share in shares) and abs(sum(shares) - 1) <= TARGET_TOLERANCE):
        raise ParameterError(f"lexicon {name!r}: targets must be >= 0 and sum to 1, got {dict(targets)}")
    return shares
