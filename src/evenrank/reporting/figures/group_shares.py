"""How a list is distributed over groups, beside what it should be (gfr-2022, Figure 8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenrank.errors import ParameterError
from evenrank.measures import Measure
from evenrank.measures.group_share import TARGET, GroupShare
from evenrank.reporting.figures.measure_values import Chosen, by_run, values_by_query
from evenrank.reporting.figures.style import (
    group_colours,
    load_altair,
    query_names,
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

WIDTH, HEIGHT = 250, 190  # of a panel
TITLE_WIDTH = 40  # characters
PANELS, PANELS_IN_A_ROW = 12, 3
NAME_WIDTH = 320
ROOM = 1.05  # above the tallest bar
LEAST_BAR = 9  # pixels of a bar, of which a space between runs takes one more
LINE = "#222222"


def shares_figure(
    scores: Scores,
    measure: Measure,
    *,
    by_query: bool = False,
    texts: Mapping[str, str] | None = None,
) -> altair.ConcatChart:
    """The columns of a measure as bars side by side for each run; with ``by_query`` a panel a query, with its
    text where ``texts`` has it. Every group has its colour, the same as in reports.

    For ``GroupShare`` the targets are drawn as lines across the bars where they were evaluated too, as
    ``GroupShare(of='target')``. Without ``by_query`` values are over all queries.
    """
    alt = load_altair()
    columns = scores.block(measure, scores.runs[0]).columns
    if not 1 < len(columns) <= MANY:
        raise ParameterError(
            f"{measure!r} has {len(columns)} columns: shares are drawn of 2 to {MANY}, as those of GroupShare"
        )
    target = _target(scores, measure)
    own = _values(scores, measure, columns, by_query)
    if len(own) > PANELS:
        raise ParameterError(
            f"{len(own)} queries are too many for a figure of shares, the most is {PANELS}: "
            "choose some (--queries FILE)"
        )
    wanted = {} if target is None else _values(scores, target, columns, by_query)
    known = {name: rows for name, rows in own.items() if rows}
    if not known:
        raise ParameterError(f"no run has a value of {measure!r}")
    top = max(row["value"] for part in (known, wanted) for rows in part.values() for row in rows) or 1.0
    titles = query_names((name for name in known if name), texts)
    titles = {name: title if name in (texts or {}) else f"query {title}" for name, title in titles.items()}
    panels = [
        _panel(alt, titles.get(name, ""), rows, wanted.get(name, []), columns, scores.runs, top)
        for name, rows in known.items()
    ]
    in_a_row = max(1, WIDTH * PANELS_IN_A_ROW // _width(scores.runs, columns))
    left = len(own) - len(known)
    remarks = ["lines: the target"] if wanted else []
    remarks += [f"left out, without a value: {left} of {len(own)} queries"] if left else []
    title = alt.TitleParams(
        wrapped(printable(scores.names.of(repr(measure))), 2 * TITLE_WIDTH), subtitle=remarks, frame="group"
    )
    chart = alt.concat(*panels, columns=in_a_row, spacing=26).resolve_scale(color="shared")
    chart = chart.properties(title=title)
    drawing: altair.ConcatChart = styled(chart).configure_legend(
        orient="bottom", columns=PANELS_IN_A_ROW, labelLimit=NAME_WIDTH, labelFontSize=12
    )
    return drawing


def _target(scores: Scores, measure: Measure) -> Measure | None:
    if not isinstance(measure, GroupShare) or measure.of == TARGET:
        return None
    return next(
        (
            other
            for other in scores.measures
            if isinstance(other, GroupShare)
            and dataclasses.replace(other, of=measure.of, cutoff=measure.cutoff) == measure
            and other.of == TARGET
        ),
        None,
    )


def _values(
    scores: Scores, measure: Measure, columns: Sequence[str], by_query: bool
) -> dict[str, list[dict[str, Any]]]:
    """By panel the value of each run and column; what is undefined is left out."""
    panels: dict[str, list[dict[str, Any]]] = {}
    for column in columns:
        chosen = Chosen.of(scores, measure, column)
        for run in scores.runs:
            if by_query:
                found: dict[str, float | None] = values_by_query(scores, chosen, run)
            else:
                row = by_run(scores, chosen).get(run)
                found = {"": None if row is None else row.value}
            for query, value in found.items():
                rows = panels.setdefault(query, [])
                if value is not None:
                    rows.append({"run": run, "value": value, "column": column})
    return panels


def _width(runs: Sequence[str], columns: Sequence[str]) -> int:
    return max(WIDTH, len(runs) * (len(columns) + 1) * LEAST_BAR)


def _panel(
    alt: Any,
    title: str,
    rows: Sequence[dict[str, Any]],
    wanted: Sequence[dict[str, Any]],
    columns: Sequence[str],
    runs: Sequence[str],
    top: float,
) -> Any:
    shown, groups = shown_names(runs), shown_names(columns)
    order = list(groups.values())
    drawn = [{"run": shown[r["run"]], "group": groups[r["column"]], "value": r["value"]} for r in rows]
    colour = alt.Color(
        "group:N",
        scale=alt.Scale(domain=order, range=group_colours(columns)),
        legend=alt.Legend(title=None),
        sort=order,
    )
    across = alt.X(
        "run:N",
        sort=list(shown.values()),
        title=None,
        axis=alt.Axis(labelAngle=-30 if max(map(len, shown.values())) > 6 else 0, labelLimit=120),
        scale=alt.Scale(paddingInner=0.25),
    )
    beside = alt.XOffset("group:N", sort=order, scale=alt.Scale(domain=order))
    value = alt.Y("value:Q", title="share", scale=alt.Scale(domain=[0, top * ROOM], nice=False))
    bars = (
        alt.Chart(alt.Data(values=drawn))
        .mark_bar(opacity=0.9)
        .encode(
            x=across,
            xOffset=beside,
            y=value,
            color=colour,
            tooltip=value_tips(alt, system="run:N", group="group:N", share="value:Q"),
        )
    )
    layers = [bars]
    lines = [{"run": shown[r["run"]], "group": groups[r["column"]], "value": r["value"]} for r in wanted]
    width = _width(runs, columns)
    if lines:
        layers.append(
            alt.Chart(alt.Data(values=lines))
            .mark_tick(
                color=LINE, opacity=1, thickness=2.5, orient="horizontal",
                size=width / len(runs) * 0.75 / len(columns),
            )
            .encode(
                x=across, xOffset=beside, y=value,
                tooltip=value_tips(alt, group="group:N", target="value:Q"),
            )
        )  # fmt: skip
    heading = alt.TitleParams(wrapped(title or "mean over queries", TITLE_WIDTH), frame="group", fontSize=12)
    return alt.layer(*layers).properties(width=width, height=HEIGHT, title=heading)
