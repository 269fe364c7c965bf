"""Which queries have a value of an attribute more than once near the top of their list?"""

from __future__ import annotations

import numpy as np

from evenrank.arrays import ragged
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import ParameterError


def repeating_queries(run: Run, membership: Membership, *, depth: int = 20) -> tuple[str, ...]:
    """The queries of which two documents in the first ``depth`` ranks share a value of the attribute.

    gfr-2022 §5 keeps those for its test of exposure by companies, with a depth of 20: where every company
    is listed once, no order favours one of them. A document without a value shares none.

    >>> chain = Membership.from_labels("chain", {"a": "x", "b": "x", "c": "y"})
    >>> run = Run.build(["q1", "q1", "q2", "q2"], ["a", "b", "a", "c"], [2, 1, 2, 1])
    >>> repeating_queries(run, chain)
    ('q1',)
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 2:
        raise ParameterError(f"depth must be an integer >= 2, got {depth!r}")
    lengths = np.minimum(np.diff(run.offsets), depth)
    places = ragged(run.offsets[:-1], lengths)
    codes = np.repeat(np.arange(len(run.query_ids)), lengths)
    pairs = Pairs(run.query_ids, codes, run.ids_at(places))
    rows, values, shares = membership.entries(membership.rows_of(pairs))
    if shares is not None:
        rows, values = rows[shares > 0], values[shares > 0]
    width = len(membership.attribute.values)
    held, counts = np.unique(codes[rows] * width + values, return_counts=True)  # (query, value) by number
    found = set((held[counts > 1] // width).tolist())
    return tuple(query for place, query in enumerate(run.query_ids) if place in found)
