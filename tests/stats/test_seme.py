"""The regression of opinion on signed DUO, beside statsmodels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest

from evenrank.errors import DataError, InputTypeError
from evenrank.study.seme import seme


def trials(count: int = 60, effect: float = 0.5, seed: int = 0) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    prior, duo = generator.normal(size=count), generator.uniform(-1, 1, count)
    return {
        "posterior": 0.3 + 0.7 * prior + effect * duo + generator.normal(scale=0.4, size=count),
        "prior": prior,
        "duo": duo,
        "clicked": generator.integers(0, 3, count),
        "corpus": generator.choice(["natural", "synthetic"], count),
    }


@pytest.mark.needs("statsmodels")
def test_every_number_is_statsmodels() -> None:
    from statsmodels import api as sm

    given = trials()
    effects = seme(given)
    rows = {name: given["corpus"] == name for name in dict.fromkeys(given["corpus"].tolist())}
    assert len(rows) == 2
    rows["all corpora"] = np.ones(60, dtype=bool)
    assert [(e.corpus, e.trials) for e in effects] == [(c, t) for c in rows for t in ("all", "clicked")]
    for effect in effects:
        use = rows[effect.corpus] & ((given["clicked"] > 0) | (effect.trials == "all"))
        design = sm.add_constant(np.column_stack([given["prior"], given["duo"]])[use])
        fitted = sm.OLS(given["posterior"][use], design).fit()
        low, high = fitted.conf_int()[2]
        assert effect.size == use.sum()
        assert effect[3:8] == pytest.approx(
            (fitted.params[2], low, high, fitted.pvalues[2], fitted.rsquared), rel=1e-9
        )
        assert effect.undefined is None


def test_an_effect_without_noise_is_found_exactly() -> None:
    prior, duo = np.array([0.0, 1, 2, 3, 4]), np.array([1.0, -1, 0.5, 0, -0.5])
    (effect,) = seme({"posterior": 2 + 3 * prior - 4 * duo, "prior": prior, "duo": duo})
    assert effect.coefficient == pytest.approx(-4, abs=1e-9)
    assert effect.r_squared == pytest.approx(1, abs=1e-12)
    assert effect.p < 1e-6
    assert (effect.corpus, effect.trials, effect.size) == ("all corpora", "all", 5)


def test_without_an_effect_few_intervals_miss_zero() -> None:
    missed = sum(
        not effect.low <= 0 <= effect.high
        for seed in range(200)
        for effect in seme({k: v for k, v in trials(30, 0.0, seed).items() if k not in ("clicked", "corpus")})
    )
    assert 2 <= missed <= 20  # 10 are expected


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_tables_are_as_good_as_columns(kind: str) -> None:
    given = trials()
    frame = polars.DataFrame(given)
    if kind == "pandas":
        pytest.importorskip("pandas")
    made = {"polars": lambda: frame, "pandas": frame.to_pandas, "arrow": lambda: pa.table(frame.to_dict())}
    assert seme(made[kind]()) == seme(given)


def test_one_corpus_is_not_pooled_again() -> None:
    given = trials() | {"corpus": ["natural"] * 60}
    assert [(effect.corpus, effect.trials) for effect in seme(given)] == [
        ("natural", "all"),
        ("natural", "clicked"),
    ]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"duo": [0.5] * 6}, "prior or signed DUO does not vary, or one follows from the other"),
        ({"duo": [0.0, 2, 4, 6, 8, 10]}, "prior or signed DUO does not vary, or one follows from the other"),
        ({key: [0.0, 1, 3] for key in ("posterior", "prior", "duo")}, "fewer than four trials"),
    ],
)
def test_undefined_with_the_reason(changed: dict[str, Any], why: str) -> None:
    given = {"posterior": [1.0, 2, 4, 3, 5, 7], "prior": [0.0, 1, 2, 3, 4, 5], "duo": [1.0, 0, 1, 0, 0, 1]}
    (effect,) = seme(given | changed)
    assert effect.undefined == why
    assert all(math.isnan(value) for value in effect[3:8])


def test_nobody_clicked() -> None:
    given = trials() | {"clicked": np.zeros(60)}
    (clicked,) = [e for e in seme(given) if (e.corpus, e.trials) == ("all corpora", "clicked")]
    assert (clicked.size, clicked.undefined) == (0, "fewer than four trials")


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (7, InputTypeError, "trials must be a table or a dict of columns, got int"),
        ({"posterior": [1.0], "prior": [1.0]}, DataError, "no column 'duo'; there are 'posterior', 'prior'"),
        ({"posterior": [], "prior": [], "duo": []}, DataError, "trials: there are none"),
        ({"posterior": [1.0], "prior": [1.0, 2.0], "duo": [1.0]}, DataError, "columns of different length"),
        ({"posterior": ["x"], "prior": [1.0], "duo": [1.0]}, DataError, "posterior must be numbers"),
        ({"posterior": [1.0], "prior": [None], "duo": [1.0]}, DataError, "row 1: prior is not finite"),
        ({"posterior": [1.0], "prior": [1.0], "duo": [math.nan]}, DataError, "row 1: duo is not finite"),
    ],
)
def test_trials_that_cannot_be_used(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        seme(given)
