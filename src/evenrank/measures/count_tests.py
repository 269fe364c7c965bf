"""Tests of how many documents of a group a list has: could chance alone explain so few or so many?

The tests of one cut-off are two-sided: the probability of all outcomes that are no likelier than the one
seen. That of FA*IR is about every rank: its m-table says how many protected documents the first k must have
so that chance could have made them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s, ragged
from evenrank.data.attribute import Attribute
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, flag, number, parameter, text
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_TARGET,
    Direction,
    Note,
    Result,
    reasons,
)
from evenrank.measures.groups import GroupMeasure
from evenrank.measures.missing import missing_parameter
from evenrank.measures.prefixes import FLOOR_TOLERANCE, PrefixShareMeasure
from evenrank.measures.sums import padded_sum

FRACTIONAL = "fractional membership"
IN_PART = {FRACTIONAL: "a document belongs to a group in part, and only whole documents can be counted"}
_EQUAL = 1 + 1e-12  # F(0; 1, 0.9) is 0.1, give or take the last bit


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class CountTest(GroupMeasure):
    """The p-value of a test of each group's count, in one column for each group, without a correction."""

    direction: ClassVar[Direction] = Direction.NONE
    by_value: ClassVar[bool] = True

    missing: str = missing_parameter("drop", "error")

    def counts(self, evidence: RankedEvidence, depth: int | None) -> tuple[Floats, Floats, Bools]:
        """(Q, L): documents of each group in the first ranks, (Q, 1): of all, and (Q, 1): where in part."""
        ranked = evidence.ranked.cut(depth)
        shares = self.membership(evidence, ranked)
        partly = np.asarray(((shares != 0) & (shares != 1)).any(axis=(1, 2)))[:, None]
        return padded_sum(shares), ranked.lengths[:, None].astype(float), partly


def over_distinct(columns: list[Floats], p_value: Callable[..., float]) -> Floats:
    """``p_value`` of equally long columns, once for each distinct row."""
    rows, places = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return np.array([p_value(*row) for row in rows.tolist()], dtype=np.float64)[places.ravel()]


@declare
class BinomialTest(CountTest):
    """How likely chance alone gives a list whose share of a group is as far from the target as here, with one
    column for each group. Values close to 0 mean that chance is a poor explanation; 1 means that the count
    is what the target says.

    Each of the first k documents is taken to belong to the group with the probability that the target says.
    It tests counts, not exposure: the order within the first k does not matter. The columns are not corrected
    for the number of groups or queries. Use it for a target that is given; prefer HypergeometricTest where
    the list can only hold the documents there are, and FA_IR_Test where every prefix matters.

    When to use: to ask whether a count of a group is more than chance; it is no measure of size: take
    GroupShare or AWRF for that, and HypergeometricTest where the whole list is known.
    """

    in_words = "chance of such a list"
    formula = "sum of B(x; n, q_g) over all x with B(x; n, q_g) <= B(n_g; n, q_g)"
    reference = "Pitoura et al. 2022, Fairness in rankings and recommendations: an overview, VLDB Journal 31"
    undefined_when = reasons(EMPTY_LIST, NO_TARGET) | IN_PART

    def compute(self, evidence: RankedEvidence) -> Result:
        have, total, partly = self.counts(evidence, self.cutoff)
        target = self.target_shares(evidence)  # (Q, L)
        number = np.broadcast_to(total, have.shape)
        whole = np.where(partly, 0.0, np.minimum(have, number))
        values = over_distinct([whole.ravel(), number.ravel(), target.ravel()], binomial_p)
        undefined = {reason: where[:, None] for reason, where in self.undefined(evidence).items()}
        return Result(
            values.reshape(have.shape), undefined | {FRACTIONAL: partly}, self.value_names(evidence)
        )


def binomial_p(observed: float, number: float, share: float) -> float:
    from scipy.stats import binomtest

    if not number:
        return 1.0
    return float(binomtest(int(observed), int(number), min(max(share, 0.0), 1.0)).pvalue)


