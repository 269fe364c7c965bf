"""What the documents of many lists do to their scores, for all queries at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.errors import MissingEvidenceError
from evenrank.evaluation.engine import PreparedEvidence
from evenrank.evidence.align import split_needs
from evenrank.explanation.trial import changes_without, contributions
from evenrank.measures import Measure

ADDS = "adds"
WITHOUT = "without"
QUERIES_AT_ONCE = 256  # lists are dense while they are looked at
LONGEST = 50  # ranks that are left out one by one

NOTHING = {  # why a document adds nothing, by the family of the measure
    "relevance": "not relevant, or not judged",
    "delegated": "not relevant, or not judged",
    "diversity": "serves no intent that the list has not served, or was not judged",
    "words": "as one-sided as a document can be",
}


@dataclass(frozen=True, eq=False)
class Effects:
    """What the document at each rank does to the value of its list: (Q, K), NaN where there is none.

    ``kind`` is ``adds``, what it adds to a sum over ranks, or ``without``, the change of the value when the
    list closes up without it. Where neither can be said ``kind`` is empty and ``reason`` tells why.
    """

    kind: str
    values: Floats
    reason: str = ""


def document_effects(
    run: Run, measure: Measure, queries: Sequence[str], known: PreparedEvidence, depth: int
) -> Effects:
    """What each of the first ``depth`` documents does to the value, for measures of one list with one value.

    A query that the run lacks has an empty list.

    >>> from evenrank.inputs import Inputs
    >>> from evenrank.measures import parse_measure
    >>> run = Run.build(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> precision = parse_measure("P@2")
    >>> known = PreparedEvidence.of(Inputs.of(run, qrels={"q": {"b": 1}}), [precision])
    >>> document_effects(run, precision, ["q"], known, 2).values.tolist()
    [[0.0, 0.5]]
    """
    effects = np.full((len(queries), depth), np.nan)
    settled = known.settled[measure]
    blocks = split_needs(settled.needs)
    if "against" in blocks or "rankings" in blocks or settled.over_queries:
        return Effects("", effects, "it is not a measure of one list")
    # one more: the document that moves up when another is left out
    deepest = None if settled.depth is None else max(depth, settled.depth) + 1
    whole = known.aligned(run, queries, settled, deepest)
    kind = ""
    for begin in range(0, len(queries), QUERIES_AT_ONCE):
        some = slice(begin, begin + QUERIES_AT_ONCE)
        aligned = whole.select(np.arange(len(queries))[some])
        by_document = contributions(settled, aligned)
        if by_document is not None:
            kind, found = ADDS, np.append(by_document, np.nan)[aligned.ranked.rows[:, :depth]]
        elif len(settled.evaluate(aligned).columns) > 1:
            return Effects("", effects, "it has several columns and is not a sum over ranks")
        else:
            places = np.arange(min(depth, LONGEST, aligned.ranked.depth))
            try:
                changes = changes_without(settled, aligned, places, tuple(queries[some]), run)[:, :, 0].T
            except MissingEvidenceError:
                reason = "it is not a sum over ranks, and the documents that would move up have no evidence"
                return Effects("", np.full_like(effects, np.nan), reason)
            there = aligned.ranked.mask[:, : len(places)] & np.isfinite(changes)
            kind, found = WITHOUT, np.where(there, changes, np.nan)
        effects[some, : found.shape[1]] = found
    return Effects(kind, effects)


def why_nothing(measure: Measure) -> str:
    """In a few words why a document adds 0; empty where the measure does not tell.

    >>> from evenrank.measures import parse_measure
    >>> why_nothing(parse_measure("nDCG@10")), why_nothing(parse_measure("GF@10"))
    ('not relevant, or not judged', '')
    """
    families = {part.family for part in measure.parts()}
    return NOTHING.get(families.pop(), "") if len(families) == 1 else ""
