"""Small random judgements and runs, as the frames that ir_measures and PyTerrier take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas
import pytest

from evenrank.grammar import declare, number, parameter, unregister
from evenrank.measures import Direction, Measure, Result

QUERIES = [f"q{number}" for number in range(8)]
DOCUMENTS = [f"d{number:02}" for number in range(12)]


@pytest.fixture
def qrels() -> pandas.DataFrame:
    """Judgements by intent of every query, each document once; q7 has no relevant document."""
    rng = np.random.default_rng(3)
    rows = [
        (query, document, 0 if query == "q7" else int(rng.integers(0, 4)), str(rng.integers(0, 3)))
        for query in QUERIES
        for document in rng.choice(DOCUMENTS, 8, replace=False)
    ]
    return pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iteration"])


@pytest.fixture
def make_run() -> Callable[[int], pandas.DataFrame]:
    """A run by seed, with many ties. It lacks q0 and has a query without judgements."""

    def make(seed: int) -> pandas.DataFrame:
        rng = np.random.default_rng(seed)
        rows = [
            (query, document, float(rng.integers(0, 5)))
            for query in [*QUERIES[1:], "unjudged"]
            for document in rng.permutation(DOCUMENTS)
        ]
        return pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])

    return make


@pytest.fixture
def run(make_run: Callable[[int], pandas.DataFrame]) -> pandas.DataFrame:
    return make_run(0)


@pytest.fixture
def Toy() -> Iterator[type[Measure]]:
    """A measure that needs no judgements but a weight for every document, and takes the median."""

    @declare
    class Toy_weight(Measure):
        """The mean weight of the first k documents, undefined where the first of them weighs 0."""

        direction = Direction.LOWER
        aggregation = "median"
        scale: float = parameter(1.0, number(0), "times what")

        @property
        def needs(self) -> frozenset[str]:
            return frozenset({"ranked.weight"})

        def compute(self, evidence: Any) -> Result:
            weights = evidence.ranked["weight"]  # (Q, K)
            return Result(self.scale * weights.mean(axis=1), {"weighs nothing": weights[:, 0] == 0})

        def aggregate(self, values):
            return np.median(values, axis=-1)

    yield Toy_weight
    unregister("measure", "Toy_weight")
    import ir_measures

    ir_measures.measures.registry.pop("Toy_weight", None)


@pytest.fixture
def weights():
    from evenrank.data.tables import DocumentTable

    values = np.array([number if number % 3 else 0 for number in range(len(DOCUMENTS))], dtype=float)
    return DocumentTable.build("weight", DOCUMENTS, {"": values})
