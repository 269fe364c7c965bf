"""What documents do, for all queries at once, is what ``explain`` says of each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sample_inputs import bm25_run, groups_of

import evenrank as er
from evenrank import Inputs, Run, explain, parse_measure
from evenrank.evaluation.prepared import PreparedEvidence
from evenrank.explanation.many import ADDS, WITHOUT, document_effects
from evenrank.sample import load

DEPTH = 6


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("NFaiRR@5", ADDS),
        ("FaiRR@5", ADDS),
        ("nDCG@5", ADDS),
        ("RBP@5", ADDS),
        ("0.5*nDCG@5 + 0.5*NFaiRR@3", ADDS),
        ("TExFAIR@5", WITHOUT),
        ("GF(attr='leaning')@5", ADDS),
        ("NDKL(attr='leaning',missing='drop')@5", ADDS),
        ("Polarity(attr='leaning')@5", ADDS),
        ("MaxSkew(attr='leaning',missing='drop')@5", WITHOUT),
    ],
)
def test_effects_are_those_of_explain(name: str, kind: str) -> None:
    sample = load()
    run = bm25_run()
    words = er.scan(list(sample.documents.items()), er.read_lexicon("gender-en"))
    inputs = {"qrels": sample.qrels, "words": words, "groups": groups_of(sample), "background": run}
    measure = parse_measure(name)
    known = PreparedEvidence.of(Inputs.of({"bm25": run}, **inputs), [measure])
    queries = list(run.query_ids)
    found = document_effects(run, measure, queries, known, DEPTH)
    assert found.kind == kind
    assert found.values.shape == (len(queries), DEPTH)
    for query in (queries[0], queries[7], queries[-1]):
        documents = explain(run, measure, query, depth=DEPTH, **inputs).documents
        expected = [
            document.adds if kind == ADDS else (document.change_without or {"": math.nan})[""]
            for document in documents
        ]
        own = found.values[queries.index(query), : len(documents)]
        for value, wanted, document in zip(own, expected, documents, strict=True):
            if document.counts_in:
                assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True), (query, document.rank)
    assert np.nanmax(np.abs(found.values)) > 0


def test_blocks_of_queries_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenrank.explanation import many

    rng = np.random.default_rng(3)
    queries = [f"q{place}" for place in range(11)]
    rows = [(q, f"d{d}", float(rng.random())) for q in queries for d in rng.permutation(9)[:7]]
    run = Run.build(*map(list, zip(*rows, strict=True)))
    qrels = {q: {f"d{d}": int(rng.integers(0, 3)) for d in range(9)} for q in queries}
    for name in ("nDCG@3", "RR@3", "AP"):
        measure = parse_measure(name)
        known = PreparedEvidence.of(Inputs.of({"run": run}, qrels=qrels), [measure])
        whole = document_effects(run, measure, queries, known, 4)
        monkeypatch.setattr(many, "QUERIES_AT_ONCE", 3)
        parts = document_effects(run, measure, queries, known, 4)
        monkeypatch.undo()
        assert parts.kind == whole.kind != ""
        np.testing.assert_array_equal(parts.values, whole.values)


def test_a_query_that_the_run_lacks_and_short_lists() -> None:
    run = Run.build(["q"], ["a"], [1.0])
    measure = parse_measure("P@2")
    known = PreparedEvidence.of(Inputs.of({"run": run}, qrels={"q": {"a": 1}, "r": {"a": 1}}), [measure])
    found = document_effects(run, measure, ["q", "r"], known, 3)
    np.testing.assert_array_equal(found.values, [[0.5, np.nan, np.nan], [np.nan] * 3])


def test_what_cannot_be_said() -> None:
    run = Run.build(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    words = er.scan([("a", "he"), ("b", "she")], er.read_lexicon("gender-en"))
    measures = [parse_measure("TExFAIR@2"), parse_measure("GroupExposure@2")]
    known = PreparedEvidence.of(Inputs.of({"run": run}, words=words, background=words), measures)
    below, columns = (document_effects(run, measure, ["q"], known, 2) for measure in measures)
    assert (below.kind, columns.kind) == ("", "")
    assert "would move up have no evidence" in below.reason  # nothing is known of c
    assert np.isnan(below.values).all()
