"""Each kind of measure goes from files of ids to values through the same spine."""

from __future__ import annotations

import copy
from math import log2

import numpy as np
import pytest
import toys

from evenrank import (
    DataError,
    DiversityQrels,
    MissingEvidenceError,
    ParameterError,
    Run,
    RunSet,
    evaluate,
    parse_measure,
    read_qrels,
    read_run,
    rerank,
)
from evenrank.data.evidence_source import DocumentSets
from evenrank.data.tables import DocumentTable, QueryTable
from evenrank.errors import InputTypeError
from evenrank.grammar import declare, register, unregister
from evenrank.ids import StringRows, as_strings
from evenrank.measures import Result
from evenrank.stats.intervals import UNMOVED

RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"c": 2.0, "d": 1.0}}
QRELS = {"q1": {"a": 1, "c": 3, "z": 2}, "q2": {"c": 0, "e": 1}}
WEIGHT = DocumentTable.build("weight", ["a", "b", "c", "d", "e"], {"": [1.0, 0.5, 0.2, 0.0, 0.7]})
GROUP = DocumentTable.build("group", ["a", "b", "c", "d"], {"": [[1, 0], [0, 1], [0.5, 0.5], [0, 1]]})


@pytest.fixture(autouse=True)
def registered():
    for toy in toys.TOYS:
        register(toy)
    yield
    for toy in toys.TOYS:
        unregister("measure", toy.name)


def values(scores, run="run"):
    (name,) = scores.to_dict()[run]
    return scores.to_dict()[run][name]


def test_ideal_over_judged_documents() -> None:
    assert values(evaluate(RUN, "ToyIdeal@2", qrels=QRELS)) == pytest.approx({"q1": 1 / 5, "q2": 0.0})


def test_background_of_a_run() -> None:
    background = Run.build(
        ["q1", "q1", "q1", "q2"], ["a", "e", "b", "b"], [3.0, 2.0, 1.0, 1.0], name="background"
    )
    scores = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=background)
    expected = {"q1": (1.0 + 0.5 / log2(3)) / (1.0 + 0.7 / log2(3)), "q2": 0.2 / 0.5}
    assert values(scores) == pytest.approx(expected)


def test_background_of_documents_for_all_queries() -> None:
    documents = DocumentSets(StringRows(as_strings(["b", "e", "a"])), np.array([0, 3]), shared=True)
    scores = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=documents)
    ideal = 1.0 + 0.7 / log2(3)
    assert values(scores) == pytest.approx({"q1": (1.0 + 0.5 / log2(3)) / ideal, "q2": 0.2 / ideal})


def test_a_background_that_lacks_a_query_makes_it_undefined() -> None:
    background = Run.build(["q1"], ["a"], [1.0])
    block = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=background).block(
        "ToyBackground@2"
    )
    assert [block.reasons[code] for code in block.status[:, 0]] == ["ok", "empty background"]


def test_documents_without_evidence_are_an_error_that_names_them() -> None:
    weight = DocumentTable.build("weight", ["a", "b"], {"": [1.0, 0.5]})
    background = Run.build(["q1", "q2"], ["a", "a"], [1.0, 1.0])
    way_out = "accept them by missing='neutral' or missing='drop'"  # and no 'error', which it is already
    with pytest.raises(
        MissingEvidenceError, match=rf"3 ranked documents .* 'c' \(query 'q1'\), .*; {way_out}$"
    ):
        evaluate(RUN, "ToyBackground", evidence=[weight], background=background)


def test_documents_below_the_cutoff_need_no_evidence() -> None:
    weight = DocumentTable.build("weight", ["a", "c"], {"": [1.0, 0.5]})
    background = Run.build(["q1", "q2"], ["a", "a"], [1.0, 1.0])
    scores = evaluate(RUN, "ToyBackground@1", evidence=[weight], background=background)
    assert values(scores) == pytest.approx({"q1": 1.0, "q2": 0.5})


