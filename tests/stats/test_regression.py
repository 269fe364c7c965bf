"""The line of least squares and its interval are those of statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels import api as statsmodels

from evenrank.errors import DataError, ParameterError
from evenrank.stats.regression import least_squares

pytestmark = pytest.mark.needs("statsmodels")


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_equal_to_statsmodels(level: float) -> None:
    generator = np.random.default_rng(3)
    x = generator.random(17)
    y = 2 - 3 * x + generator.normal(0, 0.4, 17)
    at = np.array([-1.0, 0.2, 0.5, 2.0])
    line = least_squares(x, y, at, level=level)
    assert line is not None
    fit = statsmodels.OLS(y, statsmodels.add_constant(x)).fit()
    assert (line.intercept, line.slope) == pytest.approx(tuple(fit.params))
    wanted = fit.get_prediction(statsmodels.add_constant(at)).summary_frame(alpha=1 - level)
    assert line.value == pytest.approx(wanted["mean"].to_numpy())
    assert line.low == pytest.approx(wanted["mean_ci_lower"].to_numpy())
    assert line.high == pytest.approx(wanted["mean_ci_upper"].to_numpy())
    assert line.n == 17


def test_too_few_points() -> None:
    assert least_squares([1.0], [2.0], [1.0]) is None
    assert least_squares([1.0, 1.0, 1.0], [2.0, 3.0, 4.0], [1.0]) is None
    two = least_squares([0.0, 1.0], [0.0, 2.0], [0.5])
    assert two is not None
    assert (two.slope, two.value.tolist()) == (2.0, [1.0])
    assert np.isnan(two.low).all()
    assert np.isnan(two.high).all()


def test_points_without_a_value_are_left_out() -> None:
    whole = least_squares([0, 1, 2, 3], [1.0, 2.0, 2.5, 4.0], [1.0])
    holed = least_squares([0, 1, np.nan, 2, 9, 3], [1.0, 2.0, 7.0, 2.5, np.inf, 4.0], [1.0])
    assert whole is not None
    assert holed is not None
    assert (whole.slope, whole.low.tolist(), whole.n) == (holed.slope, holed.low.tolist(), holed.n)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(DataError, match="a line goes through points"):
        least_squares([1, 2], [1, 2, 3], [0])
    with pytest.raises(ParameterError, match="level must be"):
        least_squares([1, 2], [1, 2], [0], level=2)
