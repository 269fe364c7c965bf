"""Which queries are trained on: folds that share no query, and queries that must not be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenrank.errors import DataError, ParameterError, counted


def query_folds(queries: Sequence[str], folds: int, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """The queries in ``folds`` parts of nearly equal size, shuffled by ``seed``; each is in one part.

    >>> [len(part) for part in query_folds(["a", "b", "c", "d", "e"], 2)]
    [3, 2]
    """
    distinct = list(dict.fromkeys(queries))
    if not 2 <= folds <= len(distinct):
        raise ParameterError(f"folds must be from 2 to the {len(distinct)} queries, got {folds!r}")
    order = np.random.default_rng(seed).permutation(len(distinct))
    return tuple(
        tuple(distinct[place] for place in sorted(part.tolist())) for part in np.array_split(order, folds)
    )


def held_out(queries: Sequence[str], share: float, seed: int = 0) -> tuple[str, ...]:
    """A share of the queries, at least one and never all, drawn by ``seed``; none for a share of 0."""
    if share == 0:
        return ()
    if len(queries) < 2:
        raise ParameterError("a share of the queries is held out where there are two or more")
    size = min(max(1, round(share * len(queries))), len(queries) - 1)
    order = np.random.default_rng([seed, 1]).permutation(len(queries))
    return tuple(queries[place] for place in sorted(order[:size].tolist()))


def check_kept_out(training: Mapping[str, str], kept_out: Mapping[str, str], source: str) -> None:
    """Queries to be evaluated on must not be trained on: neither their ids nor, spelt alike, their texts."""
    spelt = {_spelt(text): query for query, text in training.items()}
    seen = [query for query in kept_out if query in training]
    alike = [
        f"{query} (as {spelt[_spelt(text)]})"
        for query, text in kept_out.items()
        if query not in training and _spelt(text) in spelt
    ]
    found = seen + alike
    if found:
        many = counted(len(found), "query is", "queries are")
        raise DataError(
            f"{source}: {many} to be kept out of training, but in the training data: "
            f"{', '.join(found[:3])}{', ...' if len(found) > 3 else ''}; "
            "take them out of the judgements or triples"
        )


def _spelt(text: str) -> str:
    """Case and blanks do not make another query."""
    return " ".join(text.casefold().split())
