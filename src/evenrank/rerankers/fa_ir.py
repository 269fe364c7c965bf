"""Rankings with so many protected documents in every prefix that chance could have made them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.attribute import Attribute
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, number, parameter, text
from evenrank.measures.count_tests import minima
from evenrank.rerankers.grouped import Members, QuotaReranker

TOO_FEW_PROTECTED = "there are fewer protected documents than the minimum"


@declare
class FA_IR(QuotaReranker):
    """Keeps the order, but moves up a protected document wherever so few of them come before that chance
    alone would seldom explain it.

    Papers write it FA*IR. A fair list takes each document from the protected with probability p. For each k
    the list must have at least the smallest m protected documents with ``F(m; k, p) > alpha``. Tests for
    every k fail together more often than one of them; ``adjust`` lowers alpha for each so that all together
    fail at most by ``alpha``. Without ``p`` it is the target share of the protected value.
    """

    reference = "Zehlike et al. 2017, FA*IR: a fair top-k ranking algorithm, CIKM, Algorithms 1-2"

    p: float | None = parameter(
        None, number(0, 1, open_low=True, open_high=True, optional=True), "minimum share; None: the target"
    )
    alpha: float = parameter(0.1, number(0, 1, open_low=True, open_high=True), "significance of the test")
    adjust: bool = parameter(True, flag(), "alpha is for all tests of a list together, not for each")
    protected: str | None = parameter(None, text(optional=True), "the value that is protected")

    def check_attribute(self, attribute: Attribute) -> None:
        self._check_protected(attribute.values, attribute.listed())

    def _check_protected(self, values: tuple[str, ...], listed: str) -> int:
        if self.protected in values:
            return values.index(self.protected)
        if self.protected is None:
            raise ParameterError(f"{self!r}: say which value is protected, protected={values[0]!r}")
        raise ParameterError(f"{self!r}: {self.protected!r} is not a value of {self.attr!r}: {listed}")

    def _place(self, evidence: RankedEvidence) -> int:
        values = evidence.labels.get(f"{self.source}.values")
        if values is None:
            raise ParameterError(
                f"{self!r} is about one value, and {self.attr!r} has other values for every query"
            )
        return self._check_protected(values, ", ".join(map(repr, values[:8])))

    def shares(self, evidence: RankedEvidence) -> Floats:
        """(Q,): the minimum share p."""
        if self.p is not None:
            return np.full(len(evidence), self.p)
        return self.target(evidence)[:, self._place(evidence)]

    def without_target(self, evidence: RankedEvidence) -> Bools:
        return super().without_target(evidence) & (self.p is None)

    def fill(
        self, evidence: RankedEvidence, members: Members, ranks: Int64s
    ) -> tuple[Int64s, Mapping[str, Bools]]:
        place = self._place(evidence)
        sides = Members.of(np.where(members.groups < 0, -1, (members.groups == place).astype(np.int64)), 2)
        depth = members.groups.shape[1]
        least = minima(self.shares(evidence), ranks, depth, self.alpha, adjust=self.adjust)  # (Q, K)
        chosen = np.full(members.groups.shape, -1)
        taken = np.zeros((len(chosen), 2), dtype=np.int64)  # others, protected
        every = np.arange(len(chosen))
        for rank in range(int(ranks.max(initial=0))):
            first = sides.first(taken)  # (Q, 2)
            must = (taken[:, 1] < least[:, rank]) & (first[:, 1] < depth)
            side = (must | (first[:, 1] < first[:, 0])).astype(np.int64)
            now = every[rank < ranks]
            chosen[now, rank] = first[now, side[now]]
            taken[now, side[now]] += 1
        return chosen, {TOO_FEW_PROTECTED: sides.sizes[:, 1] < least.max(axis=1, initial=0)}