@declare
class HypergeometricTest(CountTest):
    """How likely a random order of the query's documents gives a count of a group among the first k that is
    as unusual as here, with one column for each group. Values close to 0 mean that chance is a poor
    explanation; 1 means that no count is likelier.

    K_g of the N documents of the query's whole list belong to the group; there is no target. It tests counts,
    not exposure. The columns are not corrected for the number of groups or queries. Use it to ask whether the
    first k favour a group over the rest of the list; prefer BinomialTest for a target that is given.

    When to use: to ask whether an order is more than chance, given the whole list; prefer BinomialTest
    where a target is given, and AWRF for the size.
    """

    in_words = "chance of such an order"
    formula = "sum of H(x; N, K_g, k) over all x with H(x; N, K_g, k) <= H(n_g; N, K_g, k)"
    reference = "Fisher 1935, The design of experiments; Pitoura et al. 2022, VLDB Journal 31"
    undefined_when = reasons(EMPTY_LIST) | IN_PART
    needs_cutoff = True
    looks_below_cutoff = True

    depth = None

    def prepared(self, evidence: RankedEvidence) -> RankedEvidence:
        known = evidence.ranked.known(self.source)
        return evidence.compact(known) if self.missing == "drop" else evidence

    def compute(self, evidence: RankedEvidence) -> Result:
        have, drawn, _ = self.counts(evidence, self.cutoff)
        everywhere, population, partly = self.counts(evidence, None)
        columns = [
            np.where(partly, 0.0, array).ravel()
            for array in (have, np.broadcast_to(population, have.shape), everywhere)
        ]
        values = over_distinct([*columns, np.broadcast_to(drawn, have.shape).ravel()], hypergeometric_p)
        undefined = {reason: where[:, None] for reason, where in self.undefined(evidence).items()}
        return Result(
            values.reshape(have.shape), undefined | {FRACTIONAL: partly}, self.value_names(evidence)
        )


def hypergeometric_p(observed: float, population: float, members: float, drawn: float) -> float:
    from scipy.stats import fisher_exact

    if not population:
        return 1.0
    here, not_drawn = int(observed), int(members - observed)
    others = int(drawn - observed)
    return float(
        fisher_exact([[here, not_drawn], [others, int(population) - here - not_drawn - others]]).pvalue
    )


RANKS_SHOWN = 20


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
def table_of(ranks: int, p: float, alpha: float, adjust: bool) -> tuple[int, ...]:
    """The minimum at each rank, where ``adjust`` says that alpha is for all ranks together."""
    if adjust:
        alpha = adjusted_alpha(ranks, p, alpha)
    return tuple(minimum_table(ranks, p, alpha).tolist())


def minima(shares: Floats, ranks: Int64s, depth: int, alpha: float, *, adjust: bool) -> Int64s:
    """(Q, K): how many protected documents the first k must have; 0 behind the ``ranks`` (Q,) of a list."""
    table = np.zeros((len(shares), depth), dtype=np.int64)
    kinds, which = np.unique(np.stack([ranks, shares], axis=1), axis=0, return_inverse=True)
    for kind, (count, share) in enumerate(kinds.tolist()):
        table[which.ravel() == kind, : int(count)] = table_of(int(count), share, alpha, adjust)
    return table


