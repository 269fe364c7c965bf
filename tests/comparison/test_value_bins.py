"""Bins that all systems share: every finite value is in one of them."""

from __future__ import annotations

import numpy as np

from evenrank.comparison.value_bins import rounded, value_bins


def test_every_value_is_counted_once_by_the_edges_as_they_are_written() -> None:
    values = np.random.default_rng(1).random((200, 3)).round(4)
    values[0, 0], values[1, 1] = np.nan, np.inf
    found = value_bins(values)
    for column, counts in zip(values.T, found.counts, strict=True):
        expected = [0] * (len(found.edges) - 1)
        for value in column[np.isfinite(column)]:
            inside = [n for n in range(len(expected)) if found.edges[n] <= value < found.edges[n + 1]]
            expected[inside[0] if inside else -1] += 1  # the largest lies at the last edge
        assert list(counts) == expected


def test_equal_values_have_no_bins() -> None:
    assert value_bins(np.ones((5, 2))).edges == ()
    assert value_bins(np.full((5, 2), np.nan)).edges == ()
    assert np.isnan(rounded(["undefined", "-infinite", "x"])[[0, 2]]).all()
