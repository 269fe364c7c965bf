"""Scores by many word lists from the counts of one scan: runs are aligned once, and only counts change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenrank.arrays import Bools, Floats, Int64s
from evenrank.data.evidence_source import Gathered, Sparse
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import InputTypeError
from evenrank.evidence.align import align
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence, Reference
from evenrank.inputs import Inputs
from evenrank.measures import Measure, Result
from evenrank.wordlists.lists import weights_of

_NUMBERS_AT_ONCE = 1 << 22  # counts of documents by list and group that are in memory together


@dataclass(frozen=True, eq=False)
class Rescoring:
    """One measure on several runs, whose documents were joined with the counts of every term.

    All runs have the same queries, and so the same documents beyond their lists, which are counted once.
    """

    measure: Measure  # settled
    runs: Mapping[str, RankedEvidence]
    weights: Floats  # (T, G)

    @classmethod
    def of(cls, inputs: Inputs, measure: Measure, queries: tuple[str, ...]) -> Rescoring:
        if inputs.words is None:
            raise InputTypeError("other word lists need the counts of words: pass words= (--words FILE)")
        (settled,), sources, _ = inputs.settle([measure])
        runs = {}
        for name, run in inputs.runs.items():
            if not isinstance(run, Run):
                kind = "several rankings for each query" if isinstance(run, RunSet) else type(run).__name__
                raise InputTypeError(
                    f"run {name!r}: word lists are tried on one ranking a query, not on {kind}"
                )
            runs[name] = align(run, queries, settled.needs, sources, settled.depth)
        return cls(settled, runs, weights_of(inputs.words.lexicon))

    @cached_property
    def _references(self) -> Mapping[str, Reference]:
        """Those with words: the same for every run."""
        first = next(iter(self.runs.values()))
        return {name: found for name, found in first.reference.items() if "words" in found.gathered}

    @cached_property
    def _terms(self) -> tuple[list[_TermCounts], dict[str, _TermCounts]]:
        ranked = [_TermCounts.of(evidence.ranked.gathered) for evidence in self.runs.values()]
        return ranked, {name: _TermCounts.of(found.gathered) for name, found in self._references.items()}

    def values(self, lists: Floats) -> Floats:
        """(L, R, Q): the values by each of the lists (L, T); NaN where they are undefined."""
        whole = np.ones((1, lists.shape[1]))
        # a list that lacks a single term changes only the queries whose documents hold it
        single = (lists != 1).sum(axis=1) == 1
        if single.all() and len(lists):
            return self._left_out(lists, self._values(whole)[0])
        return self._values(lists)

    def terms_found(self) -> Int64s:
        """(T,): in how many of the documents that the measure looks at each term stands."""
        ranked, others = self._terms
        places = np.concatenate([found.terms.places for found in (*ranked, *others.values())])
        return np.bincount(places, minlength=len(self.weights))

    def _left_out(self, lists: Floats, base: Floats) -> Floats:
        values = np.repeat(base[None], len(lists), axis=0)
        holds = self._queries_with_terms  # (Q, T)
        for place, one in enumerate(lists):
            chosen = np.flatnonzero(holds[:, int(np.flatnonzero(one != 1)[0])])
            if len(chosen):
                values[place][:, chosen] = self._values(one[None], chosen)[0]
        return values

    def _values(self, lists: Floats, queries: Int64s | None = None) -> Floats:
        ranked, others = self._terms
        documents = sum(map(len, (*ranked, *others.values())))
        step = max(1, _NUMBERS_AT_ONCE // max(1, documents * (self.weights.shape[1] + 1)))
        count = next(iter(self.runs.values())).count if queries is None else len(queries)
        found = np.empty((len(lists), len(self.runs), count))
        for begin in range(0, len(lists), step):
            part = lists[begin : begin + step]
            of_runs = [terms.counted(part, self.weights) for terms in ranked]
            of_others = {name: terms.counted(part, self.weights) for name, terms in others.items()}
            for place in range(len(part)):
                behind = {
                    name: _counted_reference(reference, of_others[name].at(place))
                    for name, reference in self._references.items()
                }
                if queries is not None:
                    behind = {name: reference.select(queries) for name, reference in behind.items()}
                for row, evidence in enumerate(self.runs.values()):
                    chosen = evidence if queries is None else evidence.select(queries)
                    known = {**chosen.ranked.gathered, "words": of_runs[row].at(place)}
                    changed = replace(
                        chosen,
                        ranked=Ranked(chosen.ranked.rows, known),
                        reference={**chosen.reference, **behind},
                    )
                    found[begin + place, row] = _defined(
                        self.measure.evaluate(changed.cut(self.measure.depth))
                    )
        return found

    @cached_property
    def _queries_with_terms(self) -> Bools:
        """(Q, T): whether a document that the measure looks at for the query holds the term."""
        count = next(iter(self.runs.values())).count
        holds = np.zeros((count, len(self.weights)), dtype=bool)
        for evidence in self.runs.values():
            _mark(holds, evidence.ranked.rows, _TermCounts.of(evidence.ranked.gathered).terms)
        for reference in self._references.values():
            terms = _TermCounts.of(reference.gathered).terms
            if reference.shared:
                holds[:, np.unique(terms.places)] = True
            else:
                _mark(holds, reference.rows(), terms)
        return holds


@dataclass(frozen=True)
class _ListCounts:
    """What documents have by each list."""

    counts: Floats  # (L, P, G)
    tokens: Floats  # (L, P)
    lengths: Floats  # (P,)
    known: Bools  # (P,)

    def at(self, place: int) -> Gathered:
        columns = {"counts": self.counts[place], "length": self.lengths, "tokens": self.tokens[place]}
        return Gathered(columns, self.known)


@dataclass(frozen=True)
class _TermCounts:
    """The counts of every term in some documents."""

    terms: Sparse
    lengths: Floats
    known: Bools

    @classmethod
    def of(cls, gathered: Mapping[str, Gathered]) -> _TermCounts:
        columns: Mapping[str, Any] = gathered["words"].columns
        return cls(columns["terms"], columns["length"], gathered["words"].known)

    def __len__(self) -> int:
        return len(self.terms)

    def counted(self, lists: Floats, weights: Floats) -> _ListCounts:
        """Counts by each list: a term counts as often as the list has it, a token of it once for tau."""
        from scipy.sparse import csr_matrix

        found = self.terms
        matrix = csr_matrix((found.values, found.places, found.offsets), shape=(len(found), found.width))
        factors = lists.T[:, :, None] * weights[:, None, :]  # (T, L, G)
        count, groups = factors.shape[1:]
        counts = (matrix @ factors.reshape(found.width, count * groups)).reshape(len(found), count, groups)
        tokens = matrix @ (lists.T > 0).astype(float)  # (P, L)
        return _ListCounts(
            np.ascontiguousarray(counts.transpose(1, 0, 2)),
            np.ascontiguousarray(tokens.T),
            self.lengths,
            self.known,
        )


def _mark(holds: Bools, rows: Int64s, terms: Sparse) -> None:
    """Mark the terms of the documents in each row of ``rows`` (Q, K); -1 is no document."""
    queries, _ = np.nonzero(rows >= 0)
    documents = rows[rows >= 0]
    lengths = np.diff(terms.offsets)[documents]
    found = terms.rows(documents)
    holds[np.repeat(queries, lengths), found.places] = True


def _counted_reference(reference: Reference, words: Gathered) -> Reference:
    return replace(reference, gathered={**reference.gathered, "words": words}, _cache={})


def _defined(result: Result) -> Floats:
    """(Q,): the values, NaN where there is a reason for none."""
    values = np.asarray(result.values, dtype=float).reshape(-1).copy()
    for where in result.undefined.values():
        values[np.asarray(where).reshape(-1)] = np.nan
    return values
