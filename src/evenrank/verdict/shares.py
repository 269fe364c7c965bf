"""What each group gets of the attention in the first places, query by query: one table for each attribute.

Verdicts, advice, what-if steps, changes and gates all read these shares. ``GroupShare`` is the same as a
measure; here nothing is aligned, so that re-ranked orders can be tried by the dozen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention, uniform
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.evaluation import evaluate
from evenrank.ids import places_among
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.measures import Measure
from evenrank.measures.group_share import LIST, TARGET, GroupShare
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.lists import ATTENTION, LabelledLists, pairs_of, spread_over, unlabelled_attention
from evenrank.verdict.redealing import Chance, summed
from evenrank.verdict.targets import WhichTarget, chosen_target, with_chosen_target
from evenrank.verdict.value import MOST_UNLABELLED


def share_measure(attribute: str, cutoff: int, of: str = LIST, attention: Attention = ATTENTION) -> Measure:
    """The measure that verdicts are made of: the share of attention in the first places."""
    return GroupShare(attr=attribute, of=of, attention=attention, missing="none") @ cutoff


def attention_shares(
    run: Run,
    membership: Membership,
    cutoff: int,
    queries: Sequence[str],
    attention: Attention = ATTENTION,
) -> Floats:
    """(Q, L): the share of the attention in the first places that each group gets in the list of each query.

    ``p(g) = sum_{i<=k} v_i G_i(g) / sum_{i<=k} v_i sum_h G_i(h)``; NaN where no document has a group.
    """
    first = run.head(cutoff)
    pairs = pairs_of(first)
    rows = membership.rows_of(pairs)  # (P,)
    there = rows >= 0
    places = (np.arange(len(rows)) - first.offsets[pairs.query_codes])[there]
    weights = attention.weights(cutoff)[places]
    members = membership.shares.dense(rows[there])  # (P, L)
    mass = summed(pairs.query_codes[there], weights[:, None] * members, len(first))  # (lists, L)
    total = mass.sum(axis=1, keepdims=True)
    shares = np.divide(mass, total, out=np.full_like(mass, np.nan), where=total > 0)
    spots = places_among(queries, first.query_ids)
    return np.where((spots >= 0)[:, None], shares[spots], np.nan)


def asked_queries(run: Run, inputs: Inputs) -> tuple[str, ...]:
    """The queries with a list that are asked for; all, where none is named."""
    return run.query_ids if inputs.queries is None else run.select(inputs.queries).query_ids


@dataclass(frozen=True)
class GroupShares:
    """One attribute of one run: a row for each query, a column for each value, NaN where undefined."""

    membership: Membership
    target_kind: str
    catalogue: Floats  # (L,), NaN where it is not known
    documents: Floats  # (L,)
    queries: tuple[str, ...]
    shares: Floats  # (Q, L): of the attention in the first places
    candidates: Floats  # (Q, L)
    targets: Floats  # (Q, L)
    unlabelled: int  # of the documents in the first places
    ranked: int
    unseen: float  # the part of the attention that documents without a label get
    weights: Floats | None = None  # (Q,): of the queries; None where each counts once
    chance: Chance | None = None  # what chance does to the shares; None where no query has any
    reachable: Sequence[
        float
    ] = ()  # (L,): mean shares where lists are brought as near to targets as they can
    unreachable: Sequence[int] = ()  # (L,): how many lists cannot reach their target

    @property
    def defined(self) -> Bools:
        """(Q,): queries that have both a share and a target, and weigh something."""
        found = np.isfinite(self.shares).all(axis=1) & np.isfinite(self.targets).all(axis=1)
        return np.asarray(found if self.weights is None else found & (self.weights > 0))

    @property
    def omega(self) -> Floats | None:
        """The weights of the queries that count."""
        return None if self.weights is None else self.weights[self.defined]

    @property
    def enough(self) -> bool:
        """Whether there is enough for a verdict."""
        return self.chance is not None and self.chance.enough and self.unseen <= MOST_UNLABELLED


def group_shares(
    inputs: Inputs,
    run: Run,
    cutoff: int,
    depth: int,
    target: WhichTarget,
    attention: Attention,
    *,
    whole: bool,
) -> Iterator[GroupShares]:
    """What is known of each attribute that a verdict is possible on, for one run."""
    attributes = group_attributes(inputs)
    candidates = run.head(depth)
    kinds = {
        one.attribute.name: chosen_target(one, target, catalogue=whole or one.name not in inputs.named)
        for one in attributes
    }
    aimed = [with_chosen_target(one, kinds[one.attribute.name]) for one in attributes]
    if not aimed:
        return
    targets = _targets(inputs, candidates, aimed, cutoff)
    first = run.head(cutoff).select(asked_queries(run, inputs))
    weights = None if inputs.query_weights is None else weights_at(inputs.query_weights, first.query_ids)
    for one in aimed:
        queries, wanted = targets[one.attribute.name]
        has_catalogue = one.query_ids is None and (whole or one.name not in inputs.named)
        sizes = one.sizes() if has_catalogue else _sizes_in(one, candidates)
        bare = one.rows_of(pairs_of(first)) < 0  # (P,)
        made = GroupShares(
            membership=one,
            target_kind=kinds[one.attribute.name],
            catalogue=sizes / sizes.sum() if has_catalogue else np.full(len(sizes), np.nan),
            documents=sizes,
            queries=queries,
            shares=attention_shares(run, one, cutoff, queries, attention),
            candidates=attention_shares(run, one, depth, queries, uniform()),
            targets=wanted,
            unlabelled=int(bare.sum()),
            ranked=len(first.doc_ids),
            unseen=unlabelled_attention(first, bare, attention, weights),
            weights=None if inputs.query_weights is None else weights_at(inputs.query_weights, queries),
        )
        yield _with_lists(made, candidates, cutoff, attention)


def _targets(
    inputs: Inputs, candidates: Run, aimed: Sequence[Membership], cutoff: int
) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """For each attribute the queries, and the shares that groups should get for them (Q, L)."""
    # the documents that a target is taken from are those of this run, whatever others are compared with
    known = replace(
        inputs, runs={candidates.name: candidates}, words=None, against=None, groups=tuple(aimed),
        background=candidates, background_depth=None,
    )  # fmt: skip
    measures = {one.attribute.name: share_measure(one.attribute.name, cutoff, TARGET) for one in aimed}
    scores = evaluate(known, list(measures.values()))
    blocks = {name: scores.block(measure) for name, measure in measures.items()}
    return {
        name: (block.query_ids, np.where(block.status == 0, block.values, np.nan))
        for name, block in blocks.items()
    }


def _with_lists(table: GroupShares, run: Run, cutoff: int, attention: Attention) -> GroupShares:
    """The same with what the lists themselves tell: what chance does to the shares, what orders can reach."""
    defined = table.defined
    if not defined.any():
        return table
    counted_ones = {query for query, kept in zip(table.queries, defined, strict=True) if kept}
    kept = np.array([query in counted_ones for query in run.query_ids], dtype=bool)
    lists = LabelledLists.of(table.membership, run, kept, cutoff, attention)
    order = {query: row for row, query in enumerate(table.queries)}
    rows = np.array([order[query] for query, keep in zip(run.query_ids, kept, strict=True) if keep])
    targets = table.targets[rows]
    omega = None if table.weights is None else table.weights[rows]
    reachable, unreachable = lists.reach(targets, omega)
    return replace(
        table,
        chance=spread_over(
            lists.chance(
                table.target_kind, targets, omega, catalogue=bool(np.isfinite(table.catalogue).all())
            ),
            rows,
            len(defined),
        ),
        reachable=reachable.tolist(),
        unreachable=unreachable.tolist(),
    )


def _sizes_in(membership: Membership, run: Run) -> Floats:
    """(L,): how many different documents of each value the lists hold."""
    rows = np.unique(membership.rows_of(pairs_of(run)))
    found = membership.shares.rows(rows[rows >= 0])
    sizes: Floats = np.bincount(found.places, weights=found.values, minlength=found.width).astype(np.float64)
    return sizes


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
    first = run.head(cutoff).select(asked_queries(run, inputs))
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
