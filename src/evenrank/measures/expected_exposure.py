"""What attention documents, or groups, get over many rankings of a query or over many queries, and what is
due.

In expected exposure ``e_d`` is the mean over the rankings of the attention at d's rank; ``e*_d`` is what d
would get if all orders of equally relevant documents were equally likely. Summed over the documents of a
group, where an attribute is named.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention
from evenrank.data.evidence_source import Evidence
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.grammar import declare, parameter
from evenrank.measures.base import (
    EMPTY_LIST,
    NO_RELEVANT,
    NOT_JUDGED,
    Direction,
    Measure,
    Note,
    Result,
    reasons,
)
from evenrank.measures.evidence_attention import attention_parameter
from evenrank.measures.groups import ATTRIBUTE, GroupMeasure, without_labels
from evenrank.measures.missing import NONE, UNDEFINED, UNIFORM, missing_parameter
from evenrank.measures.relevance import without_judgements
from evenrank.measures.sums import divide, padded_sum, set_sum

REFERENCE = (
    "Diaz et al. 2020, Evaluating stochastic rankings with expected exposure, CIKM; TREC Fair 2019 to 2022"
)


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class ExpectedExposureMeasure(GroupMeasure):
    """A measure of e and e*, over documents (``attr=None``) or groups.

    The ideal list holds all documents that a ranking or a judgement names, best grade first; unjudged ones
    have grade 0. Attention ends at the cut-off.
    """

    looks_below_cutoff: ClassVar[bool] = True  # documents below it are in the ideal list, too
    undefined_when: ClassVar[Mapping[str, str]] = {
        **reasons(NOT_JUDGED),
        NO_RELEVANT: "no judged document of the query is relevant: nothing is due to any",
        **reasons(EMPTY_LIST),
    }

    attr: str | None = parameter(
        None, ATTRIBUTE, "the attribute; None: every document by itself. 'a*b' combines the values of two"
    )
    attention: Attention = attention_parameter()  # noqa: RUF009
    missing: str = missing_parameter(UNIFORM, UNDEFINED, "error")

    def settled(self, sources: Mapping[str, Evidence]) -> Measure:
        return self if self.attr is None else super().settled(sources)  # None: every document by itself

    @property
    def needs(self) -> frozenset[str]:
        groups = set() if self.attr is None else {f"pool.{self.source}"}
        return frozenset(
            {"rankings.documents", "pool.documents", "pool.relevance", "judged.relevance", *groups}
        )

    def compute(self, evidence: RankedEvidence) -> Result:
        exposure, due = self.exposures(evidence)
        if self.attr is not None:
            shares = self.reference_membership(evidence, "pool")  # (Q, D, L)
            exposure, due = (set_sum(given[:, :, None] * shares) for given in (exposure, due))
        result = Result(self.score(exposure, due), self.undefined(evidence))
        if self.attr is None:
            return result
        pool = evidence.reference["pool"]
        return without_labels(result, pool.mask(), pool.known(self.source), self.missing)

    def score(self, exposure: Floats, due: Floats) -> Floats:
        """(Q,) from two of (Q, D) or (Q, L)."""
        raise NotImplementedError(f"{type(self).__name__} has no kernel")

    def exposures(self, evidence: RankedEvidence) -> tuple[Floats, Floats]:
        """(Q, D) twice: e and e* of every document of the pool, 0 in the padding."""
        pool, lists = evidence.reference["pool"], _rankings(evidence)
        there = pool.mask()  # (Q, D)
        queries, width = there.shape
        weights = self.attention.weights(max(width, lists.depth))
        weights[self.cutoff or len(weights) :] = 0.0
        rows, places = np.nonzero(there)
        base = int(max(lists["documents"].max(initial=0), pool.padded("documents").max(initial=0))) + 1
        keys = rows * base + pool.padded("documents")[there]
        order = np.argsort(keys)
        owner, _, rank = np.nonzero(lists.mask)
        spots = order[np.searchsorted(keys[order], owner * base + lists["documents"][lists.mask])]
        exposure = np.zeros((queries, width))
        np.add.at(exposure, (rows[spots], places[spots]), weights[rank])
        rankings = (lists.lengths > 0).sum(axis=1)[:, None].astype(float)  # (Q, 1)
        return divide(exposure, rankings), _due(pool.padded("relevance"), there, weights)

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        return without_judgements(evidence) | {EMPTY_LIST: _rankings(evidence).lengths.sum(axis=1) == 0}


def _rankings(evidence: RankedEvidence) -> Ranked:
    if evidence.rankings is None:
        raise ParameterError("the rankings were not gathered")
    return evidence.rankings


def _due(grades: Floats, there: Bools, weights: Floats) -> Floats:
    """(Q, D): the mean attention of the ranks that documents of the same grade share in an ideal list."""
    level = np.where(there, np.maximum(grades, 0), -1.0)  # (Q, D): the padding stands last
    order = np.argsort(-level, axis=1, kind="stable")
    falling = np.take_along_axis(level, order, axis=1)
    fresh = np.ones(level.shape, dtype=bool)
    fresh[:, 1:] = falling[:, 1:] != falling[:, :-1]
    block = np.cumsum(fresh.ravel()) - 1  # (Q D,): a block never spans queries
    mean = np.bincount(block, weights=np.tile(weights[: level.shape[1]], len(level))) / np.bincount(block)
    due = np.empty_like(level)
    np.put_along_axis(due, order, mean[block].reshape(level.shape), axis=1)
    return due * there


@declare
class EE_L(ExpectedExposureMeasure):
    """How far the exposure that documents get is from the exposure that they deserve by their relevance. 0
    means that each document gets exactly what it deserves; larger values, up to infinity, mean larger
    differences.

    The name stands for expected exposure loss, the squared distance between the two. e is the mean over the
    rankings of a query (a RunSet, or the one list of a run) of the attention at a document's rank. e* is what
    it would get on average in an ideal list, if all orders of equally relevant documents were equally likely;
    that list holds every document that a ranking or a judgement names. With ``attr`` both are summed over the
    documents of a group.

    When to use: for exposure in proportion to relevance in systems that give several rankings of a query,
    with judgements; prefer AWRF for groups in one ranking.
    """

    in_words = "exposure away from merit"
    formula = "sum (e - e*)**2"
    reference = REFERENCE
    direction = Direction.LOWER
    bounds = (0.0, np.inf)

    def score(self, exposure: Floats, due: Floats) -> Floats:
        return set_sum((exposure - due) ** 2)


@declare
class EE_D(ExpectedExposureMeasure):
    """How unequally exposure is distributed over the documents, regardless of their relevance. 0 means that
    no document gets any; larger values, up to infinity, mean that few documents get most of it.

    The name stands for expected exposure disparity. e is that of EE_L.

    When to use: to see how concentrated exposure is, as on popular documents; read it beside EE_R, and prefer
    EE_L where one number is wanted.
    """

    in_words = "inequality of exposure"
    formula = "sum e**2"
    reference = REFERENCE
    direction = Direction.LOWER
    bounds = (0.0, np.inf)

    def score(self, exposure: Floats, due: Floats) -> Floats:
        return set_sum(exposure**2)


@declare
class EE_R(ExpectedExposureMeasure):
    """How well the exposure that documents get agrees with the exposure that they deserve by their relevance.
    0 means that no deserving document gets any; larger values, up to infinity, mean more agreement.

    The name stands for expected exposure relevance. e and e* are those of EE_L.

    When to use: to see how far exposure follows relevance; read it beside EE_D, and prefer EE_L where one
    number is wanted.
    """

    in_words = "exposure near merit"
    formula = "sum e e*"
    reference = REFERENCE
    direction = Direction.HIGHER
    bounds = (0.0, np.inf)

    def score(self, exposure: Floats, due: Floats) -> Floats:
        return set_sum(exposure * due)


NOTHING = "no query has both attention and relevance"
LEFT_OUT = "{count} of {of} queries have no ranked document of a group, or no relevant one, and add nothing"


@declare
class Amortised(GroupMeasure):
    """How far the attention that groups get over all queries together is from the attention that their
    relevance deserves: one value for a whole run. 0 means that each group gets what it deserves in the long
    run; the largest value is twice the number of queries.

    In each query the groups share an attention of 1, by the discount of DCG at their ranks, and a relevance
    of 1, by the grades of all judged documents; both are weighted by membership. What a group gets too much
    in one query makes up for what it lacks in another. Documents without a group are left out of both.
    With ``queries=`` the value of the first ten queries, the first twenty, .. shows how the difference grows.

    When to use: where fairness may be reached over many queries together; prefer AWRF where every list
    has to be fair on its own.
    """

    in_words = "long-run exposure error"
    formula = "sum_g |sum_q a_gq - sum_q r_gq|, a_gq attention of g in q, r_gq its relevance, each of sum 1"
    reference = "Biega, Gummadi and Weikum 2018, Equity of attention, SIGIR, Eq. 4"
    direction = Direction.LOWER
    bounds = (0.0, np.inf)
    undefined_when: ClassVar[Mapping[str, str]] = {
        NOTHING: "no query has a ranked document and a relevant one that belong to a group"
    }
    over_queries = True

    missing: str = missing_parameter(NONE, "error")

    @property
    def needs(self) -> frozenset[str]:
        return frozenset(
            {f"ranked.{self.source}", f"judged.{self.source}", "judged.relevance", "ranked.relevance"}
        )

    def compute(self, evidence: RankedEvidence) -> Result:
        curve, counted = self.curve(evidence)
        value = curve[-1:] if len(curve) else np.zeros(1)
        left = int((~counted).sum())
        notes = (Note(LEFT_OUT, left, len(counted)),) if left else ()
        return Result(value, {NOTHING: np.array([not counted.any()])}, notes=notes)

    def curve(self, evidence: RankedEvidence) -> tuple[Floats, Bools]:
        """(Q,) twice: the value after each query, and which queries add to it."""
        weights = attention.log2().weights(evidence.ranked.depth)  # (K,)
        given = padded_sum(self.membership(evidence) * weights[:, None])  # (Q, L)
        judged = evidence.reference["judged"]
        grades = np.maximum(judged.padded("relevance"), 0).astype(float)  # (Q, J)
        due = set_sum(judged.padded(self.source) * grades[:, :, None])  # (Q, L)
        all_given, all_due = given.sum(axis=1, keepdims=True), due.sum(axis=1, keepdims=True)
        counted = (all_given > 0) & (all_due > 0)  # (Q, 1)
        apart = (divide(given, all_given) - divide(due, all_due)) * counted
        return np.abs(np.cumsum(apart, axis=0)).sum(axis=1), counted[:, 0]
