"""Fairness of exposure: what is promised holds over the mixture, and no fair mixture has more utility."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from evenrank import Attribute, Membership, Qrels, Run, attention, rerank
from evenrank.errors import EvenrankWarning
from evenrank.rerankers.foe import Chances, Part, best_chances, decompose, exposure_rows

CONSTRAINTS = ("parity", "treatment", "impact", "target")
ALWAYS = ("parity", "impact")  # rankings that are all equally likely keep these


def drawn(seed: int, size: int | None = None) -> tuple[np.ndarray, ...]:
    """Relevance (n,), shares (n, L), target (L,), attention (n,): labels or mixtures, some of no group."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 11)) if size is None else size
    values = int(generator.integers(2, 4))
    labels = generator.integers(0, values, size)
    labels[: min(size, values)] = np.arange(min(size, values))
    shares = np.eye(values)[labels] if seed % 2 else generator.dirichlet(np.ones(values), size)
    if size > values + 1:
        shares[-1] = 0.0
    relevance = generator.integers(0, 4, size).astype(float) if seed % 3 else generator.random(size)
    return relevance, shares, generator.dirichlet(np.full(values, 3)), attention.log2().weights(size)


def solved(constraint: str, seed: int, size: int | None = None) -> Chances | None:
    relevance, shares, target, weights = drawn(seed, size)
    rows = exposure_rows(constraint, relevance, shares, target)
    return best_chances(relevance, shares, weights, rows)


def exposures(mixture: list[Part], weights: np.ndarray) -> list[float]:
    """The expected exposure of each document, from the rankings one by one."""
    whole = sum(part.chance for part in mixture)
    exposure = [0.0] * len(weights)
    for part in mixture:
        for rank, document in enumerate(part.documents.tolist()):
            exposure[document] += part.chance / whole * weights[rank]
    return exposure


def ratios(constraint: str, relevance, shares, target, exposure) -> list[float]:
    """What must be equal for all groups, as in the paper: one number a group that it is about."""
    found = []
    groups = [g for g in range(len(target)) if sum(row[g] for row in shares) > 0]
    everything = sum(e * sum(row) for e, row in zip(exposure, shares, strict=True))
    wanted = sum(target[g] for g in groups)
    for g in groups:
        size = sum(row[g] for row in shares)
        given = sum(e * row[g] for e, row in zip(exposure, shares, strict=True)) / size
        useful = sum(u * row[g] for u, row in zip(relevance, shares, strict=True)) / size
        clicked = sum(e * u * row[g] for e, u, row in zip(exposure, relevance, shares, strict=True)) / size
        if constraint == "parity":
            found.append(given)
        elif constraint == "target":
            found.append(given * size / everything - target[g] / wanted)
        elif useful > 0:
            found.append((given if constraint == "treatment" else clicked) / useful)
    return found


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_constraint_holds_in_expectation(constraint: str) -> None:
    solutions = 0
    for seed in range(60):
        chances = solved(constraint, seed)
        if chances is None:
            continue
        solutions += 1
        relevance, shares, target, weights = drawn(seed)
        found = ratios(constraint, relevance, shares, target, exposures(decompose(chances), weights))
        assert max(found) - min(found) < 1e-6
    assert solutions > 12
    assert constraint not in ALWAYS or solutions == 60


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_mixture_is_the_matrix(constraint: str) -> None:
    """Rows and columns sum to 1, the rankings are rankings, and they give the matrix back."""
    for seed in range(40):
        chances = solved(constraint, seed)
        if chances is None:
            continue
        matrix, size = chances.matrix, len(chances.kinds)
        assert np.allclose(matrix.sum(axis=0), 1, atol=1e-7)
        assert np.allclose(matrix.sum(axis=1), 1, atol=1e-7)
        mixture = decompose(chances)
        assert abs(sum(part.chance for part in mixture) - 1) < 1e-6
        again = np.zeros_like(chances.expected)
        for part in mixture:
            assert sorted(part.documents.tolist()) == list(range(size))
            again[chances.kinds[part.documents], np.arange(size)] += part.chance
            for kind in range(len(chances.expected)):  # alike documents keep their order
                alike = [d for d in part.documents.tolist() if chances.kinds[d] == kind]
                assert alike == sorted(alike)
        assert np.allclose(again, chances.expected, atol=1e-6)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_no_fair_mixture_has_more_utility(constraint: str) -> None:
    """Against a linear programme over the chances of all orders; both agree on what has no solution."""
    unsolved = 0
    for seed in range(60):
        relevance, shares, target, weights = drawn(seed, 2 + seed % 3)
        size = len(relevance)
        orders = list(itertools.permutations(range(size)))
        exposure = np.zeros((size, len(orders)))
        for column, order in enumerate(orders):
            exposure[list(order), column] = weights
        useful = [g for g in range(len(target)) if shares[:, g].sum() > 0]
        if constraint in ("treatment", "impact"):
            useful = [g for g in useful if relevance @ shares[:, g] > 0]
        rows = []
        for g in useful:  # what ratios() wants, as a linear form of the exposures
            own = shares[:, g] / shares[:, g].sum()
            if constraint == "target":
                wanted = target[g] / sum(target[o] for o in useful)
                rows.append(shares[:, g] - wanted * shares.sum(axis=1))
            elif constraint == "parity":
                rows.append(own)
            else:
                clicked = relevance if constraint == "impact" else np.ones(size)
                rows.append(own * clicked / (relevance @ own))
        if constraint != "target":
            rows = [row - rows[0] for row in rows[1:]]
        equal = np.array([*(row @ exposure for row in rows), np.ones(len(orders))])
        best = linprog(
            -(relevance @ exposure), A_eq=equal, b_eq=[0.0] * len(rows) + [1.0], bounds=(0, 1), method="highs"
        )
        chances = solved(constraint, seed, 2 + seed % 3)
        assert (chances is None) == (best.status != 0), seed
        unsolved += chances is None
        if chances is not None:
            own = float(relevance @ np.array(exposures(decompose(chances), weights)))
            assert math.isclose(own, -best.fun, abs_tol=1e-6), seed
    assert unsolved == 0 if constraint in ALWAYS else unsolved > 0


