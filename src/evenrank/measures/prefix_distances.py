"""How far the groups among the first i documents are from the target, for every i.

Most distances compare shares alone. ``ratio`` also needs to know of how many documents they are shares, and
``exposure`` at which ranks the documents stand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.measures.divergences import DISTANCES, SIMILAR
from evenrank.measures.relevance import divide
from evenrank.measures.sums import padded_sum

RATIO, EXPOSURE = "ratio", "exposure"
OF_SHARES: dict[str, Callable[[Floats, Floats], Floats]] = {**DISTANCES, **SIMILAR}
OF_PREFIXES = (RATIO, EXPOSURE)


def prefix_distances(
    name: str, shares: Floats, mask: Bools, target: Floats, attention: Floats, smoothing: float
) -> tuple[Floats, Bools]:
    """(Q, K) twice: the distance of the first i documents, 0 where they have no group, and where they have.

    ``shares`` (Q, K, L) is the membership at each rank, ``target`` (Q, L), ``attention`` (K,).
    """
    weighed = shares * attention[:, None] if name == EXPOSURE else shares
    mass = np.cumsum(weighed, axis=1)  # (Q, K, L)
    total = padded_sum(mass, axis=2)  # (Q, K)
    some = (total > 0) & mask
    wanted = target[:, None, :]  # (Q, 1, L)
    with np.errstate(invalid="ignore"):  # a query without a target
        if name == RATIO:
            apart = _largest_ratio(mass + smoothing, wanted * total[:, :, None] + smoothing)
        elif name == EXPOSURE:
            apart = padded_sum((divide(mass, total[:, :, None]) - wanted) ** 2, axis=2)
        else:
            apart = OF_SHARES[name](divide(mass, total[:, :, None]), wanted)
    return np.where(some, np.maximum(np.nan_to_num(apart, posinf=np.inf), 0.0), 0.0), some


def _largest_ratio(have: Floats, due: Floats) -> Floats:
    """(Q, K): ``max_g max(p/q, q/p) - 1``, without values of which none are due and none are there.

    Both are divided by ``N + G s`` to be shares, which leaves their ratio as it is.
    """
    neither = (have <= 0) & (due <= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.maximum(have / due, due / have)
    return np.asarray(np.where(neither, 1.0, ratio).max(axis=2) - 1)
