"""Discriminative power: the p-values of all pairs of systems, a line a measure (gfr-2022, Figures 2, 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evenrank.errors import ParameterError
from evenrank.reporting.figures.style import (
    COLOURS,
    GREY,
    SHAPES,
    load_altair,
    series_colours,
    shown_names,
    styled,
    wrapped,
)

if TYPE_CHECKING:
    import altair

WIDTH, HEIGHT = 560, 360
NAME_WIDTH = 520
TITLE_WIDTH = 90  # characters
MARKS = 12  # on a line
LEVELS = (0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1)


def power_figure(curves: Mapping[str, npt.ArrayLike], *, alpha: float = 0.05) -> altair.LayerChart:
    """For each measure the p-values of all pairs, largest first, as ``Comparison.power()`` has them.

    The earlier a line falls below ``alpha``, the more pairs its measure tells apart; the legend is in that
    order. The vertical axis is drawn by its root, so that small p-values can be told apart.
    """
    alt = load_altair()
    values = {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}
    known = {name: curve for name, curve in values.items() if len(curve)}
    if not known:
        raise ParameterError("a figure of power needs a measure with a p-value for some pair of systems")
    below = {name: int((curve < alpha).sum()) for name, curve in known.items()}
    order = sorted(known, key=lambda name: -below[name])
    shown = shown_names(order)
    legends = [f"{shown[name]}: {below[name]} of {len(known[name])}" for name in order]
    rows: list[dict[str, Any]] = [
        {"measure": legend, "pair": pair, "p": float(p)}
        for name, legend in zip(order, legends, strict=True)
        for pair, p in enumerate(known[name], 1)
    ]
    pairs = max(map(len, known.values()))
    step = max(1, pairs // MARKS)
    look = {"domain": legends, "range": series_colours(len(order))}
    forms = [SHAPES[(place + place // len(COLOURS)) % len(SHAPES)] for place in range(len(order))]
    legend = alt.Legend(title=f"pairs with p < {alpha:g}", orient="bottom", columns=1, labelLimit=NAME_WIDTH)
    colour = alt.Color("measure:N", scale=alt.Scale(**look), legend=legend, sort=legends)
    places = {
        "x": alt.X(
            "pair:Q",
            title="pairs of systems, from the largest p to the smallest",
            scale=alt.Scale(domain=[1, max(2, pairs)], nice=False, padding=8),
            axis=alt.Axis(values=_ticks(pairs), format="d"),
        ),
        "y": alt.Y(
            "p:Q",
            title="p of randomised Tukey HSD",
            scale=alt.Scale(type="sqrt", domain=[0, 1]),
            axis=alt.Axis(values=list(LEVELS), format="~g"),
        ),
    }
    tip = [alt.Tooltip("measure:N"), alt.Tooltip("pair:Q", format="d"), alt.Tooltip("p:Q", format=".4f")]
    line = alt.Chart(alt.Data(values=rows)).mark_line(strokeWidth=1.8).encode(**places, color=colour)
    marked = [row for row in rows if row["pair"] % step == 1 % step or row["pair"] == pairs]
    points = (
        alt.Chart(alt.Data(values=marked))
        .mark_point(filled=True, size=45, opacity=1)
        .encode(
            **places,
            color=colour,
            shape=alt.Shape(
                "measure:N", scale=alt.Scale(domain=legends, range=forms), legend=legend, sort=legends
            ),
            tooltip=tip,
        )
    )
    layers = [*_level(alt, alpha, places), line, points]
    title = alt.TitleParams(
        wrapped("Discriminative power: which measure tells systems apart", TITLE_WIDTH),
        subtitle=[f"{pairs} pairs; lower lines tell more of them apart; dashed: p = {alpha:g}"],
        frame="group",
    )
    chart: altair.LayerChart = styled(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title))
    return chart


def _ticks(pairs: int) -> list[int]:
    """At most about ten whole numbers from 1: a scale's own ticks may be halves, which round to the same.

    >>> _ticks(3), _ticks(45)
    ([1, 2, 3], [1, 5, 10, 15, 20, 25, 30, 35, 40, 45])
    """
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, pairs) if pairs <= 10 * step)
    return sorted({1, *range(step, pairs + 1, step)})


def _level(alt: Any, alpha: float, places: Mapping[str, Any]) -> list[Any]:
    line = alt.Chart(alt.Data(values=[{"p": alpha}])).mark_rule(color=GREY, strokeDash=[5, 3])
    return [line.encode(y=places["y"])]
