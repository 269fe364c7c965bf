"""Documents of one value each: all ways to compute a measure from them give the same."""

from __future__ import annotations

import math
from typing import Any

import group_oracles
import numpy as np
import pytest

from evenrank import Attribute, Membership, Run, evaluate

VALUES = ("x", "y", "z")
MEASURES = (
    "NDKL NDKL@3 GF(decay='RBP') GF(decay='log2')@2 Skew MinSkew@2 MaxSkew KL@3 nDRKL ABR ECE@4 "
    "InfeasibleCount AWRF(attr='side')@5"
)


@pytest.mark.parametrize("target", ["uniform", "pool", "present", (0.5, 0.25, 0.25), (0.5, 0.5, 0)])
@pytest.mark.parametrize("listed", [range(9), range(0, 9, 2)], ids=["all", "some"])
@pytest.mark.parametrize("missing", [None, "drop"])
def test_a_document_elsewhere_that_has_two_values_changes_nothing(
    target: Any, listed: range, missing: str | None
) -> None:
    """With it the set has shares, and no longer one label for each document."""
    run = Run.build(["q"] * 5 + ["r"] * 9, [f"d{i % 9}" for i in range(14)], np.arange(14, 0, -1.0))
    labels = {f"d{i}": VALUES[i * i % 3] for i in listed}
    options: dict[str, Any] = {"background": run, "queries": ["q", "r", "none"]}
    measures = MEASURES if missing or len(listed) == 9 else MEASURES.replace("AWRF(attr='side')@5", "")
    if missing:
        options["missing"] = missing
    attribute = Attribute("side", VALUES, target=target)
    shares = [[float(label == value) for value in VALUES] for label in labels.values()]
    one, other = (
        evaluate(run, measures, groups=groups, **options)
        for groups in (
            Membership.from_labels(attribute, labels),
            Membership.from_matrix(attribute, [*labels, "elsewhere"], [*shares, [0.5, 0.5, 0]]),
        )
    )
    for measure in one.measures:
        mine, theirs = one.block(measure), other.block(measure)
        np.testing.assert_allclose(mine.values, theirs.values, rtol=0, atol=1e-13, err_msg=repr(measure))
        assert mine.status.tolist() == theirs.status.tolist()


def lists_of(groups: list[list[int]], values: int, target: Any, *, ordinal: bool = False):
    """A run of lists whose documents have these values, and what they are members of."""
    names = [f"v{value}" for value in range(values)]
    run = {f"q{q}": {f"{q}-{i}": -float(i) for i in range(len(own))} for q, own in enumerate(groups)}
    labels = {f"{q}-{i}": names[value] for q, own in enumerate(groups) for i, value in enumerate(own)}
    return run, Membership.from_labels(Attribute("x", tuple(names), ordinal=ordinal, target=target), labels)


def drawn(values: int, lengths: list[int], seed: int = 0) -> list[list[int]]:
    generator = np.random.default_rng(seed)
    return [generator.integers(0, values, length).tolist() for length in lengths]


def target_of(values: int, *, even: bool) -> list[float]:
    """One value is not wanted if the target is not even."""
    if even:
        return [1 / values] * values
    target = np.random.default_rng(1).dirichlet(np.ones(values))
    target[0] = 0
    return (target / target.sum()).tolist()


@pytest.mark.parametrize("div", ["JSD", "NMD", "RNOD", "MAX"])
@pytest.mark.parametrize("values", [2, 3, 5])
@pytest.mark.parametrize("even", [True, False])
def test_a_target_of_each_query_is_as_one_for_all(div: str, values: int, even: bool) -> None:
    """What is the same for all queries is looked up, else it is computed list by list: the definition."""
    groups, target = drawn(values, [40, 7, 1, 40, 23, 12]), target_of(values, even=even)
    measure = f"GF(div={div},decay=log2)"
    run, one = lists_of(groups, values, target, ordinal=True)
    shared = evaluate(run, measure, groups=one).block(measure).values[:, 0]
    _, each = lists_of(groups, values, dict.fromkeys(run, target), ordinal=True)
    assert shared == pytest.approx(evaluate(run, measure, groups=each).block(measure).values[:, 0], abs=1e-12)
    for own, value in zip(groups, shared, strict=True):
        weights = [1 / math.log2(1 + rank) for rank in range(1, len(own) + 1)]
        near = [
            1 - group_oracles.DIVERGENCES[div]([own[:end].count(v) / end for v in range(values)], target)
            for end in range(1, len(own) + 1)
        ]
        assert value == pytest.approx(np.average(near, weights=weights), abs=1e-12)
    for query in ("q2", "q5"):  # to the last bit, whatever the others are
        alone = evaluate({query: run[query]}, measure, groups=one).block(measure).values[0, 0]
        assert alone == shared[int(query[1:])]


