"""Our measures inside ir_measures give what ``evenrank.evaluate`` gives."""

from __future__ import annotations

import math
import subprocess
import sys

import ir_measures
import pandas
import pytest

import evenrank as er
import evenrank.plugins.ir_measures as plugin
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.grammar import register, unregister

NEW = ["iRBU@5", "iRBU(phi=0.9,max_grade=4)", "I_rec@3", "D_nDCG@5", "Dsharp_nDCG(gamma=0.25)@5"]


def ours(names, qrels: pandas.DataFrame, run: pandas.DataFrame) -> er.Scores:
    columns = [qrels[name].tolist() for name in ("query_id", "iteration", "doc_id", "relevance")]
    return er.evaluate(
        er.Run.build(*(run[name].tolist() for name in ("query_id", "doc_id", "score"))),
        names,
        qrels=er.DiversityQrels.build(*columns),
    )


def close(one: float, two: float) -> bool:
    return (math.isnan(one) and math.isnan(two)) or one == pytest.approx(two, abs=1e-12)


def test_every_new_name_is_registered_and_no_old_one_replaced():
    registry = ir_measures.measures.registry
    for name in er.all_measures():
        assert name in registry
    for name in ("iRBU", "I_rec", "D_nDCG", "Dsharp_nDCG"):
        assert hasattr(registry[name], "evenrank_measure")
    for name in ("nDCG", "P", "AP", "RR", "R", "RBP", "ERR", "alpha_nDCG", "ERR_IA", "NRBP"):
        assert not hasattr(registry[name], "evenrank_measure")


@pytest.mark.parametrize("name", NEW)
def test_values_per_query_are_those_of_evaluate(name, qrels, run):
    expected = ours(name, qrels, run).to_dict()["run"][name]
    measure = ir_measures.parse_measure(name)
    found = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run)}
    assert found.keys() == expected.keys() == {f"q{n}" for n in range(8)}
    assert all(close(found[query], expected[query]) for query in expected)
    assert len({round(value, 9) for value in found.values() if value == value}) > 2


def test_aggregates_mixed_with_measures_of_ir_measures(qrels, run):
    measures = [ir_measures.parse_measure(name) for name in NEW]
    theirs = [ir_measures.AP, ir_measures.nDCG @ 5, ir_measures.RR, ir_measures.alpha_nDCG @ 5]
    expected = ours(NEW, qrels, run)
    found = ir_measures.calc_aggregate([*measures, *theirs], qrels, run)
    assert found.keys() == {*measures, *theirs}
    assert all(close(found[measure], expected.mean(str(measure))) for measure in measures)
    assert {m: found[m] for m in theirs} == ir_measures.calc_aggregate(theirs, qrels, run)


@pytest.mark.parametrize("form", ["dict", "tuples"])
def test_other_forms_of_input(form, qrels, run):
    graded = qrels.assign(iteration="0")
    expected = ir_measures.calc_aggregate([ir_measures.parse_measure("iRBU@5")], graded, run)
    if form == "dict":
        given = [
            {
                query: dict(zip(rows["doc_id"], rows[value], strict=True))
                for query, rows in frame.groupby("query_id")
            }
            for frame, value in ((graded, "relevance"), (run, "score"))
        ]
    else:
        given = [
            [kind(*row) for row in frame[list(columns)].itertuples(index=False)]
            for frame, kind, columns in (
                (graded, ir_measures.Qrel, ("query_id", "doc_id", "relevance", "iteration")),
                (run, ir_measures.ScoredDoc, ("query_id", "doc_id", "score")),
            )
        ]
    assert ir_measures.calc_aggregate([ir_measures.parse_measure("iRBU@5")], *given) == expected


def test_undefined_and_absent_queries(qrels, run):
    """q7 has nothing relevant: NaN, and out of the mean. q0 is not in the run: 0, and in the mean."""
    measure = ir_measures.parse_measure("iRBU@5")
    result = ir_measures.calc([measure], qrels, run)
    values = {metric.query_id: metric.value for metric in result.per_query}
    assert math.isnan(values["q7"])
    assert values["q0"] == 0
    assert "unjudged" not in values
    defined = [value for value in values.values() if not math.isnan(value)]
    assert len(defined) == 7
    assert result.aggregated[measure] == pytest.approx(sum(defined) / 7)


def test_no_query_defined_gives_nan(qrels, run):
    measure = ir_measures.parse_measure("iRBU@5")
    assert math.isnan(ir_measures.calc_aggregate([measure], qrels.assign(relevance=0), run)[measure])


def test_empty_run_scores_zero(qrels, run):
    measure = ir_measures.parse_measure("I_rec@5")
    values = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run[:0])}
    assert math.isnan(values.pop("q7"))
    assert set(values.values()) == {0.0}
    assert len(values) == 7


def test_empty_judgements_give_no_values(qrels, run):
    assert not list(ir_measures.iter_calc([ir_measures.parse_measure("iRBU@5")], qrels[:0], run))


def test_documents_judged_for_several_intents(run):
    """A measure by intent sees them all, a measure of grades the best of them."""
    rows = [("q1", "d01", 1, "a"), ("q1", "d01", 3, "b"), ("q1", "d02", 2, "b"), ("q1", "d03", 0, "c")]
    qrels = pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iteration"])
    measures = [ir_measures.parse_measure(name) for name in NEW]
    expected = ours(NEW, qrels, run)
    found = ir_measures.calc_aggregate(measures, qrels, run)
    assert all(close(found[measure], expected.mean(str(measure))) for measure in measures)
    best = pandas.DataFrame(
        [("q1", "d01", 3), ("q1", "d02", 2), ("q1", "d03", 0)], columns=["query_id", "doc_id", "relevance"]
    )
    assert ir_measures.calc_aggregate(measures[:1], best, run)[measures[0]] == found[measures[0]]


