"""Which share of a log would be kept, from the decisions on a stratified sample of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evenrank.errors import DataError, few
from evenrank.queryset.sampling import LoggedQuery
from evenrank.stats.intervals import student_quantile


class Estimate(NamedTuple):
    """A share of the whole log, from a sample with weights, with its 95% interval; NaN with the reason where
    it is undefined."""

    share: float
    low: float
    high: float
    drawn: int  # of these, the queries that were decided
    population: int
    reason: str | None = None

    def describe(self) -> str:
        of_log = f"the {self.population:,} queries that were drawn from"
        if self.reason is not None:
            return f"the share of {of_log} that would be kept is undefined: {self.reason}"
        return (
            f"of {of_log}, {self.share:.1%} would be kept [{self.low:.1%}, {self.high:.1%}], by "
            f"{self.drawn:,} decided ones and their weights"
        )


class _Stratum(NamedTuple):
    size: int  # queries of the log
    decided: int
    kept: int

    @property
    def share(self) -> float:
        return self.kept / self.decided

    @property
    def unseen(self) -> float:
        """The finite population correction: 0 where every query was decided."""
        return 1 - self.decided / self.size

    @property
    def spread(self) -> float:
        if self.decided == 1:
            return 0.25  # one value says nothing of the spread: the largest there can be
        return self.share * (1 - self.share) * self.decided / (self.decided - 1)


def estimate(drawn: Sequence[LoggedQuery], kept: Mapping[str, bool]) -> Estimate:
    """The share of the log that would be kept: means of strata, weighted by their sizes.

    Queries that were not decided are left out of their stratum. Where a stratum has no decided query, nothing
    is known of that part of the log, and the share is undefined.

    The interval is that of Korn and Graubard (Confidence intervals for proportions with small expected number
    of positive counts estimated from survey data, 1998): the one of Clopper and Pearson with the effective
    sample size. An interval of share and standard error would be a point where no query is kept, and holds
    the truth in 64% of samples of 100 queries where 1% are.
    """
    if not drawn:
        raise DataError("no query was drawn, so nothing can be said of the log")
    strata = _strata(drawn, kept)
    population = sum(one.size for one in strata.values())
    n = sum(one.decided for one in strata.values())
    unknown = [name for name, one in strata.items() if not one.decided]
    if unknown:
        held = sum(strata[name].size for name in unknown)
        which, hold = ("stratum", "holds") if len(unknown) == 1 else ("strata", "hold")
        reason = (
            f"no drawn query of the {which} {few(unknown)} was decided, which {hold} {held:,} of the "
            f"{population:,} queries"
        )
        return Estimate(math.nan, math.nan, math.nan, n, population, reason)
    share = math.fsum(one.size * one.share for one in strata.values()) / population
    student = student_quantile(0.975, max(1, n - 1)) / student_quantile(0.975, max(1, n - len(strata)))
    low, high = clopper_pearson(share, _effective_size(list(strata.values()), share) * student**2)
    # the queries that were decided are part of the log, so their number bounds the share whatever the rest is
    found = sum(one.kept for one in strata.values())
    low, high = max(low, found / population), min(high, 1 - (n - found) / population)
    return Estimate(share, min(low, share), max(high, share), n, population)


def clopper_pearson(share: float, trials: float) -> tuple[float, float]:
    """The 95% interval: shares under which a result as extreme as this one is not too unlikely.

    ``trials`` may be any number > 0, such as an effective sample size. Reference: Clopper and Pearson, The
    use of confidence or fiducial limits illustrated in the case of the binomial, 1934.

    >>> [round(limit, 4) for limit in clopper_pearson(0.0, 100)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv

    if math.isinf(trials):
        return share, share
    hits, misses, tail = share * trials, (1 - share) * trials, 0.025
    low = float(betaincinv(hits, misses + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if share < 1 else 1.0
    return low, high


def _strata(drawn: Sequence[LoggedQuery], kept: Mapping[str, bool]) -> dict[str, _Stratum]:
    members: dict[str, list[LoggedQuery]] = {}
    for one in drawn:
        members.setdefault(one.stratum, []).append(one)
    strata = {}
    for name, own in members.items():
        decided = [kept[one.query] for one in own if one.query in kept]
        strata[name] = _Stratum(round(math.fsum(one.weight for one in own)), len(decided), sum(decided))
    return strata


def _effective_size(strata: Sequence[_Stratum], share: float) -> float:
    """How large a simple random sample of an endless log would be with as much variance.

    ``p (1 - p) / sum W^2 (1 - f) s^2 / n``, and at most what it would be if all strata had the same share:
    with a few hits the spread within strata is mostly 0 by luck, and the interval would be too short.
    """
    population = sum(one.size for one in strata)

    def variance(of: Sequence[float]) -> float:
        return math.fsum(
            (one.size / population) ** 2 * part / one.decided for one, part in zip(strata, of, strict=True)
        )

    if share in (0, 1):
        # the chance to miss all of K is about (1 - f)^K, which 1 - f as a factor of the variance overstates
        return _ratio(1, variance([_miss_factor(one) for one in strata]))
    observed = variance([one.unseen * one.spread for one in strata])
    alike = variance([one.unseen for one in strata])
    return min(_ratio(share * (1 - share), observed), _ratio(1, alike))


def _miss_factor(stratum: _Stratum) -> float:
    """``f / -ln(1 - f)``: 1 in an endless log, 0 where every query was decided."""
    fraction = stratum.decided / stratum.size
    return fraction / -math.log1p(-fraction) if fraction < 1 else 0.0


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else math.inf
