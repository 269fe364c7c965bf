"""Numbers at the edge of what 64 bits hold: no warnings of NumPy, and the value that is meant."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import log2

import numpy as np
import pytest

from evenrank import Attribute, DataError, Membership, Polarity, evaluate, polarise
from evenrank.errors import InputTypeError

RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


@pytest.fixture(autouse=True)
def strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def gain(grade: int, top: int) -> float:
    if top > 5000:  # 2**-top is below the smallest float
        return 2.0 ** (grade - top) if grade else 0.0
    return float(Fraction(2**grade - 1, 2**top))


@pytest.mark.parametrize("top", [3, 60, 5000, 2**31 - 1])
def test_very_large_grades(top: int) -> None:
    grades = {"a": top - 1, "b": 0, "c": top}
    stop = [gain(top - 1, top), 0.0, gain(top, top)]
    expected = stop[0] + (1 - stop[0]) * stop[2] / 3
    assert evaluate(RUN, "ERR", qrels={"q": grades}).mean("ERR") == pytest.approx(expected)
    discounted = stop[0] + stop[2] / 2
    best = stop[2] + stop[0] / log2(3)
    measure = "nDCG(dcg='exp-log2')"
    assert evaluate(RUN, measure, qrels={"q": grades}).mean(measure) == pytest.approx(discounted / best)
    groups = Membership.from_labels(Attribute("g", ("x", "y")), {"a": "x", "b": "y", "c": "x"})
    fair = f"FAIR(irm={measure})"
    assert np.isfinite(evaluate(RUN, fair, qrels={"q": grades}, groups=groups).mean(fair))
    intents = {"q": {"1": grades}}
    assert evaluate(RUN, "D_nDCG", intents=intents).mean("D_nDCG") == pytest.approx(discounted / best)
    linear = ((top - 1) + top / 2) / (top + (top - 1) / log2(3))
    assert evaluate(RUN, "nDCG", qrels={"q": grades}).mean("nDCG") == pytest.approx(linear)


@pytest.mark.parametrize("measure", ["Bpref", "Rprec", "StRecall@3"])
def test_grades_beyond_what_another_tool_holds_are_refused(measure: str) -> None:
    """trec_eval keeps a counter for each grade up to the largest, which would take gigabytes."""
    known = "intents" if measure.startswith("St") else "qrels"
    for grade in (10_001, 2**31 - 1):
        judged = {"a": 1, "c": grade}
        with pytest.raises(DataError, match=rf"{measure}.*{grade:,}"):
            evaluate(RUN, measure, **{known: {"q": {"1": judged} if known == "intents" else judged}})
    if known == "qrels":
        assert np.isfinite(evaluate(RUN, measure, qrels={"q": {"a": 1, "c": 10_000}}).mean(measure))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_vectors_of_any_size_have_their_axis(scale: float) -> None:
    vectors = np.array([[1.0, 0.1], [-1.0, 0.0], [0.9, -0.1], [-0.8, 0.05]])
    known, alike = dict(zip("abcd", vectors, strict=True)), dict.fromkeys("ef", np.full(2, scale))
    plain = polarise({"q": [*known]}, encoder=known)
    scaled = polarise(
        {"q": [*known], "r": [*alike]}, encoder={d: scale * row for d, row in known.items()} | alike
    )
    assert scaled.scores[:4] == pytest.approx(scale * plain.scores, rel=1e-9)
    assert {*scaled.without_axis} == {"r"}


def test_complex_numbers_are_refused() -> None:
    table = np.array([[1 + 2j, 0], [0, 1]])
    attribute = Attribute("g", ("x", "y"))
    with pytest.raises(InputTypeError, match="g: a matrix holds numbers alone"):
        Membership.from_matrix(attribute, ["a", "b"], table)
    with pytest.raises(InputTypeError, match="scores must be numbers"):
        Polarity.build(["a", "b"], table)