def test_equal_scores_stand_by_document_id():
    qrels = {"q": {"a": 1}}
    run = pandas.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "c", "b"], "score": [1.0] * 3})
    measure = ir_measures.parse_measure("iRBU")
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        assert measure.calc_aggregate(qrels, run.iloc[order]) == pytest.approx(0.5 * 0.99**3)


@pytest.mark.parametrize("text", [*NEW, "Dsharp_nDCG", "I_rec(rel=2)@10"])
def test_names_survive_parsing_in_both(text):
    measure = ir_measures.parse_measure(text)
    assert str(measure) == repr(measure) == text
    assert ir_measures.parse_measure(str(measure)) == measure
    assert hash(ir_measures.parse_measure(text)) == hash(measure)
    assert measure.evenrank_measure == er.parse_measure(text)
    assert er.parse_measure(str(measure)) == measure.evenrank_measure


def test_a_measure_is_called_and_cut_like_theirs():
    measure = ir_measures.measures.registry["iRBU"]
    assert measure(phi=0.5) @ 3 == ir_measures.parse_measure("iRBU(phi=0.5)@3")
    assert (measure @ 3)["cutoff"] == 3
    assert measure["phi"] == 0.99
    assert measure.NAME == "iRBU"
    assert "How useful" in measure.SHORT_DESC
    assert set(measure.SUPPORTED_PARAMS) == {"phi", "max_grade", "cutoff"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iRBU(phi=7)", "phi must be"),
        ("iRBU(p=0.8)", "no parameter 'p'; it takes cutoff"),
        ("iRBU@0", "cutoff must"),
    ],
)
def test_wrong_parameters_are_named(text, message):
    with pytest.raises(ParameterError, match=message):
        ir_measures.parse_measure(text)


def test_judgements_without_intents_are_one_intent():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"c": 3.0, "b": 2.0, "a": 1.0}}
    assert ir_measures.parse_measure("I_rec@1").calc_aggregate(qrels, run) == 0
    assert ir_measures.parse_measure("I_rec@2").calc_aggregate(qrels, run) == 1


def test_a_missing_cutoff_is_named():
    whole = er.all_measures()["P"]()
    with pytest.raises(ParameterError, match=r"\bP\b.*cut-off"):
        plugin.bind(whole).validate_params()
    with pytest.raises(ParameterError, match=r"\bP\b.*cut-off"):
        plugin.bind(whole).calc_aggregate({"q": {"a": 1}}, {"q": {"a": 1.0}})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"query_id": 7}, InputTypeError, r"query_id.*7"),
        ({"relevance": 0.5}, DataError, "whole numbers"),
        ({"relevance": math.nan}, DataError, "'relevance'"),
    ],
)
def test_wrong_columns_are_named(change, error, message, qrels, run):
    with pytest.raises(error, match=message):
        list(ir_measures.iter_calc([ir_measures.parse_measure("iRBU")], qrels.assign(**change), run))


def test_inputs_are_not_changed(qrels, run):
    before = qrels.copy(), run.copy()
    ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in NEW], qrels, run)
    pandas.testing.assert_frame_equal(qrels, before[0])
    pandas.testing.assert_frame_equal(run, before[1])


def test_registering_twice_changes_nothing():
    before = dict(ir_measures.measures.registry)
    plugin.register()
    after = ir_measures.measures.registry
    assert list(after) == list(before)
    assert all(after[name] is before[name] for name in before)


def test_a_later_measure_is_registered_on_demand(Toy):
    assert "Toy_weight" not in ir_measures.measures.registry
    plugin.register()
    assert ir_measures.parse_measure("Toy_weight(scale=2.0)@3").evenrank_measure == Toy(scale=2.0, cutoff=3)


def test_a_measure_declared_anew_replaces_the_old_one(Toy):
    plugin.register()
    unregister("measure", "Toy_weight")
    again = type("Toy_weight", (Toy,), {})
    register(again)
    plugin.register()
    assert type(ir_measures.parse_measure("Toy_weight").evenrank_measure) is again


@pytest.mark.parametrize(
    ("imports", "there"),
    [
        ("evenrank", False),
        ("evenrank.measures", False),
        ("evenrank.plugins.ir_measures", True),
    ],
)
def test_only_the_plugin_registers(imports, there):
    code = f"import {imports}, evenrank; evenrank.evaluate; evenrank.parse_measure('Judged@10')\n"
    code += "import ir_measures; print('iRBU' in ir_measures.measures.registry)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(there)


def test_measures_that_do_with_or_without_judgements_get_them() -> None:
    """GF stops as ERR does where there are judgements, and ir_measures always has some."""
    from evenrank import Membership

    groups = Membership.from_labels("gender", {"a": "f", "b": "m"})
    run = [ir_measures.ScoredDoc("q", "a", 2.0), ir_measures.ScoredDoc("q", "b", 1.0)]
    qrels = [ir_measures.Qrel("q", "b", 1)]
    measure = plugin.bind("GF@10", groups=groups)
    found = ir_measures.calc_aggregate([measure], qrels, run)
    ours = er.evaluate(
        {"q": {"a": 2.0, "b": 1.0}}, "GF(decay='ERR')@10", qrels={"q": {"b": 1}}, groups=groups
    ).mean("GF(decay='ERR')@10")
    assert found[measure] == pytest.approx(ours)
    assert ours == pytest.approx(0.5)  # stops at rank 2 by chance 1/2, where the groups are even
