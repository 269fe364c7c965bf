"""Agreement of raters: equal to scikit-learn and statsmodels, and to Krippendorff's own example."""

from __future__ import annotations

from itertools import permutations
from math import isnan

import numpy as np
import pytest

from evenrank.errors import DataError
from evenrank.stats.raters import (
    MISSING_VOTES,
    NOT_TWO,
    ONE_LABEL,
    TOO_FEW_VOTES,
    agreements,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)


def simulated(items: int, raters: int, labels: int, right: float, seed: int) -> np.ndarray:
    """Each rater gives the true label with chance ``right``, else any label."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, labels, items)
    other = generator.integers(0, labels, (items, raters))
    return np.where(generator.random((items, raters)) < right, truth[:, None], other)


@pytest.mark.needs("sklearn", "statsmodels")
@pytest.mark.parametrize("seed", range(4))
def test_kappas_are_those_of_other_tools(seed: int) -> None:
    from sklearn import metrics
    from statsmodels.stats import inter_rater

    two, three = simulated(60, 2, 4, 0.6, seed), simulated(60, 3, 4, 0.6, seed)
    assert cohen_kappa(two, 4).value == pytest.approx(metrics.cohen_kappa_score(two[:, 0], two[:, 1]))
    table, _ = inter_rater.aggregate_raters(three, n_cat=4)
    assert fleiss_kappa(three, 4).value == pytest.approx(inter_rater.fleiss_kappa(table))


def slow_alpha(votes: np.ndarray, labels: int) -> float:
    """The coincidence matrix of Krippendorff (2011), pair by pair."""
    coincidences = np.zeros((labels, labels))
    for row in votes:
        given = [vote for vote in row if vote >= 0]
        for a, b in permutations(given, 2) if len(given) > 1 else []:
            coincidences[a, b] += 1 / (len(given) - 1)
    n = coincidences.sum()
    by_label = coincidences.sum(axis=0)
    observed = n - np.trace(coincidences)
    expected = (n**2 - (by_label**2).sum()) / (n - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("seed", range(4))
def test_alpha_with_missing_votes(seed: int) -> None:
    votes = simulated(40, 4, 3, 0.7, seed)
    votes[np.random.default_rng(seed).random(votes.shape) < 0.3] = -1
    found = krippendorff_alpha(votes, 3).value
    assert found == pytest.approx(slow_alpha(votes, 3))
    # the package krippendorff 0.9.0 on the same votes
    assert found == pytest.approx([0.3464912281, 0.4675246675, 0.6060606061, 0.5514087988][seed], abs=1e-9)


def test_krippendorffs_own_example() -> None:
    """The reliability data of his section C: 4 observers, 12 units, nominal alpha 0.743."""
    rows = [
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
    ]
    table = [[-1 if cell == "-" else int(cell) - 1 for cell in row.split()] for row in rows]
    found = krippendorff_alpha(np.array(table).T, 5)
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.items == 11


def test_per_cent_by_hand() -> None:
    votes = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, -1, 1], [2, -1, -1]])
    assert percent_agreement(votes, 3).value == pytest.approx((1 + 1 / 3 + 0 + 1) / 4)


def test_what_is_undefined_says_why() -> None:
    same = np.zeros((6, 2), dtype=int)
    assert [one.reason for one in agreements(same, 2)] == [None, ONE_LABEL, ONE_LABEL, ONE_LABEL]
    three = simulated(6, 3, 2, 0.5, 0)
    assert cohen_kappa(three, 2).reason == NOT_TWO
    three[0, 0] = -1
    assert fleiss_kappa(three, 2).reason == MISSING_VOTES
    none = np.array([[0, -1], [1, -1]])
    assert {one.reason for one in agreements(none, 2)} == {TOO_FEW_VOTES}
    few = krippendorff_alpha(np.array([[0, 1], [1, 1], [0, 0]]), 2)
    assert (isnan(few.low), few.reason) == (True, "no interval: fewer than 5 items")
    with pytest.raises(DataError, match="codes from -1"):
        percent_agreement(np.array([[0, 2]]), 2)


@pytest.mark.slow
def test_intervals_cover_what_they_say() -> None:
    """Known agreement: raters who are right with chance p agree by p**2 beyond chance, so kappa is p**2."""
    trials, right = 100, 0.8
    covered = dict.fromkeys(["Cohen's kappa", "Fleiss' kappa", "Krippendorff's alpha"], 0)
    for seed in range(trials):
        for one in agreements(simulated(100, 2, 4, right, seed), 4, seed=seed):
            if one.name in covered:
                covered[one.name] += one.low <= right**2 <= one.high
    for name, count in covered.items():  # five standard errors of a share of 95%
        assert abs(count / trials - 0.95) < 5 * (0.95 * 0.05 / trials) ** 0.5, (name, count)
