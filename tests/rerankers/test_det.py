"""Geyik's re-rankers: minima at every prefix, on random lists, in whatever order groups are listed."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from reranker_oracles import constrained_sort, filled, rank_by_rank

from evenrank import Attribute, Membership, Run, evaluate, rerank
from evenrank.errors import EvenrankWarning

METHODS = ["DetGreedy", "DetCons", "DetRelaxed", "DetConstSort"]
BREAKS_GREEDY = "acbddbcadccbdacdbdaccdbcdacb"  # for weights 6:8:11:12 it is below a minimum at rank 28
Lists = list[list[int]]


def random_lists(
    generator: np.random.Generator, groups: int, count: int = 60, depth: int = 40
) -> tuple[Lists, list[list[int]]]:
    """The groups of documents by rank, and the weights of the groups, of which some are 0."""
    weights = generator.integers(1, 13, (count, groups))
    weights[generator.random((count, groups)) < 0.1] = 0
    weights[:, 0] += (weights.sum(axis=1) == 0).astype(weights.dtype)
    likely = generator.dirichlet(np.ones(groups), count)  # how many there are is another matter
    lengths = generator.integers(1, depth + 1, count)
    lists = [generator.choice(groups, n, p=row).tolist() for n, row in zip(lengths, likely, strict=True)]
    return lists, weights.tolist()


def as_run(lists: Lists, weights: list[list[int]]) -> tuple[Run, Membership]:
    """Documents of query q are called qNdMMM, with the place in the list behind the d."""
    values = tuple("abcdefg"[: len(weights[0])])
    rows = [
        (f"q{q}", f"q{q}d{i:03}", -float(i), values[v])
        for q, own in enumerate(lists)
        for i, v in enumerate(own)
    ]
    queries, documents, scores, labels = zip(*rows, strict=True)
    target = {f"q{q}": tuple(w / sum(own) for w in own) for q, own in enumerate(weights)}
    attribute = Attribute("group", values, target=target)
    return Run.build(queries, documents, scores), Membership.build(attribute, documents, labels)


def reranked(method: str, lists: Lists, weights: list[list[int]]) -> Lists:
    """The new orders, as places in the old ones."""
    run, groups = as_run(lists, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenrankWarning)  # what cannot be kept
        new = rerank(run, method, groups=groups)
    return [[int(name[-3:]) for name in new.documents(f"q{q}")] for q in range(len(lists))]


def breaks(ranked: list[int], weights: list[int], ranks: int | None = None) -> bool:
    """Whether a group is below its minimum somewhere, although it has documents left."""
    for i in range(1, len(ranked[:ranks]) + 1):
        for group, weight in enumerate(weights):
            due = i * weight // sum(weights)  # exact
            if ranked[:i].count(group) < min(due, ranked.count(group)):
                return True
    return False


@pytest.mark.parametrize(
    ("method", "groups"),
    [
        *((method, groups) for method in METHODS for groups in (2, 3)),
        *((method, groups) for method in METHODS[1:] for groups in (5, 7)),  # for DetGreedy see below
    ],
)
def test_minima_hold_wherever_there_are_documents(method: str, groups: int) -> None:
    lists, weights = random_lists(np.random.default_rng(groups), groups, count=200)
    for own, weight, order in zip(lists, weights, reranked(method, lists, weights), strict=True):
        assert not breaks([own[place] for place in order], weight)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("groups", [2, 3, 4, 6])
def test_the_same_as_the_printed_algorithm(method: str, groups: int) -> None:
    lists, weights = random_lists(np.random.default_rng(10 + groups), groups)
    for top in (None, 7):
        found = reranked(f"{method}(top={top})", lists, weights)
        for own, weight, order in zip(lists, weights, found, strict=True):
            p = [Fraction(w, sum(weight)) for w in weight]
            ranks = len(own) if top is None else min(top, len(own))
            slowly = (
                constrained_sort(own, p, ranks)
                if method == "DetConstSort"
                else rank_by_rank(method, own, p, ranks)
            )
            assert order == filled(own, slowly)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_in_which_groups_are_listed_does_not_matter(method: str) -> None:
    """The version in AIF360 0.6.1 breaks where the under-represented group does not come first."""
    generator = np.random.default_rng(3)
    lists, weights = random_lists(generator, 5)
    names = generator.permutation(5).tolist()
    others = [[names[group] for group in own] for own in lists]
    moved = [[own[names.index(group)] for group in range(5)] for own in weights]
    assert reranked(method, lists, weights) == reranked(method, others, moved)


def test_greedy_breaks_for_four_groups_and_says_so() -> None:
    labels = ["abcd".index(name) for name in BREAKS_GREEDY + "abcd" * 10]
    run, groups = as_run([labels], [[6, 8, 11, 12]])
    with pytest.warns(EvenrankWarning, match="1 of 1"):
        new = rerank(run, "DetGreedy(top=28)", groups=groups)
    index = evaluate(new, ["InfeasibleIndex@27", "InfeasibleIndex@28"], groups=groups)
    assert [index.block(measure).values.item() for measure in index.measures] == [0, 1]
    for name in ("DetCons", "DetRelaxed", "DetConstSort"):
        new = rerank(run, f"{name}(top=28)", groups=groups)  # a warning would be an error
        assert evaluate(new, "InfeasibleIndex@28", groups=groups).block("InfeasibleIndex@28").values == 0


def test_greedy_breaks_at_rank_28_of_many_random_lists() -> None:
    generator = np.random.default_rng(0)
    lists = [generator.permutation(np.repeat(np.arange(4), 28)).tolist() for _ in range(300)]
    weights = [[6, 8, 11, 12]] * 300
    run, groups = as_run(lists, weights)
    rerank(run, "DetGreedy(top=27)", groups=groups)  # a warning would be an error
    found = [
        [own[place] for place in order]
        for own, order in zip(lists, reranked("DetGreedy(top=28)", lists, weights), strict=True)
    ]
    broken = sum(breaks(order, weights[0], 28) for order in found)
    assert broken > 0
    with pytest.warns(EvenrankWarning, match=f"for {broken} of 300 queries"):
        rerank(run, "DetGreedy(top=28)", groups=groups)


def test_exhaustion_is_reported_apart_and_by_query() -> None:
    run, groups = as_run([[0, 0, 1, 1], [0, 0, 0, 1]], [[1, 1]] * 2)  # one short of two
    for method in METHODS:
        with pytest.warns(EvenrankWarning, match="fewer documents than its minimum for 1 of 2 queries: 'q1'"):
            new = rerank(run, method, groups=groups)
        assert new.documents("q0") == ["q0d000", "q0d002", "q0d001", "q0d003"]
        assert new.documents("q1")[:2] == ["q1d000", "q1d003"]
        # ranks below those that are filled promise nothing
        rerank(run, f"{method}(top=2)", groups=groups)


def test_top_leaves_the_rest_as_it_was() -> None:
    for method in METHODS:
        assert reranked(f"{method}(top=2)", [[0, 0, 0, 0, 1, 1]], [[1, 1]]) == [[0, 4, 1, 2, 3, 5]]


def test_a_product_that_is_a_whole_number_but_for_the_last_bit_counts_as_one() -> None:
    """100 * 0.29 is a little less than 29, and 100 * 0.07 a little more than 7."""
    for weights in ([1, 2], [1, 9], [7, 93], [29, 71]):
        total = sum(weights)
        labels = [1] * total + [0] * total
        for method in METHODS:
            ((*order,),) = reranked(f"{method}(top={total})", [labels], [weights])
            assert sum(labels[place] == 0 for place in order[:total]) == weights[0], (method, weights)


def test_the_ranks_of_a_group_without_documents_go_to_the_one_asked_for_soonest() -> None:
    """Of a, wanted by half, there is one document. From rank 5 on b and c are at their maximum, and b, whose
    third document is due at 3/.3 = 10, before c, whose second is due at 2/.2 = 10, by its place."""
    attribute = Attribute("g", ("a", "b", "c"), target=(0.5, 0.3, 0.2))
    labels = {"d0": "c", "d1": "c", "d2": "c", "d3": "a", "d4": "b", "d5": "b", "d6": "b", "d7": "b"}
    groups = Membership.from_labels(attribute, labels)
    run = Run.build(["q"] * 8, list(labels), [8.0 - place for place in range(8)])
    with pytest.warns(EvenrankWarning, match="fewer documents than its minimum"):
        after = rerank(run, "DetCons", groups=groups).documents("q")
    expected, left = [], {value: [d for d in labels if labels[d] == value] for value in "abc"}
    taken = dict.fromkeys("abc", 0)
    share = dict(zip("abc", (0.5, 0.3, 0.2), strict=True))
    for rank in range(1, 9):
        there = [value for value in "abc" if left[value]]
        below = [value for value in there if taken[value] < math.floor(rank * share[value] + 1e-9)]
        room = [value for value in there if taken[value] < math.ceil(rank * share[value] - 1e-9)]
        allowed = below or room or there
        soonest = min(0 if below else (taken[value] + 1) / share[value] for value in allowed)
        tied = [v for v in allowed if below or (taken[v] + 1) / share[v] <= soonest * (1 + 1e-12)]
        value = min(tied, key=lambda value: left[value][0])
        expected.append(left[value].pop(0))
        taken[value] += 1
    assert after == expected
    assert after.index("d2") > after.index("d6")  # not the best document first
