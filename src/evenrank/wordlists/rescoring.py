"""Scores by many word lists from the counts of one scan: runs are aligned once, and only counts change.

A list is a row of numbers: how often every term of the lexicon counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.data.evidence_source import Gathered
from evenrank.data.lexicon import Lexicon
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import InputTypeError, ParameterError
from evenrank.evidence.align import align
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence
from evenrank.inputs import Inputs
from evenrank.measures import Measure, Result


def resampled_lists(lexicon: Lexicon, count: int, generator: np.random.Generator) -> Floats:
    """(count, T): the terms of each group drawn with replacement, as many as there are.

    A term that is drawn twice counts twice. Groups keep their size, so that no list is one-sided by chance
    alone.
    """
    if count < 1:
        raise ParameterError(f"at least one list must be drawn, got {count}")
    owners = np.array(lexicon.term_groups)
    lists = np.zeros((count, len(lexicon)))
    for group in range(len(lexicon.groups)):
        own = np.flatnonzero(owners == group)
        lists[:, own] = generator.multinomial(len(own), np.full(len(own), 1 / len(own)), count)
    return lists


@dataclass(frozen=True, eq=False)
class Rescoring:
    """One measure on several runs, whose documents were joined with the counts of every term.

    All runs have the same queries, and so the same documents beyond their lists.
    """

    measure: Measure  # settled
    runs: Mapping[str, RankedEvidence]
    weights: Floats  # (T, G): how strongly each term stands for each group

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
        lexicon = inputs.words.lexicon
        alike = np.eye(len(lexicon.groups))[list(lexicon.term_groups)]
        return cls(settled, runs, alike if lexicon.weights is None else np.array(lexicon.weights))

    def terms_found(self) -> Int64s:
        """(T,): in how many of the documents that the measure looks at each term stands."""
        places = [matrix.indices for matrix in (*self._ranked.values(), *self._behind.values())]
        return np.bincount(np.concatenate(places), minlength=len(self.weights))

    def values(self, lists: Floats) -> Floats:
        """(L, R, Q): the values by each of the lists (L, T); NaN where they are undefined."""
        first = next(iter(self.runs.values()))
        values = np.empty((len(lists), len(self.runs), first.count))
        for place, one in enumerate(lists):
            behind = {}
            for name, matrix in self._behind.items():
                found = first.reference[name]
                behind[name] = replace(found, gathered=self._counted(found.gathered, matrix, one), _cache={})
            for row, (run, evidence) in enumerate(self.runs.items()):
                known = self._counted(evidence.ranked.gathered, self._ranked[run], one)
                changed = replace(
                    evidence,
                    ranked=Ranked(evidence.ranked.rows, known),
                    reference={**evidence.reference, **behind},
                )
                values[place, row] = _defined(self.measure.evaluate(changed.cut(self.measure.depth)))
        return values

    @cached_property
    def _ranked(self) -> dict[str, Any]:
        """Of each run, how often every term stands in every document."""
        return {run: _matrix(evidence.ranked.gathered) for run, evidence in self.runs.items()}

    @cached_property
    def _behind(self) -> dict[str, Any]:
        """The same of the documents beyond the lists, which are the same for every run."""
        first = next(iter(self.runs.values()))
        there = {name: found.gathered for name, found in first.reference.items()}
        return {name: _matrix(gathered) for name, gathered in there.items() if "words" in gathered}

    def _counted(self, gathered: Mapping[str, Gathered], terms: Any, one: Floats) -> dict[str, Gathered]:
        """With the counts by a list: a term counts as often as it says, a token of it once for tau."""
        words = gathered["words"]
        counts = terms @ (one[:, None] * self.weights)  # (P, G)
        tokens = terms @ (one > 0).astype(float)  # (P,)
        columns = {"counts": counts, "length": words.columns["length"], "tokens": tokens}
        return {**gathered, "words": Gathered(columns, words.known)}


def _matrix(gathered: Mapping[str, Gathered]) -> Any:
    """(P, T), sparse."""
    from scipy.sparse import csr_matrix

    terms: Any = gathered["words"].columns["terms"]
    return csr_matrix(
        (terms.values.astype(float), terms.places, terms.offsets), shape=(len(terms), terms.width)
    )


def _defined(result: Result) -> Floats:
    """(Q,): the values, NaN where there is a reason for none."""
    values = np.asarray(result.values, dtype=float).reshape(-1).copy()
    for where in result.undefined.values():
        values[np.asarray(where).reshape(-1)] = np.nan
    return values
