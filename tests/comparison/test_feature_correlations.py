"""Features of documents that go together."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import evenrank as er
from evenrank import Inputs, Membership
from evenrank.comparison.feature_correlations import document_features, feature_table
from evenrank.data.tables import DocumentTable


def features(count: int, seed: int = 0) -> tuple[Inputs, np.ndarray, np.ndarray]:
    """Documents with a rating and a class of review counts; each is ranked for two queries."""
    draw = np.random.default_rng(seed)
    ratings = draw.integers(0, 6, count)
    reviews = np.clip(ratings + draw.integers(-2, 3, count), 0, 4)
    ids = [f"d{place}" for place in range(count)]
    ordered = {query: {d: -float(r) for r, d in enumerate(ids)} for query in ("q1", "q2")}
    groups = [
        Membership.from_labels(
            er.Attribute(name, tuple(map(str, range(6))), ordinal=True),
            dict(zip(ids, map(str, column.tolist()), strict=True)),
        )
        for name, column in (("rating", ratings), ("reviews", reviews))
    ]
    return Inputs.of(ordered, groups=groups), ratings, reviews


def test_tau_is_scipys_over_documents_each_once() -> None:
    inputs, ratings, reviews = features(200)
    (record,) = feature_table(inputs).records
    tau = stats.kendalltau(ratings, reviews).statistic
    assert record["value"] == pytest.approx(tau)
    assert record["n"] == 200
    half = 1.959963984540054 * math.sqrt(0.437 / 196)
    assert record["low"] == pytest.approx(math.tanh(math.atanh(tau) - half))
    assert record["high"] == pytest.approx(math.tanh(math.atanh(tau) + half))
    assert (record["feature"], record["other"]) == ("rating", "reviews")


def test_p_of_few_documents_is_exact() -> None:
    inputs, ratings, reviews = features(6, seed=3)
    (record,) = feature_table(inputs).records

    def agreement(order: tuple[int, ...]) -> float:
        pairs = itertools.combinations(range(6), 2)
        return sum(float(np.sign(ratings[a] - ratings[b]) * np.sign(order[a] - order[b])) for a, b in pairs)

    seen = agreement(tuple(reviews))
    orders = [agreement(order) for order in itertools.permutations(reviews.tolist())]
    assert record["p"] == pytest.approx(np.mean([abs(one) >= abs(seen) - 1e-12 for one in orders]))
    assert record["p_method"] == "exact"


def test_numbers_are_features_and_documents_without_one_are_counted() -> None:
    inputs, ratings, _ = features(30)
    ids = [f"d{place}" for place in range(25)]
    table = DocumentTable.build("shop", ids, {"price": np.arange(25.0)})
    sheet = feature_table(inputs.with_known(evidence=[table]))
    found = {(r["feature"], r["other"]): r for r in sheet.records}
    assert found["rating", "shop.price"]["n"] == 25
    expected = stats.kendalltau(ratings[:25], np.arange(25)).statistic
    assert found["rating", "shop.price"]["value"] == pytest.approx(expected)
    assert any("5 of 30 documents lack a feature" in note for note in sheet.notes)


def test_an_attribute_without_an_order_is_no_feature() -> None:
    inputs, *_ = features(10)
    plain = Membership.from_labels("colour", {"d1": "red", "d2": "blue"})
    with pytest.raises(er.ParameterError, match=r"needs two features with an order.*got rating"):
        document_features(inputs.with_known(groups=[inputs.groups[0], plain]))


def test_several_values_or_values_by_query_have_no_place() -> None:
    inputs, *_ = features(10)
    scale = er.Attribute("age", ("1", "2", "3"), ordinal=True)
    soft = Membership.build(scale, ["d1", "d1"], ["1", "2"], [0.5, 0.5])
    with pytest.raises(er.ParameterError, match="several values"):
        document_features(inputs.with_known(groups=[inputs.groups[0], soft]))
    by_query = Membership.build(scale, ["d1"], ["1"], queries=["q1"])
    with pytest.raises(er.ParameterError, match="depends on the query"):
        document_features(inputs.with_known(groups=[inputs.groups[0], by_query]))
