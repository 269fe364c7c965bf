"""What the documents of many lists do to their scores, for all queries at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.errors import MissingEvidenceError
from evenrank.evaluation.engine import PreparedEvidence
from evenrank.evidence.align import split_needs
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.explanation.best import TOLERANCE
from evenrank.explanation.trial import contributions
from evenrank.inputs.missing import check_missing
from evenrank.measures import Measure

ADDS = "adds"
WITHOUT = "without"
QUERIES_AT_ONCE = 256  # lists are dense while they are looked at
LONGEST = 50  # ranks that are left out one by one


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
    none = np.full((len(queries), depth), np.nan)
    settled = known.settled[measure]
    blocks = split_needs(settled.needs)
    if "against" in blocks or "rankings" in blocks or settled.over_queries:
        return Effects("", none, "it is not a measure of one list")
    # one more: the document that moves up when another is left out
    deepest = None if settled.depth is None else max(depth, settled.depth) + 1
    whole = known.aligned(run, queries, settled, deepest)
    found = []
    for begin in range(0, len(queries), QUERIES_AT_ONCE):
        some = tuple(queries[begin : begin + QUERIES_AT_ONCE])
        aligned = whole.select(np.arange(begin, begin + len(some)))
        effects = _effects(settled, aligned, some, run, depth)
        if not effects.kind:
            return Effects("", none, effects.reason)
        found.append(effects)
    kind = found[0].kind if found else ""
    return Effects(kind, np.concatenate([effects.values for effects in found]) if found else none)


def _effects(
    measure: Measure, aligned: RankedEvidence, queries: tuple[str, ...], run: Run, depth: int
) -> Effects:
    by_document = contributions(measure, aligned)
    if by_document is not None:
        rows = aligned.ranked.rows
        by_rank = np.full(rows.shape, np.nan)
        by_rank[rows >= 0] = by_document[rows[rows >= 0]]
        return Effects(ADDS, _wide(by_rank, depth))
    return _without(measure, aligned, queries, run, depth)


def _without(
    measure: Measure, aligned: RankedEvidence, queries: tuple[str, ...], run: Run, depth: int
) -> Effects:
    """Leave out one rank of all lists at a time."""
    nothing = np.full((len(queries), depth), np.nan)
    result = measure.evaluate(aligned)
    if len(result.columns) > 1:
        return Effects("", nothing, "it has several columns and is not a sum over ranks")
    try:
        for part in measure.parts():
            below = None if part.depth is None else part.depth + 1
            check_missing(part, aligned.cut(below), queries, run)
    except MissingEvidenceError:
        reason = "it is not a sum over ranks, and the documents that would move up have no evidence"
        return Effects("", nothing, reason)
    whole, ranked = _values(measure, aligned), aligned.ranked
    changes = np.full((len(queries), min(depth, LONGEST, ranked.depth)), np.nan)
    for place in range(changes.shape[1]):
        rest = Ranked(np.delete(ranked.rows, place, axis=1), ranked.gathered)
        changes[:, place] = _values(measure, replace(aligned, ranked=rest)) - whole
    changes[np.abs(changes) < TOLERANCE] = 0.0
    changes[~ranked.mask[:, : changes.shape[1]]] = np.nan
    return Effects(WITHOUT, _wide(changes, depth))


def _values(measure: Measure, aligned: RankedEvidence) -> Floats:
    """(Q,), NaN where undefined."""
    result = measure.evaluate(aligned)
    values = np.array(result.values, dtype=np.float64).reshape(len(aligned))
    for where in result.undefined.values():
        values[np.asarray(where).reshape(len(aligned))] = np.nan
    return np.where(np.isfinite(values), values, np.nan)


def _wide(values: Floats, depth: int) -> Floats:
    """Exactly ``depth`` ranks, NaN below a list's end."""
    out = np.full((len(values), depth), np.nan)
    kept = min(depth, values.shape[1])
    out[:, :kept] = values[:, :kept]
    return out
