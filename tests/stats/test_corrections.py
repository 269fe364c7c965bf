"""Adjusted p-values against five slow lines each, and what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from evenrank.errors import DataError, UnknownNameError
from evenrank.stats.corrections import CORRECTIONS, benjamini_hochberg, bonferroni, correct, holm

P_VALUES = st.lists(st.sampled_from([0.0, 1.0]) | st.floats(0, 1), min_size=1, max_size=12)


def rejected_by_holm(p: list[float], alpha: float) -> set[int]:
    """Step down: stop at the first that is not small enough."""
    found: set[int] = set()
    for step, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if p[place] > alpha / (len(p) - step):
            break
        found.add(place)
    return found


def rejected_by_bh(p: list[float], alpha: float) -> set[int]:
    """Step up: the largest i with p_(i) <= i alpha / m, and all below it."""
    order = sorted(range(len(p)), key=p.__getitem__)
    last = max((i for i in range(1, len(p) + 1) if p[order[i - 1]] <= i * alpha / len(p)), default=0)
    return set(order[:last])


def rejected_by_bonferroni(p: list[float], alpha: float) -> set[int]:
    return {place for place, value in enumerate(p) if value <= alpha / len(p)}


@given(P_VALUES, st.floats(0.001, 0.999))
@pytest.mark.parametrize(
    ("name", "rejected"),
    [("bonferroni", rejected_by_bonferroni), ("holm", rejected_by_holm), ("bh", rejected_by_bh)],
)
def test_adjusted_p_rejects_what_the_procedure_rejects(name: str, rejected, p: list[float], alpha) -> None:
    adjusted = correct(p, name)
    if (np.abs(adjusted - alpha) > 1e-9).all():  # on the edge rounding decides
        assert set(np.flatnonzero(adjusted <= alpha).tolist()) == rejected(p, alpha)


@given(P_VALUES)
def test_bh_is_that_of_scipy(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), scipy.stats.false_discovery_control(p), rtol=1e-12)


@pytest.mark.needs("statsmodels")
@pytest.mark.parametrize(("name", "theirs"), [("bonferroni",) * 2, ("holm",) * 2, ("bh", "fdr_bh")])
@pytest.mark.parametrize("size", [1, 2, 210])
def test_they_are_those_of_statsmodels(name: str, theirs: str, size: int) -> None:
    from statsmodels.stats import multitest

    p = np.random.default_rng(size).beta(0.3, 1, size)  # many small ones
    p[::5] = np.round(p[::5], 1)  # with ties, 0 and 1 among them
    expected = multitest.multipletests(p, method=theirs)[1]  # not more often: it collects garbage each time
    np.testing.assert_allclose(correct(p, name), expected, rtol=1e-12)


@pytest.mark.parametrize("name", CORRECTIONS)
@pytest.mark.parametrize("others", [[], [1.0] * 40, [0.001, 0.5, math.nan]])
def test_the_p_of_identical_systems_stays_1(name: str, others: list[float]) -> None:
    assert correct([1.0, *others, 1.0], name)[[0, -1]].tolist() == [1.0, 1.0]


@given(P_VALUES)
def test_each_is_at_most_the_stricter_one(p: list[float]) -> None:
    raw = np.array(p)
    assert (raw <= benjamini_hochberg(p) + 1e-15).all()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()
    assert (holm(p) <= bonferroni(p)).all()
    assert (bonferroni(p) <= 1).all()


@given(P_VALUES, st.randoms(use_true_random=False))
@pytest.mark.parametrize("name", CORRECTIONS)
def test_the_order_of_tests_does_not_matter(name: str, p: list[float], random) -> None:
    order = list(range(len(p)))
    random.shuffle(order)
    np.testing.assert_array_equal(correct(np.array(p)[order], name), correct(p, name)[order])


def test_a_worked_example() -> None:
    p = [0.01, 0.02, 0.03, 0.04]
    assert bonferroni(p).tolist() == pytest.approx([0.04, 0.08, 0.12, 0.16])
    assert holm(p).tolist() == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert benjamini_hochberg(p).tolist() == pytest.approx([0.04, 0.04, 0.04, 0.04])


@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_test_that_was_not_made_does_not_count(name: str) -> None:
    adjusted = correct([math.nan, 0.01, 0.02, math.nan], name)
    assert np.isnan(adjusted[[0, 3]]).all()
    np.testing.assert_array_equal(adjusted[[1, 2]], correct([0.01, 0.02], name))
    assert np.isnan(correct([math.nan], name)).all()
    assert correct([], name).tolist() == []
    assert correct([0.03], name).tolist() == [0.03]


def test_the_shape_is_kept_and_the_input_untouched() -> None:
    p = np.array([[0.01, 0.04], [0.03, 0.02]])
    before = p.copy()
    np.testing.assert_allclose(holm(p), [[0.04, 0.06], [0.06, 0.06]])
    np.testing.assert_array_equal(p, before)


def test_no_correction_gives_a_copy() -> None:
    p = np.array([0.01, 0.04])
    same = correct(p, "none")
    assert same.tolist() == p.tolist()
    assert not np.shares_memory(same, p)


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match=r"these do not: -0.1, 1.5"):
        holm([0.5, -0.1, 1.5])
    with pytest.raises(DataError, match=r"these do not: -0\.1, 1\.5, 2\.0$"):  # 0 and 1 are p-values
        holm([0.0, 1.0, -0.1, 1.5, 2.0, -7.0])
    with pytest.raises(UnknownNameError, match="no correction 'sidak'; there are none, bonferroni, holm, bh"):
        correct([0.5], "sidak")
