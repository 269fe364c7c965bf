"""Attention-weighted rank fairness: how far the attention that groups get is from what they should get."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evenrank import attention
from evenrank.attention import Attention
from evenrank.errors import ParameterError
from evenrank.evidence.blocks import RankedEvidence
from evenrank.grammar import choice, declare, flag, parameter, term_of
from evenrank.measures.base import Direction, Floats, Measure, Result
from evenrank.measures.neutrality import EMPTY_LIST, MISSING, MISSING_MEANS
from evenrank.measures.relevance import divide


def total_variation(p: Floats, q: Floats) -> Floats:
    """L1, not halved."""
    return np.asarray(np.abs(p - q).sum(axis=-1))


def kullback_leibler(p: Floats, q: Floats) -> Floats:
    """``sum p ln(p/q)``, with 0 ln 0 = 0, infinite where q = 0 < p."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / q), 0.0)
    return np.asarray(terms.sum(axis=-1))


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """The divergence in bits, not its root: 0 to 1."""
    middle = (p + q) / 2
    bits: Floats = (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / (2 * np.log(2))
    return bits


def hellinger(p: Floats, q: Floats) -> Floats:
    """``sqrt(sum (sqrt p - sqrt q)^2 / 2)``."""
    return np.asarray(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1) / 2))


DISTANCES = {"L1": total_variation, "JSD": jensen_shannon, "KL": kullback_leibler, "Hellinger": hellinger}
MOST = {"L1": 2.0, "JSD": 1.0, "KL": np.inf, "Hellinger": 1.0}


@declare
class AWRF(Measure):
    """Attention-weighted rank fairness: the distance of the groups' shares of attention from the targets.

    A document gives its attention to groups by their words in it, equally where it has none of them.
    ``fairness=True`` (JSD only) is 1 - JSD, the form of the TREC Fair Ranking tracks.
    """

    family = "words"
    formula = "distance(sum_r v_r a(d_r) / sum_r v_r, J), a_g(d) = c_g(d) / c(d)"
    reference = "Sapiezynski et al. 2019, WWW companion; Raj and Ekstrand 2022, SIGIR; texfair-2024, Eq. 14"
    direction = Direction.LOWER
    undefined_when: ClassVar[dict[str, str]] = {EMPTY_LIST: "the run has no documents for the query"}

    attention: Attention = parameter(attention.log2(), term_of("attention"), "how attention falls with rank")
    distance: str = parameter("L1", choice(*DISTANCES), "distance between achieved and target shares")
    fairness: bool = parameter(False, flag(), "give 1 - JSD, so that higher is fairer")
    missing: str = parameter("error", MISSING, MISSING_MEANS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fairness:
            if self.distance != "JSD":
                raise ParameterError(
                    f"AWRF: fairness=True is 1 - JSD and needs distance='JSD', got {self.distance!r}"
                )
            object.__setattr__(self, "direction", Direction.HIGHER)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({"ranked.words"})

    def range(self) -> tuple[float, float]:
        return 0.0, MOST[self.distance]

    def membership(self, evidence: RankedEvidence) -> Floats:
        """(Q, K, G): how a document divides its attention over the groups; 0 in the padding."""
        counts = evidence.ranked["words.counts"]
        total = counts.sum(axis=2, keepdims=True)  # (Q, K, 1)
        shares = np.where(total > 0, divide(counts, total), 1 / counts.shape[2])
        return shares * evidence.ranked.mask[:, :, None]

    def compute(self, evidence: RankedEvidence) -> Result:
        weights = self.attention.weights(evidence.ranked.depth)  # (K,)
        exposure = np.einsum("qkg,k->qg", self.membership(evidence), weights)  # (Q, G)
        achieved = divide(exposure, exposure.sum(axis=1, keepdims=True))
        value = DISTANCES[self.distance](achieved, evidence.query["words.target"])
        return Result(1 - value if self.fairness else value, {EMPTY_LIST: evidence.ranked.lengths == 0})
