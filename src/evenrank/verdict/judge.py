"""From lists and groups to verdicts: shares, their targets, and what chance does to them.

The share of attention that a group gets in the first places, a mean over queries, is held against the group's
target. Chance is which units carry which label, and which queries were asked (``redealing``). The intervals
hold for all groups of all attributes together, and a verdict is an interval that excludes the target, so that
interval and verdict never contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from evenrank.arrays import Floats
from evenrank.attention import Attention
from evenrank.data.run import Run
from evenrank.errors import ParameterError, counted
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs, KnownData
from evenrank.measures import parse_measure
from evenrank.stats.intervals import mean_interval
from evenrank.stats.weights import effective_number, weighted_mean
from evenrank.verdict.lists import ATTENTION
from evenrank.verdict.redealing import Band, bands
from evenrank.verdict.shares import GroupShares, group_shares
from evenrank.verdict.targets import WhichTarget
from evenrank.verdict.value import (
    FAVOURED,
    LESS,
    NOT_SHOWN,
    TOO_FEW,
    GroupFinding,
    RelevanceFinding,
    Verdict,
    WorstQuery,
)

CUTOFF, DEPTH, LEVEL = 10, 100, 0.95
WORST = 3


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
    **known: Unpack[KnownData],
) -> tuple[Verdict, ...]:
    """A verdict for each system and each attribute: the groups, and the words where they are counted.
    ``without_verdict`` names those that get none.

    The inputs are those of ``evaluate``. ``target`` is catalogue, candidates (the first ``depth`` documents
    of a query), equal or given, for all attributes or by name (``*`` is for those not named); without it an
    attribute's own target, else the catalogue, or where ``catalogue`` is False the candidates.
    ``catalogue`` says whether the labelled documents are all that there are; by default they are taken for
    that where ``documents`` are known. ``clicks`` says that the judgements come from clicks. ``attention``
    is how places count. Queries that have weights (``query_weights``) count by these.

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
            tables = list(group_shares(inputs, ranking, cutoff, depth, target, attention, whole=whole))
            enough = {table.membership.attribute.name: table.chance for table in tables if table.enough}
            names = sorted(enough)  # the order in which the source has attributes does not matter
            joint = bands([chance for name in names if (chance := enough[name]) is not None], level)
            of_names = dict(zip(names, joint, strict=True))
            judged = (_judged(table, system, inputs, cutoff, depth, level, of_names) for table in tables)
            found += [replace(verdict, relevance=relevance, attention=repr(attention)) for verdict in judged]
    return tuple(found)


def _judged(
    table: GroupShares,
    system: str,
    inputs: Inputs,
    cutoff: int,
    depth: int,
    level: float,
    joint: Mapping[str, Band],
) -> Verdict:
    unit = table.membership.unit
    made = Verdict(
        system=system,
        attribute=table.membership.attribute.name,
        cutoff=cutoff,
        depth=depth,
        target=table.target_kind,
        groups=tuple(_findings(table, joint.get(table.membership.attribute.name), level)),
        queries=int(table.defined.sum()),
        tests=sum(len(band.low) for band in joint.values()),
        level=level,
        notes=tuple(_notes(table, cutoff)),
        unlabelled=table.unlabelled,
        ranked=table.ranked,
        unseen=table.unseen,
        unit="" if unit is None else unit.attribute.name,
        units=math.nan if table.chance is None else table.chance.units,
        effective=math.nan if table.omega is None else effective_number(table.omega),
    )
    return replace(made, worst=_worst(made, table, inputs))


def _findings(table: GroupShares, band: Band | None, level: float) -> Iterator[GroupFinding]:
    defined, omega = table.defined, table.omega
    shares, targets, candidates = (
        values[defined] for values in (table.shares, table.targets, table.candidates)
    )
    for place, value in enumerate(table.membership.attribute.values):
        of_queries = mean_interval(shares[:, place], (0.0, 1.0), level=level, weights=omega)
        made = GroupFinding(
            value=value,
            documents=float(table.documents[place]),
            catalogue=float(table.catalogue[place]),
            candidates=_mean(candidates[:, place], omega),
            share=_mean(shares[:, place], omega),
            share_low=math.nan,
            share_high=math.nan,
            target=_mean(targets[:, place], omega),
            decision=TOO_FEW,
            queries_low=of_queries.low,
            queries_high=of_queries.high,
        )
        if table.chance is not None:
            made = replace(made, reachable=table.reachable[place], unreachable=table.unreachable[place])
        if band is not None and table.chance is not None:
            low, high = float(band.low[place]), float(band.high[place])
            decision = FAVOURED if low > made.target else LESS if high < made.target else NOT_SHOWN
            made = replace(
                made,
                share_low=low,
                share_high=high,
                decision=TOO_FEW if decision == NOT_SHOWN and band.blind[place] else decision,
                shown_below=float(band.shown_below[place]),
                shown_above=float(band.shown_above[place]),
                fades=float(table.chance.fades[place]),
            )
        yield made


def _mean(values: Floats, omega: Floats | None) -> float:
    known = np.isfinite(values)
    return weighted_mean(values[known], None if omega is None else omega[known])


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
    weighing = len(table.queries) if table.weights is None else int((table.weights > 0).sum())
    left = weighing - int(table.defined.sum())
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
