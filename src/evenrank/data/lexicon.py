"""Words that stand for groups of people."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from evenrank.errors import PROBLEMS_SHOWN, DataError, ParameterError, Problem, few

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
    ``partners`` maps a term to its counterpart in another group, both ways. ``weights`` say how strongly a
    term stands for each group; without them every term stands for its own group alone, and wholly.

    >>> Lexicon.build("sides", {"left": ["he", "Man"], "right": ["she", "woman"]})
    <Lexicon 'sides': 2 groups, 4 terms>
    >>> Lexicon.build("degrees", {"f": {"she": 1, "nurse": 0.8}, "m": {"he": 1, "nurse": 0.1}})
    <Lexicon 'degrees': 2 groups, 3 weighted terms>
    """

    name: str
    groups: tuple[str, ...]
    terms: tuple[str, ...]  # by group, then in the order given
    term_groups: tuple[int, ...]  # the group of each term; of several that of the largest weight
    targets: tuple[float, ...]  # J_g, one for each group, summing to 1
    partners: Mapping[str, str] = field(default_factory=dict)
    weights: tuple[tuple[float, ...], ...] | None = None  # of each term for each group, in [0, 1]

    @classmethod
    def build(
        cls,
        name: str,
        words: Mapping[str, Iterable[str] | Mapping[str, float]],
        *,
        targets: Mapping[str, float] | None = None,
        partners: Mapping[str, str] | None = None,
    ) -> Lexicon:
        """From the words of each group, or their weights. Everything that is wrong is said at once.

        A word may stand in several groups only where each of them gives it a weight.
        """
        if len(words) < 2:
            raise ParameterError(
                f"lexicon {name!r}: a share needs at least two groups, got {len(words)}: {few(list(words))}"
            )
        owner: dict[str, str] = {}
        degrees: dict[str, dict[str, float]] = {}
        first: dict[str, int] = {}
        problems: list[Problem] = []
        for number, (group, word) in enumerate(((g, word) for g, own in words.items() for word in own), 1):
            members, term = words[group], lower(word)
            given = members[word] if isinstance(members, Mapping) else None
            if not term.strip():
                what = f"group {group!r} holds an empty word"
            elif term != " ".join(term.split()):
                what = f"{word!r}: the words of a term are separated by one blank"
            elif group in degrees.get(term, {}):
                what = f"{word!r} is twice in group {group!r} (case does not count)"
            elif given is not None and not 0 < given <= 1:
                what = f"the weight of {word!r} must be above 0 and at most 1, got {given}"
            elif term in owner and (given is None or not isinstance(words[owner[term]], Mapping)):
                what = f"{word!r} is in group {owner[term]!r} and in {group!r}"
            else:
                first.setdefault(term, number)
                degrees.setdefault(term, {})[group] = 1.0 if given is None else float(given)
                if term not in owner or degrees[term][group] > degrees[term][owner[term]]:
                    owner[term] = group
                continue
            problems.append(Problem(number, what))
        filled = {group for own in degrees.values() for group in own}
        problems += [Problem(1, f"group {group!r} has no words") for group in words if group not in filled]
        pairs = {lower(a): lower(b) for a, b in (partners or {}).items()}
        wrong = _partner_problems(pairs, owner)
        problems += [Problem(first.get(a, first.get(pairs[a], 1)), what) for a, what in wrong.items()]
        if problems:
            error = DataError("\n".join(f"lexicon {name!r}: {one.what}" for one in problems[:PROBLEMS_SHOWN]))
            error.problems = tuple(problems)  # numbered by word, as they come group by group
            raise error
        groups = tuple(words)
        weighted = any(isinstance(members, Mapping) for members in words.values())
        terms = sorted(owner, key=lambda term: groups.index(owner[term]))  # stable: as given in a group
        return cls(
            name,
            groups,
            tuple(terms),
            tuple(groups.index(owner[term]) for term in terms),
            _shares(name, groups, targets),
            pairs,
            tuple(tuple(degrees[term].get(group, 0.0) for group in groups) for term in terms)
            if weighted
            else None,
        )

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        terms = "terms" if self.weights is None else "weighted terms"
        return f"<Lexicon {self.name!r}: {len(self.groups)} groups, {len(self.terms):,} {terms}>"

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
        """The terms of each group; of weighted ones each in the group that it stands for most."""
        return {group: list(self.words(group)) for group in self.groups}

    def to_weights(self) -> dict[str, dict[str, float]]:
        """``{group: {term: weight}}``, as ``build`` takes it; 1 where the lexicon has no weights."""
        rows = self.weights or tuple(
            tuple(float(group == own) for group in range(len(self.groups))) for own in self.term_groups
        )
        return {
            group: {term: row[place] for term, row in zip(self.terms, rows, strict=True) if row[place] > 0}
            for place, group in enumerate(self.groups)
        }

    def only(self, keep: Iterable[str], name: str | None = None) -> Lexicon:
        """The same with some of its terms; a partner that is left out is one no more."""
        kept = set(keep)
        words = {
            group: {term: weight for term, weight in own.items() if term in kept}
            for group, own in self.to_weights().items()
        }
        partners = {a: b for a, b in self.partners.items() if a in kept and b in kept}
        return self._of(name or self.name, words, partners, weighted=self.weights is not None)

    def _of(
        self,
        name: str,
        words: Mapping[str, Mapping[str, float]],
        partners: Mapping[str, str],
        *,
        weighted: bool,
    ) -> Lexicon:
        """Other words of the same groups, with the same targets."""
        return Lexicon.build(
            name,
            words if weighted else {group: list(own) for group, own in words.items()},
            targets=dict(zip(self.groups, self.targets, strict=True)),
            partners=partners,
        )

    def joined(self, other: Lexicon, name: str | None = None) -> Lexicon:
        """Both lexicons together; they must have the same groups and targets.

        A word that both have, in the same group and with the same weight, counts once.
        """
        if self.groups != other.groups or self.targets != other.targets:
            raise ParameterError(f"{self!r} and {other!r} have other groups or targets and cannot be joined")
        one, two = self.to_weights(), other.to_weights()
        both = set(self.terms) & set(other.terms)
        unlike = sorted(word for word in both if any(one[g].get(word) != two[g].get(word) for g in one))
        if unlike:
            raise ParameterError(
                f"{self!r} and {other!r} cannot be joined: {unlike[0]!r} has another group or another "
                "weight in each of them"
            )
        words = {group: {**one[group], **two[group]} for group in self.groups}
        own = {a: b for a, b in other.partners.items() if a not in self.partners and b not in self.partners}
        return self._of(
            name or f"{self.name}+{other.name}",
            words,
            {**own, **self.partners},
            weighted=self.weights is not None or other.weights is not None,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of groups, terms, targets and weights; name and partners do not change what is counted."""
        content: list[object] = [self.groups, self.terms, self.term_groups, self.targets]
        if self.weights is not None:
            content.append(self.weights)
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _partner_problems(pairs: Mapping[str, str], owner: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with the partner of which term, said once for two that are each other's."""
    found: dict[str, str] = {}
    for term, partner in pairs.items():
        if partner in found and pairs.get(partner) == term:
            continue
        if term not in owner or partner not in owner:
            found[term] = f"partners {term!r} and {partner!r} must both be terms"
        elif owner[term] == owner[partner]:
            found[term] = f"partners {term!r} and {partner!r} are in the same group"
        elif pairs.get(partner) != term:
            found[term] = f"partner of {term!r} is {partner!r}, but not the other way round"
    return found


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
