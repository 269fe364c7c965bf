"""A part of a pairing: a share of its pairs, or the words of one group alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from evenrank.errors import ParameterError

Word = TypeVar("Word", bound=tuple[str, ...])


def check_share(share: float) -> None:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ParameterError(f"share must be above 0 and at most 1, got {share!r}")


def sampled(
    links: Mapping[Word, Sequence[Word]], kinds: Mapping[Word, str], share: float, seed: int
) -> set[Word]:
    """The words of a share of the pairs of every kind, at least one pair of each.

    ``links`` has the words that each becomes. Words that become one another are kept or left out together, so
    that a second swap still undoes the first. The seed draws one order of the pairs, and a share takes its
    beginning: the pairs of a smaller share are among those of a larger one.
    """
    groups = _linked(links)
    generator = np.random.default_rng(seed)
    kept: set[Word] = set()
    for kind in dict.fromkeys(kinds.values()):
        own = [group for group in groups if kinds[group[0]] == kind]
        count = max(1, math.floor(share * len(own) + 0.5))
        for place in generator.permutation(len(own))[:count].tolist():
            kept.update(own[place])
    return kept


def _linked(links: Mapping[Word, Sequence[Word]]) -> list[list[Word]]:
    """The words by the others that they become or come from, each set once, in the order of the words."""
    sets: dict[Word, list[Word]] = {word: [word] for word in links}
    for word, others in links.items():
        for other in others:
            own = sets[word]
            if other in sets and sets[other] is not own:
                own.extend(sets[other])
                for moved in sets[other]:
                    sets[moved] = own
    return list({id(group): group for group in sets.values()}.values())
