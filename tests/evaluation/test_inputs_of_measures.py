"""What is passed to evaluate: what fits no measure is named, and what was read is told."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from evenrank import DataError, DiversityQrels, ParameterError, evaluate, parse_measure, read_qrels, read_run
from evenrank.data.tables import DocumentTable
from evenrank.testing import random_case

RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"c": 2.0, "d": 1.0}}
QRELS = {"q1": {"a": 1, "c": 3, "z": 2}, "q2": {"c": 0, "e": 1}}
WEIGHT = DocumentTable.build("weight", ["a", "b", "c", "d"], {"": [1.0, 0.5, 0.2, 0.0]})


@pytest.mark.parametrize(
    ("measure", "keyword"),
    [("RBO", "against="), ("AWRF(attr='side')", "groups="), ("RR", "qrels="), ("NRBP", "intents=")],
)
def test_a_missing_source_is_named_by_its_keyword(measure: str, keyword: str) -> None:
    with pytest.raises(ParameterError, match=keyword):
        evaluate(RUN, measure)


def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="'weight'"):
        evaluate(RUN, "RR", qrels=QRELS, evidence=[WEIGHT, WEIGHT])


def test_a_query_needs_both_kinds_of_judgements_where_a_sum_reads_both() -> None:
    intents = DiversityQrels.build(["q1"], ["x"], ["a"], [1])
    with pytest.raises(DataError):
        evaluate(RUN, "0.5*RR + 0.5*NRBP", qrels={"q2": {"d": 1}}, intents=intents)


def test_runs_and_judgements_are_not_mixed_up() -> None:
    run, qrels = read_run(RUN), read_qrels(QRELS)
    with pytest.raises(TypeError):
        evaluate(qrels, "RR", qrels=qrels)
    with pytest.raises(TypeError):
        evaluate(run, "RR", qrels=run)
    with pytest.raises(ParameterError, match="'run'"):
        evaluate([run, run], "RR", qrels=qrels)


@pytest.mark.parametrize(
    "wrong",
    [
        {"cutoffs": 10},
        {"evidence": WEIGHT},
        {"evidence": [object()]},
        {"queries": 5},
        {"queries": "q1"},
    ],
)
def test_a_wrong_type_is_an_error_with_the_name_of_the_keyword(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(wrong))):
        evaluate(RUN, "RR", qrels=QRELS, **wrong)


@pytest.mark.needs("pandas")
def test_queries_may_come_from_anything_iterable() -> None:
    import pandas

    for queries in (iter(["q1"]), pandas.Series(["q1"]), np.array(["q1"])):
        assert evaluate(RUN, "RR", qrels=QRELS, queries=queries).to_dict()["run"]["RR"] == {"q1": 1.0}


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
    assert {"evenrank", "python", "numpy", "pyarrow"} <= set(facts)


def test_delegated_measures_equal_ir_measures() -> None:
    import ir_measures

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
    with pytest.raises(DataError, match="Accuracy@1"):
        evaluate({"q": {"a": 1.0}}, "Accuracy@1", qrels={"q": {"a": 1}})
