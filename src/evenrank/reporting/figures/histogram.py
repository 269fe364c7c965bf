"""How polarity scores are distributed: one panel an encoder or corpus, as Figure 5 of pair-duo-2024."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenrank.errors import counted
from evenrank.reporting.figures.style import COLOURS, load_altair, shown_names, styled, value_tips, wrapped

if TYPE_CHECKING:
    import altair

    from evenrank.data.polarity import Polarity

BINS = 31  # odd, so that 0 is in the middle of one and on neither side
WIDTH, HEIGHT = 360, 130
TITLE = 48  # letters of a line


def polarity_figure(scores: Mapping[str, Polarity], *, same_scale: bool = False) -> altair.VConcatChart:
    """A histogram of the scores on the first axis for each name; 0 is the fit set's mean.

    Each has its own scale, since encoders give vectors of any length; ``same_scale`` is for documents of
    several corpora placed by one encoder. Documents of queries without an axis stand nowhere and are left
    out.
    """
    alt = load_altair()
    values = {name: _placed(polarity) for name, polarity in scores.items()}
    shown = shown_names(values)
    widest = max((float(np.abs(part).max(initial=0.0)) for part in values.values()), default=0.0)
    panels = []
    for name, part in values.items():
        reach = (widest if same_scale else float(np.abs(part).max(initial=0.0))) or 1.0
        edges = np.linspace(-reach, reach, BINS + 1)
        counts, _ = np.histogram(part, edges)
        rows = [
            {"from": float(edges[bin]), "to": float(edges[bin + 1]), "documents": int(count)}
            for bin, count in enumerate(counts)
        ]
        bars = (
            alt.Chart(alt.Data(values=rows))
            .mark_bar(color=COLOURS[0], opacity=0.85)
            .encode(
                x=alt.X(
                    "from:Q", bin="binned", title="polarity score", scale=alt.Scale(domain=[-reach, reach])
                ),
                x2="to:Q",
                y=alt.Y("documents:Q", title="documents"),
                tooltip=value_tips(alt, from_="from:Q", to="to:Q", documents="documents:N"),
            )
        )
        title = alt.TitleParams(
            wrapped(shown[name], TITLE),
            subtitle=counted(len(part), "document", "documents"),
            anchor="start",
            frame="group",
        )
        panels.append(bars.properties(width=WIDTH, height=HEIGHT, title=title))
    chart: altair.VConcatChart = styled(alt.vconcat(*panels))
    return chart


def _placed(polarity: Polarity) -> npt.NDArray[np.float64]:
    """The scores of documents whose query has an axis."""
    scores: npt.NDArray[np.float64] = polarity.scores[:, 0]
    if not polarity.without_axis or polarity.query_ids is None:
        return scores
    has_axis = np.array([query not in polarity.without_axis for query in polarity.query_ids])
    return np.asarray(scores[has_axis[polarity.query_codes]])
