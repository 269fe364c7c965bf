"""Adjusted p-values against their definitions and statsmodels, and what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn import made

from evenrank import compare

CORRECTIONS = ["none", "bonferroni", "holm", "bh"]


def corrected(systems: int, correction: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The p-values of systems beside a baseline, before and after: some are very small, some are equal."""
    generator = np.random.default_rng(seed)
    base = generator.random(12)
    runs = {"base": {"nDCG@10": base}}
    for place in range(systems):
        moved = base + generator.normal(generator.choice([0, 0.3, 1.5]), 0.5, 12)
        runs[f"s{place}"] = {"nDCG@10": base if place % 7 == 3 else moved}
        if place % 7 == 5:
            runs[f"s{place}"] = runs[f"s{place - 1}"]
    pairs = compare(made(runs), correction=correction).pairs
    return np.array([one.p_value for one in pairs]), np.array([one.corrected for one in pairs])


def slowly(p: list[float], correction: str) -> list[float]:
    m, order = len(p), sorted(range(len(p)), key=p.__getitem__)
    found = [0.0] * m
    for step, place in enumerate(order):
        if correction == "none":
            found[place] = p[place]
        elif correction == "bonferroni":
            found[place] = min(1.0, m * p[place])
        elif correction == "holm":  # step down: none is less than a smaller one
            found[place] = min(1.0, max((m - before) * p[order[before]] for before in range(step + 1)))
        else:  # step up: none is more than a larger one
            found[place] = min(m / (after + 1) * p[order[after]] for after in range(step, m))
    return found


@pytest.mark.parametrize("systems", [1, 2, 4, 30])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_they_are_those_of_their_definitions(correction: str, systems: int) -> None:
    raw, found = corrected(systems, correction, systems)
    assert found == pytest.approx(slowly(raw.tolist(), correction), rel=1e-12)
    assert (raw <= found + 1e-15).all()


@pytest.mark.needs("statsmodels")
@pytest.mark.parametrize(("correction", "theirs"), [("bonferroni",) * 2, ("holm",) * 2, ("bh", "fdr_bh")])
@pytest.mark.parametrize("systems", [1, 2, 40])
def test_they_are_those_of_statsmodels(correction: str, theirs: str, systems: int) -> None:
    from statsmodels.stats import multitest

    raw, found = corrected(systems, correction, systems)
    assert found == pytest.approx(multitest.multipletests(raw, method=theirs)[1], rel=1e-12)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_p_of_identical_systems_stays_1(correction: str) -> None:
    raw, found = corrected(30, correction)
    assert (raw == 1).sum() == 4
    assert (found[raw == 1] == 1).all()


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_test_that_was_not_made_does_not_count(correction: str) -> None:
    base, one, two = np.random.default_rng(0).random((3, 12))
    systems = {"base": base, "a": [math.nan] * 12, "one": one, "b": [math.nan] * 12, "two": two}
    spoilt = compare(made({name: {"AP": own} for name, own in systems.items()}), correction=correction)
    clean = compare(
        made({name: {"AP": systems[name]} for name in ("base", "one", "two")}), correction=correction
    )
    found = {pair.system: pair.corrected for pair in spoilt.pairs}
    assert math.isnan(found["a"])
    assert math.isnan(found["b"])
    assert {pair.system: pair.corrected for pair in clean.pairs} == {k: found[k] for k in ("one", "two")}


def test_a_correction_is_over_all_pairs_of_one_measure() -> None:
    generator = np.random.default_rng(1)
    runs = {name: {"AP": generator.random(9), "RR": generator.random(9)} for name in "abcd"}
    pairs = compare(made(runs), correction="bonferroni", baseline=["a", "b"]).pairs
    assert len(pairs) == 2 * 5
    assert [one.corrected for one in pairs] == pytest.approx([min(1, 5 * one.p_value) for one in pairs])
