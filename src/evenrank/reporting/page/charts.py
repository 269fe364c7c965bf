"""A figure in the page: a picture that needs no script, and the same as a chart with values on hover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenrank.reporting.page.safe import data_url


@dataclass(frozen=True)
class Chart:
    """``picture`` is an SVG as a data URL, ``width`` its width in pixels, ``spec`` what the script draws.

    ``narrow`` is the same for a phone, where the chart itself does not fit.
    """

    label: str  # what it shows, for those who do not see it
    picture: str
    width: int
    height: int
    spec: dict[str, Any]
    narrow: Chart | None = None

    @property
    def specs(self) -> list[dict[str, Any]]:
        """What the script draws: the chart, and the one for a phone if there is another."""
        return [self.spec] if self.narrow is None else [self.spec, self.narrow.spec]


def chart_of(figure: Any, label: str, *, narrow: Any = None, **legend: Any) -> Chart:
    """An altair chart, drawn. ``legend`` changes its legend's look, ``narrow`` is another one for a phone."""
    import vl_convert

    spec = figure.to_dict(validate=False)  # what cannot be drawn is refused below
    spec["background"] = "white"
    if legend:
        spec.setdefault("config", {}).setdefault("legend", {}).update(legend)
    svg: str = vl_convert.vegalite_to_svg(spec)
    width, height = (
        round(float(svg.split(f' {side}="', 1)[1].split('"', 1)[0])) for side in ("width", "height")
    )
    picture = data_url(svg.encode(), "image/svg+xml")
    small = None if narrow is None else chart_of(narrow, label, **legend)
    return Chart(label, picture, width, height, spec, small)
