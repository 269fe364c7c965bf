"""Divergences of labels that are looked up, against the same divergences computed from shares."""

from __future__ import annotations

import numpy as np
import pytest

import evenrank
from evenrank.data.evidence_source import Gathered, Labels
from evenrank.evidence.ranked_evidence import Ranked
from evenrank.measures import divergences, labelled_prefixes
from evenrank.measures.divergences import SIMILAR
from evenrank.measures.groups import prefix_shares_of_labels
from evenrank.measures.labelled_prefixes import divergence_of_labels, match_distance_of_labels


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


@pytest.mark.parametrize("div", ["JSD", "RNOD"])
@pytest.mark.parametrize("values", [2, 4])
def test_what_later_lists_have_is_found_too(div: str, values: int) -> None:
    """Lists of one value, of another and of none: each block asks for numbers far from those before."""
    labels = np.concatenate([np.full(60, value, np.int16) for value in range(values)])
    rows = np.concatenate([np.arange(60 * values).reshape(values, 60), np.full((1, 60), -1)])
    rows = np.concatenate([rows, np.where(np.arange(60) < 45, rows[:1], -1)])
    ranked = Ranked(rows, {"group:g": Gathered.complete(Labels(labels, values))})
    target = np.full(values, 1 / values)
    shares = prefix_shares_of_labels(ranked.labels("group:g"), ranked.lengths, values)
    expected = SIMILAR[div](shares, target)
    for block in ([values], [1], [values + 1], [0, 1], [values - 1, values], [0]):
        found = divergence_of_labels(ranked.select(np.array(block)), "group:g", div, target)
        assert found is not None
        own = ranked.mask[block]
        np.testing.assert_array_equal(found[own], expected[block][own])
        assert np.isfinite(found).all()  # below a list, where it does not count, but is multiplied by 0


@pytest.mark.parametrize("values", [3, 5])
@pytest.mark.parametrize("each", [True, False], ids=["a target for each", "one target"])
def test_match_distance_is_that_of_the_cumulative_shares(values: int, each: bool) -> None:
    lengths = [40, 7, 1, 40, 23, 12]
    ranked = lists_of_labels(values, lengths)
    targets = np.random.default_rng(1).dirichlet(np.ones(values), len(lengths))
    targets = targets if each else np.tile(targets[:1], (len(lengths), 1))
    found = match_distance_of_labels(ranked, "group:g", targets)
    labels = ranked.labels("group:g")
    assert labels is not None
    for q, (row, length) in enumerate(zip(labels, lengths, strict=True)):
        for i in range(1, length + 1):
            apart = [(row[:i] <= v).mean() - targets[q, : v + 1].sum() for v in range(values - 1)]
            assert found[q, i - 1] == pytest.approx(np.abs(apart).sum() / (values - 1), abs=1e-12)
    alone = match_distance_of_labels(ranked.select(np.array([3])), "group:g", targets[3:4])
    np.testing.assert_array_equal(alone, found[3:4])  # to the last bit


def test_match_distance_is_the_same_looked_up_and_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = np.tile([[0.2, 0.3, 0.5]], (3, 1))
    found = match_distance_of_labels(lists_of_labels(3, [40, 30, 1]), "group:g", targets)
    monkeypatch.setattr(labelled_prefixes, "MOST", 0)
    computed = match_distance_of_labels(lists_of_labels(3, [40, 30, 1]), "group:g", targets)
    np.testing.assert_array_equal(found, computed)


def test_a_block_of_many_lists_looks_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it pays is a question of all lists of the run: a block has few of them."""
    monkeypatch.setattr(labelled_prefixes, "FEW", 0)
    ranked = lists_of_labels(2, [100] * 60)
    half = np.array([0.5, 0.5])
    assert divergence_of_labels(ranked.select(np.arange(3)), "group:g", "JSD", half) is not None
    few = lists_of_labels(2, [100] * 3)
    assert divergence_of_labels(few, "group:g", "JSD", half) is None
    assert divergence_of_labels(few.select(np.arange(2)), "group:g", "JSD", half) is None


def test_pairs_of_long_lists_are_never_kept() -> None:
    """However many lists there are: memory would grow by the square of their length."""
    rows = np.broadcast_to(np.arange(5000), (4000, 5000))
    long = Ranked(rows, {"group:g": Gathered.complete(Labels(np.zeros(5000, np.int16), 2))})
    assert divergence_of_labels(long, "group:g", "JSD", np.array([0.5, 0.5])) is None


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
