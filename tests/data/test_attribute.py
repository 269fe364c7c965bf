"""Attributes: their names, their values, their targets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evenrank import Attribute, EvenrankError, ParameterError, read_groups
from evenrank.errors import InputTypeError

REFUSED: dict[str, tuple[Callable[[], Any], type[EvenrankError], str]] = {
    "no name": (lambda: Attribute("", ("a", "b")), ParameterError, "name"),
    "a dot in the name": (lambda: Attribute("a.b", ("a", "b")), ParameterError, "name"),
    "a quote in the name": (lambda: Attribute("a'b", ("a", "b")), ParameterError, "a'b"),
    "half a combination": (lambda: Attribute("a*", ("a", "b")), ParameterError, r"a\*"),
    "one value": (
        lambda: Attribute("g", ("a",)),
        ParameterError,
        "'g'.*'a'",
    ),
    "a value twice": (
        lambda: Attribute("g", ("a", "b", "a")),
        ParameterError,
        "'a'",
    ),
    "values as text": (
        lambda: Attribute("g", "ab"),
        InputTypeError,
        "values.*'ab'",
    ),  # type: ignore[arg-type]
    "values as text, by labels": (
        lambda: read_groups({"x": "a"}, "g", values="ab"),
        InputTypeError,
        "values.*'ab'",
    ),
    "a value that is a number": (
        lambda: Attribute("g", (1, 2)),  # type: ignore[arg-type]
        InputTypeError,
        "values",
    ),
    "an unknown kind of target": (
        lambda: Attribute("g", ("a", "b"), target="even"),
        ParameterError,
        "uniform, present, pool, collection, relevance, .*'even'",
    ),
    "present, on a scale": (
        lambda: Attribute("g", ("a", "b"), ordinal=True, target="present"),
        ParameterError,
        "scale",
    ),
    "too few shares": (
        lambda: Attribute("g", ("a", "b", "c"), target=[0.5, 0.5]),
        ParameterError,
        "2 shares.*'a', 'b', 'c'",
    ),
    "a share of no value": (
        lambda: Attribute("g", ("a", "b"), target={"a": 0.5, "c": 0.5}),
        ParameterError,
        "'c'.*'a', 'b'",
    ),
    "shares that do not sum to 1": (
        lambda: Attribute("g", ("a", "b"), target=[0.5, 0.50001]),
        ParameterError,
        "sum to 1",
    ),
    "a share below 0": (lambda: Attribute("g", ("a", "b"), target=[1.5, -0.5]), ParameterError, ">= 0"),
    "a share that is no number": (
        lambda: Attribute("g", ("a", "b"), target=["x", 1]),
        ParameterError,
        "numbers",
    ),
    "NaN": (lambda: Attribute("g", ("a", "b"), target=[math.nan, 1]), ParameterError, "sum to 1"),
    "a query's shares": (
        lambda: Attribute("g", ("a", "b"), target={"q1": [0.5, 0.5], "q2": [0.5, 0.4]}),
        ParameterError,
        "'q2'.*sum to 1",
    ),
    "a scale of words": (
        lambda: read_groups({"x": "low", "y": "high"}, "g", ordinal=True),
        ParameterError,
        "values=.*'low', 'high'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    build, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        build()


def test_shares_within_the_tolerance_are_divided_by_their_sum() -> None:
    attribute = Attribute("g", ("a", "b", "c"), target=[0.333333] * 3)
    assert sum(attribute.target) == pytest.approx(1, abs=1e-15)


def test_targets_by_query() -> None:
    attribute = Attribute("g", ("a", "b"), target={"q1": {"a": 1.0}, "q2": [0.25, 0.75]})
    assert attribute.has_query_targets
    found = attribute.targets(["q2", "q9", "q1"])
    np.testing.assert_array_equal(found, [[0.25, 0.75], [np.nan, np.nan], [1, 0]])


def test_one_target_for_all_queries() -> None:
    np.testing.assert_array_equal(Attribute("g", ("a", "b")).targets(["x", "y"]), [[0.5, 0.5]] * 2)
    given = Attribute("g", ("a", "b"), target=[0.25, 0.75])
    np.testing.assert_array_equal(given.targets(["x"]), [[0.25, 0.75]])


def test_equal_attributes_hash_alike() -> None:
    first, second = (Attribute("g", ("a", "b"), target={"q": [0.5, 0.5]}) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != first.with_target("pool")


def test_values_of_labels_are_in_the_order_found_and_numbers_of_a_scale_in_theirs() -> None:
    def values(*labels: str, **options: Any) -> tuple[str, ...]:
        return read_groups(dict(zip("xyz", labels, strict=False)), "g", **options).attribute.values

    assert values("m", "f", "m") == ("m", "f")
    assert values("10", "9", "2.5", ordinal=True) == ("2.5", "9", "10")
    assert values("m", values=["f", "m"]) == ("f", "m")
