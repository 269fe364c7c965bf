"""What to try next: several re-rankers on the same lists, and the best of them with its gain and its cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.evaluation import evaluate
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.measures import Measure, parse_measure
from evenrank.rerankers import Reranker
from evenrank.stats.difference import mean_difference
from evenrank.stats.intervals import mean_interval
from evenrank.stats.weights import weighted_mean, weighted_means
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.shares import asked_queries, attention_shares
from evenrank.verdict.trials import Trials
from evenrank.verdict.value import Advice, Verdict

CLOSED = 0.9  # of the gap: of the methods that close so much of it the cheapest is advised
WORTHWHILE = 0.1  # of what the group lacks: a method that gives less than this is not worth a change
SUNK = 0.002  # of the attention: a group that loses more than this, and had no more than its target, is sunk
PLACES = "new documents in the first places"  # the cost where relevance is not known


@dataclass(frozen=True)
class Trial:
    """What one method made of the lists: the group's share, query by query, and the cost."""

    method: str
    gap: float  # that is left between the shares of all groups and their targets
    sinks: bool  # whether a group that has no more than its target gets less than before
    before: Floats  # (Q,)
    shares: Floats  # (Q,)
    weights: Floats | None  # (Q,): of the queries
    cost: float
    cost_low: float
    cost_high: float

    @property
    def gain(self) -> float:
        """What the group gets more, over the queries with a share before and after."""
        return self.mean(self.shares) - self.mean(self.before)

    def mean(self, values: Floats) -> float:
        """Over the queries with a share before and after."""
        both = np.isfinite(self.shares - self.before)
        return weighted_mean(values[both], None if self.weights is None else self.weights[both])

    def interval(self, verdict: Verdict) -> tuple[float, float]:
        """Where the mean gain lies, over other queries.

        The same queries are measured before and after, so it is an interval of differences: that of the
        shares holds how queries differ from each other, which a gain does not depend on.
        """
        found = mean_difference(
            self.shares, self.before, (0.0, 1.0), level=verdict.level, weights=self.weights
        )
        return found.low, found.high

    def helps(self, verdict: Verdict, gap: float) -> bool:
        """Whether the lowest group gets clearly more, no group that lacks something gets less, and the groups
        together miss their targets by less."""
        worthwhile = self.gain >= -WORTHWHILE * verdict.less[0].difference
        return bool(self.gap < gap and not self.sinks and worthwhile and self.interval(verdict)[0] > 0)


def advised(verdicts: Iterable[Verdict], inputs: Inputs) -> tuple[Verdict, ...]:
    """The verdicts, each that shows a group below its target with advice.

    Tried are DetGreedy, DetCons and DetConstSort with the target of the verdict. Of those that give the
    lowest group clearly more, advised is the cheapest that closes nine tenths of the gap between shares and
    targets; where none does, the one that closes most of it.
    """
    return tuple(
        replace(verdict, advice=_advice(verdict, inputs)) if verdict.less else verdict for verdict in verdicts
    )


def _advice(verdict: Verdict, inputs: Inputs) -> Advice | None:
    run = inputs.runs[verdict.system]
    own = [one for one in group_attributes(inputs) if one.attribute.name == verdict.attribute]
    if not isinstance(run, Run) or not own:
        return None
    trials = Trials(verdict, run, own[0], inputs)
    queries = asked_queries(trials.candidates, inputs)
    before = attention_shares(trials.candidates, trials.membership, verdict.cutoff, queries)
    weights = None if inputs.query_weights is None else weights_at(inputs.query_weights, queries)
    tried = [_trial(method, trials, verdict, queries, before, weights) for method in trials.methods]
    gap = _gap(before, weights, verdict)
    helping = [trial for trial in tried if trial.helps(verdict, gap)]
    if not helping:
        return None
    good = [trial for trial in helping if trial.gap <= (1 - CLOSED) * gap]
    best = min(good, key=lambda trial: abs(trial.cost)) if good else min(helping, key=lambda trial: trial.gap)
    low, high = best.interval(verdict)
    return Advice(
        method=best.method,
        group=verdict.less[0].value,
        before=best.mean(best.before),
        after=best.mean(best.shares),
        gain=best.gain,
        gain_low=low,
        gain_high=high,
        cost_measure=_cost_measure(inputs, verdict),
        cost=best.cost,
        cost_low=best.cost_low,
        cost_high=best.cost_high,
        tried=tuple(trial.method for trial in tried),
    )


def _trial(
    method: Reranker,
    trials: Trials,
    verdict: Verdict,
    queries: Sequence[str],
    before: Floats,
    weights: Floats | None,
) -> Trial:
    made = trials.order(method)
    shares = attention_shares(made, trials.membership, verdict.cutoff, queries)
    place = trials.membership.attribute.values.index(verdict.less[0].value)
    cost = _cost(trials.known, trials.candidates, made, verdict)
    both = np.isfinite(shares).all(axis=1) & np.isfinite(before).all(axis=1)
    own = None if weights is None else weights[both]
    old, new = (weighted_means(values[both], own) for values in (before, shares))  # (L,)
    lacks = np.array([group.difference <= 0 for group in verdict.groups])
    sinks = bool((lacks & (new < old - SUNK)).any())
    gap = _gap(shares, weights, verdict)
    return Trial(repr(method), gap, sinks, before[:, place], shares[:, place], weights, *cost)


def _gap(shares: Floats, weights: Floats | None, verdict: Verdict) -> float:
    """Half the sum over groups of how far mean shares are from mean targets."""
    targets = np.array([group.target for group in verdict.groups])
    there = np.isfinite(shares).all(axis=1)
    means = weighted_means(shares[there], None if weights is None else weights[there])
    return float(np.abs(means - targets).sum()) / 2


def _cost_measure(inputs: Inputs, verdict: Verdict) -> str:
    return PLACES if inputs.qrels is None else f"nDCG@{verdict.cutoff}"


def _cost(known: Inputs, run: Run, made: Run, verdict: Verdict) -> tuple[float, float, float]:
    """The change of relevance, or how many of the first documents were not among them before."""
    if known.qrels is None:
        moved = np.array(
            [
                len({*made.documents(query)[: verdict.cutoff]} - {*run.documents(query)[: verdict.cutoff]})
                for query in run.query_ids
            ],
            dtype=np.float64,
        )
        found = mean_interval(moved, (0.0, float(verdict.cutoff)), level=verdict.level)
        return float(moved.mean()), found.low, found.high
    measure = parse_measure(f"nDCG@{verdict.cutoff}")
    old, new = (_relevance(known, one, measure, verdict.system) for one in (run, made))
    change = mean_difference(new, old, (0.0, 1.0), level=verdict.level)
    return change.difference, change.low, change.high


def _relevance(known: Inputs, run: Run, measure: Measure, system: str) -> Floats:
    block = evaluate(replace(known, runs={system: run}, groups=()), [measure]).block(measure)
    return np.where(block.status[:, 0] == 0, block.values[:, 0], np.nan)
