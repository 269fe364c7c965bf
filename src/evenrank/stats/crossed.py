"""Queries that share documents are not independent: how much wider must an interval over queries be?

The same document stands in the lists of many queries. If it happens to be of one group, all of these
queries lean to that group together, which an interval that takes queries for independent does not see.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.stats.student import student_quantile
from evenrank.stats.ties import TOLERANCE


class CrossedSpread(NamedTuple):
    """``times`` as large a standard error as that of independent queries, with its degrees of freedom."""

    times: float = 1.0
    degrees: float = math.inf

    def widening(self, count: int, level: float) -> float:
        """By how much to widen an interval of Student's t over ``count`` queries.

        >>> round(CrossedSpread(2.0, 10.0).widening(100, 0.95), 3)
        2.246
        """
        quantile = (1 + level) / 2
        own = min(self.degrees, count - 1.0)
        return self.times * student_quantile(quantile, own) / student_quantile(quantile, count - 1.0)


def crossed_spread(
    parts: Floats, queries: Int64s, documents: Int64s, rest: Floats | None = None
) -> CrossedSpread:
    """How much larger the standard error of a mean over queries is than if they shared no documents.

    ``parts`` (P,) are what the document ``documents[p]`` adds to the centred value of query ``queries[p]``.
    With the sum of squares of the queries' sums, ``S_q``, that of the documents' sums, ``S_d``, and that of
    the parts themselves, ``S``, the variance of the mean is ``V = S_q + S_d - S`` in place of ``S_q``, and
    the factor is ``sqrt(V / S_q)``, at least 1. ``rest`` (D,) is added to the documents' sums: what a
    document, ranked or not, adds to the target of all queries.

    A few documents that stand in very many lists say little about the variance of others. So the degrees of
    freedom are Satterthwaite's, ``V^2 / (S_q^2 / (n - 1) + sum of the documents' sums to the fourth)`` for n
    queries.

    Reference: Cameron, Gelbach and Miller, Robust inference with multiway clustering, 2011, Eq. 2.7;
    Satterthwaite, An approximate distribution of estimates of variance components, 1946, Eq. 17.

    >>> no_document_twice = crossed_spread(np.array([1.0, -1.0]), np.array([0, 1]), np.array([0, 1]))
    >>> one_for_all = crossed_spread(np.array([1.0, 1.0]), np.array([0, 1]), np.array([0, 0]))
    >>> no_document_twice.times, round(one_for_all.times, 3)
    (1.0, 1.414)
    """
    by_query = np.bincount(queries, weights=parts)
    rest = np.zeros(0) if rest is None else rest
    by_document = np.bincount(documents, weights=parts, minlength=len(rest)).astype(np.float64)
    by_document[: len(rest)] += rest
    of_queries, of_documents, alone = (
        float(np.square(sums).sum()) for sums in (by_query, by_document, parts)
    )
    if of_queries <= TOLERANCE * max(1.0, alone) or of_documents <= alone:
        return CrossedSpread()
    count = len(np.unique(queries))
    variance = of_queries + of_documents - alone
    unsure = of_queries**2 / max(1, count - 1) + float(np.power(by_document, 4).sum())
    return CrossedSpread(math.sqrt(variance / of_queries), max(1.0, variance**2 / unsure))
