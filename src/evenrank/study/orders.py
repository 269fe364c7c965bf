"""The order of a list that is as one-sided as it can be with a given side first, found exactly.

DUO falls with ``D = sum_k u_k / log2 k`` and has the sign of ``T = sum_k s_k u_k / log2 k``. Spread u_k and
majority s_k of a prefix depend on its set of documents alone, so both sums are built up set by set. Of the
ways to a set only those are kept that no other way beats in both sums, and that can still end below the best
order known and on the wanted side. Documents of equal polarity keep their order. Ten documents have 1,024
sets.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats

EQUAL = 1e-12
LEAST_LEAN = 1e-9  # of D: less is rounding
WEIGHTS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)  # of T against D, for orders to begin with


class _Way(NamedTuple):
    """A way to a set: its sums, the document that came last, and the way before it."""

    spread: float  # D
    lean: float  # T, positive for the wanted side
    last: int
    before: _Way | None


class _PrefixSets:
    """What every set of documents adds to D and T, and which document may follow it."""

    def __init__(self, scores: Floats, sign: int) -> None:
        self.count = len(scores)
        self.full = 2**self.count - 1
        members = (np.arange(2**self.count)[:, None] >> np.arange(self.count)) & 1  # (M, n)
        sizes = members.sum(axis=1)
        means = members @ scores / np.maximum(sizes, 1)
        spread = (members * (scores - means[:, None]) ** 2).sum(axis=1) / np.maximum(sizes, 1)
        spread = np.where(sizes > 1, spread / np.log2(np.maximum(sizes, 2)), 0.0)
        self.spread: list[float] = spread.tolist()
        self.lean: list[float] = (sign * np.sign(members @ np.sign(scores)) * spread).tolist()
        earlier = [
            max((other for other in range(place) if scores[other] == scores[place]), default=None)
            for place in range(self.count)
        ]
        self._needed = [0 if other is None else 1 << other for other in earlier]

    def following(self, members: int) -> list[int]:
        """The documents that may come next: of equal ones the first that is left."""
        return [
            place
            for place, needed in enumerate(self._needed)
            if not members >> place & 1 and members & needed == needed
        ]

    def least(self, weight_of_spread: float, weight_of_lean: float) -> dict[int, float]:
        """For each set, the least that the sets after it can add to the weighted sum of D and T."""
        found = {self.full: 0.0}
        for members in range(self.full - 1, 0, -1):
            options = [
                weight_of_spread * self.spread[after] + weight_of_lean * self.lean[after] + found[after]
                for after in (members | 1 << place for place in self.following(members))
                if after in found
            ]
            if options:
                found[members] = min(options)
        return found


def one_sided_order(scores: Floats, sign: int) -> list[int] | None:
    """Places in the order with the greatest DUO among those that lean to the side of ``sign``; None if no
    order does, as where a side has too few documents ever to be the majority of a prefix.

    >>> one_sided_order(np.array([-1.0, 1.0, -1.0, 1.0]), 1)
    [1, 3, 0, 2]
    """
    sets = _PrefixSets(scores, sign)
    spread_left, lean_left = sets.least(1.0, 0.0), sets.least(0.0, -1.0)  # the second is minus the most
    bound = min((_followed(sets, weight) for weight in WEIGHTS), default=math.inf) + EQUAL
    fronts = {1 << place: [_Way(0.0, 0.0, place, None)] for place in sets.following(0)}
    for _ in range(sets.count - 1):
        larger: dict[int, list[_Way]] = {}
        for members, front in fronts.items():
            for place in sets.following(members):
                ways = larger.setdefault(members | 1 << place, [])
                ways += [_Way(way.spread, way.lean, place, way) for way in front]
        fronts = {}
        for members, ways in larger.items():
            spread, lean = sets.spread[members], sets.lean[members]
            own = [way._replace(spread=way.spread + spread, lean=way.lean + lean) for way in _unbeaten(ways)]
            own = [
                way
                for way in own
                if way.spread + spread_left[members] <= bound and way.lean - lean_left[members] > 0
            ]
            if own:
                fronts[members] = own
    leaning = [way for way in fronts.get(sets.full, []) if way.lean > LEAST_LEAN * max(1.0, way.spread)]
    if not leaning:
        return None
    return _places(min(leaning, key=lambda way: way.spread))


def _unbeaten(ways: list[_Way]) -> list[_Way]:
    """Those that no other way beats in both sums."""
    kept: list[_Way] = []
    for way in sorted(ways, key=lambda one: (one.spread, -one.lean)):
        if not kept or way.lean > kept[-1].lean + EQUAL:
            kept.append(way)
    return kept


def _places(end: _Way) -> list[int]:
    places = [end.last]
    while end.before is not None:
        end = end.before
        places.append(end.last)
    return places[::-1]


def _followed(sets: _PrefixSets, weight: float) -> float:
    """D of the order that is least in ``D - weight T``, where it leans to the wanted side; else infinite."""
    left = sets.least(1.0, -weight)
    members, spread, lean = 0, 0.0, 0.0
    for _ in range(sets.count):
        choices = [members | 1 << place for place in sets.following(members)]
        members = min(choices, key=lambda after: sets.spread[after] - weight * sets.lean[after] + left[after])
        spread, lean = spread + sets.spread[members], lean + sets.lean[members]
    return spread if lean > LEAST_LEAN * max(1.0, spread) else math.inf
