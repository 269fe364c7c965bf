"""The most fairness that any order allows within a loss of relevance, against all permutations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import evenrank as er
from evenrank.comparison.optimal import optimal_reference

SIDES = er.Lexicon.build("sides", {"m": ["he"], "f": ["she"]})
COUNTS = [(4, 0), (5, 1), (4, 2), (3, 3)]  # of words of both sides, for neutrality of 0, 1/3, 2/3, 1
Lists = list[list[int]]  # for each document of each list the place of its neutrality, or its grade


def sums(order: Sequence[int], values: Sequence[float], cutoff: int) -> float:
    return sum(values[place] / math.log2(2 + rank) for rank, place in enumerate(order[:cutoff]))


def reference(fair: Lists, grades: Lists, cutoff: int, loss: float) -> Any:
    names = [[f"d{q}-{place}" for place in range(len(own))] for q, own in enumerate(fair)]
    run = er.read_run({f"q{q}": {d: float(-at) for at, d in enumerate(own)} for q, own in enumerate(names)})
    counts = {d: COUNTS[fair[q][at]] for q, own in enumerate(names) for at, d in enumerate(own)}
    words = er.WordCounts.build(list(counts), [9] * len(counts), list(counts.values()), SIDES)
    qrels = {f"q{q}": dict(zip(own, grades[q], strict=True)) for q, own in enumerate(names)}
    measures = {"fairness": f"NFaiRR@{cutoff}", "relevance": f"nDCG@{cutoff}"}
    found = optimal_reference(run, **measures, loss=loss, qrels=qrels, words=words)
    assert found.queries == len(fair)
    return found


def normalised(lists: Lists, cutoff: int) -> list[list[float]]:
    """What a document adds to the measure at rank 1: its value, where the best order of its list has 1."""
    best = [sums(range(len(own)), sorted(own, reverse=True), cutoff) for own in lists]
    return [[value / whole for value in own] for own, whole in zip(lists, best, strict=True)]


def best_of_all(fair: list[list[float]], gain: list[list[float]], cutoff: int, loss: float) -> float:
    """The largest mean fairness whose mean relevance is within the loss, over all orders of all lists."""
    options = []
    for f, g in zip(fair, gain, strict=True):
        orders = itertools.permutations(range(len(f)))
        options.append({(sums(one, f, cutoff), sums(one, g, cutoff)) for one in orders})
    least = sum(sums(tuple(range(len(g))), g, cutoff) for g in gain) - loss * len(gain)
    return max(
        sum(f for f, _ in chosen) / len(fair)
        for chosen in itertools.product(*options)
        if sum(g for _, g in chosen) >= least - 1e-12
    )


def some_lists(generator: np.random.Generator, lengths: list[int]) -> Lists:
    """At least one document of each is not 0."""
    lists = [generator.integers(0, 4, length).tolist() for length in lengths]
    return [own if any(own) else [*own[1:], 1] for own in lists]


@pytest.mark.parametrize("loss", [0.0, 0.05, 0.3, 10.0])
@pytest.mark.parametrize("lengths", [[5], [4, 3], [3, 3, 2]])
def test_the_bound_holds_and_the_best_is_attained(lengths: list[int], loss: float) -> None:
    generator = np.random.default_rng(len(lengths))
    gaps = []
    for _ in range(12):
        fair, grades = some_lists(generator, lengths), some_lists(generator, lengths)
        found = reference(fair, grades, 3, loss)
        best = best_of_all(normalised(fair, 3), normalised(grades, 3), 3, loss)
        assert found.bound >= best - 1e-9
        assert found.attained <= best + 1e-9
        assert found.attained >= found.fairness - 1e-12  # the order as it is
        assert found.attained_relevance >= found.relevance - loss - 1e-9
        gaps.append(found.bound - best)
    if loss == 10.0:  # nothing binds
        assert max(gaps) == pytest.approx(0, abs=1e-12)


def smallest_dual(fair: list[list[float]], gain: list[list[float]], cutoff: int, loss: float) -> float:
    """The smallest L over 0 and every weight at which two documents of a list change places."""
    corners = {0.0, 1e6}
    for f, g in zip(fair, gain, strict=True):
        for one, two in itertools.permutations(range(len(f)), 2):
            if g[two] > g[one] and f[one] > f[two]:
                corners.add((f[one] - f[two]) / (g[two] - g[one]))
    least = sum(sums(tuple(range(len(g))), g, cutoff) for g in gain) / len(gain) - loss

    def value(mu: float) -> float:
        total = 0.0
        for f, g in zip(fair, gain, strict=True):
            best = sorted((one + mu * two for one, two in zip(f, g, strict=True)), reverse=True)
            total += sums(tuple(range(len(best))), best, cutoff)
        return total / len(fair) - mu * least

    return min(map(value, corners))


@pytest.mark.parametrize("loss", [0.001, 0.02, 0.1, 0.3])
def test_the_bound_is_the_smallest_over_all_corners(loss: float) -> None:
    generator = np.random.default_rng(6)
    for _ in range(5):
        fair, grades = some_lists(generator, [7] * 6), some_lists(generator, [7] * 6)
        wanted = smallest_dual(normalised(fair, 4), normalised(grades, 4), 4, loss)
        assert reference(fair, grades, 4, loss).bound == pytest.approx(wanted, abs=1e-9)


def test_over_many_queries_the_bound_is_reached() -> None:
    """What one query cannot reach by itself, many reach on average: the gap is at most one query's."""
    generator = np.random.default_rng(4)
    lists = [8] * 300
    found = reference(some_lists(generator, lists), some_lists(generator, lists), 5, 0.02)
    assert 0 <= found.bound - found.attained <= 1 / len(lists)
    assert found.fairness < found.attained


