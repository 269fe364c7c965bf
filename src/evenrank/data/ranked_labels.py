"""Labels with known error rates in a ranking: what they mean depends on where a document stands.

If a ranker puts one group lower, a label of that group near the top is more often an error than one further
down. Shares of true values are therefore estimated for ranks that are near each other: 1, 2 to 3, 4 to 7 and
so on, joined until there are enough documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s
from evenrank.data.evidence_source import Pairs, Sparse
from evenrank.data.label_error import posterior, true_shares
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.ids import StringRows

ENOUGH = 60  # labelled documents from which shares are estimated


@dataclass(frozen=True, eq=False)
class RankedLabels:
    """The labelled documents of one run, with the ranks that each stands in."""

    membership: Membership  # of the labels, with the attribute and its target
    rates: Floats  # (true, observed)
    query_ids: tuple[str, ...]
    queries: Int64s  # (P,)
    blocks: Int64s  # (P,)
    labels: Int64s  # (P,)
    doc_ids: pa.LargeStringArray  # (P,)

    @classmethod
    def of(cls, run: Run, membership: Membership) -> RankedLabels:
        observed = membership.observed
        if observed is None or membership.rates is None:
            raise ParameterError(f"{membership!r} has no error rates")
        codes = np.repeat(np.arange(len(run.query_ids)), run.lengths)
        pairs = Pairs(run.query_ids, codes, StringRows(run.doc_ids), run.doc_hashes)
        rows = observed.rows_of(pairs)
        ranks = np.arange(len(codes)) - np.repeat(run.offsets[:-1], run.lengths) + 1
        known = np.flatnonzero(rows >= 0)
        labels = observed.shares.dense(rows[known]).argmax(axis=1)
        blocks = _joined(np.floor(np.log2(ranks[known])).astype(np.int64))
        ids = run.doc_ids.take(pa.array(known))
        return cls(observed, membership.rates, run.query_ids, codes[known], blocks, labels, ids)

    def drawn(self, queries: Int64s, generator: np.random.Generator) -> Membership:
        """One value for each document, drawn by what its label means at its ranks, in these queries."""
        times = np.bincount(queries, minlength=len(self.query_ids))[self.queries].astype(float)  # (P,)
        width = len(self.rates)
        places = np.zeros(len(self.labels), dtype=np.int64)
        for block in np.unique(self.blocks):
            here = self.blocks == block
            seen = np.bincount(self.labels[here], times[here], minlength=width)
            total = seen.sum()
            shares = true_shares(seen / total, self.rates) if total else np.full(width, 1 / width)
            limits = np.cumsum(posterior(self.rates, shares), axis=0)[:, self.labels[here]]  # (L, n)
            places[here] = (generator.random(int(here.sum())) >= limits).sum(axis=0)
        places = np.minimum(places, width - 1)
        count = len(places)
        hard = Sparse(np.arange(count + 1, dtype=np.int64), places, np.ones(count), width)
        return replace(
            self.membership, doc_ids=self.doc_ids, query_ids=self.query_ids, query_codes=self.queries,
            shares=hard, observed=None, rates=None,
        )  # fmt: skip


def _joined(blocks: Int64s) -> Int64s:
    """The blocks, of which those with too few documents are joined with the next ones."""
    sizes = np.bincount(blocks) if len(blocks) else np.zeros(0, np.int64)
    names, held, name = np.zeros(len(sizes), dtype=np.int64), 0, 0
    for place, size in enumerate(sizes.tolist()):
        names[place] = name
        held += size
        if held >= ENOUGH:
            name, held = name + 1, 0
    if 0 < held < ENOUGH and name:  # too few are left at the end
        names[names == name] = name - 1
    return names[blocks] if len(blocks) else blocks
