"""What would happen if: the same lists, re-ranked in steps from what a group gets to what it should get."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.evaluation import evaluate
from evenrank.ids import places_among
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.measures import parse_measure
from evenrank.stats.weights import weighted_mean
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.shares import asked_queries, attention_shares
from evenrank.verdict.trials import Trials
from evenrank.verdict.value import Verdict

STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, eq=False)
class WhatIfStep:
    """One strength: 0 is the list as it is, 1 aims at the target. NaN where a query has no value."""

    strength: float
    run: Run
    shares: Floats  # (Q,): of the group
    relevance: Floats  # (Q,)
    share: float
    value: float  # of relevance, the mean


@dataclass(frozen=True, eq=False)
class WhatIf:
    """The steps of one re-ranker on the lists of one system."""

    system: str
    attribute: str
    group: str
    method: str
    cutoff: int
    target: float
    measure: str  # of relevance; empty where nobody judged
    queries: tuple[str, ...]
    steps: tuple[WhatIfStep, ...]


def what_if(verdict: Verdict, inputs: Inputs) -> WhatIf | None:
    """The steps for the group that is farthest below its target; None where none is shown to be below."""
    run = inputs.runs.get(verdict.system)
    own = [one for one in group_attributes(inputs) if one.attribute.name == verdict.attribute]
    if not verdict.less or not own or not isinstance(run, Run):
        return None
    group, trials = verdict.less[0], Trials(verdict, run, own[0], inputs)
    shares = np.array([one.share for one in verdict.groups])
    targets = np.array([one.target for one in verdict.groups])
    # the re-ranker that the verdict advises, so that card and slider agree; else the first that is tried
    method = repr(trials.methods[0]) if verdict.advice is None else verdict.advice.method
    head, known, membership = trials.candidates, trials.known, trials.membership
    runs = {0.0: head}
    for strength in STEPS[1:-1]:
        runs[strength] = trials.order(method, (1 - strength) * shares + strength * targets)
    runs[1.0] = trials.order(method)
    queries = asked_queries(head, inputs)
    measure = f"nDCG@{verdict.cutoff}" if inputs.qrels is not None else ""
    relevance = _relevance(known, runs, queries, measure)
    place = membership.attribute.values.index(group.value)
    omega = None if known.query_weights is None else weights_at(known.query_weights, queries)
    steps = []
    for strength, made in runs.items():
        gets = attention_shares(made, membership, verdict.cutoff, queries)[:, place]
        there, judged = np.isfinite(gets), relevance[strength][np.isfinite(relevance[strength])]
        share = weighted_mean(gets[there], None if omega is None else omega[there])
        value = float(judged.mean()) if len(judged) else math.nan
        steps.append(WhatIfStep(strength, made, gets, relevance[strength], share, value))
    return WhatIf(
        verdict.system, verdict.attribute, group.value, method, verdict.cutoff,
        group.target, measure, queries, tuple(steps),
    )  # fmt: skip


def _relevance(
    known: Inputs, runs: Mapping[float, Run], queries: Sequence[str], measure: str
) -> dict[float, Floats]:
    """(Q,) for each step; NaN where it is not known."""
    if not measure:
        return dict.fromkeys(runs, np.full(len(queries), math.nan))
    named = {str(strength): run for strength, run in runs.items()}
    wanted = parse_measure(measure)
    scores = evaluate(replace(known, runs=named, groups=()), [wanted])
    found = {}
    for strength in runs:
        block = scores.block(wanted, str(strength))
        spots = places_among(queries, block.query_ids)
        known_ones = (spots >= 0) & (block.status[spots, 0] == 0)
        found[strength] = np.where(known_ones, block.values[spots, 0], np.nan)
    return found
