"""Rankings with so many protected documents in every prefix that chance could have made them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s, ragged
from evenrank.data.attribute import Attribute
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, number, parameter, text
from evenrank.rerankers.grouped import Members, QuotaReranker

TOO_FEW_PROTECTED = "there are fewer protected documents than the minimum"
_EQUAL = 1 + 1e-12  # F(0; 1, 0.9) is 0.1, give or take the last bit


def minimum_table(ranks: int, p: float, alpha: float) -> Int64s:
    """(ranks,): for the first k documents the smallest m with ``F(m; k, p) > alpha``, F binomial.

    Fewer protected ones than that, and the test for ``p`` fails.

    >>> minimum_table(12, 0.5, 0.1).tolist()
    [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 4]
    """
    from scipy.stats import binom

    k = np.arange(1, ranks + 1)
    if p <= 0 or p >= 1:  # all of a kind: none are due, or all
        return k if p >= 1 else np.zeros_like(k)
    m: Int64s = np.clip(np.nan_to_num(binom.ppf(alpha, k, p)), 0, k).astype(np.int64)
    # the quantile is the smallest m with F >= alpha, and both it and F are rounded
    for _ in range(2):
        m -= (m > 0) & (binom.cdf(m - 1, k, p) > alpha * _EQUAL)
    for _ in range(2):
        m += (m < k) & (binom.cdf(m, k, p) <= alpha * _EQUAL)
    return m


def failure_probability(table: Int64s, p: float) -> float:
    """How likely a list that takes each document from the protected with probability p fails somewhere.

    Exact: the distribution of the protected so far, over the lists that have not failed yet.

    >>> round(failure_probability(np.array([0, 0, 0, 1]), 0.5), 4)
    0.0625
    """
    most = int(table.max(initial=0))
    alive = np.zeros(most + 1)  # as many as the last minimum can no more fail
    alive[0], failed = 1.0, 0.0
    for m in table.tolist():
        following = alive * (1 - p)
        following[1:] += alive[:-1] * p
        following[-1] += alive[-1] * p
        failed += float(following[:m].sum())
        following[:m] = 0.0
        alive = following
    return failed


@lru_cache(maxsize=4096)
def adjusted_alpha(ranks: int, p: float, alpha: float) -> float:
    """The largest significance of each single test with which all of them together fail at most by alpha.

    Tables change only where alpha is some F(m; k, p), so these are all there is to try: 0.0 where already
    the smallest of them fails too often.
    """
    from scipy.stats import binom

    table = minimum_table(ranks, p, alpha)
    k = np.repeat(np.arange(1, ranks + 1), table)
    m = ragged(np.zeros_like(table), table)  # from 0 to the minimum of k: all with F(m; k, p) <= alpha
    steps = np.unique(binom.cdf(m, k, p))
    low, high = -1, len(steps)  # the step before all fails never; that behind all is as good as too often
    while high - low > 1:
        middle = (low + high) // 2
        fails = failure_probability(minimum_table(ranks, p, float(steps[middle])), p)
        low, high = (middle, high) if fails <= alpha * _EQUAL else (low, middle)
    return float(steps[low]) if low >= 0 else 0.0


@lru_cache(maxsize=4096)
def _table(ranks: int, p: float, alpha: float, adjust: bool) -> tuple[int, ...]:
    if adjust:
        alpha = adjusted_alpha(ranks, p, alpha)
    return tuple(minimum_table(ranks, p, alpha).tolist())


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

    def minima(self, shares: Floats, ranks: Int64s, depth: int) -> Int64s:
        """(Q, K): how many protected documents the first k must have; 0 behind the ranks to fill."""
        table = np.zeros((len(ranks), depth), dtype=np.int64)
        kinds, which = np.unique(np.stack([ranks, shares], axis=1), axis=0, return_inverse=True)
        for kind, (count, p) in enumerate(kinds.tolist()):
            table[which.ravel() == kind, : int(count)] = _table(int(count), p, self.alpha, self.adjust)
        return table

    def fill(
        self, evidence: RankedEvidence, members: Members, ranks: Int64s
    ) -> tuple[Int64s, Mapping[str, Bools]]:
        place = self._place(evidence)
        sides = Members.of(np.where(members.groups < 0, -1, (members.groups == place).astype(np.int64)), 2)
        depth = members.groups.shape[1]
        minima = self.minima(self.shares(evidence), ranks, depth)  # (Q, K)
        chosen = np.full(members.groups.shape, -1)
        taken = np.zeros((len(chosen), 2), dtype=np.int64)  # others, protected
        every = np.arange(len(chosen))
        for rank in range(int(ranks.max(initial=0))):
            first = sides.first(taken)  # (Q, 2)
            must = (taken[:, 1] < minima[:, rank]) & (first[:, 1] < depth)
            side = (must | (first[:, 1] < first[:, 0])).astype(np.int64)
            now = every[rank < ranks]
            chosen[now, rank] = first[now, side[now]]
            taken[now, side[now]] += 1
        return chosen, {TOO_FEW_PROTECTED: sides.sizes[:, 1] < minima.max(axis=1, initial=0)}
