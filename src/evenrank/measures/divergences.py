"""How far one distribution is from another: arrays (.., L) over L values, one number for each.

``achieved`` comes first, ``target`` second; they broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.measures.sums import padded_sum

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


def kullback_leibler_of_labels(labels: npt.NDArray[np.int16], q: Floats) -> Floats:
    """(Q, K): the divergence from q (Q, L) of the first i labels (Q, K), for every i.

    With n_g of value g among them it is ``1/i sum_g (n_g ln n_g - n_g ln q_g) - ln i``. The next label
    changes one term of the sum: it grows by ``n ln n - (n - 1) ln (n - 1) - ln q_g``, n counting itself.
    A label of -1 adds nothing to the sum.
    """
    ranks = np.arange(1, labels.shape[1] + 1)
    growth = np.diff(_x_log_x(np.arange(labels.shape[1] + 1.0)), prepend=0.0)  # (K + 1,), by n; 0 for 0
    with np.errstate(divide="ignore"):
        logs = np.append(np.log(q), np.zeros((len(q), 1)), axis=1)  # (Q, L + 1): place -1 is the last
    count = np.zeros(labels.shape, dtype=np.int32)  # (Q, K): n of the value at hand
    for value in range(q.shape[1]):
        here = labels == value
        count += np.cumsum(here, axis=1, dtype=np.int32) * here
    places = labels % logs.shape[1] + np.arange(0, logs.size, logs.shape[1])[:, None]  # in logs as one row
    grown = np.cumsum(growth.take(count) - logs.take(places), axis=1)
    apart: Floats = grown / ranks - np.log(ranks)
    return apart


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
    return SUMS["JSD"].of(p, q)


def _jensen_shannon_term(p: Floats, q: Floats) -> Floats:
    return _x_log_x(p) - 2 * _x_log_x((p + q) / 2)


def _jensen_shannon(total: Floats, q: Floats) -> Floats:
    inner = total + over_values(_x_log_x(q))
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
    return SUMS["RNOD"].of(p, q)


def _order_aware_facts(q: Floats) -> tuple[Floats, Floats]:
    """The target, and the mean over i of ``|i - j|``, which weighs each j once."""
    values = np.arange(q.shape[-1])
    apart = np.abs(values[:, None] - values)  # (L, L)
    wanted = (q > 0).astype(float)  # (.., L)
    return q, wanted @ apart / wanted.sum(axis=-1, keepdims=True)


def _order_aware_term(p: Floats, q: Floats, weight: Floats) -> Floats:
    return np.asarray((p - q) ** 2 * weight)


def _root_normalised(total: Floats, q: Floats) -> Floats:
    return np.asarray(np.sqrt(total / (q.shape[-1] - 1)))


class SumOverValues(NamedTuple):
    """A divergence that is a function of a sum over values: each adds a term of its own share and target."""

    facts: Callable[[Floats], tuple[Floats, ...]]  # of the target: (.., L) each
    term: Callable[..., Floats]  # of a share and what the facts are for its value
    whole: Callable[[Floats, Floats], Floats]  # of the sum and the target

    def of(self, p: Floats, q: Floats) -> Floats:
        return self.whole(over_values(self.term(p, *self.facts(q))), q)


SUMS = {
    "JSD": SumOverValues(lambda q: (q,), _jensen_shannon_term, _jensen_shannon),
    "RNOD": SumOverValues(_order_aware_facts, _order_aware_term, _root_normalised),
}


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
