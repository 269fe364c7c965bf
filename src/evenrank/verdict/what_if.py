"""What would happen if: the same lists, re-ranked in steps from what a group gets to what it should get."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.errors import EvenrankWarning
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.measures import parse_measure
from evenrank.rerankers import parse_reranker, rerank
from evenrank.stats.weights import weighted_mean
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.judge import share_measure
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
    place = membership.attribute.values.index(group.value)
    measure = f"nDCG@{verdict.cutoff}" if inputs.qrels is not None else ""
    steps = []
    queries = head.query_ids if inputs.queries is None else tuple(q for q in inputs.queries if q in head)
    method = _method(verdict)
    for strength in STEPS:
        made = head
        if strength == 1:  # what the verdict advises
            made = _reranked(known, with_chosen_target(membership, verdict.target), verdict, method)
        elif strength > 0:
            aimed = (1 - strength) * shares + strength * targets
            made = _reranked(known, _aimed(membership, aimed), verdict, method)
        steps.append(_step(known, membership, verdict, made, strength, place, queries, measure))
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


def _step(
    known: Inputs,
    membership: Membership,
    verdict: Verdict,
    run: Run,
    strength: float,
    place: int,
    queries: Sequence[str],
    measure: str,
) -> WhatIfStep:
    shares = _values(without_judgements(replace(known, groups=(membership,))), verdict, run, queries, place)
    relevance = np.full(len(queries), math.nan)
    if measure:
        relevance = _values(replace(known, groups=()), verdict, run, queries, 0, measure)
    there = np.isfinite(shares)
    omega = None if known.query_weights is None else weights_at(known.query_weights, queries)[there]
    judged = relevance[np.isfinite(relevance)]
    return WhatIfStep(
        strength=strength,
        run=run,
        shares=shares,
        relevance=relevance,
        share=weighted_mean(shares[there], omega),
        value=float(judged.mean()) if len(judged) else math.nan,
    )


def _values(
    known: Inputs, verdict: Verdict, run: Run, queries: Sequence[str], place: int, measure: str = ""
) -> Floats:
    wanted = parse_measure(measure) if measure else share_measure(verdict.attribute, verdict.cutoff)
    block = evaluate(replace(known, runs={verdict.system: run}), [wanted]).block(wanted)
    rows = {query: row for row, query in enumerate(block.query_ids)}
    values = np.where(block.status[:, place] == 0, block.values[:, place], np.nan)
    return np.array([values[rows[query]] if query in rows else math.nan for query in queries])
