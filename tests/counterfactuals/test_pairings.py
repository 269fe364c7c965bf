"""CRBO over several pairings of names, and its agreement with other measures over systems."""

from __future__ import annotations

import numpy as np
import pytest

from evenrank import counterfactual
from evenrank.counterfactuals.pairings import over_pairings
from evenrank.errors import ParameterError

TEXTS = {
    "d1": "Mary met John and James at the school.",
    "d2": "James said that Linda is a nurse.",
    "d3": "The nurse met Robert and Mary.",
    "d4": "She teaches at the school of John.",
    "d5": "Nurses work at night.",
}
QUERIES = {"q1": "Mary at school", "q2": "nurse James", "q3": "night"}


def test_each_pairing_is_the_experiment_with_its_seed() -> None:
    found = over_pairings("bm25", TEXTS, queries=QUERIES, seeds=[0, 3, 5])
    alone = [counterfactual("bm25", TEXTS, queries=QUERIES, seed=seed).crbo for seed in (0, 3, 5)]
    assert found.values == pytest.approx(alone)
    assert found.crbo == pytest.approx(np.mean(alone))
    assert found.results[0].original.to_dict() == found.results[2].original.to_dict()


def test_the_interval_is_over_pairings() -> None:
    found = over_pairings("bm25", TEXTS, queries=QUERIES, seeds=range(6))
    low, high = found.interval[:2]
    assert 0 <= low <= found.crbo <= high <= 1
    assert [row[0] for row in found.to_table().rows] == [*"012345", "all"]


def test_seeds_must_differ() -> None:
    for seeds in ([], [1, 1]):
        with pytest.raises(ParameterError, match="seeds"):
            over_pairings("bm25", TEXTS, queries=QUERIES, seeds=seeds)
