"""No query and one query through what compares: a value that is defined, or NaN with its reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from drawn import made

from evenrank import EvenrankError, Lexicon, Run, Scores, WordCounts, compare, origin, parse_measure, select
from evenrank.comparison.gate import Gate, GateRule, apply_gate
from evenrank.study.seme import seme

Evenrank = Callable[..., SimpleNamespace]

SHAPES = {
    "one query": np.array([[0.1, 0.5, 0.9]]),
    "no value": np.full((6, 3), math.nan),
    "one value": np.array([[0.1, 0.5, 0.9], *[[math.nan] * 3] * 5]),
}


def scores(columns: np.ndarray) -> Scores:
    """A system a column; NaN is undefined."""
    return made({f"s{place}": {"nDCG@10": own, "AP": own} for place, own in enumerate(columns.T)})


@pytest.mark.parametrize("columns", SHAPES.values(), ids=SHAPES)
def test_a_comparison_has_no_verdict(columns: np.ndarray) -> None:
    comparison = compare(scores(columns))
    assert len(comparison.pairs) == 4  # two systems beside the first, with two measures
    for pair in comparison.pairs:
        assert math.isnan(pair.p_value)
        assert math.isnan(pair.low)
        assert pair.reason
        assert pair.verdict == ""
    assert "nan" not in repr(comparison).split()


@pytest.mark.parametrize(
    "view", ["tukey:trials=50", "power:trials=50", "correlations", "conclusions:trials=50"]
)
@pytest.mark.parametrize("columns", SHAPES.values(), ids=SHAPES)
def test_its_views_show_no_number_where_there_is_none(
    columns: np.ndarray, view: str, evenrank: Evenrank, tmp_path: Path
) -> None:
    scores(columns).write(tmp_path / "scores.jsonl")
    given = ("compare", "--scores", tmp_path / "scores.jsonl", "--no-project", "--view", view)
    shown, rows = evenrank(*given), evenrank(*given, "--format", "jsonl")
    assert (shown.code, rows.code) == (0, 0)
    assert "nan" not in shown.out.split()
    assert rows.out
    for row in map(json.loads, rows.out.splitlines()):
        assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())
        assert row.get("p") is None or row["p"] > 0.2  # of six orders of three values, two are as far apart


@pytest.mark.parametrize("columns", SHAPES.values(), ids=SHAPES)
def test_a_gate_has_too_few(columns: np.ndarray) -> None:
    gate = Gate((GateRule(parse_measure("nDCG@10"), allowed=0.1),))
    (verdict,) = apply_gate(scores(columns), gate, now="s1", baseline="s0").verdicts
    assert verdict.finding == "too few"
    assert verdict.failed


def test_scores_of_no_query() -> None:
    nothing = scores(np.zeros((0, 2)))
    assert len(nothing.summary()) == 4
    for row in nothing.summary():
        assert math.isnan(row.value)
        assert math.isnan(row.low)
        assert row.queries == 0
        assert row.interval_note
    assert "nan" not in repr(nothing).split()
    for pair in compare(nothing).pairs:
        assert pair.queries == 0
        assert pair.reason


@pytest.mark.parametrize("columns", [*SHAPES.values(), np.zeros((0, 3))], ids=[*SHAPES, "no query"])
def test_a_choice_among_runs_needs_queries(columns: np.ndarray) -> None:
    with pytest.raises(EvenrankError, match="quer"):
        select(scores(columns), relevance="nDCG@10", fairness="AP")


def test_the_effect_of_few_trials() -> None:
    trial = {"posterior": [0.5], "prior": [0.1], "duo": [0.2]}
    (effect,) = seme(trial)
    assert effect.size == 1
    assert effect.undefined
    assert np.isnan(effect[3:8]).all()
    with pytest.raises(EvenrankError, match="trials"):
        seme({name: [] for name in trial})


def test_the_origin_of_one_query() -> None:
    lists = Run.build(["q"] * 3, ["a", "b", "c"], [3.0, 2.0, 1.0])
    lexicon = Lexicon.build("sides", {"m": ["he"], "f": ["she"]})
    words = WordCounts.build(["a", "b", "c"], [9, 9, 9], [[4, 0], [0, 5], [2, 2]], lexicon)
    found = origin(lists, "NFaiRR@2 TExFAIR@2", words=words, background=lists, draws=5)
    assert len(found.steps()) == 6
    for step in found.steps():
        assert np.isfinite(step.value)
        assert math.isnan(step.low)
        assert (step.queries, step.verdict) == (1, "")
        assert step.interval_note
        assert step.against is None or step.adds.reason
    with pytest.raises(EvenrankError, match="quer"):
        origin(lists, "NFaiRR@2", words=words, queries=[], draws=5)
