"""Labels with known error rates in a ranking: what they mean depends on where a document stands.

If a ranker puts one group lower, a label of that group near the top is more often an error than one further
down. Shares of true values are therefore estimated among documents that stand at like ranks.
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
    """The labelled documents of a run, each once, in parts that stand at like ranks."""

    membership: Membership  # of these documents, as they are labelled
    rates: Floats  # (true, observed)
    labels: Int64s  # (D,)
    parts: tuple[Int64s, ...]  # places of documents

    @classmethod
    def of(cls, run: Run, membership: Membership) -> RankedLabels:
        observed = membership.observed
        if observed is None or membership.rates is None:
            raise ParameterError(f"{membership!r} has no error rates")
        codes = np.repeat(np.arange(len(run.query_ids)), run.lengths)
        rows = observed.rows_of(Pairs(run.query_ids, codes, StringRows(run.doc_ids), run.doc_hashes))
        ranks = np.arange(len(codes)) - np.repeat(run.offsets[:-1], run.lengths) + 1
        known = rows >= 0
        documents, places = np.unique(rows[known], return_inverse=True)  # (D,)
        level = np.bincount(places, weights=np.log2(ranks[known])) / np.maximum(np.bincount(places), 1)
        held = replace(
            observed,
            doc_ids=observed.doc_ids.take(pa.array(documents)),
            query_codes=observed.query_codes[documents],
        )
        parts = np.array_split(np.argsort(level, kind="stable"), max(1, len(documents) // ENOUGH))
        labels = observed.shares.dense(documents).argmax(axis=1)
        return cls(held, membership.rates, labels, tuple(parts))

    def drawn(self, generator: np.random.Generator) -> Membership:
        """One value for each document and all lists, drawn by what its label means where it stands.

        The shares of true values are those of documents drawn again, since they are not known either.
        """
        width = len(self.rates)
        even = posterior(self.rates, np.full(width, 1 / width))
        values = np.zeros(len(self.labels), dtype=np.int64)  # (D,)
        for part in self.parts:
            seen = self.labels[part]
            again = np.bincount(generator.choice(seen, len(seen)), minlength=width) / max(1, len(seen))
            chances = posterior(self.rates, true_shares(again, self.rates))  # (true, observed)
            chances = np.where(chances.sum(axis=0) > 0, chances, even)
            limits = np.cumsum(chances, axis=0)[:, seen]  # (true, documents)
            values[part] = np.minimum((generator.random(len(seen)) >= limits).sum(axis=0), width - 1)
        hard = Sparse(np.arange(len(values) + 1, dtype=np.int64), values, np.ones(len(values)), width)
        return replace(self.membership, shares=hard, observed=None, rates=None)
