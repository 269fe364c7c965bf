"""Labels that may be wrong: from error rates and observed labels to what documents probably are.

``rates[a, b]`` is the chance that a document of the true value a is labelled b. With the true shares ``pi``
the chance that a document labelled b is of value a is ``rates[a, b] pi[a]`` over the sum of that over all a.

In a ranking it depends on where a document stands: if a ranker puts one group lower, a label of that group
near the top is more often an error than one further down. The shares of true values may therefore change from
the top of the lists to the bottom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s
from evenrank.data.evidence_source import Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import DataError, ParameterError

TOLERANCE = 1e-6
_STEPS = 1000
_CHANGE = 1e-9
PARTS = 50  # of documents at like ranks, at most: they are counted, so that many documents cost no more
PRIOR = 0.02  # the precision of a normal prior on log-odds: so weak that it only keeps them finite
STEPS = 50


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
    return _drawn(membership, membership.shares.dense(np.arange(len(membership))), generator)


def _drawn(membership: Membership, chances: Floats, generator: np.random.Generator) -> Membership:
    """One value for each document by its chances (R, L); a document without any gets none."""
    total = chances.sum(axis=1)
    limits = np.cumsum(chances, axis=1) / np.where(total > 0, total, 1)[:, None]
    places = (generator.random(len(chances))[:, None] >= limits).sum(axis=1)
    places = np.minimum(places, chances.shape[1] - 1)
    hard = Sparse.of_labels(np.where(total > 0, places, -1), chances.shape[1])
    return replace(membership, shares=hard, observed=None, rates=None)


def is_uncertain(membership: Membership) -> bool:
    """Whether some document has shares of several values, and values exclude each other."""
    return not membership.multilabel and bool((np.diff(membership.shares.offsets) > 1).any())


@dataclass(frozen=True, eq=False)
class RankedLabels:
    """The labelled documents of a run, each once, by where they stand."""

    membership: Membership  # of these documents, as they are labelled
    rates: Floats  # (true, observed)
    labels: Int64s  # (D,)
    part: Int64s  # (D,): of documents at like ranks, 0 for the first
    ends: Floats  # (P, 2): how near a part is to the top and to the bottom of the lists; rows sum to 1

    @classmethod
    def of(cls, run: Run, membership: Membership) -> RankedLabels:
        observed = membership.observed
        if observed is None or membership.rates is None:
            raise ParameterError(f"{membership!r} has no error rates")
        codes = np.repeat(np.arange(len(run.query_ids)), run.lengths)
        rows = observed.rows_of(Pairs(run.query_ids, codes, run.ids_at()))
        ranks = np.arange(len(codes)) - np.repeat(run.offsets[:-1], run.lengths) + 1
        known = rows >= 0
        documents, places = np.unique(rows[known], return_inverse=True)  # (D,)
        level = np.bincount(places, weights=np.log2(ranks[known])) / np.maximum(np.bincount(places), 1)
        held = replace(
            observed,
            doc_ids=observed.doc_ids.take(pa.array(documents)),
            query_codes=observed.query_codes[documents],
        )
        count = min(PARTS, max(1, len(documents)))
        part = np.empty(len(documents), dtype=np.int64)
        part[np.argsort(level, kind="stable")] = np.arange(len(documents)) * count // max(1, len(documents))
        height = np.bincount(part, weights=level, minlength=count) / np.maximum(
            np.bincount(part, minlength=count), 1
        )
        down = (height - height.min()) / max(float(np.ptp(height)), 1e-9)
        labels = observed.shares.dense(documents).argmax(axis=1)
        return cls(held, membership.rates, labels, part, np.stack([1 - down, down], axis=1))

    def drawn(self, generator: np.random.Generator) -> Membership:
        """One value for each document and all lists, drawn by what its label means where it stands.

        The shares of true values are those of documents drawn again, since they are not known either.
        """
        width, documents = len(self.rates), len(self.labels)
        again = generator.integers(0, max(1, documents), documents)
        cells = np.bincount(self.part[again] * width + self.labels[again], minlength=len(self.ends) * width)
        shares = shares_between(self.ends, cells.reshape(-1, width), self.rates)
        chances = np.stack([posterior(self.rates, own) for own in shares])  # (P, true, observed)
        return _drawn(self.membership, chances[self.part, :, self.labels], generator)


def shares_between(ends: Floats, counts: Int64s, rates: Floats) -> Floats:
    """(P, true): shares whose log-odds change linearly between two ends, from labels counted in each part.

    They are ``softmax(ends @ odds.T)``. The ``odds`` (true, 2) maximise the likelihood of ``counts`` (P,
    observed), which expect ``shares @ rates``, less ``PRIOR / 2`` times their squares, by Fisher scoring.

    >>> rates = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> shares_between(np.full((1, 2), 0.5), np.array([[420, 580]]), rates).round(2).tolist()
    [[0.4, 0.6]]
    """
    odds = np.zeros((len(rates), 2))
    for _ in range(STEPS):
        shares = np.exp(ends @ odds.T)
        shares /= shares.sum(axis=1, keepdims=True)  # (P, true)
        seen = np.maximum(shares @ rates, 1e-12)  # (P, observed)
        slope = shares[:, :, None] * (rates - seen[:, None, :])  # (P, true, observed): of seen, by log-odds
        score = np.einsum("pab,pb,ps->as", slope, counts / seen, ends) - PRIOR * odds
        weight = counts.sum(axis=1)[:, None] / seen
        fisher = np.einsum("pab,pcb,pb,ps,pt->asct", slope, slope, weight, ends, ends, optimize=True)
        fisher = fisher.reshape(odds.size, odds.size) + PRIOR * np.eye(odds.size)
        step = np.linalg.solve(fisher, score.ravel()).reshape(odds.shape)
        step *= min(1.0, 2 / max(float(np.abs(step).max()), 1e-9))  # far steps overshoot
        odds += step
        if np.abs(step).max() < 1e-3:
            break
    return shares