@declare
class FA_IR_Test(PrefixShareMeasure):
    """Whether a list passes FA*IR's test of ranked group fairness, with one column for each group that is
    taken as protected. 1 means that at every rank it has as many protected documents as chance would leave; 0
    means that at some rank it has fewer.

    A fair list takes each document from the protected with probability p, and m(i) is the smallest m with
    ``F(m; i, p) > alpha``, F binomial. A note prints these minima, the m-table, and how often a fair list
    fails: tests at every rank fail together more often than one of them, at k = 10 with p = 0.5 in 13% of
    fair lists for an alpha of 10%. ``adjust=True`` lowers alpha until all together fail at most by alpha.
    Without ``p`` it is the target share of the group, without ``protected`` each group in turn. The mean over
    queries is the share of lists that pass. Use it for a yes or no at every rank; prefer InfeasibleIndex for
    a quota without a test, and BinomialTest for one cut-off. The re-ranker FA_IR makes lists that pass.

    When to use: for a yes or no about one protected group at every rank; prefer InfeasibleIndex for how
    often, and AWRF for how far.
    """

    in_words = "passes the FA*IR test"
    formula = "1 if n(i) >= m(i) for all i <= min(k, n), else 0; m(i) = min{m: F(m; i, p) > alpha}"
    reference = "Zehlike et al. 2017, FA*IR: a fair top-k ranking algorithm, CIKM, Definitions 2-4"
    direction = Direction.HIGHER
    by_value = True
    undefined_when = reasons(EMPTY_LIST, NO_TARGET) | IN_PART

    protected: str | None = parameter(None, text(optional=True), "the value that is protected; None: each")
    p: float | None = parameter(
        None, number(0, 1, open_low=True, open_high=True, optional=True), "minimum share; None: the target"
    )
    alpha: float = parameter(0.1, number(0, 1, open_low=True, open_high=True), "significance of the test")
    adjust: bool = parameter(False, flag(), "alpha is for all tests of a list together, not for each")

    def check_attribute(self, attribute: Attribute) -> None:
        super().check_attribute(attribute)
        if self.protected is not None and self.protected not in attribute.values:
            raise ParameterError(
                f"{self!r}: {self.protected!r} is not a value of {attribute.name!r}: {attribute.listed()}"
            )

    def compute(self, evidence: RankedEvidence) -> Result:
        names = self.value_names(evidence)
        columns = [names.index(self.protected)] if self.protected is not None else [*range(len(names))]
        membership = self.membership(evidence)  # (Q, K, L)
        have = np.cumsum(membership[:, :, columns], axis=1)  # (Q, K, C)
        shares = self.target_shares(evidence)[:, columns]  # (Q, C)
        if self.p is not None:
            shares = np.full(shares.shape, self.p)
        lengths, mask = evidence.ranked.lengths, evidence.ranked.mask
        passed = np.ones(shares.shape)
        notes: list[Note] = []
        for place, column in enumerate(columns):
            least = minima(shares[:, place], lengths, evidence.ranked.depth, self.alpha, adjust=self.adjust)
            short = (have[:, :, place] < least - FLOOR_TOLERANCE) & mask
            passed[:, place] = ~np.asarray(short.any(axis=1))
            notes += self._table_note(names[column], shares[:, place], lengths)
        undefined = {reason: where[:, None] for reason, where in self.undefined(evidence).items()}
        undefined[NO_TARGET] &= self.p is None
        undefined[FRACTIONAL] = np.asarray(((membership != 0) & (membership != 1)).any(axis=(1, 2)))[:, None]
        return Result(passed, undefined, tuple(names[column] for column in columns), tuple(notes))

    def _table_note(self, name: str, shares: Floats, lengths: Int64s) -> list[Note]:
        """The m-table, where there is one for all queries."""
        found = np.unique(shares)
        ranks = self.cutoff or int(lengths.max(initial=0))
        if len(found) != 1 or not 0 < found[0] < 1 or not ranks:
            return []
        table = table_of(ranks, float(found[0]), self.alpha, self.adjust)
        fails = failure_probability(np.array(table), float(found[0]))
        more = "" if ranks <= RANKS_SHOWN else f" (the first {RANKS_SHOWN})"
        return [
            Note(
                f"m-table for {name!r}, p = {found[0]:.4g}, ranks 1 to {ranks}: "
                f"{' '.join(map(str, table[:RANKS_SHOWN]))}{more}; "
                f"a fair list fails with probability {fails:.2g}"
            )
        ]
