"""Labels that may be wrong: from error rates and observed labels to what documents probably are.

``rates[a, b]`` is the chance that a document of the true value a is labelled b. With the true shares ``pi``
the chance that a document labelled b is of value a is ``rates[a, b] pi[a]`` over the sum of that over all a.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.evidence_source import Sparse
from evenrank.data.membership import Membership
from evenrank.errors import DataError, ParameterError

TOLERANCE = 1e-6
_STEPS = 1000
_CHANGE = 1e-9


def checked_rates(rates: object, values: tuple[str, ...], name: str) -> Floats:
    """(L, L): rows are true values, columns observed ones, each row summing to 1."""
    table = np.asarray(rates, dtype=np.float64)
    if table.shape != (len(values), len(values)):
        raise DataError(f"{name}: error rates of shape {table.shape} do not fit {len(values)} values")
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(f"{name}: error rates must be numbers from 0 to 1")
    off = np.flatnonzero(np.abs(table.sum(axis=1) - 1) > TOLERANCE)
    if len(off):
        value, total = values[int(off[0])], table[off[0]].sum()
        raise DataError(f"{name}: the rates of the true value {value!r} sum to {total:g}, not to 1")
    return table


def true_shares(observed: Floats, rates: Floats) -> Floats:
    """(L,): the shares of true values that make the observed ones likeliest.

    Where ``observed = pi @ rates`` has a solution in shares it is that; else EM from equal shares,
    ``pi_a <- sum_b observed_b P(a | b)`` until nothing changes.

    >>> true_shares(np.array([0.42, 0.58]), np.array([[0.9, 0.1], [0.1, 0.9]])).round(3).tolist()
    [0.4, 0.6]
    """
    if abs(np.linalg.det(rates)) > _CHANGE:
        exact = np.asarray(np.linalg.solve(rates.T, observed), dtype=np.float64)
        if (exact >= 0).all():
            return np.asarray(exact / exact.sum())
    shares = np.full(len(rates), 1 / len(rates))
    for _ in range(_STEPS):
        updated = posterior(rates, shares) @ observed
        done = float(np.abs(updated - shares).max()) < _CHANGE
        shares = updated / updated.sum()
        if done:
            break
    return shares


def posterior(rates: Floats, shares: Floats) -> Floats:
    """(true, observed): ``P(a | b)``; all 0 for a label that no true value gives."""
    joint = rates * shares[:, None]
    total = joint.sum(axis=0)
    chances: Floats = np.divide(joint, total, out=np.zeros(joint.shape), where=total > 0)
    return chances


def corrected(membership: Membership, rates: object, shares: Floats | None = None) -> Membership:
    """The membership that labels with these error rates leave: shares instead of labels.

    ``shares`` are the true ones over all documents; without them they are estimated from the labels. The
    result remembers the labels as ``observed``.
    """
    membership = membership.by_id()  # values are drawn row by row, and must not depend on the source's order
    name = membership.source or membership.attribute.name
    if membership.multilabel or membership.exists is not None or membership.own:
        raise ParameterError(f"{name}: error rates need one value of the same few for each document")
    table = checked_rates(rates, membership.attribute.values, name)
    seen = membership.sizes() / max(1.0, float(membership.sizes().sum()))
    truth = true_shares(seen, table) if shares is None else np.asarray(shares, dtype=np.float64)
    chances = posterior(table, truth)  # (true, observed)
    lost = np.flatnonzero((chances.sum(axis=0) == 0) & (seen > 0))
    if len(lost):
        value = membership.attribute.values[int(lost[0])]
        raise DataError(f"{name}: documents are labelled {value!r}, but by the rates that never happens")
    soft = Sparse.of_dense(membership.shares.dense(np.arange(len(membership))) @ chances.T)  # (R, L)
    return replace(membership, shares=soft, observed=membership, rates=table)


def drawn(membership: Membership, generator: np.random.Generator) -> Membership:
    """One value for each document, drawn by its shares."""
    dense = membership.shares.dense(np.arange(len(membership)))  # (R, L)
    total = dense.sum(axis=1)
    limits = np.cumsum(dense, axis=1) / np.where(total > 0, total, 1)[:, None]
    places = (generator.random(len(dense))[:, None] >= limits).sum(axis=1)
    places = np.minimum(places, dense.shape[1] - 1)
    hard = Sparse.of_labels(np.where(total > 0, places, -1), dense.shape[1])
    return replace(membership, shares=hard, observed=None, rates=None)


def is_uncertain(membership: Membership) -> bool:
    """Whether some document has shares of several values, and values exclude each other."""
    return not membership.multilabel and bool((np.diff(membership.shares.offsets) > 1).any())
