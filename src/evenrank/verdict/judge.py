"""From lists and groups to verdicts: shares, differences from a target, and what chance explains.

The unit is the query: the share of attention that a group gets in its first places is held against the
group's target, and the verdict is on the mean of these differences. Intervals are widened where queries show
the same documents. All groups of all attributes are tested together: every interval is at
``1 - (1 - level) / m`` for m tests (Bonferroni), so that an interval and a verdict never contradict each
other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.attention import Attention, uniform
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import ParameterError, counted
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, Known
from evenrank.measures import Measure, parse_measure
from evenrank.measures.group_share import LIST, TARGET, GroupShare
from evenrank.stats.crossed import CrossedSpread
from evenrank.stats.widened import WidenedInterval
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.sharing import (
    ATTENTION,
    pairs_of,
    reachable_shares,
    unlabelled_attention,
    widened_by,
)
from evenrank.verdict.targets import WhichTarget, chosen_target, with_chosen_target
from evenrank.verdict.value import (
    FAVOURED,
    LEAST,
    LESS,
    MOST_UNLABELLED,
    NOT_SHOWN,
    TOO_FEW,
    GroupFinding,
    RelevanceFinding,
    Verdict,
    WorstQuery,
    level_of_each,
)

CUTOFF, DEPTH, LEVEL = 10, 100, 0.95
WORST = 3


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
    wider: Sequence[CrossedSpread]  # (L,): intervals are widened, since queries share documents
    reachable: Sequence[float]  # (L,): the largest shares that any order of the candidates gives
    unlabelled: int  # of the documents in the first places
    ranked: int
    unseen: float  # the part of the attention that documents without a label get

    @property
    def defined(self) -> Bools:
        """(Q,): queries that have both a share and a target."""
        return np.asarray(np.isfinite(self.shares).all(axis=1) & np.isfinite(self.targets).all(axis=1))

    def enough(self) -> Bools:
        """(L,): the groups that a verdict is possible on."""
        many: Bools = self.documents >= LEAST
        return many & (int(self.defined.sum()) >= LEAST) & (self.unseen <= MOST_UNLABELLED)

    @property
    def tests(self) -> int:
        """How many differences are tested; of two groups one gets what the other does not."""
        count = int(self.enough().sum())
        return min(count, 1) if len(self.documents) == 2 else count


def verdicts(
    run: Any,
    *,
    cutoff: int = CUTOFF,
    depth: int = DEPTH,
    target: WhichTarget = None,
    catalogue: bool | None = None,
    level: float = LEVEL,
    clicks: bool = False,
    attention: Attention = ATTENTION,
    **known: Unpack[Known],
) -> tuple[Verdict, ...]:
    """A verdict for each system and each attribute: the groups, and the words where they are counted.
    ``without_verdict`` names those that get none.

    The inputs are those of ``evaluate``. ``target`` is catalogue, candidates (the first ``depth`` documents
    of a query), equal or given, for all attributes or by name (``*`` is for those not named); without it an
    attribute's own target, else the catalogue, or where ``catalogue`` is False the candidates.
    ``catalogue`` says whether the labelled documents are all that there are; by default they are taken for
    that where ``documents`` are known. ``clicks`` says that the judgements come from clicks. ``attention``
    is how places count.

    >>> from evenrank.data.membership import Membership
    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> (found,) = verdicts(run, groups=Membership.from_labels("size", {"a": "large", "b": "small"}))
    >>> [(group.value, round(group.share, 3), group.decision) for group in found.groups]
    [('large', 0.613, 'too few'), ('small', 0.387, 'too few')]
    """
    inputs = Inputs.of(run, **known)
    for name, value in (("cutoff", cutoff), ("depth", depth)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"{name} must be an integer >= 1, got {value!r}")
    whole = inputs.documents is not None if catalogue is None else catalogue
    found: list[Verdict] = []
    for system, ranking in inputs.runs.items():
        if isinstance(ranking, Run):
            relevance = _relevance(inputs, system, ranking, cutoff, clicks=clicks)
            tables = list(_tables(inputs, ranking, cutoff, depth, target, attention, whole=whole))
            tests = sum(table.tests for table in tables)
            judged = (_judged(table, system, inputs, cutoff, depth, level, tests) for table in tables)
            found += [replace(verdict, relevance=relevance) for verdict in judged]
    return tuple(found)


def share_measure(attribute: str, cutoff: int, of: str = LIST, attention: Attention = ATTENTION) -> Measure:
    """The measure that verdicts are made of: the share of attention in the first places."""
    return GroupShare(attr=attribute, of=of, attention=attention, missing="none") @ cutoff


def _tables(
    inputs: Inputs,
    run: Run,
    cutoff: int,
    depth: int,
    target: WhichTarget,
    attention: Attention,
    *,
    whole: bool,
) -> Iterator[GroupShares]:
    attributes = group_attributes(inputs)
    candidates = run.head(depth)
    kinds = {
        one.attribute.name: chosen_target(one, target, catalogue=whole or one.name not in inputs.named)
        for one in attributes
    }
    aimed = [with_chosen_target(one, kinds[one.attribute.name]) for one in attributes]
    if not aimed:
        return
    known = replace(inputs, runs={run.name: candidates}, words=None, against=None, groups=tuple(aimed))
    # the documents that a target is taken from are those of this run, whatever others are compared with
    known = replace(known, background=candidates, background_depth=None)
    measures = {
        one.attribute.name: (
            share_measure(one.attribute.name, cutoff, attention=attention),
            GroupShare(attr=one.attribute.name, of=LIST, attention=uniform(), missing="none") @ depth,
            share_measure(one.attribute.name, cutoff, TARGET),
        )
        for one in aimed
    }
    scores = evaluate(known, [measure for three in measures.values() for measure in three])
    first = run.head(cutoff) if inputs.queries is None else run.head(cutoff).select(inputs.queries)
    for one in aimed:
        shares, found, targets = (scores.block(measure) for measure in measures[one.attribute.name])
        has_catalogue = one.query_ids is None and (whole or one.name not in inputs.named)
        sizes = one.sizes() if has_catalogue else _sizes_in(one, candidates)
        bare = one.rows_of(pairs_of(first)) < 0  # (P,)
        made = GroupShares(
            membership=one,
            target_kind=kinds[one.attribute.name],
            catalogue=sizes / sizes.sum() if has_catalogue else np.full(len(sizes), np.nan),
            documents=sizes,
            queries=shares.query_ids,
            shares=_values(shares),
            candidates=_values(found),
            targets=_values(targets),
            wider=(),
            reachable=(),
            unlabelled=int(bare.sum()),
            ranked=len(first.doc_ids),
            unseen=unlabelled_attention(first, bare, attention),
        )
        yield _with_lists(made, candidates, cutoff, attention)


def _with_lists(table: GroupShares, run: Run, cutoff: int, attention: Attention) -> GroupShares:
    """The same with what the lists themselves tell: how far they share documents, what orders can reach."""
    counted_ones = {query for query, kept in zip(table.queries, table.defined, strict=True) if kept}
    kept = np.array([query in counted_ones for query in run.query_ids], dtype=bool)
    wider = widened_by(
        table.membership,
        run,
        kept,
        cutoff,
        table.target_kind,
        table.shares[table.defined],
        table.targets[table.defined],
        attention,
    )
    reachable = reachable_shares(table.membership, run, kept, cutoff, attention)
    return replace(table, wider=wider, reachable=reachable.tolist())


def _values(block: Any) -> Floats:
    values: Floats = np.where(block.status == 0, block.values, np.nan)
    return values


def _sizes_in(membership: Membership, run: Run) -> Floats:
    """(L,): how many different documents of each value the lists hold."""
    rows = np.unique(membership.rows_of(pairs_of(run)))
    found = membership.shares_at(rows[rows >= 0])
    sizes: Floats = np.bincount(found.places, weights=found.values, minlength=found.width).astype(np.float64)
    return sizes


def _judged(
    table: GroupShares, system: str, inputs: Inputs, cutoff: int, depth: int, level: float, tests: int
) -> Verdict:
    defined = table.defined
    shares, targets, candidates = (
        values[defined] for values in (table.shares, table.targets, table.candidates)
    )
    each = level_of_each(level, tests)
    enough = table.enough().tolist()
    groups = [
        _finding(table, place, shares[:, place], targets[:, place], candidates[:, place], each, enough[place])
        for place in range(len(table.documents))
    ]
    made = Verdict(
        system=system,
        attribute=table.membership.attribute.name,
        cutoff=cutoff,
        depth=depth,
        target=table.target_kind,
        groups=tuple(groups),
        queries=int(defined.sum()),
        tests=tests,
        level=level,
        notes=tuple(_notes(table, cutoff)),
        unlabelled=table.unlabelled,
        ranked=table.ranked,
        unseen=table.unseen,
    )
    return replace(made, worst=_worst(made, table, inputs))


def _finding(
    table: GroupShares,
    place: int,
    shares: Floats,
    targets: Floats,
    candidates: Floats,
    level: float,
    enough: bool,
) -> GroupFinding:
    differences = shares - targets
    wider = table.wider[place].widening(len(shares), level) if len(shares) > 1 else 1.0
    how = WidenedInterval(level, wider)
    share, low, high = _mean(shares, (0.0, 1.0), how)
    wide = (-float(targets.max()), 1 - float(targets.min())) if len(targets) else (-1.0, 1.0)
    difference, below, above = _mean(differences, wide, how)
    decision = TOO_FEW
    if enough and not math.isnan(below):
        decision = FAVOURED if below > 0 else LESS if above < 0 else NOT_SHOWN
    known = candidates[np.isfinite(candidates)]
    return GroupFinding(
        value=table.membership.attribute.values[place],
        documents=float(table.documents[place]),
        catalogue=float(table.catalogue[place]),
        candidates=float(known.mean()) if len(known) else math.nan,
        share=share,
        share_low=low,
        share_high=high,
        target=float(targets.mean()) if len(targets) else math.nan,
        difference=difference,
        low=below,
        high=above,
        decision=decision,
        wider=wider,
        reachable=table.reachable[place],
    )


def _mean(values: Floats, bounds: tuple[float, float], how: WidenedInterval) -> tuple[float, float, float]:
    """The mean with its interval."""
    if not len(values):
        return math.nan, math.nan, math.nan
    return float(values.mean()), *how.ends(values, bounds)


def _worst(verdict: Verdict, table: GroupShares, inputs: Inputs) -> tuple[WorstQuery, ...]:
    """The queries that give the lowest group least of its target; of equal ones those that found most."""
    if not verdict.less:
        return ()
    lowest = verdict.less[0]
    place = table.membership.attribute.values.index(lowest.value)
    rows = np.flatnonzero(table.defined)
    share, target, found = (values[rows, place] for values in (table.shares, table.targets, table.candidates))
    order = np.lexsort((-np.nan_to_num(found), share - target))
    order = order[(share < target)[order] & (share < found)[order]]  # and less than a random order gives
    texts = inputs.query_texts or {}
    return tuple(
        WorstQuery(
            query := table.queries[rows[spot]],
            texts.get(query, ""),
            float(share[spot]),
            float(found[spot]),
            float(target[spot]),
        )
        for spot in order[:WORST].tolist()
    )


def _notes(table: GroupShares, cutoff: int) -> Sequence[str]:
    name, notes = table.membership.attribute.name, []
    if table.unlabelled:
        notes.append(
            f"{name}: {counted(table.unlabelled, 'document', 'documents')} of {table.ranked:,} in the first "
            f"{cutoff} places {'has' if table.unlabelled == 1 else 'have'} no group and "
            f"{'counts' if table.unlabelled == 1 else 'count'} for none: shares are of the others"
        )
    left = len(table.queries) - int(table.defined.sum())
    if left:
        notes.append(
            f"{name}: {counted(left, 'query has', 'queries have')} no list, no group or no target, and "
            f"{'is' if left == 1 else 'are'} left out"
        )
    return notes


def _relevance(inputs: Inputs, system: str, run: Run, cutoff: int, *, clicks: bool) -> RelevanceFinding:
    if inputs.qrels is None:
        return RelevanceFinding()
    measure = parse_measure(f"nDCG@{cutoff}")
    known = replace(inputs, runs={system: run}, words=None, groups=(), background=None, background_depth=None)
    (row,) = evaluate(known, [measure]).summary()
    return RelevanceFinding(repr(measure), row.value, row.low, row.high, row.defined, clicks)