@pytest.mark.parametrize("div", ["JSD", "NMD", "RNOD"])
def test_lists_that_are_unlike_all_lists_before_them(div: str) -> None:
    """So many that they are computed a part at a time: lists of one value, of another, of any, short ones."""
    labels = {f"{value}-{place}": f"v{value}" for value in range(8) for place in range(60)}
    names = np.array([*labels]).reshape(8, 60)
    any_of = names[np.random.default_rng(0).integers(0, 8, 60), np.arange(60)]
    kinds = [names[0], names[7], any_of, names[0, :45]]
    attribute = Attribute("x", tuple(f"v{value}" for value in range(8)), ordinal=True)
    groups, measure = Membership.from_labels(attribute, labels), f"GF(div={div},decay=log2)"

    def values(times: int) -> np.ndarray:
        lists = [kind for kind in kinds for _ in range(times)]
        queries = np.repeat([f"q{place}" for place in range(len(lists))], [len(one) for one in lists])
        ranks = np.concatenate([-np.arange(len(one)) for one in lists])
        run = Run.build(queries, np.concatenate(lists), ranks.astype(float))
        return evaluate(run, measure, groups=groups).block(measure).values[:, 0].reshape(len(kinds), times)

    assert (values(1500) == values(1)).all()  # to the last bit


@pytest.mark.parametrize("div", ["JSD", "NMD", "RNOD"])
@pytest.mark.parametrize("values", [2, 3])
def test_targets_of_two_queries_are_their_own(div: str, values: int) -> None:
    groups, own = [[0, 1, values - 1, 1, 0, 1]] * 2, [0.3, *[0.7 / (values - 1)] * (values - 1)]
    run, same = lists_of(groups, values, {"q0": own, "q1": own}, ordinal=True)
    _, other = lists_of(groups, values, {"q0": own, "q1": own[::-1]}, ordinal=True)
    measure = f"GF(decay=RBP,div={div})"
    found = [evaluate(run, measure, groups=known).block(measure).values[:, 0] for known in (same, other)]
    assert found[0][0] == found[0][1] == found[1][0] != found[1][1]


def test_long_lists_keep_their_digits() -> None:
    groups = drawn(5, [3000, 3000], seed=2)
    targets = [[0.2] * 5, [0.1, 0.3, 0.1, 0.3, 0.2]]
    run, known = lists_of(groups, 5, dict(zip(("q0", "q1"), targets, strict=True)))
    ends = (1, 17, 2999, 3000)
    scores = evaluate(run, [f"KL@{end}" for end in ends], groups=known)
    for end in ends:
        for own, target, found in zip(groups, targets, scores.block(f"KL@{end}").values, strict=True):
            shares = [own[:end].count(value) / end for value in range(5)]
            slow = math.fsum(p * math.log(p / q) for p, q in zip(shares, target, strict=True) if p)
            assert found == pytest.approx(slow, abs=1e-13)


def test_several_sets_of_groups_give_what_each_gives_alone() -> None:
    """Of the same documents, of fewer, of others, and of queries and documents."""
    run = Run.build(["q"] * 3, ["a", "b", "c"], [3, 2, 1])
    everything = [
        Membership.from_labels("one", {"a": "x", "b": "y", "c": "y"}),
        Membership.from_labels("same", {"a": "v", "b": "u", "c": "u"}),
        Membership.from_labels("fewer", {"a": "u", "c": "v"}),
        Membership.from_labels("others", {"a": "u", "b": "v", "z": "u"}),
        Membership.from_labels("by_query", {"q": {"a": "u", "b": "u", "c": "v"}}),
    ]
    names = [f"ECE(attr='{groups.attribute.name}')" for groups in everything]
    together = evaluate(run, names, groups=everything)
    for name, groups in zip(names, everything, strict=True):
        alone = evaluate(run, name, groups=groups)
        assert together.block(name).values.tolist() == alone.block(name).values.tolist()
