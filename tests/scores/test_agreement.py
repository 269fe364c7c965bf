"""Where measures order two runs differently."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evenrank import Attribute, Membership, ParameterError, Run, Scores, evaluate, parse_measure
from evenrank.scores import OK, ScoresBlock
from evenrank.scores.agreement import disagreement_table

THREE = ["GF(div='JSD')@10", "GF(div='NMD')@10", "GF(div='RNOD')@10"]


def scores_of(
    values: dict[str, dict[str, list[float]]], status: dict[str, list[int]] | None = None
) -> Scores:
    """``{run: {measure: values of q0, q1, ..}}``."""
    blocks = []
    for run, by_measure in values.items():
        for measure, numbers in by_measure.items():
            codes = np.array((status or {}).get(run, [0] * len(numbers)), dtype=np.int16)[:, None]
            queries = tuple(f"q{place}" for place in range(len(numbers)))
            column = np.array(numbers, dtype=float)[:, None]
            blocks.append(
                ScoresBlock(
                    run, parse_measure(measure), queries, ("",), column, codes, (OK, "infinite", "no")
                )
            )
    return Scores(tuple(blocks))


def test_only_queries_ordered_differently_are_listed_strongest_first() -> None:
    scores = scores_of(
        {
            "a": {"nDCG@10": [0.5, 0.9, 0.4, 0.3], "RR@10": [0.5, 0.2, 0.1, 0.9]},
            "b": {"nDCG@10": [0.4, 0.5, 0.5, 0.3], "RR@10": [0.4, 0.8, 0.3, 0.1]},
        }
    )
    scores_2 = scores_of(
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
    scores = scores_of(
        {"a": {"nDCG@10": [0.9], "MaxSkew@10": [0.1]}, "b": {"nDCG@10": [0.5], "MaxSkew@10": [0.4]}}
    )
    assert scores.disagreements() == ()
    assert "agree on every query" in disagreement_table(()).to_text()


def test_the_outlier_is_named() -> None:
    scores = scores_of(
        {
            "a": dict(zip(THREE, ([0.9], [0.4], [0.9]), strict=True)),
            "b": dict(zip(THREE, ([0.5], [0.5], [0.5]), strict=True)),
        }
    )
    (row,) = scores.disagreements()
    assert row.outlier == parse_measure("GF(div='NMD')@10")
    assert disagreement_table([row]).to_text().splitlines()[-2].endswith("GF(div='NMD')@10")
    (two,) = scores.disagreements(THREE[:2])
    assert two.outlier is None


def test_undefined_queries_are_left_out() -> None:
    values = {
        "a": {"nDCG@10": [0.9, 0.9], "RR@10": [0.1, 0.1]},
        "b": {"nDCG@10": [0.5, 0.5], "RR@10": [0.8, 0.8]},
    }
    assert [r.query for r in scores_of(values, {"b": [2, 0]}).disagreements()] == ["q1"]


def test_every_pair_of_runs() -> None:
    scores = scores_of(
        {
            "a": {"nDCG@10": [0.3], "RR@10": [0.1]},
            "b": {"nDCG@10": [0.2], "RR@10": [0.2]},
            "c": {"nDCG@10": [0.1], "RR@10": [0.3]},
        }
    )
    assert {(row.first, row.second) for row in scores.disagreements()} == {("a", "b"), ("a", "c"), ("b", "c")}
    assert [(row.first, row.second) for row in scores.disagreements(runs=["c", "a"])] == [("c", "a")]


def test_what_has_no_better_side_is_refused() -> None:
    scores = scores_of({"a": {"nDCG@10": [0.9], "dGF@10": [0.1]}, "b": {"nDCG@10": [0.5], "dGF@10": [0.4]}})
    with pytest.raises(ParameterError, match=r"dGF@10 calls no run better: signed"):
        scores.disagreements()
    with pytest.raises(ParameterError, match="two measures or more, got 1"):
        scores.disagreements(["nDCG@10"])
    alone = scores_of({"a": {"nDCG@10": [0.9], "RR@10": [0.1]}})
    with pytest.raises(ParameterError, match="need two runs or more, got a"):
        alone.disagreements()


def test_rows_for_programs() -> None:
    scores = scores_of({"a": {"nDCG@10": [0.9], "RR@10": [0.2]}, "b": {"nDCG@10": [0.5], "RR@10": [0.8]}})
    found = scores.disagreements()
    lines = disagreement_table(found).to_tsv().splitlines()
    assert lines[0].split("\t")[:4] == ["query", "first", "second", "measure"]
    assert lines[1].split("\t") == ["q0", "a", "b", "nDCG@10", "0.9", "0.5", "a", ""]
    assert [json.loads(line)["better"] for line in disagreement_table(found).to_jsonl().splitlines()] == [
        "a",
        "b",
    ]


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
