"""What would happen if: the same lists, re-ranked in steps from what a group gets to what it should get."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import EvenrankWarning
from evenrank.evaluation import evaluate
from evenrank.ids import places_among
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.measures import parse_measure
from evenrank.rerankers import parse_reranker, rerank
from evenrank.stats.weights import weighted_mean
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.shares import asked_queries, attention_shares
from evenrank.verdict.targets import with_chosen_target, without_judgements
from evenrank.verdict.value import Verdict

STEPS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
METHOD = "DetGreedy"


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
    (membership,), group = own, verdict.less[0]
    head = run.head(verdict.depth)
    known = replace(
        inputs, runs={verdict.system: head}, words=None, against=None, background=head, background_depth=None
    )
    shares = np.array([one.share for one in verdict.groups])
    targets = np.array([one.target for one in verdict.groups])
    method = _method(verdict)
    runs = {}
    for strength in STEPS:
        if strength == 0:
            runs[strength] = head
        elif strength == 1:  # what the verdict advises
            runs[strength] = _reranked(known, with_chosen_target(membership, verdict.target), verdict, method)
        else:
            aimed = (1 - strength) * shares + strength * targets
            runs[strength] = _reranked(known, _aimed(membership, aimed), verdict, method)
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


def _method(verdict: Verdict) -> str:
    """The re-ranker that the verdict advises, so that card and slider agree; else the first that is tried."""
    if verdict.advice is not None:
        return verdict.advice.method
    return repr(parse_reranker(f"{METHOD}(attr={verdict.attribute!r}, top={verdict.cutoff})@{verdict.depth}"))


def _aimed(membership: Membership, aimed: Floats) -> Membership:
    total = float(aimed.sum())
    return membership.with_target(
        dict(zip(membership.attribute.values, (aimed / total).tolist(), strict=True))
    )


def _reranked(known: Inputs, membership: Membership, verdict: Verdict, method: str) -> Run:
    with warnings.catch_warnings():  # what cannot be reached shows in the shares
        warnings.simplefilter("ignore", EvenrankWarning)
        made: Run = rerank(without_judgements(replace(known, groups=(membership,))), method)
    return made.renamed(verdict.system)


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
