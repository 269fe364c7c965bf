"""Which of several systems no other one beats, where there is more than one thing to be good at."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

EQUAL = 1e-12  # sums of the same numbers in another order


def pareto_front(values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """(N,): the rows of (N, M) that no other is at least as good as everywhere, and better somewhere.

    Larger is better in every column. A row with a value that is not finite is not on the front.

    >>> pareto_front([[0.9, 0.1], [0.5, 0.5], [0.4, 0.5], [0.1, float("nan")]]).tolist()
    [True, True, False, False]
    """
    table: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64)  # (N, M)
    known = np.asarray(np.isfinite(table).all(axis=1))
    table = np.where(known[:, None], table, -np.inf)
    with np.errstate(invalid="ignore"):
        ahead = table[:, None, :] - table[None, :, :]  # (N, N, M): of the first over the second
    beats = (ahead >= -EQUAL).all(axis=2) & (ahead > EQUAL).any(axis=2)  # what is not known beats nothing
    return np.asarray(known & ~beats.any(axis=0))
