from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenrank.ids import as_strings, move


@given(st.data())
def test_rows_change_places_within_blocks(data) -> None:
    """Only blocks of neighbours are permuted; the array is as if it had been taken in the new order."""
    blocks = data.draw(st.lists(st.tuples(st.lists(st.text(max_size=12)), st.booleans())))
    strings, places, origins = [], [], []
    for block, moves in blocks:
        rows = list(range(len(strings), len(strings) + len(block)))
        strings += block
        if moves and rows:
            places += rows
            origins += data.draw(st.permutations(rows))
    offset = data.draw(st.integers(0, 2))
    array = as_strings(["before"] * offset + strings).slice(offset)
    if not places:
        return
    moved = move(array, np.array(places), np.array(origins))
    expected = list(strings)
    for place, origin in zip(places, origins, strict=True):
        expected[place] = strings[origin]
    assert moved.to_pylist() == expected
    assert array.to_pylist() == strings
    moved.validate(full=True)
