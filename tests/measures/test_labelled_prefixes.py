"""Divergences of labels that are looked up, against the same divergences computed from shares."""

from __future__ import annotations

import numpy as np
import pytest

import evenrank
from evenrank.data.evidence_source import Gathered, Labels
from evenrank.evidence.ranked_evidence import Ranked
from evenrank.measures import divergences
from evenrank.measures.divergences import SIMILAR
from evenrank.measures.groups import prefix_shares_of_labels
from evenrank.measures.labelled_prefixes import divergence_of_labels


def lists_of_labels(values: int, lengths: list[int], seed: int = 0) -> Ranked:
    """Lists of these lengths with random labels."""
    generator = np.random.default_rng(seed)
    ends = np.cumsum(lengths)
    places = np.arange(max(lengths))
    sizes = np.array(lengths)[:, None]
    rows = np.where(places < sizes, (ends[:, None] - sizes) + places, -1)
    labels = Labels(generator.integers(0, values, int(ends[-1])).astype(np.int16), values)
    return Ranked(rows, {"group:g": Gathered.complete(labels)})


@pytest.mark.parametrize("div", SIMILAR)
@pytest.mark.parametrize("values", [2, 3, 5])
@pytest.mark.parametrize("even", [True, False])
def test_what_is_looked_up_is_what_is_computed(div: str, values: int, even: bool) -> None:
    lengths = [40, 7, 1, 40, 23, 12]
    ranked = lists_of_labels(values, lengths)
    target = np.full(values, 1 / values)
    if not even:
        target = np.random.default_rng(1).dirichlet(np.ones(values))
        target[0] = 0.0
        target /= target.sum()
    labels = ranked.labels("group:g")
    assert labels is not None
    shares = prefix_shares_of_labels(labels, ranked.lengths, values)
    expected = SIMILAR[div](shares, target)
    for part in (np.arange(2), np.arange(6), np.array([5, 3])):  # the second time some of it is known
        found = divergence_of_labels(ranked.select(part), "group:g", div, target)
        if found is None:
            assert (values > 2, div in ("NMD", "MAX")) == (True, True)
        else:
            np.testing.assert_array_equal(found, expected[part])  # to the last bit


def test_few_long_lists_are_computed() -> None:
    """There are more pairs of rank and number than ranks: looking them up would cost more than it saves."""
    long = lists_of_labels(2, [2000, 1500])
    assert divergence_of_labels(long, "group:g", "JSD", np.array([0.5, 0.5])) is None
    many = lists_of_labels(2, [400] * 300)
    assert divergence_of_labels(many, "group:g", "JSD", np.array([0.5, 0.5])) is not None


def test_a_target_of_its_own_for_each_query_is_computed() -> None:
    run = evenrank.read_run({q: {f"d{d}": float(-d) for d in range(6)} for q in ("q1", "q2")})
    labels = {f"d{d}": "ab"[d % 2] for d in range(6)}
    same = evenrank.read_groups(labels, "g", target={"q1": [0.3, 0.7], "q2": [0.3, 0.7]})
    other = evenrank.read_groups(labels, "g", target={"q1": [0.3, 0.7], "q2": [0.9, 0.1]})
    found = [evenrank.evaluate(run, "GF(decay='RBP')", groups=one).to_dict()["run"] for one in (same, other)]
    one, two = (values["GF(decay='RBP')"] for values in found)
    assert one["q1"] == one["q2"] == two["q1"] != two["q2"]


def test_many_lists_take_few_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked = lists_of_labels(3, [50] * 400)
    counted: list[int] = []
    term = divergences.SUMS["JSD"]

    def counting(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        counted.append(p.size)
        return term.term(p, q)

    monkeypatch.setitem(divergences.SUMS, "JSD", term._replace(term=counting))
    divergence_of_labels(ranked, "group:g", "JSD", np.array([0.2, 0.3, 0.5]))
    assert sum(counted) <= 3 * 50 * 53 / 2  # as many as there are i and n, not 3 x 400 x 50
