"""Features of documents that go together, as the command correlates them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

Evenrank = Callable[..., SimpleNamespace]
ORDINAL = ["--groups", "rating=groups.csv:ordinal", "--groups", "reviews=groups.csv:ordinal"]


@pytest.fixture
def features(evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Documents with a rating and a class of review counts; each is ranked for two queries."""
    monkeypatch.chdir(tmp_path)

    def correlated(count: int, *groups: str, seed: int = 0, lacking: int = 0) -> Any:
        draw = np.random.default_rng(seed)
        ratings = draw.integers(0, 6, count)
        reviews = np.clip(ratings + draw.integers(-2, 3, count), 0, 4)
        rows = [f"{q} Q0 d{d} {d + 1} {-d} run" for q in ("q1", "q2") for d in range(count)]
        for name in ("one", "two"):
            Path(f"{name}.trec").write_text("\n".join(rows))
        cells = [
            f"d{d},{ratings[d]},{'' if d < lacking else reviews[d]},{'red' if d % 2 else 'blue'}"
            for d in range(count)
        ]
        Path("groups.csv").write_text("\n".join(["document,rating,reviews,colour", *cells]))
        given = ["compare", "one.trec", "two.trec", *(groups or ORDINAL), "--no-project"]
        found = evenrank(*given, "--view", "correlations:over=documents", "--format", "jsonl")
        rows = [json.loads(line) for line in found.out.splitlines()]
        return SimpleNamespace(code=found.code, rows=rows, err=found.err, ratings=ratings, reviews=reviews)

    return correlated


def test_tau_is_scipys_over_documents_each_once(features: Any) -> None:
    found = features(200)
    (row,) = found.rows
    tau = stats.kendalltau(found.ratings, found.reviews).statistic
    assert row["value"] == pytest.approx(tau)
    assert row["n"] == 200
    half = 1.959963984540054 * math.sqrt(0.437 / 196)
    assert row["low"] == pytest.approx(math.tanh(math.atanh(tau) - half))
    assert row["high"] == pytest.approx(math.tanh(math.atanh(tau) + half))
    assert (row["feature"], row["other"]) == ("rating", "reviews")


def test_p_of_few_documents_is_exact(features: Any) -> None:
    found = features(6, seed=3)
    (row,) = found.rows

    def agreement(order: tuple[int, ...]) -> float:
        pairs = itertools.combinations(range(6), 2)
        return sum(
            float(np.sign(found.ratings[a] - found.ratings[b]) * np.sign(order[a] - order[b]))
            for a, b in pairs
        )

    seen = agreement(tuple(found.reviews))
    orders = [agreement(order) for order in itertools.permutations(found.reviews.tolist())]
    assert row["p"] == pytest.approx(np.mean([abs(one) >= abs(seen) - 1e-12 for one in orders]))
    assert row["p_method"] == "exact"


def test_documents_without_a_feature_are_left_out(features: Any) -> None:
    found = features(30, lacking=5)
    (row,) = found.rows
    assert row["n"] == 25
    assert row["value"] == pytest.approx(stats.kendalltau(found.ratings[5:], found.reviews[5:]).statistic)


def test_an_attribute_without_an_order_is_no_feature(features: Any) -> None:
    found = features(10, *ORDINAL[:2], "--groups", "colour=groups.csv")
    assert found.code == 2
    assert all(name in found.err for name in ("rating", ":ordinal"))


@pytest.mark.parametrize(
    ("lines", "options"),
    [("document,age\nd1,1\nd1,2\nd2,2\n", ":full"), ("query,document,age\nq1,d1,1\nq2,d1,2\n", "")],
    ids=["several values", "values by query"],
)
def test_a_feature_has_one_value_for_a_document(lines: str, options: str, features: Any) -> None:
    Path("ages.csv").write_text(lines)
    found = features(10, *ORDINAL, "--groups", f"age=ages.csv:ordinal{options}")
    assert found.code == 2
    assert "'age'" in found.err
