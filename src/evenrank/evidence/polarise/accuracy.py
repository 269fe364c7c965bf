"""How well scores tell two perspectives apart: the share of documents on their own side of 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evenrank.arrays import Floats
from evenrank.stats.intervals import ConfidenceInterval, mean_interval
from evenrank.tables import Interval, Table

HEAD = ("encoder", "accuracy", "95% interval", "by chance", "queries")


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
        HEAD,
        (
            (name, each.mean, Interval(*each.interval()[:2]), each.mean_chance, len(each.values))
            for name, each in found.items()
        ),
        meaning="The axis tells the two sides apart where its accuracy is well above chance.",
    )
