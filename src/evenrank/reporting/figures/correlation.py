"""How measures agree, as a map of their correlations (gfr-2022, Tables 1-2; fair-2021, Table 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.reporting.figures.labels import shortened
from evenrank.reporting.figures.style import load_altair, shown_names, styled, wrapped

if TYPE_CHECKING:
    import altair

    from evenrank.stats.correlation import CorrelationMatrix

CELL_WIDTH, CELL_HEIGHT = 92, 52
NAME, NAME_WIDTH = 44, 330  # characters and pixels of a measure
TITLE_WIDTH = 90
UNDEFINED, INK = "#dddddd", "#222222"
LOW, EVEN, HIGH = "#8A3A0C", "#f7f7f7", "#0A3D66"
DARK = 0.6  # beyond which white is read better than black
COEFFICIENTS = {"kendall": "Kendall's tau", "pearson": "Pearson's r", "spearman": "Spearman's rho"}


def correlation_figure(
    matrix: CorrelationMatrix, names: Sequence[str], remarks: Sequence[str] = (), *, over: str = "systems"
) -> altair.LayerChart:
    """Each pair of measures once: the coefficient, and beneath it its 95% interval.

    The arguments are what ``Comparison.correlations()`` gives. Where a coefficient is undefined the cell is
    grey, and ``.html`` says why.
    """
    alt = load_altair()
    if len(names) < 2:
        raise ParameterError("correlations are between two measures or more")
    shown = [shortened(name, NAME) for name in shown_names(names).values()]
    rows = _rows(matrix, shown)
    across = alt.X(
        "first:N",
        sort=shown[:-1],
        title=None,
        axis=alt.Axis(orient="bottom", labelAngle=-30, labelLimit=NAME_WIDTH, ticks=False, domain=False),
    )
    down = alt.Y(
        "second:N",
        sort=shown[1:],
        title=None,
        axis=alt.Axis(labelLimit=NAME_WIDTH, ticks=False, domain=False),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=across, y=down)
    fields = ("first:N", "second:N", "value:Q", "low:Q", "high:Q", "p:Q", "n:Q", "reason:N")
    tip = [alt.Tooltip(field) for field in fields]
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(
        color=alt.condition(
            "isValid(datum.value)",
            alt.Color(
                "value:Q",
                title=COEFFICIENTS[matrix.method],
                scale=alt.Scale(domain=[-1, 0, 1], range=[LOW, EVEN, HIGH]),
                legend=alt.Legend(orient="right", gradientLength=140, format=".1f", titleLimit=200),
            ),
            alt.value(UNDEFINED),
        ),
        tooltip=tip,
    )
    ink = alt.condition("datum.dark", alt.value("white"), alt.value(INK))
    texts = [
        base.mark_text(fontSize=13, dy=-6).encode(text="text:N", color=ink),
        base.mark_text(fontSize=10, dy=10).encode(text="interval:N", color=ink),
    ]
    counts = sorted({row["n"] for row in rows})
    points = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    said = [f"over {over}, n = {points}, with 95% intervals", *remarks]
    title = alt.TitleParams(
        f"How measures agree: {COEFFICIENTS[matrix.method]}",
        subtitle=[line for remark in said for line in wrapped(remark, TITLE_WIDTH)],
        frame="group",
    )
    side = len(names) - 1
    chart: altair.LayerChart = styled(
        alt.layer(cells, *texts).properties(width=CELL_WIDTH * side, height=CELL_HEIGHT * side, title=title)
    ).configure_view(stroke=None)
    return chart


def _rows(matrix: CorrelationMatrix, shown: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for second in range(1, len(shown)):
        for first in range(second):
            value, low, high = (
                float(part[first, second]) for part in (matrix.values, matrix.low, matrix.high)
            )
            known = math.isfinite(value)
            bounded = math.isfinite(low) and math.isfinite(high)
            rows.append(
                {
                    "first": shown[first],
                    "second": shown[second],
                    "value": value if known else None,
                    "low": low if bounded else None,
                    "high": high if bounded else None,
                    "p": _number(float(matrix.p_values[first, second])),
                    "n": int(matrix.counts[first, second]),
                    "reason": matrix.reasons[first][second],
                    "text": f"{value:.3f}" if known else "undefined",
                    "interval": f"[{low:.3f}, {high:.3f}]" if bounded else "",
                    "dark": known and abs(value) > DARK,
                }
            )
    return rows


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
