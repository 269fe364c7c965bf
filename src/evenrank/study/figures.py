"""The figures of an analysis: who came and stayed, slopes with both kinds of errors, shifts of opinion."""

from __future__ import annotations

from typing import Any

from evenrank.reporting.figures.style import COLOURS, GREY, load_altair, styled
from evenrank.study.analysis import StudyAnalysis
from evenrank.study.tables import CR2, OLS

WIDTH = 460
ROOM = {"left": 50, "right": 20, "top": 10, "bottom": 10}  # for names: fonts of readers may be wider
BOX, GAP = 46, 26  # height of a box of the flow, and the space between two


def flow_figure(found: StudyAnalysis) -> Any:
    """A flow diagram: stages one below the other, and beside them who left and why."""
    alt = load_altair()
    boxes: list[dict[str, Any]] = []
    stage = -1
    leaving: dict[int, list[str]] = {}
    for row in found.flow:
        if row.inside:
            if row.people:
                leaving.setdefault(stage, []).append(f"{row.stage}: {row.people}")
        else:
            stage += 1
            boxes.append({"text": f"{row.stage}: {row.people}", "x": 0, "x2": 330, "y": stage})
    stage += 1
    kept = found.trials - sum(count for _, count in found.excluded)
    boxes.append({"text": f"trials in the regression: {kept}", "x": 0, "x2": 330, "y": stage})
    leaving[stage - 1] = leaving.get(stage - 1, []) + [
        f"{reason}: {count}" for reason, count in found.excluded
    ]
    aside = [
        {"text": text, "x": 350, "x2": 680, "y": place + (number + 0.5) / max(2, len(texts)) * 0.9 + 0.05}
        for place, texts in leaving.items()
        for number, text in enumerate(texts)
    ]
    arrows = [{"y": place + 0.36, "y2": place + 0.64, "x": 165} for place in range(len(boxes) - 1)]
    height = (BOX + GAP) * len(boxes)
    scale = alt.Scale(domain=[-0.5, len(boxes) - 0.5], reverse=True)
    down = alt.Y("y:Q", scale=scale, axis=None)
    across = alt.X("x:Q", scale=alt.Scale(domain=[0, 700]), axis=None)
    for box in boxes:
        box["top"], box["bottom"], box["middle"] = box["y"] - 0.34, box["y"] + 0.34, 165
    drawn = alt.Chart(alt.Data(values=boxes))
    rectangles = drawn.mark_rect(fill="#eef3f9", stroke="#31557c").encode(
        x=across, x2="x2:Q", y=alt.Y("top:Q", scale=scale, axis=None), y2="bottom:Q"
    )
    words = drawn.mark_text(fontSize=12).encode(x=alt.X("middle:Q", axis=None), y=down, text="text:N")
    rules = alt.Chart(alt.Data(values=arrows)).mark_rule(color=GREY).encode(x=across, y=down, y2="y2:Q")
    beside = alt.Chart(alt.Data(values=aside or [{"text": "", "x": 350, "y": 0}]))
    left = beside.mark_text(align="left", fontSize=11, color="#555555").encode(
        x=across, y=down, text="text:N"
    )
    return styled(
        alt.layer(rules, rectangles, words, left).properties(
            width=700, height=height, title="Flow of participants"
        )
    )


def slopes_figure(found: StudyAnalysis) -> Any:
    """The slope of signed DUO at step 1 by the first encoder, with both intervals."""
    alt = load_altair()
    encoder = found.effects[0].encoder if found.effects else ""
    rows = []
    for effect in found.effects:
        if effect.encoder != encoder or effect.step != 1:
            continue
        name = f"{effect.corpus}, {effect.trials} (n = {effect.published.size})"
        for errors, one in ((OLS, effect.published), (CR2, effect.clustered)):
            if one.undefined is None:
                rows.append(
                    {
                        "name": name,
                        "errors": errors,
                        "slope": one.coefficient,
                        "low": one.low,
                        "high": one.high,
                    }
                )
    data = alt.Chart(alt.Data(values=rows))
    order = list(dict.fromkeys(str(row["name"]) for row in rows))
    vertical = alt.Y("name:N", title=None, sort=order, axis=alt.Axis(labelLimit=300))
    offset = alt.YOffset("errors:N", sort=[OLS, CR2])
    colour = alt.Color(
        "errors:N",
        title="95% interval",
        legend=alt.Legend(orient="bottom", labelLimit=300),
        sort=[OLS, CR2],
        scale=alt.Scale(domain=[OLS, CR2], range=list(COLOURS[:2])),
    )
    title = alt.X("low:Q", title="slope: points of opinion for signed DUO from 0 to 1")
    bars = data.mark_rule(strokeWidth=2).encode(
        x=title, x2="high:Q", y=vertical, yOffset=offset, color=colour
    )
    points = data.mark_point(filled=True, size=60, opacity=1).encode(
        x="slope:Q", y=vertical, yOffset=offset, color=colour,
        shape=alt.Shape("errors:N", sort=[OLS, CR2], legend=None),
    )  # fmt: skip
    zero = alt.Chart(alt.Data(values=[{"at": 0}])).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x="at:Q")
    heading = f"Effect of signed DUO on opinion (encoder {encoder}, step 1)"
    return styled(
        alt.layer(zero, bars, points).properties(
            width=WIDTH, height=alt.Step(18), title=heading, padding=ROOM
        )
    )


def shifts_figure(found: StudyAnalysis) -> Any:
    """The mean change of opinion in every condition."""
    alt = load_altair()
    rows = [
        {"condition": f"{row.condition} (n = {row.answered})", "shift": row.shift}
        for row in found.conditions
        if row.answered
    ]
    chart = alt.Chart(alt.Data(values=rows)).mark_bar(color=COLOURS[0]).encode(
        x=alt.X("shift:Q", title="mean change of opinion: posterior minus prior"),
        y=alt.Y("condition:N", title=None, sort=None, axis=alt.Axis(labelLimit=300)),
    )  # fmt: skip
    return styled(
        chart.properties(
            width=WIDTH, height=alt.Step(22), title="Change of opinion by condition", padding=ROOM
        )
    )
