"""Lists of documents to distil from: what the teacher ranks high, what it ranks lower, and anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Int64s
from evenrank.neural.examples import Examples

_NEAR = 5  # the first fifth of what the teacher ranks is near
_PART = 3 / 8  # of a list from the near ones, and as many from the others


@dataclass(frozen=True)
class ListSizes:
    """How lists are drawn."""

    depth: int = 100  # documents of the teacher's ranking
    documents: int = 8  # of each list
    lists: int = 4  # of each query


def draw_lists(
    first: Int64s,
    query_ids: Sequence[str],
    query_texts: Sequence[str],
    documents: Sequence[str],
    marked: npt.NDArray[np.bool_],
    sizes: ListSizes,
    seed: int = 0,
) -> Examples:
    """Lists for every query, as rows of pairs: from the first fifth of the teacher's ranking ``first``
    (Q, depth), from the rest of it, and from all documents.

    The last place of a list goes to a document of the ranking that is ``marked`` (D,), where there is one
    that the list does not have: few documents are, and an adversary learns from both kinds.
    """
    generator = np.random.default_rng([seed, 11])
    count, depth = len(first) * sizes.lists, first.shape[1]
    ranked = np.repeat(first, sizes.lists, axis=0)  # (N, depth)
    near = max(1, depth // _NEAR)
    part = round(_PART * sizes.documents)
    keys = generator.random((count, depth))
    taken = np.concatenate(
        [
            np.argsort(keys[:, :near], axis=1)[:, :part],
            near + np.argsort(keys[:, near:], axis=1)[:, :part],
        ],
        axis=1,
    )  # (N, at most 2 part) places in the ranking
    rows = np.take_along_axis(ranked, taken, axis=1)
    rest = sizes.documents - rows.shape[1]
    rows = np.concatenate([rows, generator.integers(len(documents), size=(count, rest))], axis=1)  # (N, m)
    left = np.where(marked[ranked], keys, np.inf)
    np.put_along_axis(left, taken, np.inf, axis=1)
    best = left.argmin(axis=1)
    found = np.isfinite(left[np.arange(count), best])
    rows[found, -1] = ranked[found, best[found]]
    queries = np.repeat(np.arange(len(first)), sizes.lists)
    codes, places = np.unique(queries[:, None] * len(documents) + rows, return_inverse=True)
    return Examples(
        tuple(query_ids), tuple(query_texts), tuple(documents),
        codes // len(documents), codes % len(documents), places.reshape(rows.shape),
    )  # fmt: skip