def test_documents_without_evidence_can_be_dropped_before_the_cutoff() -> None:
    weight = DocumentTable.build("weight", ["b", "c", "d"], {"": [0.5, 0.2, 0.0]})
    background = Run.build(["q1", "q2"], ["b", "b"], [1.0, 1.0])
    scores = evaluate(RUN, "ToyBackground@2", evidence=[weight], background=background, missing="drop")
    # q1 closes up to b, c; ideal is the one background document
    assert values(scores) == pytest.approx({"q1": (0.5 + 0.2 / log2(3)) / 0.5, "q2": 0.2 / 0.5})


def test_groups_and_targets_that_differ_by_query() -> None:
    target = QueryTable.build("target", ["q2", "q1"], {"": [[0.0, 1.0], [0.5, 0.5]]})
    scores = evaluate(RUN, "ToyGroups@2", evidence=[GROUP, target])
    assert values(scores) == pytest.approx({"q1": 0.0, "q2": 0.5})


def test_a_query_without_a_target_is_undefined() -> None:
    target = QueryTable.build("target", ["q1"], {"": [[0.5, 0.5]]})
    row = evaluate(RUN, "ToyGroups@2", evidence=[GROUP, target]).summary()[0]
    assert (row.defined, row.undefined) == (1, {"no target": 1})


def test_evidence_by_query_and_document() -> None:
    group = DocumentTable.build(
        "group",
        ["a", "b", "c", "c", "d"],
        {"": [[1, 0], [1, 0], [0, 1], [1, 0], [1, 0]]},
        queries=["q1", "q1", "q1", "q2", "q2"],
    )
    target = QueryTable.build("target", ["q1", "q2"], {"": [[0.0, 1.0], [0.0, 1.0]]})
    assert values(evaluate(RUN, "ToyGroups", evidence=[group, target])) == pytest.approx(
        {"q1": 4 / 3, "q2": 2.0}
    )


def test_a_pair_of_runs() -> None:
    other = Run.build(["q1", "q1", "q2"], ["c", "a", "x"], [2.0, 1.0, 1.0], name="other")
    assert values(evaluate(RUN, "ToyPair@2", against=other)) == pytest.approx({"q1": 0.5, "q2": 0.0})


def test_several_rankings_a_query() -> None:
    one = Run.build(["q1", "q1"], ["a", "b"], [2.0, 1.0])
    two = Run.build(["q1", "q1"], ["b", "a"], [2.0, 1.0])
    scores = evaluate(RunSet.build([one, two]), "ToyExposure", qrels={"q1": {"a": 1}})
    assert values(scores, "runs") == pytest.approx({"q1": 2 * 0.375**2})


def test_a_measure_of_one_list_is_averaged_over_rankings() -> None:
    one = Run.build(["q1", "q1", "q2"], ["a", "b", "x"], [2.0, 1.0, 1.0])
    two = Run.build(["q1", "q1"], ["b", "a"], [2.0, 1.0])
    scores = evaluate(RunSet.build([one, two]), "RR ToyExposure", qrels={"q1": {"a": 1}, "q2": {"x": 1}})
    assert scores.to_dict()["runs"]["RR"] == pytest.approx({"q1": 0.75, "q2": 1.0})
    assert [str(measure) for measure in scores.measures] == ["RR", "ToyExposure"]


def test_several_result_columns() -> None:
    scores = evaluate(RUN, "ToyColumns@2", evidence=[GROUP])
    table = scores.to_dict()["run"]
    assert table["ToyColumns@2[left]"] == pytest.approx({"q1": 0.5, "q2": 0.25})
    assert table["ToyColumns@2[right]"] == pytest.approx({"q1": 0.5, "q2": 0.75})
    assert scores.mean("ToyColumns@2", column="right") == pytest.approx(0.625)
    with pytest.raises(ParameterError, match="several columns: name one of left, right"):
        scores.mean("ToyColumns@2")


