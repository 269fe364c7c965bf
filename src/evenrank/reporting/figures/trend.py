"""Shares of groups over audits: a point with its interval for each date."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evenrank.reporting.figures.style import COLOURS, group_colours, load_altair, styled
from evenrank.verdict import Verdict

WIDTH, NARROW, HEIGHT = 480, 280, 200
MANY = len(COLOURS)


def trend_figure(points: Sequence[tuple[str, Verdict]], *, narrow: bool = False) -> Any:
    """The share of every group of one attribute by date, with its interval; the target is dashed."""
    altair = load_altair()
    latest = points[-1][1]
    values = [group.value for group in latest.groups][:MANY]
    rows = [
        {
            "date": date,
            "group": group.value,
            "share": group.share,
            "low": group.share if math.isnan(group.share_low) else group.share_low,
            "high": group.share if math.isnan(group.share_high) else group.share_high,
            "target": group.target,
        }
        for date, verdict in points
        for group in verdict.groups
        if group.value in values and not math.isnan(group.share)
    ]
    base = altair.Chart(altair.Data(values=rows)).encode(
        x=altair.X("date:O", title=None, axis=altair.Axis(labelAngle=-40)),
        color=altair.Color("group:N", scale=altair.Scale(domain=values, range=group_colours(values))),
    )
    axis = altair.Axis(format="%", title=f"share of the attention in the first {latest.cutoff} places")
    scale = altair.Scale(domain=[0, 1])
    shown = base.mark_line(point=True).encode(
        y=altair.Y("share:Q", axis=axis, scale=scale),
        tooltip=["date:O", "group:N", altair.Tooltip("share:Q", format=".1%")],
    )
    spread = base.mark_rule(strokeWidth=2).encode(y=altair.Y("low:Q"), y2=altair.Y2("high:Q"))
    wanted = base.mark_line(strokeDash=[4, 3], opacity=0.6).encode(y=altair.Y("target:Q"))
    chart = (wanted + spread + shown).properties(width=NARROW if narrow else WIDTH, height=HEIGHT)
    return styled(chart)
