"""The best order of given documents, exact where sorting them gives it, else searched; and the best list that
could have been shown."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import Gathered
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.evidence.align import Sources
from evenrank.explanation.explanation import Ideal
from evenrank.explanation.trial import TOLERANCE, MeasuredList, cutoff_of
from evenrank.measures import Delegated, Direction, Measure
from evenrank.measures.diversity import D_nDCG
from evenrank.measures.duo import DUO
from evenrank.measures.neutrality import FaiRR, NFaiRR
from evenrank.measures.orders import balanced_order
from evenrank.measures.relevance import RBP, P, R, nDCG

# sums of a document's own value times a weight that does not rise with the rank: sorting is best
SORTABLE: tuple[type[Measure], ...] = (FaiRR, NFaiRR, nDCG, RBP, P, R, D_nDCG)

BETTER = (Direction.HIGHER, Direction.LOWER, Direction.SIGNED)  # some values are better than others
TRIED_WHOLE = 8  # so many documents have few enough orders to try them all
NUMBERS = 20_000_000  # ranks looked at in one search
NUMBERS_ELSEWHERE = 200_000  # the same where another tool computes, which is slower


REFERENCES = {  # sets of documents that a list could have come from
    "background": "the background",
    "judged": "all judged documents",
    "judged_by_intent": "all judged documents",
}


class FoundOrder(NamedTuple):
    """Rows in their best order, the value of that list, and how it was found."""

    rows: Int64s
    value: float
    exact: bool
    how: str


def best_order(trial: MeasuredList, rows: Int64s) -> FoundOrder | None:
    """The best order of these documents of the list. None where no value is better than another."""
    measure, ranked = trial.measure, trial.evidence.ranked
    if measure.direction not in BETTER or not len(rows):
        return None
    elsewhere = isinstance(measure, Delegated)
    below = rows[:0]  # what lies below the cut-off and may matter
    if elsewhere or measure.looks_below_cutoff:
        below = np.setdiff1d(np.arange(ranked.depth), rows)

    def values(lists: Int64s) -> Floats:
        """(B,): of the lists, each with what stays below it."""
        rest = np.broadcast_to(below, (len(lists), len(below)))
        return trial.values(np.concatenate([lists, rest], axis=1))[:, 0]

    def goals(lists: Int64s) -> Floats:
        found: Floats = measure.goodness(values(lists))  # type: ignore[arg-type, assignment]
        return np.nan_to_num(found, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    lists_left = (NUMBERS_ELSEWHERE if elsewhere else NUMBERS) // (len(rows) + len(below))
    if type(measure) in SORTABLE:
        order, exact, how = by_own_value(trial, rows), True, "documents sorted by their own value"
    elif isinstance(measure, DUO) and measure.axes == 1:  # the order that spreads opinions most at every rank
        polarity = np.asarray(ranked["polarity"], dtype=np.float64)
        scores = polarity.reshape(*polarity.shape[:2], -1)[:, rows, 0]  # (1, N)
        (places,) = balanced_order(scores, np.array([len(rows)]), center=measure.center)
        order, exact, how = rows[places], True, "the most balanced order"
    elif len(rows) <= TRIED_WHOLE and math.factorial(len(rows)) <= lists_left:
        orders = np.array(list(itertools.permutations(rows.tolist())), dtype=np.int64)
        found = goals(orders)
        # the first of equals is the one nearest to the order now
        order = orders[int(np.argmax(found >= found.max() - TOLERANCE))]
        exact, how = True, f"all {len(orders):,} orders tried"
    else:
        (order, how), exact = _by_swaps(goals, rows, lists_left), False
    return FoundOrder(order, float(values(order[None, :])[0]), exact, how)


def by_own_value(trial: MeasuredList, rows: Int64s, gathered: Mapping[str, Gathered] | None = None) -> Int64s:
    """Best first, by the value of the list that holds this one document; equal ones keep their order."""
    own = trial.values(rows[:, None], gathered)[:, 0]  # (N,)
    return rows[np.argsort(-np.nan_to_num(own, nan=-np.inf), kind="stable")]


def _by_swaps(goals: Callable[[Int64s], Floats], rows: Int64s, lists_left: int) -> tuple[Int64s, str]:
    """Rank by rank take the best swap with a lower rank, and again until no swap is better."""
    order = rows
    best, before = float(goals(order[None, :])[0]), -math.inf
    while best > before + TOLERANCE:
        before = best
        for place in range(len(order) - 1):
            others = np.arange(place + 1, len(order))
            lists = np.tile(order, (len(others), 1))
            lists[:, place] = order[others]
            lists[np.arange(len(others)), others] = order[place]
            found = goals(lists)
            pick = int(np.argmax(found))
            if found[pick] > best + TOLERANCE:
                order, best = lists[pick], float(found[pick])
            lists_left -= len(lists)
            if lists_left <= 0:
                return order, "a search that was stopped: there may be better ones"
    return order, "a search: no swap of two documents is better"


def ideal_list(trial: MeasuredList, sources: Sources, query: str) -> Ideal | None:
    """The best of a reference set that the measure knows, where a document's own value tells it."""
    block = next((name for name in REFERENCES if name in trial.evidence.reference), None)
    ids = None if block is None else _reference_ids(block, sources, query)
    if block is None or ids is None or not len(ids) or type(trial.measure) not in SORTABLE:
        return None
    reference = trial.evidence.reference[block]
    there: Bools = reference.mask()[0]
    if getattr(trial.measure, "missing", "") != "neutral":  # else the rule says what an unknown one is worth
        for name in reference.gathered:
            there = there & reference.known(name)[0]
    rows = np.flatnonzero(there)
    if not len(rows):
        return None
    best = by_own_value(trial, rows, reference.gathered)[: cutoff_of(trial.measure)]
    value = float(trial.values(best[None, :], reference.gathered)[0, 0])
    return Ideal(tuple(ids.take(pa.array(best)).to_pylist()), value, REFERENCES[block], len(rows))


def _reference_ids(block: str, sources: Sources, query: str) -> pa.LargeStringArray | None:
    """The ids of a reference set, in the order of its evidence."""
    if block != "background":
        judgements = sources.evidence["intents" if block == "judged_by_intent" else "relevance"]
        known = isinstance(judgements, (Qrels, DiversityQrels))
        return judgements.judged([query]).doc_ids.array() if known else None  # type: ignore[attr-defined]
    background = sources.background
    if isinstance(background, Run):
        return background.select([query]).doc_ids
    return background.doc_ids.array() if background is not None and background.shared else None
