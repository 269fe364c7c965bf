"""Fairness of exposure: what is promised holds over the draws, and no fair mixture has more utility."""

from __future__ import annotations

import itertools
import re
import warnings
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linprog

from evenrank import Attribute, Membership, Qrels, Run, rerank
from evenrank.errors import EvenrankWarning

CONSTRAINTS = ("parity", "treatment", "impact", "target")
ALWAYS = ("parity", "impact")  # rankings that are all equally likely keep these
LISTS, DRAWS = 36, 600


def drawn(seed: int) -> tuple[np.ndarray, ...]:
    """Relevance (n,), shares (n, L), target (L,), attention (n,): labels or mixtures of three groups."""
    generator = np.random.default_rng(seed)
    size, values = int(generator.integers(2, 6)), 3
    labels = generator.integers(0, values, size)
    labels[: min(size, values)] = np.arange(min(size, values))
    shares = np.eye(values)[labels] if seed % 2 else generator.dirichlet(np.ones(values), size)
    target = generator.dirichlet(np.full(values, 3))
    return generator.integers(0, 4, size).astype(float), shares, target, 1 / np.log2(np.arange(2, size + 2))


def inputs() -> tuple[Run, Qrels, Membership]:
    """All of them as lists of one run, with documents of their own."""
    cases = [drawn(seed) for seed in range(LISTS)]
    rows = [(f"q{q}", f"q{q}d{d}", d) for q, case in enumerate(cases) for d in range(len(case[0]))]
    queries, names, places = map(list, zip(*rows, strict=True))
    target = {f"q{q}": tuple(case[2]) for q, case in enumerate(cases)}
    attribute = Attribute("side", ("x", "y", "z"), target=target)
    grades = np.concatenate([case[0] for case in cases]).astype(int)
    groups = Membership.from_matrix(attribute, names, np.concatenate([case[1] for case in cases]))
    run = Run.build(queries, names, [-float(place) for place in places])
    return run, Qrels.build(queries, names, grades.tolist()), groups


def equal_rows(constraint: str, relevance, shares, target) -> list[np.ndarray]:
    """What must be equal for all groups, or 0 for ``target``, as linear forms of the exposures."""
    there = [g for g in range(len(target)) if shares[:, g].sum() > 0]
    if constraint in ("treatment", "impact"):
        there = [g for g in there if relevance @ shares[:, g] > 0]
    rows = []
    for g in there:
        own = shares[:, g] / shares[:, g].sum()
        if constraint == "target":
            wanted = target[g] / sum(target[o] for o in there)
            rows.append(shares[:, g] - wanted * shares.sum(axis=1))
        elif constraint == "parity":
            rows.append(own)
        else:
            clicked = relevance if constraint == "impact" else np.ones(len(relevance))
            rows.append(own * clicked / (relevance @ own))
    return rows if constraint == "target" else [row - rows[0] for row in rows[1:]]


def best_utility(relevance, rows: list[np.ndarray], weights) -> float | None:
    """By a linear programme over the chances of all orders; None where no mixture of them will do."""
    orders = list(itertools.permutations(range(len(relevance))))
    exposure = np.zeros((len(relevance), len(orders)))
    for column, order in enumerate(orders):
        exposure[list(order), column] = weights
    equal = np.array([*(row @ exposure for row in rows), np.ones(len(orders))])
    best = linprog(
        -(relevance @ exposure), A_eq=equal, b_eq=[0.0] * len(rows) + [1.0], bounds=(0, 1), method="highs"
    )
    return None if best.status else -best.fun


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_draws_keep_the_constraint_and_no_fair_mixture_has_more_utility(
    constraint: str,
) -> None:
    """Means over draws are within six standard errors; where there is one order only, they are exact."""
    run, qrels, groups = inputs()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        draws = rerank(run, f"FOE(constraint={constraint})", qrels=qrels, groups=groups, repeat=DRAWS)
    unsolved, exact = 0, 0
    for query in range(LISTS):
        relevance, shares, target, weights = drawn(query)
        rows = equal_rows(constraint, relevance, shares, target)
        best = best_utility(relevance, rows, weights)
        orders = [[int(name.partition("d")[2]) for name in draw.documents(f"q{query}")] for draw in draws]
        if best is None:
            unsolved += 1
            assert {tuple(order) for order in orders} == {tuple(range(len(relevance)))}
            continue
        exposures = np.zeros((DRAWS, len(relevance)))
        for number, order in enumerate(orders):
            exposures[number, order] = weights
        for row, wanted in [*((row, 0.0) for row in rows), (relevance, best)]:
            found = exposures @ row
            assert abs(found.mean() - wanted) <= 6 * found.std() / DRAWS**0.5 + 1e-6, query
            exact += found.std() < 1e-9
        kinds = [(relevance[d], *shares[d]) for d in range(len(relevance))]
        for order in orders[:50]:  # documents that are alike keep their order
            assert all(d < e for d, e in itertools.combinations(order, 2) if kinds[d] == kinds[e])
    assert exact > 0
    said = [str(one.message) for one in told if "no mixture of rankings" in str(one.message)]
    assert unsolved == (int(re.search(rf"for (\d+) of {LISTS}", said[0])[1]) if said else 0)
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


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_likely_ranking_is_the_one_that_is_drawn_most(constraint: str) -> None:
    run, qrels, groups = inputs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenrankWarning)
        draws = rerank(run, f"FOE(constraint={constraint})", qrels=qrels, groups=groups, repeat=DRAWS)
        likely = rerank(run, f"FOE(constraint={constraint},draw=likely)", qrels=qrels, groups=groups)
    clear = 0
    for query in run:
        (first, most), *others = Counter(tuple(draw.documents(query)) for draw in draws).most_common(2)
        if others and most - others[0][1] > 150:  # six standard errors
            clear += 1
            assert tuple(likely.documents(query)) == first
    assert clear > 1


def test_one_group_is_ranked_by_relevance() -> None:
    run, qrels, groups = small("yyyyyy")
    for draw in ("sample", "likely"):
        done = rerank(run, f"FOE(draw={draw})", qrels=qrels, groups=groups)
        assert done.documents("q") == ["d1", "d2", "d3", "d4", "d5", "d0"]
        assert rerank(run, f"FOE(draw={draw})", groups=groups).documents("q") == run.documents("q")
