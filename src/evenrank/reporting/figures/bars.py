"""One measure as bars: a bar a run, with its interval, or a bar a query of one run or two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError, UnknownNameError
from evenrank.measures import Direction
from evenrank.reporting.figures.labels import shortened
from evenrank.reporting.figures.measure_values import Chosen, by_run, choose, sides_of, values_by_query
from evenrank.reporting.figures.style import (
    COLOURS,
    NO_NAME,
    counted,
    load_altair,
    query_names,
    shown_names,
    styled,
    value_tips,
    wrapped,
)
from evenrank.text import printable

if TYPE_CHECKING:
    import altair

    from evenrank.measures import Measure
    from evenrank.scores import Scores
    from evenrank.scores.scores import SummaryRow

WIDTH, STEP = 460, 19  # of the bars of runs: how long, and how far apart
NAME_WIDTH = 300
QUERY_WIDTH, QUERY_HEIGHT = 760, 190
STEPS = (1.0, 24.0)  # how far apart the bars of queries are at least and at most
NAMED_QUERIES = 75  # the ids of more have no room
TEXT_LIMIT = 170  # pixels of the text of a query
PANELS = 2
TITLE_WIDTH, AXIS_WIDTH = 84, 30  # characters
LINE = "#333333"
EVEN = 1e-12  # a sum of rounded numbers that should be 0
SPACE, SPACE_FOR_WORDS = 0.05, 0.14  # above and below the bars, of their reach


def bars_figure(
    scores: Scores,
    measure: str | Measure,
    *,
    runs: str | Sequence[str] | None = None,
    by_query: bool = False,
    texts: Mapping[str, str] | None = None,
) -> altair.LayerChart | altair.VConcatChart:
    """One measure: a bar for each run or, with ``by_query``, for each query of one run or two.

    Bars begin at 0 and are sorted by value, the queries of each run by their own. Bars of runs have the 95%
    interval of the scores. For signed measures the figure says which side is which, where the scores know
    it. Runs and queries without a value are left out and counted. ``texts`` of queries are drawn instead of
    their ids.
    """
    alt = load_altair()
    chosen = choose(scores, measure)
    names = _names(scores, runs)
    drawn = _query_bars(alt, scores, chosen, names, texts) if by_query else None
    chart = _run_bars(alt, scores, chosen, names) if drawn is None else drawn
    drawing: altair.LayerChart | altair.VConcatChart = styled(chart)
    return drawing


def _names(scores: Scores, runs: str | Sequence[str] | None) -> list[str]:
    names = list(scores.runs if runs is None else [runs] if isinstance(runs, str) else dict.fromkeys(runs))
    for name in names:
        if name not in scores.runs:
            raise UnknownNameError(f"no run is called {name!r}; there are {', '.join(scores.runs)}")
    if not names:
        raise ParameterError("runs is empty: name at least one, or leave it out for all")
    return names


def _colour(chosen: Chosen, value: float) -> str:
    """The two sides of a signed measure differ; nothing else does."""
    return COLOURS[1] if chosen.measure.direction is Direction.SIGNED and value < 0 else COLOURS[0]


def _run_bars(alt: Any, scores: Scores, chosen: Chosen, names: Sequence[str]) -> Any:
    found = {run: row for run, row in by_run(scores, chosen).items() if run in names}
    if not found:
        raise ParameterError(f"no run has a value of {chosen.measure!r}")
    order = sorted(found, key=lambda run: -found[run].value)
    shown = shown_names(order)
    rows = [_run_row(found[run], shown[run], chosen) for run in order]
    name = alt.Y(
        "run:N",
        title=None,
        sort=[shown[run] for run in order],
        axis=alt.Axis(labelLimit=NAME_WIDTH, ticks=False, domain=False, labelPadding=6),
    )
    sides = sides_of(scores, chosen)
    axis = wrapped(f"{chosen.title}, {chosen.measure.aggregation} over queries", TITLE_WIDTH - 20)
    if sides is not None:
        axis.append(f"← towards {printable(sides[1])}  |  towards {printable(sides[0])} →")
    value = alt.X("value:Q", title=axis, scale=alt.Scale(zero=True, nice=False, padding=10))
    tips = value_tips(alt, system="run:N", value="value:Q", from_="low:Q", to="high:Q", queries="queries:N")
    base = alt.Chart(alt.Data(values=rows)).encode(y=name)
    bars = base.mark_bar(height=STEP - 6, opacity=0.85).encode(
        x=value, color=alt.Color("colour:N", scale=None), tooltip=tips
    )
    intervals = base.mark_rule(strokeWidth=1.2, color=LINE).encode(x="low:Q", x2="high:Q")
    zero = alt.Chart(alt.Data(values=[{"even": 0}])).mark_rule(color=LINE).encode(x="even:Q")
    remarks = [
        f"{counted(len(rows), 'run')}, lines are 95% intervals",
        *_gaps(list(found.values()), len(names)),
    ]
    title = alt.TitleParams(wrapped(chosen.title, TITLE_WIDTH), subtitle=remarks, frame="group")
    lines = [intervals] if any(row["low"] is not None for row in rows) else []
    return alt.layer(bars, *lines, zero).properties(width=WIDTH, height=alt.Step(STEP), title=title)


def _run_row(row: SummaryRow, name: str, chosen: Chosen) -> dict[str, Any]:
    """Too few queries have no interval: then its line is left out."""
    known = math.isfinite(row.low) and math.isfinite(row.high)
    return {
        "run": name,
        "value": row.value,
        "low": row.low if known else None,
        "high": row.high if known else None,
        "queries": row.defined,
        "colour": _colour(chosen, row.value),
    }


def _gaps(rows: Sequence[SummaryRow], runs: int) -> list[str]:
    """What the bars are not over."""
    gaps = []
    fewest = min(rows, key=lambda row: row.defined - row.queries)
    if fewest.defined < fewest.queries:
        gaps.append(
            f"undefined or infinite for up to {fewest.queries - fewest.defined} of {fewest.queries} queries"
        )
    if len(rows) < runs:
        gaps.append(f"left out, without a value: {runs - len(rows)} of {runs} runs")
    return gaps


def _query_bars(
    alt: Any, scores: Scores, chosen: Chosen, names: Sequence[str], texts: Mapping[str, str] | None
) -> Any:
    if len(names) > PANELS:
        raise ParameterError(
            f"bars of queries show one run or two, and there are {len(names)}: say which (runs=[..])"
        )
    values = {name: values_by_query(scores, chosen, name) for name in names}
    known = [value for found in values.values() for value in found.values() if value is not None]
    if not known:
        raise ParameterError(f"no query has a value of {chosen.measure!r}")
    low, high = min(0.0, *known), max(0.0, *known)
    sides = sides_of(scores, chosen)
    space = (SPACE if sides is None else SPACE_FOR_WORDS) * ((high - low) or 1.0)
    # words stand below the bars too, even where none hangs down
    shown = (low - space * (low < 0 or sides is not None), high + space * (high > 0 or sides is not None))
    panels = [_query_panel(alt, name, found, chosen, shown, sides, texts) for name, found in values.items()]
    title = alt.TitleParams(wrapped(f"{chosen.title}, query by query", TITLE_WIDTH), frame="group")
    return alt.vconcat(*panels, spacing=26).properties(title=title)


def _query_panel(
    alt: Any,
    run: str,
    values: dict[str, float | None],
    chosen: Chosen,
    shown: tuple[float, float],
    sides: tuple[str, str] | None,
    texts: Mapping[str, str] | None,
) -> Any:
    defined = {query: value for query, value in values.items() if value is not None}
    order = sorted(defined, key=lambda query: -defined[query])
    names = query_names(order, texts)
    rows = [
        {"query": names[query], "value": defined[query], "colour": _colour(chosen, defined[query])}
        for query in order
    ]
    step = min(max(QUERY_WIDTH / max(len(order), 1), STEPS[0]), STEPS[1])
    named = len(order) <= NAMED_QUERIES
    axis = alt.Axis(
        labels=named, labelAngle=-60 if texts else -90, labelFontSize=9, ticks=False, domain=False, offset=2,
        labelLimit=TEXT_LIMIT if texts else 90,
        title=None if named else "queries, from the largest value to the smallest",
    )  # fmt: skip
    query = alt.X("query:N", sort=[names[query] for query in order], axis=axis)
    value = alt.Y(
        "value:Q",
        title=wrapped(chosen.title, AXIS_WIDTH),
        scale=alt.Scale(domain=list(shown), nice=False),
        axis=alt.Axis(tickCount=6),
    )
    bars = alt.Chart(alt.Data(values=rows)).mark_bar(opacity=0.85, width={"band": 0.8})
    layers = [
        bars.encode(
            x=query, y=value, color=alt.Color("colour:N", scale=None),
            tooltip=value_tips(alt, query="query:N", value="value:Q"),
        ),
        alt.Chart(alt.Data(values=[{"even": 0}])).mark_rule(color=LINE).encode(y="even:Q"),
    ]  # fmt: skip
    width = max(step * len(order), 60)
    if sides is not None:
        layers += _side_words(alt, sides, width)
    title = alt.TitleParams(
        shortened(printable(run) or NO_NAME, TITLE_WIDTH),
        subtitle=_counts(values, chosen),
        frame="group",
        fontSize=12,
    )
    return alt.layer(*layers).properties(width=width, height=QUERY_HEIGHT, title=title)


def _side_words(alt: Any, sides: tuple[str, str], width: float) -> list[Any]:
    """Which way is which, in the corners that sorted bars leave free."""
    corners = [
        ({"align": "right", "baseline": "top"}, width - 6, 6, f"↑ towards {printable(sides[0])}"),
        ({"align": "left", "baseline": "bottom"}, 6, QUERY_HEIGHT - 6, f"↓ towards {printable(sides[1])}"),
    ]
    return [
        alt.Chart(alt.Data(values=[{"words": words}]))
        .mark_text(fontSize=11, color=COLOURS[place], limit=width, **look)
        .encode(x=alt.value(x), y=alt.value(y), text="words:N")
        for place, (look, x, y, words) in enumerate(corners)
    ]


def _counts(values: dict[str, float | None], chosen: Chosen) -> list[str]:
    """How many queries there are on either side of 0, and how many are left out."""
    known = [value for value in values.values() if value is not None]
    said = counted(len(known), "query")
    if chosen.measure.direction is Direction.SIGNED:
        above, below = sum(value > EVEN for value in known), sum(value < -EVEN for value in known)
        said += f": {above} above 0, {below} below, {len(known) - above - below} at 0"
    absent = len(values) - len(known)
    return [said, *([f"left out, undefined or infinite: {absent} of {len(values)}"] if absent else [])]
