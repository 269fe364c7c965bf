"""Rank-biased overlap depth by depth, straight from its definition: sum (1-p) p^(d-1) A_d, far down."""

from __future__ import annotations

from evenrank.measures import Measure
from evenrank.testing import Case

FAR = 2000  # the weight of everything below is nothing for p <= 0.95


def shared(one: list[str], two: list[str], depth: int) -> int:
    return len(set(one[:depth]) & set(two[:depth]))


def discounted(agreements: list[float], p: float) -> float:
    return sum((1 - p) * p ** (d - 1) * agreement for d, agreement in enumerate(agreements, 1))


def extrapolated(one: list[str], two: list[str], p: float) -> float:
    """Documents of the shorter list that are not seen are shared in the proportion of those that are;
    behind both lists the agreement at the end of the longer goes on."""
    s, ell = sorted((len(one), len(two)))
    if s == 0:
        return 0.0
    rate = shared(one, two, s) / s
    seen = [(shared(one, two, d) + rate * max(0, d - s)) / d for d in range(1, ell + 1)]
    return discounted(seen + [seen[-1]] * (FAR - ell), p)


def bounds(one: list[str], two: list[str], p: float) -> tuple[float, float]:
    """The least and the most that the lists can agree, whatever stands below what is seen of them."""
    ell = max(len(one), len(two))
    least, most = [], []
    for d in range(1, FAR + 1):
        there = shared(one, two, min(d, ell))
        unseen = max(0, d - len(one)) + max(0, d - len(two))
        least.append(there / d)
        most.append(min(d, there + unseen) / d)
    return discounted(least, p), discounted(most, p)


def rbo(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    one, two = documents[: m.cutoff], case.against.documents(query)[: m.cutoff]
    if m.form == "ext":
        return extrapolated(one, two, m.p)
    least, most = bounds(one, two, m.p)
    return least if m.form == "min" else most - least


PAIR_ORACLES = {"RBO": rbo}
PAIR_VARIANTS = {
    "RBO": [
        {"p": 0.5},
        {"form": "min"},
        {"form": "res"},
        {"form": "min", "p": 0.95},
        {"form": "res", "p": 0.6},
    ]
}