def test_a_column_can_be_undefined_alone() -> None:
    group = DocumentTable.build("group", ["a", "b", "c", "d"], {"": [[1, 0], [1, 0], [0, 1], [0, 1]]})
    rows = {
        row.column: (row.defined, row.undefined)
        for row in evaluate(RUN, "ToyColumns@2", evidence=[group]).summary()
    }
    assert rows == {"left": (1, {"absent": 1}), "right": (1, {"absent": 1})}


def test_nested() -> None:
    scores = evaluate(RUN, ["ToyNested(inner=RR(rel=3))@3", "RR(rel=3)@3"], qrels=QRELS, queries=["q1"])
    halved, whole = (scores.mean(measure) for measure in scores.measures)
    assert whole == pytest.approx(1 / 3)
    assert halved == pytest.approx(whole / 2)
    nested = parse_measure("ToyNested(inner=RBP(p=0.5))@10")
    assert parse_measure(repr(nested)) == nested
    assert repr(nested) == "ToyNested(inner=RBP(p=0.5))@10"


def test_weighted_sum() -> None:
    name = "0.25*RR + 0.75*ToyIdeal@2"
    scores = evaluate(RUN, [name, "RR", "ToyIdeal@2"], qrels=QRELS, queries=["q1"])
    assert scores.mean(name) == pytest.approx(0.25 * scores.mean("RR") + 0.75 * scores.mean("ToyIdeal@2"))


def test_a_sum_is_undefined_where_a_part_is_and_says_which() -> None:
    row = evaluate(RUN, "0.5*RR(rel=2) + 0.5*ToyIdeal@2", qrels=QRELS).summary()[0]
    assert row.undefined == {"RR(rel=2): no relevant document": 1}


def test_a_sum_of_opposite_directions_is_refused() -> None:
    with pytest.raises(ParameterError, match="point different ways"):
        parse_measure("0.5*RR + 0.5*ToyGroups@3")


def test_an_aggregate_that_is_not_a_mean() -> None:
    scores = evaluate(RUN, "ToyWorst@3", qrels=QRELS)
    assert values(scores) == pytest.approx({"q1": 4 / 6, "q2": 0.0})
    assert scores.mean("ToyWorst@3") == 0.0
    many = evaluate(
        {f"q{i}": RUN["q1"] for i in range(5)}, "ToyWorst@3", qrels={f"q{i}": QRELS["q1"] for i in range(5)}
    )
    assert np.isnan(many.interval("ToyWorst@3")).all()  # all queries are alike, which says nothing of others
    assert many.summary()[0].interval_note == UNMOVED


def test_infinite_values_stay_and_are_left_out_of_the_mean() -> None:
    scores = evaluate(RUN, "ToyInfinite", qrels=QRELS)
    assert values(scores) == {"q1": 1.0, "q2": np.inf}
    row = scores.summary()[0]
    assert (row.value, row.defined, row.infinite) == (1.0, 1, 1)


@pytest.mark.parametrize(
    ("measure", "complaint"),
    [
        ("ToyPair", "compares two runs: pass against="),
        ("ToyGroups", "needs group: pass it in evidence="),
        ("RR", r"needs judgements: pass qrels=$"),
        ("NRBP", "needs judgements by intent: pass intents="),
    ],
)
def test_a_missing_source_says_how_to_pass_it(measure: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        evaluate(RUN, measure)


def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="two sources of evidence are called 'weight'"):
        evaluate(RUN, "ToyBackground", evidence=[WEIGHT, WEIGHT], background=Run.build(["q1"], ["a"], [1.0]))


def test_a_table_with_a_document_twice_is_refused() -> None:
    with pytest.raises(DataError, match="document 'a' is listed twice"):
        DocumentTable.build("weight", ["a", "b", "a"], {"": [1, 2, 3]})


def test_one_run_is_its_own_background_and_several_need_a_common_one() -> None:
    scores = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT])
    assert values(scores)["q1"] == pytest.approx(1.0)
    assert scores.notes["run"] == ("background: the run itself, 3 documents deep",)
    with pytest.raises(ParameterError, match="several runs need one common background"):
        evaluate({"one": RUN, "two": RUN}, "ToyBackground@2", evidence=[WEIGHT])