def small(labels: str = "xyyy") -> tuple[Run, Qrels, Membership]:
    names = [f"d{place}" for place in range(len(labels))]
    run = Run.build(["q"] * len(names), names, list(range(len(names), 0, -1)))
    qrels = Qrels.build(["q"] * len(names), names, [0, 3, 2, 1, 1, 1][: len(names)])
    groups = Membership.from_labels(Attribute("side", ("x", "y")), dict(zip(names, labels, strict=True)))
    return run, qrels, groups


def test_a_target_that_cannot_be_is_a_warning() -> None:
    run, qrels, groups = small()
    with pytest.warns(EvenrankWarning, match="no mixture of rankings keeps the constraint for 1 of 1"):
        done = rerank(run, "FOE(constraint=target)", qrels=qrels, groups=groups.with_target((0.9, 0.1)))
    assert done.documents("q") == run.documents("q")
    with pytest.warns(EvenrankWarning, match="a group that should have exposure has no document"):
        rerank(*small("yyyy")[:1], "FOE(constraint=target)", qrels=qrels, groups=small("yyyy")[2])
    other = groups.with_target({"another": (0.5, 0.5)})
    with pytest.warns(EvenrankWarning, match="no target for 1 of 1"):
        rerank(run, "FOE(constraint=target)", qrels=qrels, groups=other)


def test_draws_are_of_the_mixture_and_likely_is_its_largest_part(recwarn) -> None:
    run, qrels, groups = small("xxyyyx")
    relevance = np.array([0.0, 3, 2, 1, 1, 1])
    shares = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 0]])
    weights = attention.log2().weights(6)
    chances = best_chances(relevance, shares, weights, exposure_rows("parity", relevance, shares, np.ones(2)))
    assert chances is not None
    mixture = {tuple(part.documents.tolist()): part.chance for part in decompose(chances)}
    assert len(mixture) > 1
    draws = rerank(run, "FOE", qrels=qrels, groups=groups, repeat=2000)
    found: dict[tuple[int, ...], int] = {}
    for draw in draws:
        order = tuple(int(name[1:]) for name in draw.documents("q"))
        found[order] = found.get(order, 0) + 1
    assert set(found) <= set(mixture)
    for order, chance in mixture.items():
        assert abs(found.get(order, 0) / 2000 - chance) < 6 * math.sqrt(chance * (1 - chance) / 2000)
    likely = rerank(run, "FOE(draw=likely)", qrels=qrels, groups=groups).documents("q")
    assert tuple(int(name[1:]) for name in likely) == max(mixture, key=lambda order: mixture[order])
    assert not recwarn.list


def test_one_group_is_ranked_by_relevance() -> None:
    run, qrels, groups = small("yyyyyy")
    for draw in ("sample", "likely"):
        done = rerank(run, f"FOE(draw={draw})", qrels=qrels, groups=groups)
        assert done.documents("q") == ["d1", "d2", "d3", "d4", "d5", "d0"]
        assert rerank(run, f"FOE(draw={draw})", groups=groups).documents("q") == run.documents("q")
