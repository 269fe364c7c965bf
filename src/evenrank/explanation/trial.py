"""What a measure would say of other lists: the documents of one query, in any order or selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.data.evidence_source import Gathered
from evenrank.data.run import Run
from evenrank.evaluation.kernels import lists_at_once
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.inputs.missing import check_missing
from evenrank.measures import Delegated, Measure, WeightedSum
from evenrank.measures.combined import CombinedMeasure

NUMBERS_AT_ONCE = 1 << 22
TOLERANCE = 1e-12  # sums of the same numbers differ in the last bit


@dataclass(frozen=True, eq=False)
class MeasuredList:
    """A measure and the evidence of one query, its list not cut.

    A list is written as rows: places in the run's list, or in a reference set where its evidence is given.
    """

    measure: Measure
    evidence: RankedEvidence

    def values(self, lists: Int64s, gathered: Mapping[str, Gathered] | None = None) -> Floats:
        """(B, C): the value of each of the lists (B, K), -1 being no document; NaN where it is undefined."""
        source = self.evidence.ranked.gathered if gathered is None else gathered
        size = lists_at_once(self.measure, self.evidence, lists.shape[1], NUMBERS_AT_ONCE)
        return np.concatenate(
            [self._values(lists[begin : begin + size], source) for begin in range(0, len(lists), size)]
        )

    def _values(self, lists: Int64s, gathered: Mapping[str, Gathered]) -> Floats:
        bare = self.evidence.cut(0)  # its own list is not needed, and copies of a long one are large
        copies = bare.select(np.zeros(len(lists), dtype=np.int64))
        return _values(self.measure, replace(copies, ranked=Ranked(lists, gathered)))


def cutoff_of(measure: Measure) -> int | None:
    """How many documents can count. A measure of ir_measures has its cut-off in its text."""
    if isinstance(measure, Delegated):
        cutoff: int | None = measure.measure.params.get("cutoff")
        return cutoff
    return measure.cutoff


def counting(measure: Measure, evidence: RankedEvidence) -> RankedEvidence:
    """The list as the measure reads it: what it leaves out is gone, what lies below its cut-off too."""
    return measure.prepared(evidence).cut(cutoff_of(measure))


def counting_rows(measure: Measure, evidence: RankedEvidence) -> Int64s:
    """The rows of the documents that count, in rank order; of sums and products, those of any part."""
    if isinstance(measure, CombinedMeasure):
        parts = [counting_rows(part, evidence) for part in measure.measures]
        return np.unique(np.concatenate(parts))
    rows: Int64s = counting(measure, evidence).ranked.rows[0]
    return rows[rows >= 0]


def contributions(measure: Measure, evidence: RankedEvidence) -> Floats | None:
    """(N,): what each document of the lists, one after the other, adds to the value of its list, where the
    measure says so."""
    total = np.zeros(int(evidence.ranked.rows.max(initial=-1)) + 1)
    if isinstance(measure, WeightedSum):  # its parts may leave out different documents
        for weight, part in measure.terms:
            own = contributions(part, evidence)
            if own is None:
                return None
            total += weight * own
        return total
    read = counting(measure, evidence)
    by_rank = measure.explain(measure.prepared(evidence))  # it may look below what counts
    if by_rank is None:
        return None
    rows = read.ranked.rows  # (Q, K)
    total[rows[rows >= 0]] = by_rank[:, : rows.shape[1]][rows >= 0]
    return total


def changes_without(
    measure: Measure, aligned: RankedEvidence, places: Int64s, queries: tuple[str, ...], run: Run
) -> Floats:
    """(P, Q, C): how the values change when each list closes up without the document at one of these places.

    The document that moves up into the list must be known, too.
    """
    for part in measure.parts():
        below = None if part.depth is None else part.depth + 1
        check_missing(part, aligned.cut(below), queries, run)
    whole, ranked = _values(measure, aligned), aligned.ranked
    changes = np.empty((len(places), *whole.shape))
    for turn, place in enumerate(places.tolist()):
        rest = Ranked(np.delete(ranked.rows, place, axis=1), ranked.gathered)
        changes[turn] = _values(measure, replace(aligned, ranked=rest)) - whole
    changes[np.abs(changes) < TOLERANCE] = 0.0
    return changes


def _values(measure: Measure, aligned: RankedEvidence) -> Floats:
    """(Q, C), NaN where undefined."""
    result = measure.evaluate(aligned)
    values = np.array(result.values, dtype=np.float64).reshape(len(aligned), -1)
    for where in result.undefined.values():
        values[np.broadcast_to(np.asarray(where).reshape(len(aligned), -1), values.shape)] = np.nan
    return values
