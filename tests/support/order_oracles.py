"""The measures of order once more, one list at a time, straight from the papers. Slow on purpose."""

from __future__ import annotations

from functools import lru_cache
from math import inf, log2
from typing import ClassVar

import numpy as np

from evenrank.data.tables import DocumentTable
from evenrank.measures import Measure
from evenrank.testing import Case


class PolarityTable(DocumentTable):
    """Scores on two axes."""

    labels: ClassVar[dict[str, tuple[str, ...]]] = {"axes": ("left-right", "old-new")}


def polarity(
    documents: list[str], generator: np.random.Generator, *, partial: bool = False
) -> list[DocumentTable]:
    """Random scores of every document, or of most of them, on two axes; some are tied, some are 0."""
    scores = generator.normal(size=(len(documents), 2))
    scores[:: generator.integers(2, 5), 0] = generator.integers(-2, 3, len(scores))[0]
    keep = [row for row in range(len(documents)) if not (partial and row % 5 == 0)]
    return [PolarityTable.build("polarity", [documents[row] for row in keep], {"": scores[keep]})]


def variance(scores: list[float], mean: float) -> float:
    return sum((p - mean) ** 2 for p in scores) / len(scores)


def weights(n: int, step: int) -> list[float]:
    """By k from 0 to n."""
    return [1 / log2(k) if k >= 2 and k % step == 0 else 0.0 for k in range(n + 1)]


def spread(p: tuple[float, ...], step: int, center: str) -> float:
    n, w = len(p), weights(len(p), step)
    about = lambda k: sum(p[:k]) / k if center == "prefix" else sum(p) / n  # noqa: E731
    return sum(w[k] * variance(list(p[:k]), about(k)) for k in range(2, n + 1) if w[k])


@lru_cache(maxsize=20_000)
def spread_range(p: tuple[float, ...], step: int, center: str) -> tuple[float, float]:
    """The smallest and the largest D over all orders, by the best way to each of the 2^n sets."""
    n, mean = len(p), sum(p) / len(p)
    x, w = [score - mean for score in p], weights(len(p), step)
    least, most = [0.0] * (1 << n), [0.0] * (1 << n)
    total, squares = [0.0] * (1 << n), [0.0] * (1 << n)
    for s in range(1, 1 << n):
        lowest, k = s & -s, s.bit_count()
        score = x[lowest.bit_length() - 1]
        total[s], squares[s] = total[s ^ lowest] + score, squares[s ^ lowest] + score * score
        smaller, rest = [], s
        while rest:
            smaller.append(s ^ (rest & -rest))
            rest &= rest - 1
        own = w[k] * (squares[s] / k - (total[s] / k) ** 2 * (center == "prefix"))
        least[s] = own + min(least[r] for r in smaller)
        most[s] = own + max(most[r] for r in smaller)
    return least[-1], most[-1]


def sign(p: list[float], m: Measure) -> float:
    w, mean = weights(len(p), m.step), sum(p) / len(p)
    total = 0.0
    for k in range(2, len(p) + 1):
        first = p[:k]
        positive, negative = sum(q > 0 for q in first), sum(q < 0 for q in first)
        if m.tie == "zero":
            s = (positive > negative) - (positive < negative)
        else:
            s = 1 if positive / k > 0.5 else -1
        total += s * w[k] * variance(first, sum(first) / k if m.center == "prefix" else mean)
    return 0.0 if abs(total) < 1e-12 else total / abs(total)


def duo_of(p: list[float], m: Measure) -> float | None:
    if not any(k >= 2 and k % m.step == 0 for k in range(len(p))):
        return None
    least, most = spread_range(tuple(p), m.step, m.center)
    if most - least <= 1e-12 * max(1, most):
        return None
    value = 1 - (spread(tuple(p), m.step, m.center) - least) / (most - least)
    return value * sign(p, m) if m.signed else value


