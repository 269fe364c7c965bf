"""How alike two rankings are: rank-biased overlap, which needs no judgement and no common documents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.grammar import choice, declare, number, parameter
from evenrank.measures.base import Direction, Measure, Note, Result
from evenrank.measures.sums import padded_sum

BOTH_EMPTY = "both lists are empty"
ONE_EMPTY = "{count} of {of} queries have an empty list in one of the two runs, and no overlap"


@declare
class RBO(Measure):
    """How alike the lists of two runs are, where the top counts most. 0 means that they share no document; 1
    means that they are the same.

    The name stands for rank-biased overlap. X_d is the number of documents that the first d ranks of both
    lists share, s the length of the shorter list and l that of the longer. ``ext`` takes the agreement at the
    end of the lists to go on for ever; ``min`` takes nothing below the lists to agree, and ``res`` is what it
    could still gain, so that min + res is the largest value that is possible. Lists of the same documents in
    the same order have ext = 1, lists that share nothing 0.

    A cut-off cuts both lists first. Lists may differ in length. There are no ties: a run is one order,
    and equal scores stand by its own tie rule. With one empty list ext and min are 0 and res is 1.

    When to use: to see how similar two rankings of a query are, from the top; prefer a correlation only where
    both rank the same documents, and nDCG for quality.
    """

    in_words = "overlap of two lists"
    family = "pair"
    direction = Direction.NONE
    formula = (
        "(1-p)/p (sum_{d<=l} X_d/d p^d + sum_{s<d<=l} X_s (d-s)/(s d) p^d) + ((X_l - X_s)/l + X_s/s) p^l"
    )
    reference = "Webber et al. 2010, A similarity measure for indefinite rankings, TOIS, Eqs. 11, 30, 32"
    undefined_when: ClassVar[dict[str, str]] = {BOTH_EMPTY: "neither run has a document for the query"}

    p: float = parameter(
        0.9,
        number(0, 1, open_low=True, open_high=True),
        "persistence: the chance to look at the next rank as well",
    )
    form: str = parameter(
        "ext", choice("ext", "min", "res"), "extrapolated, the lower bound, or the residual above it"
    )

    needs = frozenset({"ranked.documents", "against.documents"})

    def compute(self, evidence: RankedEvidence) -> Result:
        if evidence.against is None:
            raise ParameterError(f"{self!r} compares two runs")
        lengths = np.stack([evidence.ranked.lengths, evidence.against.lengths])  # (2, Q)
        short, long = lengths.min(axis=0), lengths.max(axis=0)  # (Q,) both
        overlap = overlaps(evidence.ranked, evidence.against)  # (Q, 1 + W)
        kernel = {"ext": _extrapolated, "min": _minimum, "res": _residual}[self.form]
        values = np.clip(kernel(overlap, short, long, self.p), 0.0, 1.0)  # sums may pass 1 by their last bit
        one_empty = int(((short == 0) & (long > 0)).sum())
        notes = (Note(ONE_EMPTY, one_empty, len(values)),) if one_empty else ()
        return Result(values, {BOTH_EMPTY: long == 0}, notes=notes)


def overlaps(one: Ranked, two: Ranked) -> Floats:
    """(Q, 1 + W): how many documents the first d ranks of both lists share, for d = 0, 1, .. W.

    Where a list has ended its documents stay, as ranks go on in the other.
    """
    width = max(one.depth, two.depth)
    codes = np.concatenate([one["documents"], two["documents"]], axis=1)  # (Q, K1 + K2), -1 in the padding
    order = np.argsort(codes, axis=1, kind="stable")
    ordered = np.take_along_axis(codes, order, axis=1)
    shared = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)  # a document is once in a list
    query, place = np.nonzero(shared)
    ranks = np.maximum(order[query, place], order[query, place + 1] - one.depth) + 1  # seen in both by here
    counts = np.bincount(query * (width + 1) + ranks, minlength=len(codes) * (width + 1))
    return np.cumsum(counts.reshape(len(codes), width + 1), axis=1).astype(np.float64)


def _weights(depth: int, p: float) -> Floats:
    """(1 + depth,): (1-p)/p p^d/d, the weight of one shared document at depth d; 0 at depth 0."""
    ranks = np.arange(1, depth + 1)
    return np.concatenate([[0.0], (1 - p) * p ** (ranks - 1.0) / ranks])


def _at(columns: Floats, places: Int64s) -> Floats:
    """(Q,): of each row the column at its place."""
    found: Floats = np.take_along_axis(columns, places[:, None], axis=1)[:, 0]
    return found


def _extrapolated(overlap: Floats, short: Int64s, long: Int64s, p: float) -> Floats:
    """Eq. 32: behind the end of the shorter list as many of its documents are shared as above it."""
    depths = np.arange(overlap.shape[1])  # (1 + W,)
    at_short, at_long = _at(overlap, short), _at(overlap, long)
    share = at_short / np.maximum(short, 1)  # (Q,)
    assumed = share[:, None] * np.maximum(depths - short[:, None], 0)  # (Q, 1 + W)
    within = (depths <= long[:, None]) * (overlap + assumed)
    agreement = (at_long - at_short) / np.maximum(long, 1) + share
    return padded_sum(within * _weights(len(depths) - 1, p)) + agreement * p**long


def _minimum(overlap: Floats, short: Int64s, long: Int64s, p: float) -> Floats:
    """Eq. 11 at the end of the longer list: what is shared there stays shared, and nothing joins it."""
    weights = _weights(overlap.shape[1] - 1, p)
    within = np.arange(overlap.shape[1]) <= long[:, None]
    return padded_sum(within * overlap * weights) + _at(overlap, long) * (_all(p) - np.cumsum(weights)[long])


def _residual(overlap: Floats, short: Int64s, long: Int64s, p: float) -> Floats:
    """Eq. 30: every unseen document is taken to be shared as soon as it can be."""
    at_long = _at(overlap, long)
    full = (short + long - at_long).astype(np.int64)  # where both lists could hold the same documents
    until = np.cumsum(_weights(2 * (overlap.shape[1] - 1), p))  # (1 + 2W,)
    lost = short * (until[full] - until[short]) + long * (until[full] - until[long])
    lost = lost + at_long * (_all(p) - until[full])
    values: Floats = p**short + p**long - p**full - lost
    return values


def _all(p: float) -> float:
    """The weights of all depths together."""
    return float(-np.log1p(-p) * (1 - p) / p)
