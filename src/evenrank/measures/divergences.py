"""How far one distribution is from another: arrays (.., L) over L values, one number for each.

``achieved`` comes first, ``target`` second; they broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.measures.sums import divide, padded_sum

_TINY = np.finfo(np.float64).tiny


def over_values(array: Floats) -> Floats:
    """The sum over the last axis: for few values neighbours are added many times faster than by ``sum``."""
    return padded_sum(array, axis=-1)


def total_variation(p: Floats, q: Floats) -> Floats:
    """L1, not halved."""
    return np.asarray(np.abs(p - q).sum(axis=-1))


def kullback_leibler(p: Floats, q: Floats) -> Floats:
    """``sum p ln(p/q)``, with 0 ln 0 = 0, infinite where q = 0 < p."""
    lost = q <= 0
    terms = _x_log_x(p)
    terms -= p * np.log(np.where(lost, 1.0, q))
    apart = over_values(terms)
    return np.where((lost & (p > 0)).any(axis=-1), np.inf, apart) if lost.any() else apart


def _x_log_x(x: Floats) -> Floats:
    """``x ln x``, 0 for 0."""
    out = np.maximum(x, _TINY)
    np.log(out, out=out)
    out *= x
    return out


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """The divergence in bits, not its root: 0 to 1.

    As entropies, H((p + q)/2) - (H(p) + H(q))/2: each logarithm is taken once.
    """
    inner = over_values(_x_log_x(p) - 2 * _x_log_x((p + q) / 2)) + over_values(_x_log_x(q))
    bits: Floats = np.clip(inner / (2 * np.log(2)), 0.0, 1.0)  # equal distributions differ in the last bit
    return bits


def hellinger(p: Floats, q: Floats) -> Floats:
    """``sqrt(sum (sqrt p - sqrt q)^2 / 2)``."""
    return np.asarray(np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1) / 2))


def normalised_match_distance(p: Floats, q: Floats) -> Floats:
    """NMD: ``sum_i |P_i - Q_i| / (L - 1)`` of the cumulative shares P, Q: 0 to 1."""
    cumulative = np.cumsum(p - q, axis=-1)  # P - Q
    distance: Floats = over_values(np.abs(cumulative)) / (p.shape[-1] - 1)
    return distance


def root_normalised_order_aware(p: Floats, q: Floats) -> Floats:
    """RNOD: ``sqrt(OD / (L - 1))``, 0 to 1.

    OD is the mean over i with q_i > 0 of ``sum_j |i - j| (p_j - q_j)^2``.
    """
    values = np.arange(q.shape[-1])
    apart = np.abs(values[:, None] - values)  # (L, L)
    wanted = (q > 0).astype(float)  # (.., L)
    weight = wanted @ apart / wanted.sum(axis=-1, keepdims=True)  # the mean over i, which weighs each j once
    return np.asarray(np.sqrt(over_values((p - q) ** 2 * weight) / (q.shape[-1] - 1)))


def largest_difference(p: Floats, q: Floats) -> Floats:
    """``max |p - q|`` over the values, 0 to 1: the value that is farthest from its target decides."""
    return np.asarray(np.abs(p - q).max(axis=-1, initial=0.0))


DISTANCES = {"L1": total_variation, "JSD": jensen_shannon, "KL": kullback_leibler, "Hellinger": hellinger}
MOST = {"L1": 2.0, "JSD": 1.0, "KL": np.inf, "Hellinger": 1.0}

SIMILAR = {
    "JSD": jensen_shannon,
    "NMD": normalised_match_distance,
    "RNOD": root_normalised_order_aware,
    "MAX": largest_difference,
}
MAX = "MAX"  # values cannot be counted together, since the largest difference of one decides
ORDERED = frozenset({"NMD", "RNOD"})  # these see the distance between values: two values, or an order


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
