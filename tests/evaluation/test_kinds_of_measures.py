"""Each kind of measure goes from files of ids to values through the same spine."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
import toys

from evenrank import MissingEvidenceError, ParameterError, Run, RunSet, evaluate, parse_measure
from evenrank.data.tables import DocumentTable
from evenrank.grammar import declare, register, unregister
from evenrank.measures import Result

RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"c": 2.0, "d": 1.0}}
QRELS = {"q1": {"a": 1, "c": 3, "z": 2}, "q2": {"c": 0, "e": 1}}
WEIGHT = DocumentTable.build("weight", ["a", "b", "c", "d", "e"], {"": [1.0, 0.5, 0.2, 0.0, 0.7]})
GROUP = DocumentTable.build("group", ["a", "b", "c", "d"], {"": [[1, 0], [0, 1], [0.5, 0.5], [0, 1]]})


class Targets:
    """Evidence of one's own: a column for queries, which is not known for all of them."""

    name, fingerprint = "target", "none"

    def __init__(self, targets: dict[str, list[float]]) -> None:
        self.targets = targets

    def gather(self, pairs):
        return {}

    def gather_queries(self, query_ids):
        known = np.array([query in self.targets for query in query_ids])
        return {"": np.array([self.targets.get(query, [0.0, 0.0]) for query in query_ids]), "known": known}


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


def test_a_background_that_lacks_a_query_makes_it_undefined() -> None:
    background = Run.build(["q1"], ["a"], [1.0])
    block = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=background).block(
        "ToyBackground@2"
    )
    assert [block.reasons[code] for code in block.status[:, 0]] == ["ok", "empty background"]


def test_documents_without_evidence_are_an_error_that_names_them() -> None:
    weight = DocumentTable.build("weight", ["a", "b"], {"": [1.0, 0.5]})
    background = Run.build(["q1", "q2"], ["a", "a"], [1.0, 1.0])
    with pytest.raises(MissingEvidenceError, match=r"\b3\b.*'c'.*'q1'.*missing='neutral'.*missing='drop'"):
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
    target = Targets({"q2": [0.0, 1.0], "q1": [0.5, 0.5]})
    scores = evaluate(RUN, "ToyGroups@2", evidence=[GROUP, target])
    assert values(scores) == pytest.approx({"q1": 0.0, "q2": 0.5})


def test_a_query_without_a_target_is_undefined() -> None:
    target = Targets({"q1": [0.5, 0.5]})
    row = evaluate(RUN, "ToyGroups@2", evidence=[GROUP, target]).summary()[0]
    assert (row.defined, row.undefined) == (1, {"no target": 1})


def test_evidence_by_query_and_document() -> None:
    group = DocumentTable.build(
        "group",
        ["a", "b", "c", "c", "d"],
        {"": [[1, 0], [1, 0], [0, 1], [1, 0], [1, 0]]},
        queries=["q1", "q1", "q1", "q2", "q2"],
    )
    target = Targets({"q1": [0.0, 1.0], "q2": [0.0, 1.0]})
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
    with pytest.raises(ParameterError, match=r"left.*right"):
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


def test_an_aggregate_that_is_not_a_mean() -> None:
    scores = evaluate(RUN, "ToyWorst@3", qrels=QRELS)
    assert values(scores) == pytest.approx({"q1": 4 / 6, "q2": 0.0})
    assert scores.mean("ToyWorst@3") == 0.0
    many = evaluate(
        {f"q{i}": RUN["q1"] for i in range(5)}, "ToyWorst@3", qrels={f"q{i}": QRELS["q1"] for i in range(5)}
    )
    assert np.isnan(many.interval("ToyWorst@3")).all()  # all queries are alike, which says nothing of others
    assert many.summary()[0].interval_note


def test_infinite_values_stay_and_are_left_out_of_the_mean() -> None:
    scores = evaluate(RUN, "ToyInfinite", qrels=QRELS)
    assert values(scores) == {"q1": 1.0, "q2": np.inf}
    row = scores.summary()[0]
    assert (row.value, row.defined, row.infinite) == (1.0, 1, 1)


def test_one_run_is_its_own_background_and_several_need_a_common_one() -> None:
    scores = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT])
    assert values(scores)["q1"] == pytest.approx(1.0)
    with pytest.raises(ParameterError):
        evaluate({"one": RUN, "two": RUN}, "ToyBackground@2", evidence=[WEIGHT])


def test_a_background_given_as_ids() -> None:
    scores = evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=["b", "e", "a"])
    assert values(scores)["q2"] == pytest.approx(0.2 / (1.0 + 0.7 / log2(3)))
    with pytest.raises(TypeError, match=r"background.*int"):
        evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=5)
    with pytest.raises(MissingEvidenceError, match=r"\b2\b.*background.*'weight'"):
        evaluate(RUN, "ToyBackground@2", evidence=[WEIGHT], background=["a", "y", "z"])


def test_rankings_with_different_queries() -> None:
    """A ranking that lacks a query does not count for it, whatever the order of queries."""
    one = Run.build(["q1", "q2", "q2"], ["a", "c", "d"], [1.0, 2.0, 1.0])
    two = Run.build(["q3", "q1"], ["d", "b"], [1.0, 1.0])
    table = evaluate(RunSet.build([one, two]), "ToyColumns@2", evidence=[GROUP]).to_dict()["runs"]
    assert table["ToyColumns@2[right]"] == pytest.approx(
        {"q1": 1.0, "q2": 0.75, "q3": 1.0}
    )  # the first ranking of q1 has no value, and the second one counts
    target = Targets({"q1": [1.0, 0.0], "q2": [1.0, 0.0], "q3": [0.0, 1.0]})
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


@pytest.mark.parametrize(
    ("result", "complaint"),
    [
        (lambda q, k: Result(np.zeros((q, k + 1))), r"ToyIdeal.*\(2,\).*\(2, 4\)"),
        (lambda q, k: Result(np.zeros(1)), r"ToyIdeal.*\(2,\).*\(1,\)"),
        (lambda q, k: Result(np.zeros(q), columns=("a", "b")), r"ToyIdeal.*\(2, 2\).*\(2,\)"),
        (lambda q, k: np.zeros(q), "ToyIdeal.*Result.*ndarray"),
    ],
)
def test_a_kernel_that_gives_something_else_is_told(monkeypatch, result, complaint) -> None:
    monkeypatch.setattr(toys.ToyIdeal, "compute", lambda self, evidence: result(*evidence.ranked.rows.shape))
    with pytest.raises(ParameterError, match=complaint):
        evaluate(RUN, "ToyIdeal", qrels=QRELS)


def test_what_a_kernel_reads_must_be_declared(monkeypatch) -> None:
    monkeypatch.setattr(toys.ToyIdeal, "needs", frozenset({"judged.relevance"}))
    with pytest.raises(ParameterError, match="relevance"):
        evaluate(RUN, "ToyIdeal@2", qrels=QRELS)


def test_names_are_taken_once() -> None:
    with pytest.raises(ParameterError, match="RR"):

        @declare
        class RR(toys.ToyIdeal):
            """Another RR."""