def test_a_background_given_as_ids() -> None:
    scores = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=["b", "e", "a"])
    assert values(scores)["q2"] == pytest.approx(0.2 / (1.0 + 0.7 / log2(3)))
    with pytest.raises(
        TypeError,
        match="background= takes a Run, WordCounts, a list of document ids or 'collection', got int",
    ):
        evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=5)


def test_background_documents_without_evidence_are_counted() -> None:
    with pytest.raises(MissingEvidenceError, match="2 documents of the background have no 'weight'"):
        evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=["a", "y", "z"])


def test_rankings_with_different_queries() -> None:
    """A ranking that lacks a query does not count for it, whatever the order of queries."""
    one = Run.build(["q1", "q2", "q2"], ["a", "c", "d"], [1.0, 2.0, 1.0])
    two = Run.build(["q3", "q1"], ["d", "b"], [1.0, 1.0])
    table = evaluate(RunSet.build([one, two]), "ToyColumns@2", evidence=[GROUP]).to_dict()["runs"]
    assert table["ToyColumns@2[right]"] == pytest.approx(
        {"q1": 1.0, "q2": 0.75, "q3": 1.0}
    )  # the first ranking of q1 has no value, and the second one counts
    target = QueryTable.build("target", ["q1", "q2", "q3"], {"": [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]})
    table = evaluate(RunSet.build([one, two]), "ToyGroups@2", evidence=[GROUP, target]).to_dict()["runs"]
    assert table["ToyGroups@2"] == pytest.approx({"q1": 1.0, "q2": 1.5, "q3": 0.0})


@pytest.mark.parametrize("rule", ["neutral", "drop"])
def test_parts_of_a_sum_have_their_own_rule_for_missing_evidence(rule: str) -> None:
    weight = DocumentTable.build("weight", ["b", "c", "d"], {"": [0.5, 0.2, 0.0]})
    background = Run.build(["q1", "q2"], ["b", "b"], [1.0, 1.0])
    arguments = {"evidence": [weight], "background": background, "queries": ["q1"]}
    alone = evaluate(RUN, f"ToyBackground(missing='{rule}')@2", **arguments)
    halved = evaluate(RUN, f"0.5*ToyBackground(missing='{rule}')@2", **arguments)
    by_argument = evaluate(RUN, "0.5*ToyBackground@2", missing=rule, **arguments)
    assert values(halved)["q1"] == pytest.approx(values(alone)["q1"] / 2)
    assert values(by_argument) == values(halved)


def test_cutoffs_reach_the_parts_of_a_sum() -> None:
    scores = evaluate(RUN, "0.5*nDCG + 0.5*RR", qrels=QRELS, cutoffs=[1, 2])
    assert [str(measure) for measure in scores.measures] == ["0.5*nDCG@1 + 0.5*RR@1", "0.5*nDCG@2 + 0.5*RR@2"]


def test_no_query_has_both_kinds_of_judgements() -> None:
    intents = DiversityQrels.build(["q1"], ["x"], ["a"], [1])
    with pytest.raises(DataError, match="no query has both kinds of judgements"):
        evaluate(RUN, "0.5*RR + 0.5*NRBP", qrels={"q2": {"d": 1}}, intents=intents)


def test_queries_in_blocks_give_the_same(monkeypatch) -> None:
    from evenrank.testing import random_case

    case = random_case(3)
    measures = ["nDCG@5", "AP", "alpha_nDCG@5", "NRBP"]
    whole = evaluate(case.run, measures, qrels=case.qrels, intents=case.intents)
    monkeypatch.setattr("evenrank.evaluation.kernels._NUMBERS_AT_ONCE", 1)
    parts = evaluate(case.run, measures, qrels=case.qrels, intents=case.intents)
    for name, expected in whole.to_dict()["run"].items():
        assert parts.to_dict()["run"][name] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("result", "complaint"),
    [
        (lambda q, k: Result(np.zeros((q, k + 1))), r"values of shape \(2,\), got \(2, 4\)"),
        (lambda q, k: Result(np.zeros(1)), r"values of shape \(2,\), got \(1,\)"),
        (lambda q, k: Result(np.zeros(q), columns=("a", "b")), r"values of shape \(2, 2\), got \(2,\)"),
        (lambda q, k: np.zeros(q), "compute must give a Result, got ndarray"),
    ],
)
def test_a_kernel_that_gives_something_else_is_told(monkeypatch, result, complaint) -> None:
    monkeypatch.setattr(toys.ToyIdeal, "compute", lambda self, evidence: result(*evidence.ranked.rows.shape))
    with pytest.raises(ParameterError, match=complaint):
        evaluate(RUN, "ToyIdeal", qrels=QRELS)


