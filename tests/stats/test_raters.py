"""Agreement of raters: equal to scikit-learn and statsmodels, and to Krippendorff's own example."""

from __future__ import annotations

import csv
from itertools import permutations
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenrank.queryset import Procedure, read_sheets
from evenrank.queryset.agreement import agreement_rows
from evenrank.stats.raters import cohen_kappa

LABELS = ("n", "m", "f", "b", "o")
PER_CENT, COHEN, FLEISS, ALPHA = "per cent", "Cohen's kappa", "Fleiss' kappa", "Krippendorff's alpha"


def agreed(votes: np.ndarray, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Every coefficient of these votes, items by raters, -1 for none: each rater has a sheet."""
    procedure = Procedure(labels=LABELS, passing="n", workers=votes.shape[1])
    sheets = []
    for rater, given in enumerate(votes.T.tolist()):
        sheets.append(folder / f"w{rater}.csv")
        with sheets[-1].open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["annotator", "query", "text", "label"])
            for item, vote in enumerate(given):
                rows.writerow([f"w{rater}", f"q{item}", f"text {item}", "" if vote < 0 else LABELS[vote]])
    found = agreement_rows(read_sheets(sheets, procedure), procedure, seed=seed)
    return {one.name: one for question, one in found if question == "label"}


def simulated(items: int, raters: int, labels: int, right: float, seed: int) -> np.ndarray:
    """Each rater gives the true label with chance ``right``, else any label."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, labels, items)
    other = generator.integers(0, labels, (items, raters))
    return np.where(generator.random((items, raters)) < right, truth[:, None], other)


@pytest.mark.needs("sklearn", "statsmodels")
@pytest.mark.parametrize("seed", range(4))
def test_kappas_are_those_of_other_tools(seed: int, tmp_path: Path) -> None:
    from sklearn import metrics
    from statsmodels.stats import inter_rater

    two, three = simulated(60, 2, 4, 0.6, seed), simulated(60, 3, 4, 0.6, seed)
    kappa = metrics.cohen_kappa_score(two[:, 0], two[:, 1])
    assert cohen_kappa(two, 4).value == pytest.approx(kappa)
    assert agreed(two, tmp_path)[COHEN].value == pytest.approx(kappa)
    table, _ = inter_rater.aggregate_raters(three, n_cat=4)
    assert agreed(three, tmp_path)[FLEISS].value == pytest.approx(inter_rater.fleiss_kappa(table))


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
def test_alpha_with_missing_votes(seed: int, tmp_path: Path) -> None:
    votes = simulated(40, 4, 3, 0.7, seed)
    votes[np.random.default_rng(seed).random(votes.shape) < 0.3] = -1
    found = agreed(votes, tmp_path)
    assert found[ALPHA].value == pytest.approx(slow_alpha(votes, 3))
    # the package krippendorff 0.9.0 on the same votes
    published = [0.3464912281, 0.4675246675, 0.6060606061, 0.5514087988][seed]
    assert found[ALPHA].value == pytest.approx(published, abs=1e-9)
    assert isnan(found[FLEISS].value)
    assert found[FLEISS].reason
    assert found[COHEN].reason


def test_krippendorffs_own_example(tmp_path: Path) -> None:
    """The reliability data of his section C: 4 observers, 12 units, nominal alpha 0.743."""
    rows = [
        "1 2 3 3 2 1 4 1 2 - - -",
        "1 2 3 3 2 2 4 1 2 5 - 3",
        "- 3 3 3 2 3 4 2 2 5 1 -",
        "1 2 3 3 2 4 4 1 2 5 1 -",
    ]
    table = [[-1 if cell == "-" else int(cell) - 1 for cell in row.split()] for row in rows]
    found = agreed(np.array(table).T, tmp_path)[ALPHA]
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.items == 11


def test_per_cent_by_hand(tmp_path: Path) -> None:
    votes = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, -1, 1], [2, -1, -1]])
    found = agreed(votes, tmp_path)[PER_CENT]
    assert (found.value, found.items) == (pytest.approx((1 + 1 / 3 + 0 + 1) / 4), 4)


def test_what_is_undefined_says_why(tmp_path: Path) -> None:
    same = agreed(np.zeros((6, 2), dtype=int), tmp_path)
    assert same[PER_CENT].reason is None
    assert len({same[name].reason for name in (COHEN, FLEISS, ALPHA)} - {None}) == 1
    assert isnan(cohen_kappa(simulated(6, 3, 2, 0.5, 0), 2).value)
    few = agreed(np.array([[0, 1], [1, 1], [0, 0]]), tmp_path)
    for one in few.values():
        assert not isnan(one.value)
        assert isnan(one.low)
        assert one.reason
    nobody = cohen_kappa(np.array([[0, -1], [1, -1]]), 2)
    assert (isnan(nobody.value), nobody.items) == (True, 0)
    assert nobody.reason


def resampled(votes: np.ndarray, seed: int) -> tuple[float, float]:
    """Percentiles of Cohen's kappa over items drawn again, as far out as Student's t is."""
    import scipy.stats

    def kappa(own: np.ndarray) -> float:
        one, two = (np.bincount(own[:, rater], minlength=3) / len(own) for rater in (0, 1))
        chance = float(one @ two)
        return ((own[:, 0] == own[:, 1]).mean() - chance) / (1 - chance) if chance < 1 - 1e-12 else nan

    n = len(votes)
    times = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), 2000)
    drawn = [kappa(np.repeat(votes, row, axis=0)) for row in times]
    tail = scipy.stats.norm.sf(scipy.stats.t.ppf(0.975, n - 1) * (n / (n - 1)) ** 0.5)
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


@pytest.mark.parametrize("items", [6, 40])
def test_intervals_draw_items_again(items: int, tmp_path: Path) -> None:
    votes = simulated(items, 2, 3, 0.6, 2)
    for seed in (0, 5):
        found = agreed(votes, tmp_path, seed)[COHEN]
        assert (found.low, found.high) == pytest.approx(resampled(votes, seed))
        own = cohen_kappa(votes, 3, seed=seed)
        assert (own.low, own.value, own.high) == pytest.approx((found.low, found.value, found.high))


@pytest.mark.slow
def test_intervals_cover_what_they_say(tmp_path: Path) -> None:
    """Known agreement: raters who are right with chance p agree by p**2 beyond chance, so kappa is p**2."""
    trials, right = 100, 0.8
    covered = dict.fromkeys([COHEN, FLEISS, ALPHA], 0)
    for seed in range(trials):
        found = agreed(simulated(100, 2, 4, right, seed), tmp_path, seed)
        for name in covered:
            covered[name] += found[name].low <= right**2 <= found[name].high
    for name, count in covered.items():  # five standard errors of a share of 95%
        assert abs(count / trials - 0.95) < 5 * (0.95 * 0.05 / trials) ** 0.5, (name, count)
