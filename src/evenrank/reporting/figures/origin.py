"""Where bias comes from: collection, background and systems side by side (nfairc-advbert-2021, Figure 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.measures import Direction
from evenrank.reporting.figures.measure_values import Chosen, by_run
from evenrank.reporting.figures.style import (
    COLOURS,
    GREY,
    load_altair,
    shown_names,
    styled,
    value_tips,
    wrapped,
)
from evenrank.scores.columns import MANY
from evenrank.text import printable

if TYPE_CHECKING:
    import altair

    from evenrank.scores import Scores
    from evenrank.scores.scores import SummaryRow

WIDTH, STEP = 330, 24
NAME_WIDTH = 260
TITLE_WIDTH = 52  # characters
PANELS = 24
ONE_WAY = (Direction.HIGHER, Direction.LOWER)
PANELS_IN_A_ROW = 2
MARGIN = 0.06  # of the reach of the values, on either side
BETTER, WORSE, UNSHOWN, PLACE, LINE = COLOURS[0], COLOURS[1], "#9aa3ab", "#666666", "#333333"


def origin_figure(
    parts: Mapping[str, Scores], places: Sequence[str], *, improved: Sequence[tuple[str, str]] = ()
) -> altair.ConcatChart:
    """A panel for each measure, and for each of the ``parts``, as categories of queries; "" is the whole.

    ``places`` are the runs of the scores that are no systems: the collection, and last the background. A bar
    reaches from the background to the system: what its ranker adds. A run that ``improved`` another is shown
    on the row of that one. The axis does not begin at 0, so bars compare within a panel.
    """
    alt = load_altair()
    shown = []
    for category, scores in parts.items():
        for chosen in _measures(scores):
            rows = by_run(scores, chosen)
            if any(run not in places for run in rows):
                shown.append((scores, chosen, rows, category))
    if not shown:
        raise ParameterError("no system has a value of any measure: there is nothing to draw")
    if len(shown) > PANELS:
        raise ParameterError(f"{len(shown)} panels are too many for a figure: the most is {PANELS}")
    panels = [
        _panel(alt, scores, chosen, rows, places, improved, category)
        for scores, chosen, rows, category in shown
    ]
    chart: altair.ConcatChart = styled(alt.concat(*panels, columns=PANELS_IN_A_ROW, spacing=34))
    return chart


def _measures(scores: Scores) -> list[Chosen]:
    """Every measure and column but those of measures with one for every word."""
    columns = {block.measure: block.columns for block in scores.blocks}
    return [
        Chosen.of(scores, measure, column)
        for measure, names in columns.items()
        if len(names) <= MANY
        for column in names
    ]


def _panel(
    alt: Any,
    scores: Scores,
    chosen: Chosen,
    found: dict[str, SummaryRow],
    places: Sequence[str],
    improved: Sequence[tuple[str, str]],
    category: str,
) -> Any:
    after = {before: later for before, later in improved if before in found and later in found}
    order = [run for run in scores.runs if run in found and run not in after.values()]
    shown = shown_names(order)
    shown |= {run: f"{shown[run]} → {printable(later)}" for run, later in after.items()}
    start = next((found[place].value for place in reversed(places) if place in found), None)
    rows = []
    for run in order:
        row = found[run]
        known = math.isfinite(row.low) and math.isfinite(row.high)
        rows.append(
            {
                "place": shown[run], "value": row.value, "queries": row.defined,
                "low": row.low if known else None, "high": row.high if known else None,
                "from": start if run not in places else None,
                "colour": PLACE if run in places else _colour(chosen, row, start),
                "shape": "square" if run in places else "circle",
            }
        )  # fmt: skip
    changes = [
        {
            "place": shown[run],
            "from": found[run].value,
            "value": found[later].value,
            "after": printable(later),
        }
        for run, later in after.items()
    ]
    across = alt.X(
        "value:Q",
        title=wrapped(f"{chosen.title}, {chosen.measure.aggregation} over queries", TITLE_WIDTH),
        scale=alt.Scale(domain=_domain(rows, changes), nice=False, zero=False),
        axis=alt.Axis(tickCount=6),
    )
    down = alt.Y(
        "place:N",
        sort=[shown[run] for run in order],
        title=None,
        axis=alt.Axis(labelLimit=NAME_WIDTH, ticks=False, domain=False, labelPadding=6, grid=True),
    )
    layers = [
        *_levels(alt, [rows[place] for place, run in enumerate(order) if run in places], across),
        *_bars(alt, rows, changes, across, down),
    ]
    title = alt.TitleParams(
        wrapped(f"{chosen.title}{f', {printable(category)}' if category else ''}", TITLE_WIDTH),
        subtitle=_subtitle(places, found, chosen, bool(changes)),
        frame="group",
    )
    return alt.layer(*layers).properties(width=WIDTH, height=alt.Step(STEP), title=title)


def _subtitle(
    places: Sequence[str], found: Mapping[str, SummaryRow], chosen: Chosen, changes: bool
) -> list[str]:
    known = [place for place in places if place in found]
    colour = ", blue if better, grey if the interval includes it"
    colour = colour if chosen.measure.direction in ONE_WAY else ", grey if the interval includes it"
    bars = [f"bars: from {known[-1]} to the system{colour}"] if known else []
    return [*bars, "lines: 95% intervals" + ("; dashed: to the run after the arrow" if changes else "")]


def _colour(chosen: Chosen, row: SummaryRow, start: float | None) -> str:
    """Of a system whose interval includes the background nothing is shown: it is grey."""
    direction, value = chosen.measure.direction, row.value
    if start is not None and row.low <= start <= row.high:
        return UNSHOWN
    if start is None or direction not in ONE_WAY:
        return BETTER
    return BETTER if (value >= start) == (direction is Direction.HIGHER) else WORSE


def _domain(rows: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]) -> list[float]:
    numbers = [row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None]
    numbers += [row["value"] for row in changes]
    low, high = min(numbers), max(numbers)
    space = MARGIN * (high - low) or 0.05 * (abs(high) or 1.0)
    return [low - space, high + space]


def _levels(alt: Any, rows: Sequence[Mapping[str, Any]], across: Any) -> list[Any]:
    """Lines through the whole panel at the values of the collection and of the background."""
    if not rows:
        return []
    lines = [
        {"value": row["value"], "dash": [4, 3] if number < len(rows) - 1 else [1, 0]}
        for number, row in enumerate(rows)
    ]
    return [
        alt.Chart(alt.Data(values=[line])).mark_rule(color=GREY, strokeDash=line["dash"]).encode(x=across)
        for line in lines
    ]


def _bars(
    alt: Any,
    rows: Sequence[Mapping[str, Any]],
    changes: Sequence[Mapping[str, Any]],
    across: Any,
    down: Any,
) -> list[Any]:
    data = alt.Chart(alt.Data(values=list(rows))).encode(y=down)
    colour = alt.Color("colour:N", scale=None)
    bars = alt.Chart(alt.Data(values=[row for row in rows if row["from"] is not None]))
    layers = [
        bars.mark_bar(height=STEP - 12, opacity=0.4).encode(y=down, x=across, x2="from:Q", color=colour),
    ]
    if any(row["low"] is not None for row in rows):  # a line of nothing has no place on the axis
        layers.append(data.mark_rule(strokeWidth=1.2, color=LINE).encode(x=alt.X("low:Q"), x2="high:Q"))
    if changes:
        changed = alt.Chart(alt.Data(values=list(changes)))
        layers += [
            changed.mark_bar(
                height=STEP - 6, fillOpacity=0.12, color=LINE, stroke=LINE, strokeDash=[3, 2], strokeWidth=1
            ).encode(y=down, x=across, x2="from:Q"),
            changed.mark_point(shape="diamond", filled=True, color=LINE, size=70, opacity=1).encode(
                y=down, x=across, tooltip=value_tips(alt, run="after:N", value="value:Q")
            ),
        ]
    tip = value_tips(alt, place="place:N", value="value:Q", from_="low:Q", to="high:Q", queries="queries:N")
    points = data.mark_point(filled=True, size=60, opacity=1).encode(
        x=across, color=colour, shape=alt.Shape("shape:N", scale=None), tooltip=tip
    )
    return [*layers, points]