def test_what_a_kernel_reads_must_be_declared(monkeypatch) -> None:
    monkeypatch.setattr(toys.ToyIdeal, "needs", frozenset({"judged.relevance"}))
    with pytest.raises(ParameterError, match="'relevance' was not gathered: a measure names what it reads"):
        evaluate(RUN, "ToyIdeal@2", qrels=QRELS)


def test_names_are_taken_once() -> None:
    with pytest.raises(ParameterError, match="a measure named 'RR' is registered already"):

        @declare
        class RR(toys.ToyIdeal):
            """Another RR."""


def test_what_is_said_about_ties_and_ids() -> None:
    tied = evaluate({"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": 2.0, "d": 1.0}}, "RR@5", qrels=QRELS)
    (note,) = tied.notes["run"]
    assert note.startswith("1 of 2 lists have equal scores within the first 6 ranks, ordered by document id")
    assert evaluate(RUN, "RR", qrels=QRELS).notes["run"] == ()
    (note,) = evaluate(RUN, "RR@3", qrels={"q1": {"0a": 1}, "q2": {"0c": 1}}).notes["run"]
    assert note.startswith("none of the ranked documents is judged")


def test_judgements_by_intent_that_are_none() -> None:
    one = DiversityQrels.build(["q1", "q2"], ["0", "0"], ["a", "c"], [1, 1])
    assert evaluate(RUN, "NRBP RR", intents=one).notes["run"] == (
        "every query has one intent only: are these judgements by intent?",
        "relevance is a document's best grade over the intents: no qrels were given",
    )


def test_runs_and_judgements_are_not_mixed_up() -> None:
    run, qrels = read_run(RUN), read_qrels(QRELS)
    with pytest.raises(TypeError, match="was given for a run: are run and judgements swapped"):
        evaluate(qrels, "RR", qrels=qrels)
    with pytest.raises(TypeError, match="was given for judgements"):
        evaluate(run, "RR", qrels=run)
    with pytest.raises(TypeError, match="several runs must be given by name"):
        evaluate([run, run], "RR", qrels=qrels)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"cutoffs": 10}, "cutoffs must be a list of depths"),
        ({"evidence": WEIGHT}, "evidence must be a list of sources"),
        ({"queries": 5}, "queries must be a list of query ids"),
        ({"queries": "q1"}, "queries must be a list of query ids"),
        ({"against": RUN}, "against= takes a Run"),
    ],
)
def test_wrong_types_of_arguments(arguments, complaint) -> None:
    with pytest.raises(TypeError, match=complaint):
        evaluate(RUN, "RR", qrels=QRELS, **arguments)


@pytest.mark.needs("pandas")
def test_queries_may_come_from_anything_iterable() -> None:
    import pandas

    for queries in (iter(["q1"]), pandas.Series(["q1"]), np.array(["q1"])):
        assert values(evaluate(RUN, "RR", qrels=QRELS, queries=queries)) == {"q1": 1.0}


def test_scores_can_be_sent_to_another_process() -> None:
    scores = evaluate(RUN, "RR", qrels=QRELS)
    assert copy.deepcopy(scores) == scores
    assert copy.deepcopy(scores).provenance == scores.provenance


