"""Who stands at which rank: the share of each group at ranks 1, 2, 3 and so on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.lists import pairs_of


@dataclass(frozen=True, eq=False)
class RankShares:
    """One attribute of one system. A document without a group counts for none, any other for what its query
    weighs."""

    system: str
    attribute: str
    values: tuple[str, ...]
    shares: Floats  # (K, L): of the documents with a group that stand at this rank; NaN where there is none
    queries: tuple[int, ...]  # (K,): how many queries have such a document there


def rank_shares(inputs: Inputs, system: str, cutoff: int) -> tuple[RankShares, ...]:
    """For each attribute that a verdict is possible on.

    >>> from evenrank.data.membership import Membership
    >>> run = Run.build(["q", "q", "r"], ["a", "b", "b"], [2.0, 1.0, 1.0])
    >>> known = Inputs.of({"one": run}, groups=Membership.from_labels("size", {"a": "large", "b": "small"}))
    >>> (found,) = rank_shares(known, "one", 2)
    >>> found.shares.tolist(), found.queries
    ([[0.5, 0.5], [0.0, 1.0]], (2, 1))
    """
    run = inputs.runs[system]
    if not isinstance(run, Run):
        return ()
    first = run.head(cutoff) if inputs.queries is None else run.head(cutoff).select(inputs.queries)
    pairs = pairs_of(first)
    ranks = np.arange(len(first.doc_ids)) - np.repeat(first.offsets[:-1], first.lengths)
    weights = np.ones(len(first.doc_ids))
    if inputs.query_weights is not None:
        weights = np.repeat(weights_at(inputs.query_weights, first.query_ids), first.lengths)
    found = []
    for one in group_attributes(inputs):
        rows = one.rows_of(pairs)
        there = rows >= 0
        members = one.shares.dense(rows[there])  # (P, L)
        members = members / np.maximum(members.sum(axis=1, keepdims=True), 1e-12)
        depth = int(first.lengths.max(initial=0))
        sums = np.zeros((depth, members.shape[1]))
        np.add.at(sums, ranks[there], members * weights[there, None])
        counts = np.bincount(ranks[there], minlength=depth)
        total = np.bincount(ranks[there], weights=weights[there], minlength=depth)[:, None]
        with np.errstate(invalid="ignore"):
            shares = sums / total
        values = one.attribute.values
        found.append(RankShares(system, one.attribute.name, values, shares, tuple(counts.tolist())))
    return tuple(found)
