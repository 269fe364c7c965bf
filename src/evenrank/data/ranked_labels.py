"""Labels with known error rates in a ranking: what they mean depends on where a document stands.

If a ranker puts one group lower, a label of that group near the top is more often an error than one further
down. The shares of true values may therefore change from the top of the lists to the bottom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s
from evenrank.data.evidence_source import Pairs, Sparse
from evenrank.data.label_error import posterior
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import ParameterError

PARTS = 50  # of documents at like ranks, at most: they are counted, so that many documents cost no more
PRIOR = 0.02  # the precision of a normal prior on log-odds: so weak that it only keeps them finite
STEPS = 50


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
        limits = np.cumsum(chances, axis=1)[self.part, :, self.labels]  # (D, true)
        values = np.minimum((generator.random(documents)[:, None] >= limits).sum(axis=1), width - 1)
        hard = Sparse.of_labels(values, width)
        return replace(self.membership, shares=hard, observed=None, rates=None)


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