def test_provenance_names_the_inputs() -> None:
    facts = evaluate(RUN, "RR", qrels=QRELS).provenance
    assert facts["runs"]["run"] == {"sha256": read_run(RUN).fingerprint, "ties": "trec", "source": None}
    assert facts["evidence"]["relevance"]["sha256"] == read_qrels(QRELS).fingerprint
    assert facts["queries"] is None
    assert evaluate(RUN, "RR", qrels=QRELS, queries=["q1"]).provenance["queries"] == ["q1"]
    background = evaluate(RUN, "ToyBackground@1", evidence=[WEIGHT], background=["a"]).provenance[
        "background"
    ]
    assert background["documents"] == 1
    assert {"evenrank", "python", "numpy", "pyarrow"} <= set(facts)


def test_delegated_measures_equal_ir_measures() -> None:
    import ir_measures

    from evenrank.testing import random_case

    case = random_case(5)
    names = ["Bpref", "SetP", "infAP", "Judged@5", "NumRet"]
    queries = [q for q in case.qrels if max(case.qrels.to_dict()[q].values()) > 0]
    scores = evaluate(case.run, names, qrels=case.qrels, queries=queries)
    run = {q: {d: -float(r) for r, d in enumerate(case.run.documents(q))} for q in queries}
    qrels = {q: case.qrels.to_dict()[q] for q in queries}
    for name in names:
        theirs = {
            m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run)
        }
        assert scores.to_dict()["run"][name] == pytest.approx(theirs)
    by_intent = evaluate(case.run, ["StRecall@5", "nERR_IA@5"], intents=case.intents, queries=queries)
    judged = [
        ir_measures.Qrel(q, d, g, i)
        for q in queries
        for i, inner in case.intents.to_dict().get(q, {}).items()
        for d, g in inner.items()
    ]
    listed = [ir_measures.ScoredDoc(q, d, s) for q, inner in run.items() for d, s in inner.items()]
    for name in ("StRecall@5", "nERR_IA@5"):
        measure = ir_measures.parse_measure(name)
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], judged, listed)}
        ours = {q: v for q, v in by_intent.to_dict()["run"][name].items() if not np.isnan(v)}
        assert ours == pytest.approx({q: theirs[q] for q in ours})
        assert len(ours) >= 5


def test_a_measure_of_ir_measures_is_taken_as_it_is() -> None:
    import ir_measures

    assert evaluate(RUN, [ir_measures.nDCG @ 10], qrels=QRELS).measures == (parse_measure("nDCG@10"),)


def test_a_failing_delegated_measure_is_an_error_about_the_data() -> None:
    with pytest.raises(DataError, match="Accuracy@1: ir_measures fails on these judgements"):
        evaluate({"q": {"a": 1.0}}, "Accuracy@1", qrels={"q": {"a": 1}})


class Unhashed:
    """Evidence of somebody's own whose fingerprint costs much: here it may not be asked for at all."""

    def __init__(self, table: DocumentTable) -> None:
        self.table = table

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def fingerprint(self) -> str:
        raise AssertionError("all evidence was hashed")

    def gather(self, pairs):
        return self.table.gather(pairs)

    def gather_queries(self, query_ids):
        return self.table.gather_queries(query_ids)


def test_evidence_is_not_hashed_unless_somebody_asks() -> None:
    source = Unhashed(WEIGHT)
    run = read_run(RUN)
    assert values(evaluate(run, "ToyBackground@2", evidence=[source], background=run))
    assert rerank(run, "SortBy(field='weight',missing='behind')", evidence=[source]).documents("q2") == [
        "c",
        "d",
    ]
    with pytest.raises(AssertionError, match="all evidence was hashed"):
        _ = evaluate(run, "ToyBackground@2", evidence=[source], background=run).provenance


def test_what_is_no_evidence_is_refused() -> None:
    with pytest.raises(InputTypeError, match=r"evidence must have a name and gather\(\).*got object"):
        evaluate(RUN, "RR", qrels=QRELS, evidence=[object()])
    with pytest.raises(InputTypeError, match="evidence must be a list of sources"):
        evaluate(RUN, "RR", qrels=QRELS, evidence=WEIGHT)
