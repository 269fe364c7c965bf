"""Position bias: how much of a reader's attention each rank gets. Shared by measures and re-rankers.

Weights start at rank 1 and are not normalised; whoever needs shares divides by the sum.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evenrank.arrays import Floats
from evenrank.grammar import Term, declare, number, parameter


class Attention(Term):
    """The attention that each rank receives."""

    kind: ClassVar[str] = "attention"

    def weights(self, depth: int) -> Floats:
        """(K,): the weight of ranks 1 to ``depth``."""
        raise NotImplementedError


@declare
class log2(Attention):
    """``1 / log2(1 + i)``, the discount of DCG.

    >>> log2().weights(3).round(3).tolist()
    [1.0, 0.631, 0.5]
    """

    def weights(self, depth: int) -> Floats:
        return 1 / np.log2(np.arange(2, depth + 2, dtype=np.float64))


@declare
class rbp(Attention):
    """``(1 - p) p**(i - 1)``: a reader goes on to the next rank with probability ``p``."""

    p: float = parameter(0.8, number(0, 1, open_high=True), "probability of going on to the next rank")

    def weights(self, depth: int) -> Floats:
        return (1 - self.p) * self.p ** np.arange(depth, dtype=np.float64)


@declare
class reciprocal(Attention):
    """``1 / i``."""

    def weights(self, depth: int) -> Floats:
        return 1 / np.arange(1, depth + 1, dtype=np.float64)


@declare
class uniform(Attention):
    """Every rank alike."""

    def weights(self, depth: int) -> Floats:
        return np.ones(depth)


def cascade(stop: Floats) -> Floats:
    """The chance that a reader stops at each rank, reading from the top: ``P_i prod_{j<i} (1 - P_j)``.

    ``stop`` is (Q, K), the probability that the document at a rank satisfies; so is the result.
    """
    reach = np.cumprod(1 - stop, axis=-1)  # (Q, K): goes on past rank i
    arrive = np.concatenate([np.ones_like(reach[..., :1]), reach[..., :-1]], axis=-1)
    chance: Floats = stop * arrive
    return chance
