"""How often queries are asked: which means use it, and what is said of those that do not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.errors import InputTypeError, ParameterError, few

if TYPE_CHECKING:
    from evenrank.measures import Measure


def as_query_weights(given: Any) -> Mapping[str, float] | None:
    """``{query: weight}``, or a file of queries that has weights; None where all weigh the same.

    >>> as_query_weights({"lamp": 900, "desk": 100})
    {'lamp': 900.0, 'desk': 100.0}
    """
    if isinstance(given, (str, PathLike)):
        from evenrank.io.queries import read_queries

        given = read_queries(fspath(given)).weights
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputTypeError(f"query_weights= takes {{query: weight}}, got {type(given).__name__}")
    for query, weight in given.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not math.isfinite(weight) or weight < 0:
            raise ParameterError(f"query_weights: {query!r} must weigh a number >= 0, got {weight!r}")
    if not any(given.values()):
        raise ParameterError("query_weights: no query weighs more than 0, so none would count")
    weights = {str(query): float(weight) for query, weight in given.items()}
    return weights if len(set(weights.values())) > 1 else None


def weights_at(weights: Mapping[str, float], queries: Sequence[str]) -> Floats:
    """(Q,): the weights of these queries."""
    lacking = [query for query in queries if query not in weights]
    if lacking:
        raise ParameterError(
            f"query_weights: there is none for {few(lacking)}: give one for each query that is scored, or "
            "name with queries= those to score"
        )
    return np.array([weights[query] for query in queries], np.float64)


def unweighted_note(weights: Mapping[str, float] | None, measures: Sequence[Measure]) -> Iterator[str]:
    """That the means of most measures do not use weights."""
    plain = [measure for measure in measures if not measure.weighs_queries]
    if weights is not None and plain:
        yield (
            "the weights of queries are used by verdicts and by shares of groups; every other mean, as that "
            f"of {plain[0]!r}, counts each query once"
        )
