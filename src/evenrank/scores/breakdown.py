"""Scores by category of query: the same table, with a row for each category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenrank.errors import DataError, InputTypeError

if TYPE_CHECKING:
    from evenrank.scores.scores import Scores

NO_CATEGORY = "(no category)"


def split_by_category(scores: Scores, categories: Mapping[str, str | Iterable[str]]) -> dict[str, Scores]:
    """The scores of each category's queries by its name, in the order of the names."""
    own, names = _checked(scores, categories)
    found: dict[str, Scores] = {}
    for category in [*names, NO_CATEGORY]:
        blocks = []
        for block in scores.blocks:
            inside = [category in (own.get(query) or [NO_CATEGORY]) for query in block.query_ids]
            blocks.append(block.select(np.flatnonzero(inside).tolist()))
        if any(len(block.query_ids) for block in blocks):
            found[category] = replace(scores, blocks=tuple(blocks))
    return found


def by_category(scores: Scores, categories: Mapping[str, str | Iterable[str]]) -> Scores:
    """The scores with every run split into its categories of queries, called ``run: category``.

    A query with several categories counts in each of them; one without any is in ``(no category)``.
    """
    from evenrank.scores.gaps import category_gaps

    own, names = _checked(scores, categories)
    blocks = []
    alone = len(scores.runs) == 1
    notes: dict[str, Any] = {}
    for run in scores.runs:
        for category in [*names, NO_CATEGORY]:
            called = category if alone else f"{run}: {category}"
            for block in (block for block in scores.blocks if block.run == run):
                inside = [category in (own.get(query) or [NO_CATEGORY]) for query in block.query_ids]
                rows = np.flatnonzero(inside).tolist()
                if not rows:
                    continue
                blocks.append(replace(block.select(rows), run=called))
                notes.setdefault(called, scores.notes.get(run, ()))
    for gap in category_gaps(scores, categories):
        called = next(name for name in notes if alone or name.startswith(f"{gap.run}: "))
        notes[called] = (*notes[called], str(gap))
    return replace(scores, blocks=tuple(blocks), notes=notes)


def _checked(
    scores: Scores, categories: Mapping[str, str | Iterable[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """The categories of each query, and all of them in the order in which they appear."""
    if not isinstance(categories, Mapping) or not categories:
        raise InputTypeError("categories must be a mapping {query: category}, or {query: [category, ..]}")
    own = {query: [given] if isinstance(given, str) else list(given) for query, given in categories.items()}
    names = list(dict.fromkeys(name for given in own.values() for name in given))
    known = {query for block in scores.blocks for query in block.query_ids}
    if not known & set(own):
        raise DataError(
            f"none of the {len(own):,} queries with a category was scored: are ids written the same way?"
        )
    return own, names
