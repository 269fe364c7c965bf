"""The most neutrality that any order of the same lists allows within a stated loss of relevance.

Both NFaiRR@k and nDCG@k are sums of a value of each document times the discount of its rank, so for a weight
mu of relevance the best order is that of ``w(d)/IFaiRR + mu gain(d)/IDCG``. No order within the loss has more
than ``L(mu) = F(mu) + mu (G(mu) - (G_0 - loss))`` for any mu >= 0, where F and G are the means over queries
of both measures in that order: the smallest L is a bound that no method can exceed (Lagrange duality).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats, Int64s
from evenrank.errors import DataError, ParameterError
from evenrank.evaluation import evaluate
from evenrank.evidence.align import align
from evenrank.inputs import Inputs, Known
from evenrank.measures import Measure, parse_measure
from evenrank.measures.neutrality import NFaiRR
from evenrank.measures.relevance import nDCG

_ROUNDING = 1e-12
_MOST = 10_000  # steps; each is at another corner of L, and in practice they are about twenty


class OptimalLists(NamedTuple):
    """The bound, and the best order that was found within the loss."""

    bound: float
    attained: float
    attained_relevance: float
    fairness: float  # of the order as it is
    relevance: float
    mu: float
    order: Int64s  # (Q, N): places of the documents, best first


@dataclass(frozen=True)
class OptimalReference:
    """What the lists of a run allow: means of the measures over the queries where both are defined."""

    run: str
    fairness_measure: Measure
    relevance_measure: Measure
    loss: float
    bound: float
    attained: float
    attained_relevance: float
    fairness: float
    relevance: float
    query_ids: tuple[str, ...]

    @property
    def queries(self) -> int:
        return len(self.query_ids)

    def share_of(self, fairness: float, of: float | None = None) -> float:
        """Which part of the possible gain a value of fairness is; nan where nothing can be gained."""
        possible = (self.bound if of is None else of) - self.fairness
        return (fairness - self.fairness) / possible if possible > _ROUNDING else math.nan


def optimal_lists(fair: Floats, gain: Floats, mask: Bools, *, cutoff: int, loss: float) -> OptimalLists:
    """``fair`` and ``gain`` (Q, N) are what a document adds to both measures at rank 1; lists are in their
    order.

    L is convex and piecewise linear, with corners where two documents change places. An order on the falling
    side and one on the rising side are two of its lines; mu is moved to where they meet, until no order lies
    above them there: that corner is the smallest L.
    """
    lists = _Lists(np.where(mask, fair, 0.0), np.where(mask, gain, 0.0), mask, cutoff)
    given = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
    f_0, g_0 = (part.mean() for part in lists.sums(given))
    least = g_0 - loss
    low, high = lists.line(0.0, least), lists.line(math.inf, least)
    if low.slope >= -_ROUNDING:  # the fairest order of all is within the loss
        bound, mu, high = low.fairness, 0.0, low
    else:
        bound, mu = high.fairness, math.inf  # where relevance is all that counts
        for _ in range(_MOST):
            mu = (low.fairness - high.fairness) / (high.slope - low.slope)
            met = low.fairness + mu * low.slope
            found = lists.line(mu, least)
            bound = found.fairness + mu * found.slope
            if bound <= met + _ROUNDING:
                break
            low, high = (found, high) if found.slope < 0 else (low, found)
    order = lists.between(low.order, high.order, least)
    f, g = (part.mean() for part in lists.sums(order))
    if f < f_0:
        order, f, g = given, f_0, g_0
    return OptimalLists(
        max(float(bound), float(f)), float(f), float(g), float(f_0), float(g_0), float(mu), np.array(order)
    )


class _Line(NamedTuple):
    """An order and its line: fairness + mu * slope."""

    fairness: float
    slope: float
    order: Int64s


class _Lists(NamedTuple):
    fair: Floats  # (Q, N)
    gain: Floats
    mask: Bools
    cutoff: int

    def line(self, mu: float, least: float) -> _Line:
        """The order that is best for mu: of equal documents the more relevant first; for an infinite mu by
        relevance, of equal ones the fairer first."""
        first, second = (self.gain, self.fair) if math.isinf(mu) else (self.fair + mu * self.gain, self.gain)
        order = np.lexsort((-second, -first, ~self.mask), axis=1)
        fair, gain = self.sums(order)
        return _Line(float(fair.mean()), float(gain.mean()) - least, order)

    def sums(self, order: Int64s) -> tuple[Floats, Floats]:
        """(Q,) twice: both measures of each query."""
        weights = attention.log2().weights(min(self.cutoff, order.shape[1]))
        head = order[:, : len(weights)]
        fair, gain = (np.take_along_axis(one, head, axis=1) @ weights for one in (self.fair, self.gain))
        return fair, gain

    def between(self, fairer: Int64s, within: Int64s, least: float) -> Int64s:
        """``within``, and for as many queries as the loss allows ``fairer`` instead, the cheapest first."""
        f, g = self.sums(fairer)
        own_f, own_g = self.sums(within)
        gained, lost = f - own_f, own_g - g
        with np.errstate(divide="ignore", invalid="ignore"):
            price = np.where(gained > 0, lost / gained, np.inf)
        room = (own_g.mean() - least) * len(g) + _ROUNDING
        order = np.array(within)
        for query in np.argsort(price, kind="stable").tolist():
            if gained[query] > 0 and lost[query] <= room:
                order[query] = fairer[query]
                room -= lost[query]
        return order


def optimal_reference(
    run: Any,
    *,
    fairness: str | Measure = "NFaiRR@10",
    relevance: str | Measure = "nDCG@10",
    loss: float = 0.01,
    **known: Unpack[Known],
) -> OptimalReference:
    """How neutral the lists of a run could be if their mean nDCG may fall by at most ``loss``.

    It reads the judgements, so it is what is possible and no method to ship: ``bound`` is proven, and
    ``attained`` is the mean of an order that exists. Every document of a list may take any rank. Unjudged
    documents have gain 0, and documents without counts below the cut-off count as neutral. The inputs are
    those of ``evaluate``.
    """
    measures = _checked(parse_measure(fairness), parse_measure(relevance))
    if not (isinstance(loss, (int, float)) and 0 <= loss < math.inf):
        raise ParameterError(f"loss must be a number >= 0, got {loss!r}")
    inputs = Inputs.of(run, **known)
    ranking = inputs.one_run("optimal_reference")
    scores = evaluate(inputs, list(measures))
    defined = [
        {query for query, code in zip(block.query_ids, block.status[:, 0].tolist(), strict=True) if code == 0}
        for block in scores.blocks
    ]
    queries = [query for query in scores.blocks[0].query_ids if query in defined[0] & defined[1]]
    if not queries:
        raise DataError(f"{measures[0]!r} and {measures[1]!r} are defined for no query at once")
    settled, sources, _ = inputs.settle(measures)
    fair, useful = settled
    evidence = align(ranking, queries, fair.needs | useful.needs, sources, None)
    weights = attention.log2().weights(evidence.ranked.depth)
    found = optimal_lists(
        fair.explain(evidence) / weights,
        useful.explain(evidence) / weights,
        evidence.ranked.mask,
        cutoff=fair.cutoff or evidence.ranked.depth,
        loss=float(loss),
    )
    return OptimalReference(
        ranking.name, measures[0], measures[1], float(loss), found.bound, found.attained,
        found.attained_relevance, found.fairness, found.relevance, tuple(queries),
    )  # fmt: skip


def _checked(fair: Measure, useful: Measure) -> tuple[NFaiRR, nDCG]:
    if not isinstance(fair, NFaiRR) or fair.missing == "drop":
        raise ParameterError(f"the optimal reference is of NFaiRR without missing='drop', got {fair!r}")
    if not isinstance(useful, nDCG) or useful.judged_only:
        raise ParameterError(f"the optimal reference keeps nDCG without judged_only, got {useful!r}")
    if fair.cutoff != useful.cutoff:
        raise ParameterError(f"{fair!r} and {useful!r} must have the same cut-off")
    return fair, useful
