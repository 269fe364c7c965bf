"""Attention that depends on the documents of a list, not on ranks alone: who reads on, what is cited."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention, log2
from evenrank.errors import DataError, ParameterError
from evenrank.evidence.ranked_evidence import RankedEvidence
from evenrank.grammar import declare, grade, number, parameter, term_of
from evenrank.measures.base import NOT_JUDGED
from evenrank.measures.relevance import stop_probability

NO_ATTENTION = "no attention"
UNATTENDED = {
    NOT_JUDGED: "the query has no judgements, and the reader stops by them (attention=cascade)",
    NO_ATTENTION: "no document of the list gets any attention (attention=score)",
}


class EvidenceAttention(Attention):
    """The attention of each document of a list, (Q, K)."""

    def weights(self, depth: int) -> Floats:
        raise ParameterError(
            f"attention={self!r} depends on the documents of a list: AWRF, UnderExposure and GroupShare take "
            "it, other measures take attention by rank alone (log2, rbp, reciprocal, uniform, file)"
        )


@declare
class cascade(EvidenceAttention):
    """``p**(i - 1) prod_{j<i} (1 - P_j)``: a reader looks at rank i if no document before satisfied them.

    P is the chance that a document satisfies, as in ERR; ``p`` is the patience from rank to rank.
    """

    needs = frozenset({"ranked.relevance", "judged.relevance"})

    p: float = parameter(1.0, number(0, 1, open_low=True), "probability of going on to the next rank")
    max_grade: float | None = parameter(
        None, grade(optional=True), "largest grade there is; None takes the judgements'"
    )

    def at(self, evidence: RankedEvidence) -> Floats:
        ranked = evidence.ranked
        most = evidence.query["relevance.max_grade"][:, None] if self.max_grade is None else self.max_grade
        stays = 1 - stop_probability(ranked["relevance"], most)  # (Q, K)
        arrive = np.cumprod(np.concatenate([np.ones((len(stays), 1)), stays], axis=1), axis=1)[:, :-1]
        return np.asarray(self.p ** np.arange(ranked.depth) * arrive * ranked.mask)

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        return {NOT_JUDGED: ~evidence.query["relevance.judged"]}


@declare
class score(EvidenceAttention):
    """The score of a document in the run, for runs whose scores are attention, as counts of citations."""

    needs = frozenset({"ranked.scores"})

    def at(self, evidence: RankedEvidence) -> Floats:
        weights = evidence.ranked["scores"]
        if (weights < 0).any():
            raise DataError(
                f"attention=score: scores must be >= 0 to be attention, the smallest is {weights.min():g}"
            )
        return np.asarray(weights * evidence.ranked.mask)

    def undefined(self, evidence: RankedEvidence) -> dict[str, Bools]:
        return {NO_ATTENTION: (evidence.ranked.lengths > 0) & (self.at(evidence).sum(axis=1) <= 0)}


def attention_parameter(default: Attention | None = None, *, more: str = "") -> Any:
    """The parameter ``attention`` of a measure or re-ranker; its errors name every kind there is."""
    return parameter(default or log2(), term_of("attention"), f"how attention falls with rank{more}")
