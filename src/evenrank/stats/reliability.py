"""Krippendorff's alpha: how far raters agree beyond chance, with any number of raters and gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

Distance = Callable[[float, float], float]


def krippendorff_alpha(units: Sequence[Sequence[float]], *, level: str = "ordinal") -> float:
    """1 - observed / expected disagreement; NaN where no unit has two ratings or all ratings are equal.

    ``units`` has for each rated thing the ratings that it got. The squared distance of ratings c < k is
    (k - c)^2 at the level ``interval``, and at the level ``ordinal`` (n_c/2 + sum of n_g between + n_k/2)^2,
    where n_g counts the pairable ratings g.

    Reference: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 4]], level="interval"), 4)
    0.878
    """
    pairable = [list(map(float, unit)) for unit in units if len(unit) > 1]
    counts = Counter(value for unit in pairable for value in unit)
    total = counts.total()
    if len(counts) < 2:
        return float("nan")
    distance = _ordinal(counts) if level == "ordinal" else _interval
    observed = sum(
        distance(one, other) / (len(unit) - 1)
        for unit in pairable
        for place, one in enumerate(unit)
        for at, other in enumerate(unit)
        if at != place
    )
    expected = sum(counts[one] * counts[other] * distance(one, other) for one in counts for other in counts)
    return 1.0 - (total - 1) * observed / expected


def _interval(one: float, other: float) -> float:
    return (one - other) ** 2


def _ordinal(counts: Counter[float]) -> Distance:
    order = sorted(counts)
    below: dict[float, float] = {}
    so_far = 0.0
    for value in order:
        below[value] = so_far + counts[value] / 2  # up to the middle of the ratings that are equal to it
        so_far += counts[value]
    return lambda one, other: (below[one] - below[other]) ** 2
