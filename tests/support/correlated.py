"""How two measures agree over the queries of one system, as a comparison says it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from drawn import made
from numpy.typing import ArrayLike

from evenrank import compare


class Found(NamedTuple):
    value: float
    low: float
    high: float
    p: float
    n: int
    reason: str | None
    p_method: str
    least_p: float


def correlated(first: ArrayLike, second: ArrayLike, method: str) -> Found:
    """Two measures over the queries of one system, which are the points."""
    both = {"AP": np.asarray(first, dtype=float), "RR": np.asarray(second, dtype=float)}
    matrix, names, said = compare(made({"a": both, "b": both})).correlations(
        method, over="queries", system="a"
    )
    assert (names, said, matrix.method) == (("AP", "RR"), (), method)
    values = (matrix.values, matrix.low, matrix.high, matrix.p_values, matrix.counts)
    own = Found(
        *(part[0, 1] for part in values), matrix.reasons[0][1], matrix.p_methods[0][1], matrix.least_p[0, 1]
    )
    for part in (*values, matrix.least_p):
        np.testing.assert_array_equal(part, part.T)
    return own
