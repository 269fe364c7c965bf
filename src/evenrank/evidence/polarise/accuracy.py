"""How well scores tell two perspectives apart, by two rules, beside what each gives by chance.

Chance is the mean over labels shuffled within queries. The rule of pair-duo-2024's text asks that the two
perspectives lie on different sides of 0. That of its published code counts the majority sign within each
perspective on its own, so that documents which all lie on one side are all right; its chance level is higher,
and the two do not compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.stats.intervals import ConfidenceInterval, mean_interval
from evenrank.tables import Interval, Table

Rule = Callable[[Floats, Bools], Floats]
"""Scores (N,) and labels (B, N) give the share of right documents for every row of labels (B,)."""

DRAWS = 5000


class Accuracy(NamedTuple):
    """The accuracy of every query, and what chance would give there."""

    query_ids: tuple[str, ...]
    values: Floats  # (Q,)
    chance: Floats  # (Q,): the mean over labels permuted within the query

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def mean_chance(self) -> float:
        return float(self.chance.mean())

    def interval(self, level: float = 0.95) -> ConfidenceInterval:
        """The interval of the mean over queries; NaN, with the reason, for fewer than five."""
        return mean_interval(self.values, (0.0, 1.0), level=level)


def accuracy_table(found: Mapping[str, Accuracy]) -> Table:
    """A row an encoder."""
    return Table.of(
        ("encoder", "accuracy", "95% interval", "by chance", "queries"),
        (
            (name, each.mean, Interval(*each.interval()[:2]), each.mean_chance, len(each.values))
            for name, each in found.items()
        ),
        meaning="The axis tells the two sides apart where its accuracy is well above chance.",
    )


class AgainstChance(NamedTuple):
    """A mean over queries, the mean under shuffled labels, and the share of shuffles that do as well."""

    value: float
    chance: float
    p: float
    queries: int


def right_by_text(scores: Floats, labels: Bools) -> Floats:
    """The larger share on the right side under the two directions of the axis; 0 is on no side.

    >>> right_by_text(np.array([2.0, 1.0, 1.0, -1.0]), np.array([[True, True, False, False]])).tolist()
    [0.75]
    """
    above, below = scores > 0, scores < 0
    one = ((above & labels) | (below & ~labels)).mean(axis=1)
    other = ((below & labels) | (above & ~labels)).mean(axis=1)
    return np.asarray(np.maximum(one, other), dtype=np.float64)


def right_by_code(scores: Floats, labels: Bools) -> Floats:
    """The majority sign within each perspective on its own.

    >>> right_by_code(np.array([2.0, 1.0, 1.0, 1.0]), np.array([[True, True, False, False]])).tolist()
    [1.0]
    """
    above, below = scores > 0, scores < 0
    total = sum(
        np.maximum((above & side).sum(axis=1), (below & side).sum(axis=1)) for side in (labels, ~labels)
    )
    return np.asarray(total, dtype=np.float64) / len(scores)


def against_chance(
    scores: Sequence[Floats],
    first: Sequence[Bools],
    rule: Rule = right_by_text,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> AgainstChance:
    """The mean accuracy over queries, beside labels that are permuted within every query.

    ``scores`` and ``first``, which marks the documents of the first perspective, have one array a query. The
    p-value counts the labels as they are among the permutations, so it is never 0.

    >>> against_chance([np.array([1.0, 2.0, -1.0, -2.0])], [np.array([True, True, False, False])]).value
    1.0
    """
    generator = np.random.default_rng(seed)
    found, shuffled = 0.0, np.zeros(draws)
    for own, labels in zip(scores, first, strict=True):
        found += float(rule(own, labels[None])[0])
        shuffled += rule(own, generator.permuted(np.tile(labels, (draws, 1)), axis=1))
    count = max(len(scores), 1)
    as_good = int((shuffled >= found - 1e-9 * count).sum())
    return AgainstChance(
        found / count, float(shuffled.mean()) / count, (1 + as_good) / (1 + draws), len(scores)
    )
