"""Queries that share documents are not independent: how much wider must an interval over queries be?

The same document stands in the lists of many queries. If it happens to be of one group, all of these
queries lean to that group together, which an interval that takes queries for independent does not see.
"""

from __future__ import annotations

import math

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.stats.ties import TOLERANCE


def crossed_spread(parts: Floats, queries: Int64s, documents: Int64s, rest: Floats | None = None) -> float:
    """By how much to widen an interval of a mean over queries, 1 where nothing is to be done.

    ``parts`` (P,) are what the document ``documents[p]`` adds to the centred value of query ``queries[p]``.
    With the sum of squares of the queries' sums, ``S_q``, that of the documents' sums, ``S_d``, and that of
    the parts themselves, ``S``, the variance of the mean is ``S_q + S_d - S`` in place of ``S_q``, and the
    result is ``sqrt(max(1, (S_q + S_d - S) / S_q))``. ``rest`` (D,) is added to the documents' sums: what a
    document, ranked or not, adds to the target of all queries.

    Reference: Cameron, Gelbach and Miller, Robust inference with multiway clustering, 2011, Eq. 2.7.

    >>> no_document_twice = crossed_spread(np.array([1.0, -1.0]), np.array([0, 1]), np.array([0, 1]))
    >>> one_for_all = crossed_spread(np.array([1.0, 1.0]), np.array([0, 1]), np.array([0, 0]))
    >>> no_document_twice, round(one_for_all, 3)
    (1.0, 1.414)
    """
    by_query = np.bincount(queries, weights=parts)
    rest = np.zeros(0) if rest is None else rest
    by_document = np.bincount(documents, weights=parts, minlength=len(rest)).astype(np.float64)
    by_document[: len(rest)] += rest
    squares = [float(np.square(sums).sum()) for sums in (by_query, by_document, parts)]
    if squares[0] <= TOLERANCE * max(1.0, squares[2]):
        return 1.0
    return math.sqrt(max(1.0, (squares[0] + squares[1] - squares[2]) / squares[0]))
