"""Scores and curves that are computed together are those of two evaluations."""

from __future__ import annotations

import numpy as np
import pytest
from counting import counted_calls
from sample_inputs import bm25_run, groups_of

import evenrank as er
from evenrank import Inputs
from evenrank.comparison.curves import curves_of, evaluate_with_curves
from evenrank.evidence.align import align
from evenrank.measures import parse_measures
from evenrank.sample import load


def inputs() -> Inputs:
    sample = load()
    run = bm25_run()
    words = er.scan(list(sample.documents.items()), er.read_lexicon("gender-en"))
    runs = {"bm25": run, "short": run.head(7)}
    return Inputs.of(runs, qrels=sample.qrels, words=words, groups=groups_of(sample), background=run)


@pytest.mark.parametrize("cutoffs", [None, [2, 30]])
def test_together_is_as_one_by_one(cutoffs: list[int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    known = inputs()
    measures = parse_measures("nDCG@10 NFaiRR@5 GF(attr='leaning')@10 AP")
    alone = er.evaluate(known, measures)
    curves = curves_of(alone, known, cutoffs)
    calls = counted_calls(monkeypatch, align)
    found = evaluate_with_curves(known, measures, cutoffs)
    assert calls["align"] == 2  # one for each run
    assert found.scores.notes == alone.notes  # nothing is said of the measures of the curves
    for one, other in ((found.scores, alone), (found.curves, curves)):
        assert [(b.run, b.measure) for b in one.blocks] == [(b.run, b.measure) for b in other.blocks]
        for block, wanted in zip(one.blocks, other.blocks, strict=True):
            np.testing.assert_array_equal(block.values, wanted.values)
    depths = {block.measure.cutoff for block in found.curves.blocks}
    assert depths == ({1, 2, 3, 5, 10} if cutoffs is None else {2, 30})


def test_several_cutoffs_are_their_own_curves() -> None:
    found = evaluate_with_curves(inputs(), parse_measures("P@5 P@10"))
    assert found.curves is found.scores
