"""Systems beside each other: differences, tests, and what was left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from drawn import made
from scipy import stats

from evenrank import (
    Attribute,
    Lexicon,
    Membership,
    ParameterError,
    Run,
    Scores,
    WordCounts,
    compare,
    evaluate,
    read_qrels,
)
from evenrank.errors import InputTypeError

REASON = "empty list"


def scores_of(measure: str, **systems: list[float]) -> Scores:
    return made({name: {measure: values} for name, values in systems.items()}, reason=REASON)


A = [0.1, 0.5, 0.3, 0.9, 0.4, 0.6, 0.2, 0.8]
B = [0.4, 0.7, 0.5, 0.95, 0.5, 0.9, 0.5, 0.85]


def test_the_t_test_is_scipys_and_the_difference_is_system_less_baseline() -> None:
    (pair,) = compare(scores_of("nDCG@10", a=A, b=B)).pairs
    assert (pair.system, pair.baseline) == ("b", "a")
    assert pair.difference == pytest.approx(np.mean(B) - np.mean(A))
    assert pair.p_value == pytest.approx(stats.ttest_rel(B, A).pvalue)
    assert pair.verdict == "better"
    assert tuple(pair.outcomes) == (8, 0, 0)
    assert pair.low < pair.difference < pair.high


@pytest.mark.parametrize("test", ["t", "wilcoxon", "permutation"])
def test_better_follows_the_measure(test: str) -> None:
    """NDKL is better when lower: the same numbers, the other verdict."""
    (pair,) = compare(scores_of("NDKL@10", a=A, b=B), test=test).pairs
    assert pair.verdict == "worse"
    assert pair.difference > 0
    assert tuple(pair.outcomes) == (0, 0, 8)


def test_queries_without_a_value_are_left_out_and_counted() -> None:
    holes = [float("nan"), float("inf"), *B[2:]]
    comparison = compare(scores_of("nDCG@10", a=A, b=holes))
    (pair,) = comparison.pairs
    assert (pair.queries, pair.dropped, pair.infinite) == (6, 1, 1)
    assert pair.p_value == pytest.approx(stats.ttest_rel(B[2:], A[2:]).pvalue)
    assert pair.left_out == {REASON: 1, "infinite": 1}
    assert "6/8" in repr(comparison)
    (row,) = comparison.to_table().to_records()
    assert row["why_dropped"] == f"{REASON} (1), infinite (1)"


def test_why_queries_are_left_out_stands_below_the_table(
    tmp_path: Path, evenrank: Callable[..., SimpleNamespace]
) -> None:
    scores = scores_of("nDCG@10", bm25=A, dense=[float("nan"), *A[1:]], other=A)
    scores.write(tmp_path / "scores.jsonl")
    shown = evenrank("compare", "--scores", tmp_path / "scores.jsonl", "--no-project").out.splitlines()
    assert sum(line.startswith("system") for line in shown) == 1
    assert any("dense" in line and REASON in line for line in shown)


def test_a_query_that_one_run_lacks_is_missing() -> None:
    (pair,) = compare(scores_of("nDCG@10", a=[*A, 0.3, 0.4], b=B)).pairs
    assert (pair.queries, pair.dropped, sum(pair.left_out.values())) == (8, 2, 2)
    assert pair.left_out.keys().isdisjoint({REASON, "infinite"})


def test_a_pair_without_values_has_a_reason_and_no_number() -> None:
    comparison = compare(scores_of("nDCG@10", a=A, b=[float("nan")] * 8))
    assert "nan" not in repr(comparison)
    row = json.loads(comparison.to_table().to_jsonl())
    assert row["p"] is None
    assert row["reason"]


@pytest.mark.parametrize("measure", ["ARaB@10", "RBDF@10"])
def test_where_no_direction_is_better_systems_differ_and_none_wins(measure: str) -> None:
    """Of a signed value, and of one without a direction, a larger one is not better."""
    comparison = compare(scores_of(measure, a=A, b=(np.array(A) + 5).tolist(), c=A))
    assert [pair.verdict for pair in comparison.pairs] == ["differs", ""]
    assert comparison.conclusions(measure, trials=200) == ()
    for row in map(json.loads, comparison.to_table().to_jsonl().splitlines()):
        assert (row["wins"], row["ties"], row["losses"]) == (None, None, None)


def test_a_baseline_that_is_named_twice_is_one() -> None:
    scores = scores_of("nDCG@10", a=A, b=B, c=A)
    assert compare(scores, baseline=["a", "a"]).pairs == compare(scores, baseline="a").pairs


def test_several_baselines_are_each_compared_once() -> None:
    comparison = compare(scores_of("nDCG@10", a=A, b=B, c=A[::-1]), baseline=["a", "b"])
    found = [(pair.system, pair.baseline) for pair in comparison.pairs]
    assert found == [("b", "a"), ("c", "a"), ("c", "b")]


def test_tukey_says_who_beats_whom_by_direction() -> None:
    high = (np.array(A) + 5).tolist()
    up = compare(scores_of("nDCG@10", a=A, b=high, c=A))
    assert up.conclusions("nDCG@10", trials=500) == (("b", ("a", "c")),)
    down = compare(scores_of("NDKL@10", a=A, b=high, c=A))
    assert set(down.conclusions("NDKL@10", trials=500)) == {("a", ("b",)), ("c", ("b",))}
    assert len(up.power(trials=200)["nDCG@10"]) == 3


def test_runs_are_evaluated_with_their_inputs() -> None:
    runs = {
        "first": Run.build(["q1", "q1", "q2"], ["x", "y", "x"], [2.0, 1.0, 1.0]),
        "second": Run.build(["q1", "q1", "q2"], ["y", "x", "y"], [2.0, 1.0, 1.0]),
    }
    comparison = compare(runs, "RR P@1", qrels={"q1": {"x": 1}, "q2": {"x": 1}})
    assert [pair.measure for pair in comparison.pairs] == ["RR", "P@1"]
    assert comparison.pairs[0].difference == pytest.approx(0.25 - 1.0)


def test_correlations_over_systems_queries_and_cutoffs() -> None:
    both = made(
        {
            "a": {"nDCG@10": A, "RR@10": B},
            "b": {"nDCG@10": B, "RR@10": A},
            "c": {"nDCG@10": A[::-1], "RR@10": A},
        }
    )
    matrix, names, said = compare(both).correlations("pearson")
    means = np.array([[np.mean(A), np.mean(B)], [np.mean(B), np.mean(A)], [np.mean(A[::-1]), np.mean(A)]])
    assert names == ("nDCG@10", "RR@10")
    assert said == ()
    assert matrix.values[0, 1] == pytest.approx(stats.pearsonr(*means.T).statistic)
    by_query, *_ = compare(both).correlations("kendall", over="queries", system="a")
    assert by_query.values[0, 1] == pytest.approx(stats.kendalltau(A, B).statistic)
    runs = {
        name: Run.build(["q"] * 5, list("vwxyz"), scores)
        for name, scores in {"a": [5.0, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5]}.items()
    }
    deep = evaluate(runs, "nDCG P", qrels={"q": {"v": 3, "y": 1}}, cutoffs=[1, 2, 3, 4, 5])
    by_depth, stems, warned = compare(deep).correlations("spearman", over="cutoffs", system="a")
    assert stems == ("nDCG", "P")
    assert by_depth.counts[0, 1] == 5
    assert len(warned) == 1  # the points are not independent


def test_scores_with_different_backgrounds_do_not_compare() -> None:
    run = Run.build(["q"] * 2, ["x", "y"], [2.0, 1.0])
    other = Run.build(["q"] * 2, ["y", "z"], [2.0, 1.0])
    lexicon = Lexicon.build("toy", {"f": ["she"], "m": ["he"]})
    words = WordCounts.build(["x", "y", "z"], [5, 5, 5], [[2, 0], [1, 1], [0, 0]], lexicon)
    one = evaluate(run, "NFaiRR@2", words=words, background=run)
    two = evaluate(run, "NFaiRR@2", words=words, background=other)
    with pytest.raises(ParameterError, match="backgrounds"):
        compare({"one": one, "two": two})
    assert len(compare({"one": one, "two": one}).pairs) == 1


def test_scores_with_different_judgements_do_not_compare() -> None:
    run = Run.build(["q"] * 2, ["x", "y"], [2.0, 1.0])
    one = evaluate(run, "nDCG@2", qrels={"q": {"x": 1}})
    two = evaluate(run, "nDCG@2", qrels={"q": {"y": 1}})
    with pytest.raises(ParameterError, match=r"judgements.*one.*two"):
        compare({"one": one, "two": two})
    sides = [read_qrels({"q": {"i": {document: 1}}}, diversity=True) for document in "xy"]
    three, four = (evaluate(run, "I_rec@2", intents=each) for each in sides)
    with pytest.raises(ParameterError, match="intent"):
        compare({"three": three, "four": four})
    assert len(compare({"one": one, "again": one}).pairs) == 1


def test_what_cannot_be_compared_is_refused() -> None:
    scores = scores_of("nDCG@10", a=A, b=B)
    run = Run.build(["q"], ["d"], [1.0])
    for systems, more, named in (
        (scores_of("nDCG@10", a=A), {}, "got a"),
        (scores, {"baseline": "z"}, r"'z'.*a, b"),
        (scores, {"baseline": []}, "a, b"),
        (scores, {"measures": "nDCG@10"}, "measures"),
        (scores, {"alpha": 1.5}, r"alpha.*1\.5"),
        ({"a": run}, {}, "measures"),
    ):
        with pytest.raises(ParameterError, match=named):
            compare(systems, **more)
    with pytest.raises(ParameterError, match=r"t, wilcoxon, permutation.*'z'"):
        compare(scores, test="z").pairs  # noqa: B018
    for systems in ([1, 2], {"a": scores, "b": run}):
        with pytest.raises(InputTypeError):
            compare(systems)


def test_rows_for_programs() -> None:
    comparison = compare(scores_of("nDCG@10", a=A, b=B))
    header, row = comparison.to_table().to_tsv().splitlines()
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (cells["system"], cells["wins"], cells["ties"], cells["verdict"]) == ("b", "8", "0", "better")
    assert json.loads(comparison.to_table().to_jsonl())["p"] == pytest.approx(stats.ttest_rel(B, A).pvalue)


def test_a_measure_that_became_another_one_does_not_compare() -> None:
    """GF stops readers by relevance where there are judgements, else by rank."""
    run = Run.build(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0], name="x")
    groups = Membership.from_labels(Attribute("g", ("m", "f")), {"a": "m", "b": "f", "c": "f"})
    judged = evaluate(run, "GF(attr='g')@3", groups=groups, qrels={"q": {"a": 1}})
    plain = evaluate(run, "GF(attr='g')@3", groups=groups)
    with pytest.raises(ParameterError, match=r"one: .*ERR.*; two: .*RBP"):
        compare({"one": judged, "two": plain})
    with pytest.raises(ParameterError, match="GF"):  # whatever notes say
        compare({"one": replace(judged, notes_by_run={}), "two": replace(plain, notes_by_run={})})
    assert compare({"one": judged, "two": judged}).pairs[0].p_value == 1


def test_other_groups_are_said() -> None:
    run = Run.build(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0], name="x")
    one, two = (
        Membership.from_labels(Attribute("g", ("m", "f")), {"a": "m", "b": "f", "c": last}) for last in "mf"
    )
    scores = {
        name: evaluate(run, "NDKL(attr='g')@3", groups=each)
        for name, each in zip("ab", (one, two), strict=True)
    }
    notes = compare(scores).scores.notes
    same = compare({"a": scores["a"], "b": scores["a"]}).scores.notes
    assert all(len(notes[name]) == len(scores[name].notes["x"]) + 1 for name in "ab")
    assert same["a"] == scores["a"].notes["x"]
