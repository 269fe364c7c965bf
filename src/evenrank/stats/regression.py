"""Least squares: a line through points, and a coefficient whose errors hold for trials in few clusters.

Trials of one participant resemble each other, and so do trials of one question, so the usual error of a
coefficient is too small. The errors here allow for any dependence within a cluster, are corrected for the
small number of clusters (CR2, Bell and McCaffrey 2002), and are judged by Student's t with the degrees of
freedom that Satterthwaite's approximation gives (Pustejovsky and Tipton 2018). Clusters may cross: for
participants and questions the variances add up and that of their intersection is taken off (Cameron, Gelbach
and Miller 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats, Int64s
from evenrank.stats.intervals import student_quantile
from evenrank.stats.ties import slack

ALONE = 1e-10  # a cluster whose leverage is this close to 1 fixes a direction by itself: it has no error


class Line(NamedTuple):
    """``intercept + slope x``, and at the places asked for its value and the interval of that mean."""

    slope: float
    intercept: float
    at: Floats  # (A,)
    value: Floats  # (A,)
    low: Floats  # (A,) NaN for fewer than three points
    high: Floats  # (A,)
    n: int


def least_squares(x: npt.ArrayLike, y: npt.ArrayLike, at: npt.ArrayLike) -> Line | None:
    """``y = a + b x`` with the 95% interval ``a + b x +- t s sqrt(1/n + (x - mean)^2 / sum (x_i - mean)^2)``.

    s is the residual standard error and t has n - 2 degrees of freedom: the usual interval of the mean, which
    takes points as independent. None where there are fewer than two points or all have the same x.

    >>> line = least_squares([0, 1, 2], [1.0, 3.0, 5.0], [4])
    >>> round(line.slope, 6), line.value.round(6).tolist()
    (2.0, [9.0])
    """
    across, up, places = (np.asarray(values, dtype=np.float64) for values in (x, y, at))
    there = np.isfinite(across) & np.isfinite(up)
    across, up = across[there], up[there]
    n = len(across)
    if n < 2 or np.ptp(across) <= slack(across):
        return None
    mean = float(across.mean())
    spread = float(((across - mean) ** 2).sum())
    slope = float(((across - mean) * (up - up.mean())).sum()) / spread
    intercept = float(up.mean()) - slope * mean
    value = intercept + slope * places
    half = np.full(places.shape, np.nan)
    if n > 2:
        residuals = up - intercept - slope * across
        error = math.sqrt(float((residuals**2).sum()) / (n - 2))
        half = student_quantile(0.975, n - 2) * error * np.sqrt(1 / n + (places - mean) ** 2 / spread)
    return Line(slope, intercept, places, value, value - half, value + half, n)


class ClusteredEstimate(NamedTuple):
    """A coefficient with its error by clusters and 95% interval; NaN where ``undefined`` says why."""

    coefficient: float
    error: float
    freedom: float  # degrees of freedom of its t distribution
    low: float
    high: float
    p: float
    clusters: tuple[int, ...]  # how many of each kind
    undefined: str | None = None


def clustered_coefficient(
    outcome: npt.ArrayLike,
    design: npt.ArrayLike,
    column: int,
    clusters: Sequence[npt.ArrayLike],
) -> ClusteredEstimate:
    """One coefficient of ``outcome ~ design`` and its error by one kind of clusters, or by two that cross.

    ``design`` is (N, k) with the intercept among its columns; each of ``clusters`` names or numbers the
    cluster of every trial.

    >>> design = [[1, 0], [1, 1], [1, 0], [1, 1]]
    >>> found = clustered_coefficient([1, 2, 2, 4], design, 1, [["a", "a", "b", "b"]])
    >>> round(found.coefficient, 4), round(found.error, 4), round(found.freedom, 2)
    (1.5, 0.5, 1.0)
    """
    y, x = np.asarray(outcome, dtype=np.float64), np.asarray(design, dtype=np.float64)
    kinds = [np.unique(np.asarray(kind), return_inverse=True)[1].astype(np.int64) for kind in clusters]
    counts = tuple(int(kind.max(initial=-1)) + 1 for kind in kinds)
    why = _why_undefined(x, counts)
    if why is not None:
        return _undefined(counts, why)
    basis, triangle = np.linalg.qr(x)  # (N, k), (k, k): x = basis @ triangle
    coefficient = float(np.linalg.solve(triangle, basis.T @ y)[column])
    residual = y - basis @ (basis.T @ y)  # (N,)
    wanted = np.zeros(x.shape[1])
    wanted[column] = 1.0
    along = np.linalg.solve(triangle.T, wanted)  # (k,): the coefficient is along @ (basis.T @ y)
    scores = basis * residual[:, None]  # (N, k)
    ways = [_one_way(basis, scores, along, kind) for kind in kinds]
    variance, freedom = ways[0]
    if len(ways) == 2:
        pairs = np.unique(kinds[0] * counts[1] + kinds[1], return_inverse=True)[1]
        both, _ = _one_way(basis, scores, along, pairs, freedom=False)
        # the difference may fall below either part, or below 0, by chance alone
        variance = max(sum(own for own, _ in ways) - both, *(own for own, _ in ways))
        freedom = min(own for _, own in ways)
    if not variance > 0 or not math.isfinite(freedom) or freedom <= 0:
        return _undefined(counts, "the errors of the clusters cancel: there is nothing to estimate them from")
    error = math.sqrt(variance)
    from scipy.special import stdtr

    half = student_quantile(0.975, freedom) * error
    p = float(2 * stdtr(freedom, -abs(coefficient) / error))
    return ClusteredEstimate(coefficient, error, freedom, coefficient - half, coefficient + half, p, counts)


def _one_way(
    basis: Floats, scores: Floats, along: Floats, codes: Int64s, *, freedom: bool = True
) -> tuple[float, float]:
    """The variance of ``along @ basis.T @ y``, and its degrees of freedom.

    With T_g = U_g'U_g and s_g = U_g'e_g the variance is the sum of ``(along' (I - T_g)^(-1/2) s_g)^2``, since
    (I - U U')^(-1/2) acts on U' from outside as (I - T)^(-1/2).
    """
    count, size = int(codes.max()) + 1, basis.shape[1]
    inner = np.empty((count, size, size))  # T_g
    sums = np.empty((count, size))  # s_g
    for row in range(size):
        sums[:, row] = np.bincount(codes, scores[:, row], count)
        for other in range(row, size):
            inner[:, row, other] = np.bincount(codes, basis[:, row] * basis[:, other], count)
            inner[:, other, row] = inner[:, row, other]
    values, vectors = np.linalg.eigh(inner)  # (G, k), (G, k, k)
    rest = 1.0 - values
    root = np.where(rest > ALONE, 1 / np.sqrt(np.maximum(rest, ALONE)), 0.0)
    turned = np.einsum("gij,i->gj", vectors, along)  # W'a
    parts = (turned * root * np.einsum("gij,gi->gj", vectors, sums)).sum(axis=1)  # (G,)
    variance = float((parts**2).sum())
    if not freedom:
        return variance, math.nan
    own = (turned**2 * np.maximum(values, 0) * root**2).sum(axis=1)  # z_g'z_g
    weights = np.einsum("gij,gj->gi", vectors, root * values * turned)  # U_g'z_g
    products = np.diag(own) - weights @ weights.T  # (G, G): p_g'p_h under independent errors
    squares = float((products**2).sum())
    # Satterthwaite: (sum_g p_g'p_g)^2 / sum_gh (p_g'p_h)^2
    return variance, float(np.trace(products)) ** 2 / squares if squares > 0 else math.nan


def _why_undefined(x: Floats, counts: Sequence[int]) -> str | None:
    if len(x) <= x.shape[1]:
        return f"{len(x)} trials for {x.shape[1]} coefficients"
    if min(counts) < 2:
        return "all trials are in one cluster"
    if np.linalg.matrix_rank(x) < x.shape[1]:
        return "a column of the design does not vary, or follows from the others"
    return None


def _undefined(counts: tuple[int, ...], why: str) -> ClusteredEstimate:
    nan = math.nan
    return ClusteredEstimate(nan, nan, nan, nan, nan, nan, counts, why)
