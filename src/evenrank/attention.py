"""Position bias: how much of a reader's attention each rank gets. Shared by measures and re-rankers.

Weights start at rank 1 and are not normalised; whoever needs shares divides by the sum.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.errors import DataError, ParameterError
from evenrank.grammar import Term, declare, number, parameter, text


class Attention(Term):
    """The attention that each rank receives."""

    kind: ClassVar[str] = "attention"
    needs: ClassVar[frozenset[str]] = frozenset()  # the evidence that it depends on, as measures name it

    def weights(self, depth: int) -> Floats:
        """(K,): the weight of ranks 1 to ``depth``."""
        raise NotImplementedError

    def at(self, evidence: Any) -> Floats:
        """The weights for these lists: (K,), or (Q, K) where they depend on the documents."""
        return self.weights(evidence.ranked.depth)

    def undefined(self, evidence: Any) -> dict[str, Bools]:
        """The lists that get no attention, by reason."""
        return {}


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


@declare
class file(Attention):
    """The weight of each rank as a file says: lines of rank and weight, with a header or without.

    Ranks go from 1 on, each once; ranks behind the last one get nothing. So measured attention can be used:
    how often each place of a page is looked at, or how much an answer uses each place of its context.
    """

    path: str = parameter("", text(), "a file of ranks and weights, separated by commas, tabs or blanks")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.path:
            raise ParameterError("file: name the file of ranks and weights, as in file(path='curve.csv')")
        self.weights(1)  # what is wrong with it is said now

    def weights(self, depth: int) -> Floats:
        try:
            state = Path(self.path).stat()
        except OSError as error:
            raise DataError(f"{self.path}: {error.strerror or error}") from None
        given = _curve(self.path, state.st_mtime_ns, state.st_size)
        weights = np.zeros(depth)
        weights[: len(given)] = given[:depth]
        return weights


@lru_cache(maxsize=16)
def _curve(path: str, changed: int, size: int) -> tuple[float, ...]:
    """The weights of a file as it is now, from rank 1 on."""
    from evenrank.files import read_utf8

    found: dict[int, float] = {}
    for number_of_line, line in enumerate(read_utf8(path).split("\n"), 1):
        cells = line.replace(",", " ").split()
        if not cells or (number_of_line == 1 and not cells[0].isdigit()):
            continue
        where = f"{path}:{number_of_line}"
        try:
            rank, weight = (int(cells[0]), float(cells[1])) if len(cells) == 2 else (0, 0.0)
        except ValueError:
            rank, weight = 0, 0.0
        if rank < 1 or not math.isfinite(weight) or weight < 0:
            raise DataError(
                f"{where}: a line is a rank from 1 on and a weight >= 0, as '3 0.5', got {line.strip()!r}"
            )
        if rank in found:
            raise DataError(f"{where}: rank {rank} is there twice")
        found[rank] = weight
    missing = next((rank for rank in range(1, len(found) + 1) if rank not in found), None)
    if not found or missing is not None:
        raise DataError(f"{path}: rank {missing or 1} has no weight: ranks go from 1 on without gaps")
    if found[1] <= 0:
        raise DataError(f"{path}: the weight of rank 1 must be > 0, so that every list gets some attention")
    return tuple(found[rank] for rank in range(1, len(found) + 1))
