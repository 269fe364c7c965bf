"""The line through the runs of a family, and its band, are those of statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn import layers, made, marks, rows

from evenrank.reporting.figures import cloud_figure

pytestmark = pytest.mark.needs("altair", "vl_convert", "statsmodels")


def cloud(x, y):
    """A run for each point."""
    points = enumerate(zip(x, y, strict=True))
    own = made({f"r{place}": {"AP": [one] * 5, "RR": [two] * 5} for place, (one, two) in points})
    return cloud_figure(own, "AP", "RR")


def test_the_line_and_the_band_are_those_of_statsmodels() -> None:
    from statsmodels import api as statsmodels

    generator = np.random.default_rng(3)
    x = generator.random(17)
    y = 0.7 - 0.3 * x + generator.normal(0, 0.05, 17)
    chart = cloud(x, y)
    (line,), (band,) = marks(layers(chart), "line"), marks(layers(chart), "area")
    at = np.array([row["x"] for row in rows(line)])
    assert (at[0], at[-1]) == pytest.approx((x.min(), x.max()))
    fit = statsmodels.OLS(y, statsmodels.add_constant(x)).fit()
    wanted = fit.get_prediction(statsmodels.add_constant(at)).summary_frame(alpha=0.05)
    assert [row["y"] for row in rows(line)] == pytest.approx(wanted["mean"].tolist())
    assert [row["low"] for row in rows(band)] == pytest.approx(wanted["mean_ci_lower"].tolist())
    assert [row["high"] for row in rows(band)] == pytest.approx(wanted["mean_ci_upper"].tolist())


def test_runs_without_a_value_are_left_out_of_the_line() -> None:
    whole, holed = (
        next(marks(layers(cloud(x, y)), "line"))
        for x, y in (
            ([0.0, 0.1, 0.2, 0.3], [0.1, 0.2, 0.25, 0.4]),
            ([0.0, 0.1, math.nan, 0.2, 0.9, 0.3], [0.1, 0.2, 0.7, 0.25, math.nan, 0.4]),
        )
    )
    assert rows(whole) == rows(holed)


@pytest.mark.parametrize(("x", "y"), [([0.1], [0.2]), ([0.1, 0.1, 0.1], [0.2, 0.3, 0.4])])
def test_points_that_have_no_line(x: list[float], y: list[float]) -> None:
    assert list(marks(layers(cloud(x, y)), "line")) == []