def listed(m: Measure, documents: list[str], case: Case, query: str) -> list[list[float]]:
    """The scores of the documents that take part, in order."""
    table = next(source for source in case.evidence if source.name == "polarity")
    scores = dict(zip(table.doc_ids.to_pylist(), table.columns[""].tolist(), strict=True))
    if m.min_grade is not None:
        grades = case.qrels.to_dict().get(query, {})
        documents = [d for d in documents if grades.get(d, 0) >= m.min_grade]
    if m.missing == "drop":
        documents = [d for d in documents if d in scores]
    return [scores[d] for d in documents[: m.cutoff]]


def duo(m: Measure, documents: list[str], case: Case, query: str) -> float | list[float | None] | None:
    ranked = listed(m, documents, case, query)
    values = [duo_of([p[axis] for p in ranked], m) for axis in range(m.axes)]
    if m.axes == 1:
        return values[0]
    defined = [value for value in values if value is not None]
    return [*values, max(defined, key=lambda value: round(abs(value), 9))] if defined else None


def utility(m: Measure, c: int, k: int, members: int, n: int) -> float:
    p, q = c / k, members / n
    if m.name == "rND":
        return abs(p - q)
    if m.name == "rRD":
        r = lambda a, b: a / b if b else 0.0  # noqa: E731
        return abs(min(r(c, k - c), r(members, n - members)) - r(members, n - members))
    if m.clamp is not None:
        p, q = (m.clamp if share in (0, 1) else share for share in (p, q))
    return sum(a * log2(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


def term(m: Measure, c: int, k: int, members: int, n: int) -> float:
    first = 1 if m.discount == "log2(1+i)" else 2
    if k % m.step or k < first:
        return 0.0
    return utility(m, c, k, members, n) / log2(k + 2 - first)


def count_range(m: Measure, members: int, n: int) -> tuple[float, float]:
    """The smallest and the largest sum over all orders, from the last rank back."""
    least, most = {members: 0.0}, {members: 0.0}
    for k in range(n, 0, -1):
        both = []
        for after, better in ((least, min), (most, max)):
            now = {}
            for c, value in after.items():
                for before in (c, c - 1):  # the document at rank k is not protected, or it is
                    if 0 <= before <= k - 1:
                        total = value + term(m, c, k, members, n)
                        now[before] = better(now.get(before, inf if better is min else -inf), total)
            both.append(now)
        least, most = both
    return least[0], most[0]


def protected(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    side = 1 if m.protected == "positive" else -1
    group = [side * p[m.axis - 1] > 0 for p in listed(m, documents, case, query)]
    n, members = len(group), sum(group)
    first = 1 if m.discount == "log2(1+i)" else 2
    if members in (0, n) or not any(k >= first and k % m.step == 0 for k in range(n)):
        return None
    value = sum(term(m, sum(group[:k]), k, members, n) for k in range(1, n + 1))
    if m.normalizer is None:
        return value
    least, most = count_range(m, members, n)
    if m.normalizer == "max":
        return value / most
    return None if most - least <= 1e-12 * max(1, most) else (value - least) / (most - least)


ORDER_ORACLES = {"DUO": duo, "rND": protected, "rKL": protected, "rRD": protected}

_PROTECTED = [
    {"step": 2, "discount": "log2(i)"},
    {"missing": "drop", "protected": "negative"},
    {"min_grade": 1, "axis": 2},
    {"normalizer": "max"},
    {"normalizer": None, "step": 3},
]
ORDER_VARIANTS = {
    "DUO": [
        {"step": 2, "missing": "drop"},
        {"min_grade": 1},
        {"center": "list"},
        {"axes": 2},
        {"signed": True},
        {"signed": True, "tie": "minus", "axes": 2},
        {"signed": True, "center": "list", "step": 2},
    ],
    "rND": _PROTECTED,
    "rKL": [*_PROTECTED, {"clamp": 0.001}],
    "rRD": _PROTECTED,
}
