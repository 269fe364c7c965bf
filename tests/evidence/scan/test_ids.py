"""An id that is there twice is found, whatever order the ids are in."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenrank.errors import DataError
from evenrank.evidence.scan import duplicates


@given(st.lists(st.text("019aé", min_size=1, max_size=20), max_size=8), st.booleans())
@example(["12345678", "12345679"], True)
@example(["12345678a", "12345678b"], False)
@example(["9", "10", "11"], True)
def test_ascending_ids_are_known_to_be_distinct(ids: list[str], order: bool) -> None:
    """By size, then by bytes: whatever is not strictly so is compared by hash."""
    key = lambda identifier: (len(identifier.encode()), identifier.encode())  # noqa: E731
    ids = sorted(ids, key=key) if order else ids
    ascending = all(key(a) < key(b) for a, b in pairwise(ids))
    uniqueness = duplicates.Uniqueness(fast=True)
    for piece in (pa.array(ids, pa.large_string()), pa.array(["", *ids], pa.large_string()).slice(1)):
        if ids:
            assert (uniqueness.run_of(piece).hashes is None) == ascending


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    "pieces", [["12", "34", "4"], ["12", "2", "34"], ["21", "34", "1"], ["12", "13", "4"]]
)
def test_an_id_in_two_pieces(pieces: list[str], fast: bool) -> None:
    """Whether ids ascend in all pieces, in some, or in none: what is there twice is found."""
    arrays = [pa.array(list(piece), pa.large_string()) for piece in pieces]
    uniqueness = duplicates.Uniqueness(fast=fast)
    for array in arrays:
        uniqueness.add(uniqueness.run_of(array))
    with pytest.raises(DataError, match="more than once:"):
        uniqueness.check(lambda: iter(arrays), "c.tsv")
    uniqueness = duplicates.Uniqueness(fast=fast)
    for array in (
        distinct := [pa.array(list(piece), pa.large_string()) for piece in ("12", "54", "6", "37")]
    ):
        uniqueness.add(uniqueness.run_of(array))
    uniqueness.check(lambda: iter(distinct), "c.tsv")
