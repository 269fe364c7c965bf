"""How far chance alone moves the shares of groups: units are dealt again, and queries are drawn again.

Symbols, as in the equations below: ``omega`` (Q,) are the weights of queries and sum to 1. ``w`` is the
attention that a labelled document gets in the first places of a list; it sums to 1 in a list. A unit ``u`` is
what a label belongs to, as a seller, or the document itself. ``m`` (U, J) is how far a unit belongs to each
group, ``n`` (U,) how many labelled documents of the catalogue it has. The shares are
``S = sum_q omega_q sum_d w_qd m_d`` (J,), the targets ``T`` (J,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s, UInt64s

DRAWS = 1999
EXACT = 1500  # units up to which all are dealt; of more, the heaviest are, and the others together are normal
HEAVY = 1000
LEAST_UNITS, LEAST_QUERIES = 8, 12  # effective numbers (Kish) below which there is no verdict
TINY = 1e-30


class Lists(NamedTuple):
    """The labelled documents of all lists, an entry for each that is found."""

    query: Int64s  # (P,): 0 to Q - 1
    row: Int64s  # (P,): of the membership
    weight: Floats  # (P,): attention in the first places, 0 below them; sums to 1 in each list


class Labelled(NamedTuple):
    """What is known of labelled documents."""

    member: Floats  # (N, J): rows sum to 1
    mass: Floats  # (N,): 1, or more for a document that counts for each of several groups
    unit: UInt64s | Int64s | None = (
        None  # (N,): who the label of a document belongs to; None: the document itself
    )


@dataclass(frozen=True)
class Chance:
    """What chance does to the shares of one attribute."""

    share: Floats  # (J,)
    target: Floats  # (J,)
    noise: Floats  # (B, J): g(share with units dealt again) - g(its centre)
    residual: (
        Floats  # (Q, J): sum_q xi_q residual_q, xi standard normal, is what further queries add on that scale
    )
    units: float  # effective number
    queries: float  # effective number
    fades: Floats  # (J,): the part of the variance that more queries would remove

    @property
    def enough(self) -> bool:
        return self.units >= LEAST_UNITS and self.queries >= LEAST_QUERIES - 0.01

    def in_order(self, groups: Int64s) -> Chance:
        """The same chance, with the groups in the order ``groups`` (J,)."""
        per_group = ("share", "target", "noise", "residual", "fades")
        return replace(self, **{name: getattr(self, name)[..., groups] for name in per_group})


class Band(NamedTuple):
    """Intervals that hold for all groups of all attributes together; each array is (J,)."""

    low: Floats
    high: Floats
    shown_below: Floats  # a share below it would have been shown to be less than the target
    shown_above: Floats
    blind: Bools  # not even a share of 0 would have been shown


def g(share: Floats) -> Floats:
    """The scale on which the noise of a share hardly depends on the share: arcsin sqrt."""
    scaled: Floats = np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0)))
    return scaled


def back(scaled: Floats) -> Floats:
    share: Floats = np.sin(np.clip(scaled, 0.0, np.pi / 2)) ** 2
    return share


def chance_of(
    lists: Lists,
    labels: Labelled,
    targets: Floats,
    omega: Floats | None = None,
    *,
    candidates: bool = False,
    seed: int = 0,
    draws: int = DRAWS,
) -> Chance:
    """What chance does to the shares of one attribute, from its lists and labels.

    ``targets`` (Q, J) are those of each query. Units are dealt again over the catalogue, which ``labels``
    list, or with ``candidates`` over the documents found, each against what its own lists hold.
    """
    count = len(targets)
    omega = np.full(count, 1 / count) if omega is None else omega / omega.sum()
    generator = np.random.default_rng(seed)
    query, row = lists.query, lists.row
    owner, n, m = np.arange(len(labels.mass)), labels.mass, labels.member  # (N,), (U,), (U, J)
    if labels.unit is not None:
        owner = np.unique(labels.unit, return_inverse=True)[1]
        n = summed(owner, labels.mass)
        m = summed(owner, labels.member * labels.mass[:, None]) / n[:, None]
    shares = summed(query, lists.weight[:, None] * labels.member[row], count)  # (Q, J): s_q
    share, target = omega @ shares, omega @ targets
    a = summed(row, omega[query] * lists.weight, len(owner))  # (N,)
    a_u = summed(owner, a)
    held = labels.mass[row] / summed(query, labels.mass[row], count)[query]
    net = lists.weight - held if candidates else lists.weight  # of each entry
    by_unit = _Net.of(query, owner[row], net, omega, len(n))
    between = np.maximum(a_u @ m**2 - (a_u @ m) ** 2, 0.0)  # (J,): S (1 - S) where each unit has one group

    if candidates:
        centre, moved = target, by_unit.sums
        weight = omega[query] * held
        mass = summed(owner[row], weight, len(n))
        seen = mass > 0
        e = summed(owner[row], weight[:, None] * targets[query], len(n))[seen] / mass[seen, None]
        v = np.maximum(e * (1 - e), 1e-9)
        redealt = dealt(
            generator, moved[seen, None] * np.sqrt(v), (m[seen] - e) / np.sqrt(v), draws, mass[seen]
        )
        of_lists = by_unit.cross @ (targets * (1 - targets))[by_unit.query]
        explained = of_lists + np.square(omega).sum() * (np.square(moved[seen]) @ v)
        explained *= between / np.maximum(target * (1 - target), 1e-9)
    else:
        # labels dealt by chance give the shares of the catalogue, whatever the target is
        centre, moved = n @ m / n.sum(), by_unit.sums - n / n.sum()
        h = spread_of_size(moved, n)
        redealt = dealt(generator, (moved / h)[:, None], h[:, None] * (m - centre), draws)
        explained = by_unit.kappa * between
    noise = g(centre + redealt) - g(centre)
    shared, whole = by_unit.kappa * between, max(np.square(moved).sum(), by_unit.kappa) * between

    inner = labels.member - m[owner] if labels.unit is not None else np.zeros((0, 0))  # (N, J)
    if (np.abs(inner) > 1e-9).any():  # labels differ within a unit
        by_document = _Net.of(query, row, net, omega, len(owner))
        own = by_document.sums - (0.0 if candidates else labels.mass / n.sum())
        slope = 2 * np.sqrt(np.maximum(centre * (1 - centre), 1e-9))
        noise += generator.standard_normal(noise.shape) * np.sqrt(_dealt_within(own, inner, owner)) / slope
        within = a @ np.square(inner)
        explained = explained + by_document.kappa * within
        shared = shared + by_document.kappa * within
        whole = whole + np.square(own).sum() * within

    # queries may differ by more than labels that are dealt again make them differ
    queries = 1 / np.square(omega).sum()
    gaps = shares - targets
    residual = omega[:, None] * (gaps - omega @ gaps)  # (Q, J)
    squares = np.square(residual).sum(axis=0)
    observed = squares * queries / max(queries - 1, 1)  # V_q
    steep = share * (1 - share)
    excess = np.where(steep > 1e-8, np.maximum(observed - explained, 0.0), 0.0)  # V_x
    scale = np.sqrt(excess / np.maximum(squares, TINY)) / (2 * np.sqrt(np.maximum(steep, 1e-9)))
    return Chance(
        share=share,
        target=target,
        noise=noise,
        residual=residual * scale,
        units=float(1 / np.square(a_u).sum()),
        queries=float(queries),
        fades=(shared + excess) / np.maximum(whole + excess, TINY),
    )


class _Net(NamedTuple):
    """Net attention by query and unit, w_qu, and what its products over queries come to."""

    query: Int64s  # (E,)
    cross: Floats  # (E,): omega_q^2 (w_qu^2 - 2 w_qu a_u)
    sums: Floats  # (U,): a_u = sum_q omega_q w_qu
    kappa: float  # sum_q omega_q^2 sum_u (w_qu - a_u)^2

    @classmethod
    def of(cls, query: Int64s, unit: Int64s, net: Floats, omega: Floats, units: int) -> _Net:
        key, where = np.unique(query * np.int64(units) + unit, return_inverse=True)
        query, unit, net = key // units, key % units, summed(where, net)
        sums = summed(unit, omega[query] * net, units)
        cross = np.square(omega[query]) * (np.square(net) - 2 * net * sums[unit])
        kappa = cross.sum() + np.square(omega).sum() * np.square(sums).sum()
        return cls(query, cross, sums, float(kappa))


def bands(attributes: Sequence[Chance], level: float = 0.95, *, seed: int = 0) -> list[Band]:
    """Intervals on the shares, which hold for all groups of all attributes together.

    With the quantiles ``up`` and ``down`` of the noise of each group and ``c``, the quantile of the largest
    noise of all groups in these units, the interval is ``[g^-1(g(S) - c up), g^-1(g(S) + c down)]``.
    """
    if not attributes:
        return []
    noise = np.concatenate([one.noise for one in attributes], axis=1)
    noise = noise + _of_queries(attributes, len(noise), seed)
    tail = (1 - level) / 2
    up = np.maximum(np.quantile(noise, 1 - tail, axis=0), 1e-6)
    down = np.maximum(-np.quantile(noise, tail, axis=0), 1e-6)
    farthest = np.maximum(noise / up, -noise / down).max(axis=1)
    c = max(1.0, float(np.quantile(farthest, level, method="higher")))
    found, start = [], 0
    for one in attributes:
        own = slice(start, start := start + len(one.share))
        above, below = c * up[own], c * down[own]
        at, aim = g(one.share), g(one.target)
        blind = (below >= aim) | (above <= 1e-6 * c)
        found.append(Band(back(at - above), back(at + below), back(aim - below), back(aim + above), blind))
    return found


def _of_queries(attributes: Sequence[Chance], draws: int, seed: int) -> Floats:
    """(B, J): sum_q xi_q residual_q for all attributes at once; xi is normal, wider where queries are few."""
    generator = np.random.default_rng((seed, 1))
    residual = np.concatenate([one.residual for one in attributes], axis=1)
    queries = (slice(start, start + 4096) for start in range(0, len(residual), 4096))
    normal = sum(generator.standard_normal((draws, len(residual[some]))) @ residual[some] for some in queries)
    freedom = max(min(one.queries for one in attributes) - 1, 1)
    spread: Floats = normal * np.sqrt(freedom / generator.chisquare(freedom, draws))[:, None]
    return spread


def dealt(
    generator: np.random.Generator, weights: Floats, labels: Floats, draws: int, chance: Floats | None = None
) -> Floats:
    """(B, J): draws of ``sum_u weights[u] labels[pi(u)]``, less its mean.

    ``pi`` is a permutation of up to 1,500 units. Of more, and where ``chance`` (U,) says how likely each
    label is drawn, labels are drawn with replacement.
    """
    units, groups = labels.shape
    if units <= EXACT and chance is None:
        order = np.broadcast_to(np.arange(units), (128, units))
        found = np.concatenate(
            [
                weights[generator.permuted(order[: draws - start], axis=1), 0] @ labels
                for start in range(0, draws, 128)
            ]
        )
        centred: Floats = found - weights.mean() * labels.sum(axis=0)
        return centred
    if chance is None:
        weights = weights - weights.mean(axis=0)
        labels = labels - labels.mean(axis=0)
        covariance = labels.T @ labels / units
    else:
        chance = chance / chance.sum()
        labels = labels - chance @ labels
        covariance = (labels * chance[:, None]).T @ labels
    order = np.argsort(-np.abs(weights).sum(axis=1), kind="stable")
    heavy, rest = order[:HEAVY], weights[order[HEAVY:]]
    if chance is None:
        drawn = generator.integers(0, units, (draws, len(heavy)), dtype=np.int32)
    else:
        spots = (np.arange(1 << 20) + 0.5) / (1 << 20)  # drawing from a table of quantiles is fast
        table = np.searchsorted(np.cumsum(chance), spots).clip(0, units - 1).astype(np.int32)
        drawn = table[generator.integers(0, len(table), (draws, len(heavy)), dtype=np.int32)]
    heavy_weights = np.broadcast_to(weights[heavy], (len(heavy), groups)).astype(np.float32)
    found = np.stack(
        [labels[:, j].astype(np.float32)[drawn] @ heavy_weights[:, j] for j in range(groups)], axis=1
    )
    values, vectors = np.linalg.eigh(rest.T @ rest * covariance)
    light: Floats = generator.standard_normal((draws, groups)) @ (vectors * np.sqrt(values.clip(0.0))).T
    return found + light


def spread_of_size(moved: Floats, n: Floats) -> Floats:
    """(U,): h, where ``h^2 = n + rho n (n - 1)`` is how net attention spreads among units of n documents.

    ``rho`` in [0, 1] has the largest Gaussian quasi-likelihood; h is 1 where all units are of one size.
    """
    if np.ptp(n) == 0:
        return np.ones(len(n))
    sizes, of_size = np.unique(n, return_inverse=True)
    count = np.bincount(of_size)
    squares = summed(of_size, np.square(moved))
    tried = [sizes + rho * sizes * (sizes - 1) for rho in np.linspace(0, 1, 21)]
    best = min(tried, key=lambda h2: len(n) * np.log((squares / h2).sum()) + (count * np.log(h2)).sum())
    h: Floats = np.sqrt(best)[of_size]
    return h


def summed(codes: Int64s, values: Floats, count: int = 0) -> Floats:
    """(count,) or (count, J): the rows of ``values`` added up by code."""
    if values.ndim == 2:
        return np.stack([summed(codes, column, count) for column in values.T], axis=1)
    sums: Floats = np.bincount(codes, weights=values, minlength=count).astype(np.float64)
    return sums


def _dealt_within(own: Floats, inner: Floats, owner: Int64s) -> Floats:
    """(J,): the variance of ``own @ inner`` where the rows of ``inner`` are dealt again within units."""
    count = np.bincount(owner)
    centred = own - (summed(owner, own) / count)[owner]
    by_unit = summed(owner, np.square(centred)) / np.maximum(count - 1, 1)
    variance: Floats = by_unit @ summed(owner, np.square(inner))
    return variance
