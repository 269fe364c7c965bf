"""Systems that do not differ, and more of them than the alphabet has letters."""

from __future__ import annotations

import functools
import itertools
import json
import math

import numpy as np
import pytest

from evenrank import Scores, compare, parse_measure
from evenrank.comparison import Comparison
from evenrank.comparison.comparison_tables import measure_tables
from evenrank.scores import OK, ScoresBlock
from evenrank.stats.corrections import CORRECTIONS
from evenrank.tables import printed

TESTS = ("t", "wilcoxon", "permutation")
MANY = 30
VALUES = np.array([0.1, 0.5, 0.3, 0.9, 0.4, 0.6, 0.2, 1 / 3])


def systems(columns: np.ndarray, measure: str = "nDCG@10") -> Scores:
    """One system a column."""
    queries = tuple(f"q{place}" for place in range(len(columns)))
    good = np.zeros((len(columns), 1), dtype=np.int16)
    parsed = parse_measure(measure)
    return Scores(
        tuple(
            ScoresBlock(f"system {place}", parsed, queries, ("",), column[:, None], good, (OK, "infinite"))
            for place, column in enumerate(columns.T)
        )
    )


@pytest.mark.parametrize(("test", "correction"), list(itertools.product(TESTS, CORRECTIONS)))
@pytest.mark.parametrize("measure", ["nDCG@10", "NDKL@10"])
def test_p_is_1_in_every_test_and_correction(test: str, correction: str, measure: str) -> None:
    same = compare(systems(np.tile(VALUES[:, None], MANY), measure), test=test, correction=correction)
    assert len(same.pairs) == MANY - 1
    for pair in same.pairs:
        assert (pair.p_value, pair.corrected, pair.verdict) == (1.0, 1.0, "")
        assert pair.difference == 0.0
        if measure == "NDKL@10":  # without an upper bound nothing says how far other queries may differ
            assert math.isnan(pair.low)
        else:
            assert pair.low < 0 < pair.high
        assert (pair.outcomes, pair.effects.cohen_dz) == ((0, len(VALUES), 0), 0.0)


@pytest.mark.parametrize("test", TESTS)
def test_one_of_a_kind_does_not_make_the_others_differ(test: str) -> None:
    """The last system is better; the others are copies, one of them summed in another order."""
    columns = np.tile(VALUES[:, None], MANY)
    columns[:, 7] = (VALUES + 0.1) - 0.1
    columns[:, -1] += 0.3
    *copies, better = compare(systems(columns), test=test, correction="holm").pairs
    assert {pair.p_value for pair in copies} == {1.0}
    assert better.p_value < 0.05


def test_tukey_has_p_1() -> None:
    same = compare(systems(np.tile(VALUES[:, None], MANY)))
    assert (same.tukey("nDCG@10", trials=200).p_values == 1.0).all()
    assert same.conclusions("nDCG@10", trials=200) == ()
    assert (same.power(trials=200)["nDCG@10"] == 1.0).all()


@functools.cache
def many(baselines: int) -> Comparison:
    generator = np.random.default_rng(0)
    columns = np.clip(VALUES[:, None] + generator.normal(0, 0.1, (len(VALUES), MANY)), 0, 1)
    columns[:, 3] = columns[:, 0]
    return compare(systems(columns), baseline=[f"system {place}" for place in range(baselines)])


@pytest.mark.parametrize("form", ["table", "tsv", "jsonl", "markdown", "latex"])
@pytest.mark.parametrize("baselines", [1, 28])
def test_more_than_26_systems_are_written(form: str, baselines: int) -> None:
    comparison = many(baselines)
    text = printed(measure_tables(comparison) if form == "table" else [comparison.to_table()], form)
    for place in range(MANY):
        assert f"system {place}" in text
    assert "nan" not in text.lower()
    if form == "jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
        assert len(rows) == len(comparison.pairs) == baselines * MANY - baselines * (baselines + 1) // 2
