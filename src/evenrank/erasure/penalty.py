"""A learnt penalty: what is subtracted from the score of a document that looks like one with the label."""

from __future__ import annotations

import math
from typing import NamedTuple

from evenrank.arrays import Array, Bools, Floats
from evenrank.erasure.logistic import logistic, probabilities
from evenrank.erasure.vector_files import VectorSource
from evenrank.errors import ParameterError


class LearntPenalty(NamedTuple):
    """``strength * p(x)``, where p is the probability of the label by a logistic regression on the vector
    before erasure."""

    strength: float
    weights: Floats  # (D + 1,): the last is the constant

    @classmethod
    def fit(cls, strength: float, vectors: VectorSource, labels: Bools, known: Bools) -> LearntPenalty:
        return cls(strength, logistic(vectors, labels, known=known).plain())

    def probability(self, x: Array) -> Floats:
        """(N,), or a number for one vector (D,)."""
        return probabilities(x @ self.weights[:-1] + self.weights[-1])


def check_strength(strength: float) -> float:
    if isinstance(strength, bool) or not 0 <= strength < math.inf:
        raise ParameterError(f"penalty must be a number >= 0, got {strength!r}")
    return float(strength)
