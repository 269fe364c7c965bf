"""An interval for a share that holds however small the share is."""

from __future__ import annotations

import math


def clopper_pearson(share: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """The shares under which a result as extreme as this one is not too unlikely, on either side.

    ``trials`` may be any number > 0, such as an effective sample size. Reference: Clopper and Pearson, The
    use of confidence or fiducial limits illustrated in the case of the binomial, 1934.

    >>> [round(limit, 4) for limit in clopper_pearson(0.0, 100)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv

    if math.isinf(trials):
        return share, share
    hits, misses, tail = share * trials, (1 - share) * trials, (1 - level) / 2
    low = float(betaincinv(hits, misses + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if share < 1 else 1.0
    return low, high
