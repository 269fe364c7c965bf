"""Queries whose first ranks have a value of an attribute twice."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import evenrank as er
from evenrank.data.repeated_values import repeating_queries


def run_of(lists: dict[str, list[str]]) -> er.Run:
    return er.read_run({q: {d: float(-r) for r, d in enumerate(own)} for q, own in lists.items()})


@pytest.mark.parametrize("depth", [3, 6, 10])
def test_the_rule_of_the_paper_by_its_words(depth: int) -> None:
    """One company has several stores in the top; a store without a company is one of its own."""
    draw = np.random.default_rng(depth)
    chains = {f"d{n}": f"c{draw.integers(0, 40)}" for n in range(120) if draw.random() < 0.6}
    lists = {f"q{q}": [f"d{n}" for n in draw.permutation(120)[:25]] for q in range(60)}
    expected = {
        query
        for query, own in lists.items()
        if max(Counter(chains[d] for d in own[:depth] if d in chains).values(), default=0) > 1
    }
    assert 0 < len(expected) < 60
    found = repeating_queries(run_of(lists), er.read_groups(chains, "chain"), depth=depth)
    assert set(found) == expected


def test_a_document_of_two_values_shares_each_of_them() -> None:
    chains = er.read_groups({"a": ["x", "y"], "c": ["y"], "b": ["z"]}, "chain", multilabel=True)
    run = run_of({"q1": ["a", "b", "c"], "q2": ["a", "c"], "q3": ["a", "b"]})
    assert repeating_queries(run, chains) == ("q1", "q2")


def test_only_those_queries_are_scored() -> None:
    chains = er.read_groups({"a": "x", "b": "x", "c": "y"}, "chain")
    base, other = run_of({"q1": ["a", "b", "c"], "q2": ["a", "c"]}), run_of({"q1": ["a", "c"], "q2": ["a"]})
    queries = repeating_queries(base, chains)
    scores = er.evaluate({"base": base, "other": other}, "AWRF@3", groups=chains, queries=queries)
    assert {query for own in scores.to_dict().values() for query in own["AWRF@3"]} == {"q1"}


@pytest.mark.parametrize("depth", [1, 2.0, True, "20"])
def test_a_depth_that_nothing_can_repeat_in_is_refused(depth: object) -> None:
    with pytest.raises(er.ParameterError) as caught:
        repeating_queries(run_of({"q": ["a"]}), er.read_groups({"a": "x", "b": "y"}, "chain"), depth=depth)  # type: ignore[arg-type]
    assert "depth" in str(caught.value)
