"""The greedy order of FAIR: which of equal documents comes first, and how chance decides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from evenrank import Attribute, Membership, Qrels, Run, read_run, rerank

RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


def order(method: str, shares: list[list[float]], target: list[float], judged: dict[str, int]) -> str:
    """Of the documents a, b and c."""
    documents = [document for document, row in zip("abc", shares, strict=True) if any(row)]
    attribute = Attribute("side", ("x", "y"), target=target)
    groups = Membership.from_matrix(attribute, documents, [row for row in shares if any(row)])
    return "".join(rerank(read_run(RUN), method, groups=groups, qrels={"q": judged}).documents("q"))


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_divergences_that_differ_in_the_last_bit_are_equal(smoothing: float, epsilon: float) -> None:
    """The first document is as wanted but for rounding; without smoothing its gain is infinite, too."""
    shares = [[0.1 + 0.2, 0.7], [0.3, 0.7], [0.1 + 0.2, 0.7]]
    method = f"FAIR_greedy(smoothing={smoothing},epsilon={epsilon})"
    assert order(method, shares, [0.3, 0.7], {"a": 1, "b": 1, "c": 1}) == "abc"


@pytest.mark.parametrize(("epsilon", "expected"), [(0.0, "abc"), (1.0, "bca")])
def test_gains_that_a_divergence_hides(epsilon: float, expected: str) -> None:
    """All are infinitely unfair, so every gain is nothing and the old order decides; but where fairness
    comes first, the gain does."""
    only_unwanted = [[1.0, 0.0]] * 3
    found = order(f"FAIR_greedy(epsilon={epsilon})", only_unwanted, [0.0, 1.0], {"a": 0, "b": 1, "c": 1})
    assert found == expected


def test_branches_come_as_often_as_epsilon_says() -> None:
    """Ten thousand draws of lists that show which branch was taken at the first two ranks."""
    documents = {"a": ("x", 1), "c": ("x", 1), "b": ("both", 0), "e": ("both", 0), "d": ("y", 0)}
    queries = [f"q{i}" for i in range(100)]
    rows = [(q, d, -place) for q in queries for place, d in enumerate(documents)]
    run = Run.build(*map(list, zip(*rows, strict=True)))
    judged = [(q, d, grade) for q in queries for d, (_, grade) in documents.items()]
    qrels = Qrels.build(*map(list, zip(*judged, strict=True)))
    labels = {d: label for d, (label, _) in documents.items()}
    groups = Membership.from_labels(Attribute("side", ("x", "y")), labels, even=["both"])
    draws = rerank(run, "FAIR_greedy(epsilon=0.3,seed=7)", qrels=qrels, groups=groups, repeat=100)
    found = [tuple(draw.documents(query)[:2]) for draw in draws for query in queries]
    branches = [("a", "c"), ("a", "d"), ("b", "a"), ("b", "e")]  # greedy, then greedy; then fairest; ..
    counts = [found.count(branch) for branch in branches]
    assert sum(counts) == 10_000
    assert chisquare(counts, [4900, 2100, 2100, 900]).pvalue > 1e-7
    # draws differ from each other, not only lists within a draw
    firsts = [sum(draw.documents(query)[0] == "b" for query in queries) for draw in draws]
    assert np.std(firsts) > 2


def test_very_many_repetitions_are_each_as_one() -> None:
    """So many that they are made a part at a time; chance has no say in them."""
    names, generator = [f"d{i:03}" for i in range(120)], np.random.default_rng(4)
    run = Run.build(["q"] * 120, names, generator.random(120))
    groups = Membership.from_matrix(
        Attribute("side", tuple("vwxyz")), names, generator.dirichlet(np.ones(5), 120)
    )
    judged = {"q": {d: int(generator.integers(2)) for d in names}}
    one = rerank(run, "FAIR_greedy(epsilon=1.0)", groups=groups, qrels=judged).documents("q")
    draws = rerank(run, "FAIR_greedy(epsilon=0.9999999)", groups=groups, qrels=judged, repeat=500)
    assert all(draw.documents("q") == one for draw in draws)
