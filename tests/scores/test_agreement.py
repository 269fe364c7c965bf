"""Where measures order two runs differently."""

from __future__ import annotations

from collections import Counter

import pytest
from drawn import made

from evenrank import Attribute, Membership, ParameterError, Run, evaluate, parse_measure, read_run

THREE = ["GF(div='JSD')@10", "GF(div='NMD')@10", "GF(div='RNOD')@10"]


def test_only_queries_ordered_differently_are_listed_strongest_first() -> None:
    scores = made(
        {
            "a": {"nDCG@10": [0.5, 0.9, 0.4, 0.3], "RR@10": [0.5, 0.2, 0.1, 0.9]},
            "b": {"nDCG@10": [0.4, 0.5, 0.5, 0.3], "RR@10": [0.4, 0.8, 0.3, 0.1]},
        }
    )
    scores_2 = made(
        {
            "a": {"nDCG@10": [0.6, 0.9], "RR@10": [0.4, 0.2]},
            "b": {"nDCG@10": [0.5, 0.5], "RR@10": [0.5, 0.8]},
        }
    )
    assert [row.query for row in scores.disagreements()] == ["q1"]  # q3: a tie is no disagreement
    assert [row.query for row in scores_2.disagreements()] == ["q1", "q0"]
    (row,) = scores.disagreements()
    assert (row.better(0), row.better(1)) == ("a", "b")
    assert row.values == ((0.9, 0.5), (0.2, 0.8))


def test_direction_counts() -> None:
    """MaxSkew is better when lower: the same side wins in both measures."""
    scores = made(
        {"a": {"nDCG@10": [0.9], "MaxSkew@10": [0.1]}, "b": {"nDCG@10": [0.5], "MaxSkew@10": [0.4]}}
    )
    assert scores.disagreements() == ()


def test_the_outlier_is_named() -> None:
    scores = made(
        {
            "a": dict(zip(THREE, ([0.9], [0.4], [0.9]), strict=True)),
            "b": dict(zip(THREE, ([0.5], [0.5], [0.5]), strict=True)),
        }
    )
    (row,) = scores.disagreements()
    assert row.outlier == parse_measure("GF(div='NMD')@10")
    (two,) = scores.disagreements(THREE[:2])
    assert two.outlier is None


def test_undefined_queries_are_left_out() -> None:
    nothing = float("nan")
    values = {
        "a": {"nDCG@10": [0.9, 0.9], "RR@10": [0.1, 0.1]},
        "b": {"nDCG@10": [nothing, 0.5], "RR@10": [nothing, 0.8]},
    }
    assert [row.query for row in made(values).disagreements()] == ["q1"]


def test_every_pair_of_runs() -> None:
    scores = made(
        {
            "a": {"nDCG@10": [0.3], "RR@10": [0.1]},
            "b": {"nDCG@10": [0.2], "RR@10": [0.2]},
            "c": {"nDCG@10": [0.1], "RR@10": [0.3]},
        }
    )
    assert {(row.first, row.second) for row in scores.disagreements()} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert [(row.first, row.second) for row in scores.disagreements(runs=["c", "a"])] == [("c", "a")]


def test_what_has_no_better_side_is_refused() -> None:
    scores = made({"a": {"nDCG@10": [0.9], "dGF@10": [0.1]}, "b": {"nDCG@10": [0.5], "dGF@10": [0.4]}})
    with pytest.raises(ParameterError, match=r"dGF@10 calls no run better: signed"):
        scores.disagreements()
    with pytest.raises(ParameterError, match="got 1 and 2"):
        scores.disagreements(["nDCG@10"])
    alone = made({"a": {"nDCG@10": [0.9], "RR@10": [0.1]}})
    with pytest.raises(ParameterError, match="got 2 and 1"):
        alone.disagreements()


def test_the_measure_that_stands_against_the_others() -> None:
    """Of two relevant documents more, the second list has them below the first rank."""
    qrels = {q: {"x": 1, "y": 1, "z": 1} for q in ("q1", "q2")}
    one = read_run({q: {"x": 9.0, "n1": 8.0, "n2": 7.0, "n3": 6.0, "n4": 5.0} for q in qrels})
    two = read_run({q: {"n1": 9.0, "x": 8.0, "y": 7.0, "z": 6.0, "n4": 5.0} for q in qrels})
    found = evaluate({"one": one, "two": two}, "P@1 P@4 R@4", qrels=qrels).disagreements()
    assert Counter(repr(row.outlier) for row in found) == {"P@1": 2}


def test_the_case_of_the_paper() -> None:
    """gfr-2022, Table 5(a): NMD prefers the second list, JSD and RNOD the first."""
    target = (0.452239, 0.220319, 0.227721, 0.0997214)
    attribute = Attribute("reviews", ("1", "2", "3", "4"), ordinal=True, target=target)
    lists = {"Base": "1111212111", "Rating": "2222222111"}
    labels = {f"{name}{rank}": value for name, line in lists.items() for rank, value in enumerate(line)}
    runs = {
        name: Run.build(["416"] * 10, [f"{name}{rank}" for rank in range(10)], [-float(r) for r in range(10)])
        for name in lists
    }
    groups = Membership.from_labels(attribute, labels)
    (row,) = evaluate(runs, THREE, groups=groups).disagreements()
    assert row.query == "416"
    assert row.outlier == parse_measure("GF(div='NMD')@10")
