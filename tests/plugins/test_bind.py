"""Measures that need more than judgements, and ours of a name that ir_measures has."""

from __future__ import annotations

import math

import ir_measures
import numpy as np
import pytest

import evenrank as er
from evenrank.errors import ParameterError
from evenrank.plugins.ir_measures import bind


def native_run(run):
    return er.Run.build(*(run[name].tolist() for name in ("query_id", "doc_id", "score")))


def test_evidence_reaches_the_measure(Toy, weights, qrels, run):
    """It needs no judgements, so its queries are the run's, and judged ones that the run lacks are NaN."""
    expected = er.evaluate(native_run(run), "Toy_weight(scale=2.0)@1", evidence=[weights])
    values = expected.to_dict()["run"]["Toy_weight(scale=2.0)@1"]
    assert any(math.isnan(value) for value in values.values())
    measure = bind("Toy_weight(scale=2.0)@1", evidence=iter([weights]))
    for _ in range(2):  # an iterator of evidence serves more than one run
        result = ir_measures.calc([measure, ir_measures.AP], qrels, run)
        found = {metric.query_id: metric.value for metric in result.per_query if metric.measure == measure}
        assert math.isnan(found.pop("q0"))
        undefined = {query for query, value in values.items() if math.isnan(value)}
        assert {query for query, value in found.items() if math.isnan(value)} == undefined - {"unjudged"}
        defined = {query: value for query, value in values.items() if query not in undefined}
        assert {query: found[query] for query in defined} == defined
        assert result.aggregated[measure] == np.median(list(defined.values()))
        assert result.aggregated[measure] == expected.mean("Toy_weight(scale=2.0)@1")


def test_evidence_stays_with_a_measure_that_is_cut(Toy, weights, qrels, run):
    bound = bind(Toy(), evidence=[weights])
    (result,) = ir_measures.calc_aggregate([bound(scale=3.0) @ 2], qrels, run).values()
    assert result == er.evaluate(native_run(run), "Toy_weight(scale=3.0)@2", evidence=[weights]).mean(
        "Toy_weight(scale=3.0)@2"
    )


def test_without_its_evidence_the_measure_says_what_it_needs(Toy, qrels, run):
    with pytest.raises(ParameterError, match="needs weight: pass it in evidence="):
        bind("Toy_weight@3").calc_aggregate(qrels, run)


def test_binding_adds_to_what_is_bound(Toy, weights):
    once = bind("Toy_weight@3", evidence=[weights])
    twice = bind(once, queries=["q1"])
    assert twice.arguments == {"evidence": (weights,), "queries": ["q1"]}
    assert once.arguments == {"evidence": (weights,)}


def test_ours_under_a_name_that_ir_measures_has(qrels, run):
    graded = qrels.assign(iteration="0")
    ours = bind("nDCG(dcg='exp-log2')@5")
    judged = er.Qrels.build(*(graded[name].tolist() for name in ("query_id", "doc_id", "relevance")))
    expected = er.evaluate(native_run(run), "nDCG(dcg='exp-log2')@5", qrels=judged)
    assert ours.calc_aggregate(graded, run) == pytest.approx(expected.mean("nDCG(dcg='exp-log2')@5"))
    assert bind("nDCG@5") == ir_measures.nDCG @ 5


def test_a_measure_of_theirs_is_cut_too(qrels, run):
    graded = qrels.assign(iteration="0")
    run = run.assign(score=np.arange(len(run), dtype=float))  # their Judged has its own order of equal scores
    found = (bind("Judged@10") @ 2).calc_aggregate(graded, run)
    judged = [metric.value for metric in ir_measures.iter_calc([ir_measures.Judged @ 2], graded, run)]
    assert found == pytest.approx(sum(judged) / len(judged))
    assert found != bind("Judged@10").calc_aggregate(graded, run)


def test_a_sum(qrels, run):
    measure = bind("0.5*iRBU@5 + 0.5*I_rec@5")
    assert repr(measure) == "0.5*iRBU@5 + 0.5*I_rec@5"
    parts = ir_measures.calc_aggregate([bind("iRBU@5"), bind("I_rec@5")], qrels, run)
    assert measure.calc_aggregate(qrels, run) == pytest.approx(sum(parts.values()) / 2)


def test_bound_intents_are_kept_to_the_queries_of_the_call(qrels, run):
    columns = [qrels[name].tolist() for name in ("query_id", "iteration", "doc_id", "relevance")]
    bound = bind("I_rec@5", intents=er.DiversityQrels.build(*columns))
    some = qrels[qrels["query_id"].isin(["q1", "q2"])]
    found = {m.query_id: m.value for m in bound.iter_calc(some.assign(iteration="0"), run)}
    assert found == {m.query_id: m.value for m in ir_measures.parse_measure("I_rec@5").iter_calc(some, run)}
    assert found.keys() == {"q1", "q2"}


def test_a_nested_name_is_quoted_so_that_both_read_it(Toy):
    from evenrank.grammar import declare, parameter, term_of, unregister
    from evenrank.measures import Measure
    from evenrank.plugins.ir_measures import register

    @declare
    class Toy_nested(Measure):
        """A measure of a measure."""

        inner: Measure | None = parameter(None, term_of("measure", optional=True), "what it is of")

        @property
        def needs(self):
            return frozenset()

    try:
        register()
        measure = bind("Toy_nested(inner=RBP(p=0.5))@3")
        assert repr(measure) == "Toy_nested(inner='RBP(p=0.5)')@3"
        assert ir_measures.parse_measure(repr(measure)).evenrank_measure == measure.evenrank_measure
        assert er.parse_measure(repr(measure)) == measure.evenrank_measure
    finally:
        unregister("measure", "Toy_nested")
        ir_measures.measures.registry.pop("Toy_nested", None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qrels": {}}, "qrels cannot be given here"),
        ({"cutoffs": [1]}, "write the cut-off in the measure"),
        (
            {"evidense": []},
            "takes no 'evidense'; there are against, background, background_depth, categories",
        ),
    ],
)
def test_arguments_that_cannot_be_bound(arguments, message):
    with pytest.raises(ParameterError, match=message):
        bind("iRBU@5", **arguments)


def test_several_columns_are_refused(Toy, weights, qrels, run, monkeypatch):
    from evenrank.measures import Result

    monkeypatch.setattr(
        Toy, "compute", lambda self, e: Result(np.zeros((len(e), 2)), {}, ("women", "men")), raising=True
    )
    with pytest.raises(ParameterError, match=r"several columns \(women, men\)"):
        bind("Toy_weight@3", evidence=[weights]).calc_aggregate(qrels, run)
