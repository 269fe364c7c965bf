"""How far the queries of a verdict depend on each other, because they show the same documents."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import log2
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.ids import StringRows
from evenrank.stats.crossed import CrossedSpread, crossed_spread
from evenrank.verdict.targets import CANDIDATES, CATALOGUE


def pairs_of(run: Run) -> Pairs:
    """Every ranked document with its query."""
    owners = np.repeat(np.arange(len(run)), run.lengths)
    return Pairs(run.query_ids, owners, StringRows(run.doc_ids), run.doc_hashes)


def widened_by(
    membership: Membership, run: Run, kept: Bools, cutoff: int, target: str, shares: Floats, targets: Floats
) -> list[CrossedSpread]:
    """For each value how much its interval is to be widened.

    ``kept`` (Q,) marks the queries of the run that count; ``shares`` and ``targets`` (n, L) are theirs.
    """
    if not len(shares):
        return [CrossedSpread()] * membership.shares.width
    pairs = pairs_of(run)
    rows = membership.rows_of(pairs)
    here = (rows >= 0) & kept[pairs.query_codes]
    queries, rows = pairs.query_codes[here], rows[here]
    sizes = np.bincount(queries, minlength=len(run))  # (Q,): labelled documents of each list
    place = np.arange(len(queries)) - (np.cumsum(sizes) - sizes)[queries]  # lists close up
    weights = np.where(place < cutoff, log2().weights(int(place.max(initial=0)) + 1)[place], 0.0)
    weights /= np.bincount(queries, weights=weights, minlength=len(run))[queries]
    members = membership.shares.dense(rows)  # (P, L)
    found = []
    for value, (share, wanted) in enumerate(zip(shares.T, targets.T, strict=True)):
        member, rest = members[:, value], None
        if target == CANDIDATES:
            apart = (weights - 1 / sizes[queries]) * (member - wanted.mean())
            parts = apart - weights * (share - wanted).mean()
        else:
            parts = weights * (member - share.mean())
        if target == CATALOGUE:  # the target is of the same documents: all of them add to it, ranked or not
            rest = (share.mean() - _all_of(membership, value)) * len(share) / len(membership)
        found.append(crossed_spread(parts, queries, rows, rest))
    return found


def _all_of(membership: Membership, value: int) -> Floats:
    """(R,): how far every listed document is of one value; a whole table might not fit into memory."""
    listed = membership.shares
    own = listed.places == value
    owners = np.repeat(np.arange(len(membership)), np.diff(listed.offsets))[own]
    return np.bincount(owners, weights=listed.values[own], minlength=len(membership)).astype(np.float64)
