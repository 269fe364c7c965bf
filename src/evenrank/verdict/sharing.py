"""How far the queries of a verdict depend on each other, because they show the same documents."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention, log2
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.ids import StringRows
from evenrank.stats.crossed import CrossedSpread, crossed_spread
from evenrank.verdict.targets import CANDIDATES, CATALOGUE

ATTENTION = log2()  # how places count


def pairs_of(run: Run) -> Pairs:
    """Every ranked document with its query."""
    owners = np.repeat(np.arange(len(run)), run.lengths)
    return Pairs(run.query_ids, owners, StringRows(run.doc_ids), run.doc_hashes)


def unlabelled_attention(run: Run, bare: Bools, attention: Attention = ATTENTION) -> float:
    """The part of the attention of all lists that the documents marked by ``bare`` (P,) get."""
    if not len(bare):
        return 0.0
    places = np.arange(len(bare)) - np.repeat(run.offsets[:-1], run.lengths)
    weights = attention.weights(int(places.max()) + 1)[places]
    return float(weights[bare].sum() / weights.sum())


def widened_by(
    membership: Membership,
    run: Run,
    kept: Bools,
    cutoff: int,
    target: str,
    shares: Floats,
    targets: Floats,
    attention: Attention = ATTENTION,
) -> list[CrossedSpread]:
    """For each value how much its interval is to be widened.

    ``kept`` (Q,) marks the queries of the run that count; ``shares`` and ``targets`` (n, L) are theirs.
    """
    if not len(shares):
        return [CrossedSpread()] * len(membership.attribute.values)
    pairs = pairs_of(run)
    rows = membership.rows_of(pairs)
    here = (rows >= 0) & kept[pairs.query_codes]
    places = (np.arange(len(rows)) - run.offsets[pairs.query_codes])[here]  # of all, with a label or not
    queries, rows = pairs.query_codes[here], rows[here]
    sizes = np.bincount(queries, minlength=len(run))  # (Q,): labelled documents of each list
    weights = np.where(places < cutoff, attention.weights(int(places.max(initial=0)) + 1)[places], 0.0)
    weights /= np.bincount(queries, weights=weights, minlength=len(run))[queries]
    members = membership.dense_at(rows)  # (P, L)
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


def reachable_shares(
    membership: Membership, run: Run, kept: Bools, cutoff: int, attention: Attention = ATTENTION
) -> Floats:
    """(L,): the largest mean share that any order of the lists gives each value.

    That is the share where the documents of the value stand first. Documents without a label are left out.
    """
    pairs = pairs_of(run)
    rows = membership.rows_of(pairs)
    here = (rows >= 0) & kept[pairs.query_codes]
    queries = pairs.query_codes[here]
    members = membership.dense_at(rows[here])  # (P, L)
    starts = np.searchsorted(queries, queries)
    places = np.arange(len(queries)) - starts  # among the labelled documents of the list
    weights = np.where(places < cutoff, attention.weights(int(places.max(initial=0)) + 1)[places], 0.0)
    totals = np.bincount(queries, weights=weights, minlength=len(run))  # (Q,)
    found = np.full(members.shape[1], np.nan)
    for value, member in enumerate(members.T):
        first = np.lexsort((-member, queries))
        best = np.bincount(queries, weights=weights * member[first], minlength=len(run))
        if (totals > 0).any():
            found[value] = float((best[totals > 0] / totals[totals > 0]).mean())
    return found


def _all_of(membership: Membership, value: int) -> Floats:
    """(R,): how far every listed document is of one value; a whole table might not fit into memory."""
    listed = membership.shares
    own = listed.places == value
    owners = np.repeat(np.arange(len(membership)), np.diff(listed.offsets))[own]
    return np.bincount(owners, weights=listed.values[own], minlength=len(membership)).astype(np.float64)