def test_loss_none_of_an_ideal_order() -> None:
    """Only documents of equal gain may change places, however much the weight of relevance grows."""
    found = reference([[0, 3, 3]], [[1, 1, 0]], 3, 0.0)
    assert found.bound == pytest.approx(found.attained) == pytest.approx(1.5 / (1 + 1 / math.log2(3)))


def test_rounding_is_no_loss() -> None:
    """Sums of the same numbers in another order: relevance is what it was, and nothing can be gained."""
    generator = np.random.default_rng(9)
    for _ in range(30):
        grades = [sorted(own, reverse=True) for own in some_lists(generator, [6] * 3)]
        found = reference([[1] * 6] * 3, grades, 4, 0.0)
        assert found.bound == pytest.approx(found.fairness, abs=1e-12)
        assert found.attained_relevance >= found.relevance - 1e-9


def test_the_reference_of_a_run_is_in_units_of_the_measures() -> None:
    texts = {"a": "she said she", "b": "nobody", "c": "he and his", "d": "no words"}
    run = er.read_run({"q1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "q2": {"c": 2.0, "d": 1.0}})
    qrels = {"q1": {"a": 2, "d": 1}, "q2": {"c": 1}, "q3": {"a": 1}}
    words = er.scan(texts, "gender-en")
    scores = er.evaluate(run, "NFaiRR@2 nDCG@2", qrels=qrels, words=words, queries=["q1", "q2"])
    found = optimal_reference(
        run, fairness="NFaiRR@2", relevance="nDCG@2", loss=1.0, qrels=qrels, words=words, queries=["q1", "q2"]
    )
    assert found.fairness == pytest.approx(scores.mean("NFaiRR@2"))
    assert found.relevance == pytest.approx(scores.mean("nDCG@2"))
    assert found.queries == 2
    # all words allowed to go: the two neutral ones of q1 fill two ranks, the one of q2 the first
    assert found.bound == pytest.approx(1.0)
    assert found.share_of(0.5 * (found.fairness + found.attained), of=found.attained) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"fairness": "GF@10"}, "NFaiRR"),
        ({"relevance": "nDCG@5"}, "nDCG@5"),
        ({"loss": -0.1}, "loss"),
        ({"relevance": "RR"}, "RR"),
    ],
)
def test_what_has_no_reference(settings: dict[str, object], named: str) -> None:
    given = {"fairness": "NFaiRR@10", "relevance": "nDCG@10", "loss": 0.01, **settings}
    run = er.read_run({"q": {"a": 1.0}})
    with pytest.raises(er.ParameterError, match=named):
        optimal_reference(run, qrels={"q": {"a": 1}}, words=er.scan({"a": "x"}, "gender-en"), **given)
