"""The best list that could have been shown: from the background, or from all judged documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evenrank.arrays import Bools
from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.evidence.align import Sources
from evenrank.explanation.best import by_own_value, sorts
from evenrank.explanation.trial import MeasuredList, cutoff_of
from evenrank.measures import Measure

BLOCKS = ("background", "judged", "judged_by_intent")
WORDS = {
    "background": "the background",
    "judged": "all judged documents",
    "judged_by_intent": "all judged documents",
}


@dataclass(frozen=True)
class Ideal:
    """Documents in their best order, the value of that list, where they are from and how many there are."""

    documents: tuple[str, ...]
    value: float
    source: str
    among: int


def ideal_list(trial: MeasuredList, sources: Sources, query: str) -> Ideal | None:
    """The best of a reference set that the measure knows, where a document's own value tells it."""
    block = next((name for name in BLOCKS if name in trial.evidence.reference), None)
    if block is None or not sorts(trial.measure):
        return None
    ids = _ids(block, sources, query)
    if ids is None or not len(ids):
        return None
    reference = trial.evidence.reference[block]
    rows = np.flatnonzero(_takes_part(trial.measure, trial, block))
    if not len(rows):
        return None
    best = by_own_value(trial, rows, reference.gathered)[: cutoff_of(trial.measure)]
    value = float(trial.values(best[None, :], reference.gathered)[0, 0])
    return Ideal(tuple(ids.take(pa.array(best)).to_pylist()), value, WORDS[block], len(rows))


def _ids(block: str, sources: Sources, query: str) -> pa.LargeStringArray | None:
    """The ids of a reference set, in the order of its evidence."""
    if block != "background":
        judgements = sources.evidence["intents" if block == "judged_by_intent" else "relevance"]
        if isinstance(judgements, (Qrels, DiversityQrels)):
            return judgements.judged([query]).doc_ids.array()
        return None
    background = sources.background
    if isinstance(background, Run):
        return background.select([query]).doc_ids
    return background.doc_ids.array() if background is not None and background.shared else None


def _takes_part(measure: Measure, trial: MeasuredList, block: str) -> Bools:
    """Documents that the measure would take: of one that is unknown only a rule can say what it is worth."""
    reference = trial.evidence.reference[block]
    there: Bools = reference.mask()[0]
    if getattr(measure, "missing", "") != "neutral":
        for name in reference.gathered:
            there = there & reference.known(name)[0]
    return there
