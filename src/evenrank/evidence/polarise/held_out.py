"""How well an axis places documents that it was not fitted to, which is what an audit relies on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Bools, Floats
from evenrank.evidence.polarise.axes import fit_axes, orientation, project


class FittedQuery(NamedTuple):
    """The documents that the axis of a query was fitted to; ``first`` marks one of two perspectives."""

    query: str
    documents: tuple[str, ...]
    vectors: Floats  # (N, D)
    scores: Floats  # (N,) on the first axis
    first: Bools | None  # (N,), None where documents do not name both perspectives


def held_out_shares(queries: Sequence[FittedQuery]) -> Floats:
    """(Q,): for each query the share of left-out documents that land on the right side.

    One document of each side is left out, in every combination; the axis is fitted to the others and turned
    by their labels. Chance is one half. Queries with fewer than two documents on a side are NaN.
    """
    return np.array([_held_out(each) for each in queries])


def _held_out(each: FittedQuery) -> float:
    if each.first is None:
        return float("nan")
    sides = np.flatnonzero(each.first), np.flatnonzero(~each.first)
    if min(map(len, sides)) < 2:
        return float("nan")
    right = list[bool]()
    for one, other in product(*sides):
        rest = np.setdiff1d(np.arange(len(each.first)), [one, other])
        axes = fit_axes(each.vectors[rest])
        if isinstance(axes, str):
            right += [False, False]
            continue
        labels = each.first[rest]
        turn = orientation(project(each.vectors[rest], axes), labels, ~labels)
        placed = project(each.vectors[[one, other]], axes)[:, 0] * turn[0]
        right += [bool(placed[0] > 0), bool(placed[1] < 0)]
    return float(np.mean(right))


class QueryReliability(NamedTuple):
    """What can be said of an axis without labels. All are larger where it is better settled."""

    gap: float  # the first component's share of the variance, less the second's
    stability: float  # mean |cosine| of the axis and those with one document left out
    agreement: float  # mean share of documents on the same side by two encoders; NaN for one encoder


def reliability(encoders: Sequence[Sequence[FittedQuery]]) -> dict[str, QueryReliability]:
    """For every query of the first encoder; ``encoders`` have the same queries."""
    signs = [{each.query: np.sign(each.scores) for each in queries} for queries in encoders]
    found = {}
    for each in encoders[0]:
        own = [known[each.query] for known in signs if each.query in known]
        pairs = [_same(one, other) for place, one in enumerate(own) for other in own[:place]]
        found[each.query] = QueryReliability(
            _gap(each.vectors), _stability(each.vectors), float(np.mean(pairs)) if pairs else float("nan")
        )
    return found


def _gap(vectors: Floats) -> float:
    variance = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    return float((variance[0] - variance[1]) / variance.sum()) if len(variance) > 1 else 1.0


def _stability(vectors: Floats) -> float:
    whole = fit_axes(vectors)
    if isinstance(whole, str):
        return 0.0
    found = []
    for place in range(len(vectors)):
        axes = fit_axes(np.delete(vectors, place, axis=0))
        found.append(0.0 if isinstance(axes, str) else abs(float(axes.directions[0] @ whole.directions[0])))
    return float(np.mean(found))


def _same(one: Floats, other: Floats) -> float:
    """The share of documents on one side by both, under the better of the two directions."""
    return float(max((one == other).mean(), (one == -other).mean()))
