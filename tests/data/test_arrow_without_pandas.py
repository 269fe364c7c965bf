"""Arrow columns as arrays and texts as Arrow columns: what Arrow itself makes of them, without pandas."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank.arrays import values_of
from evenrank.ids import as_strings

KINDS = [pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.bool_()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("gap", [False, True], ids=["whole", "with a gap"])
def test_values_are_those_of_arrow(kind: pa.DataType, gap: bool) -> None:
    rows = [1, 0, None if gap else 1, 1, 0, 1, 1, 0, 0, 1, 1]
    column = pa.array(rows).cast(kind)
    for part in (column, column.slice(3, 7), column.slice(0, 0)):
        for found in (values_of(part), values_of(pa.chunked_array([part], kind))):
            expected = part.to_numpy(zero_copy_only=False)
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
    split = pa.chunked_array([column.slice(0, 4), column.slice(4)])
    np.testing.assert_array_equal(values_of(split), column.to_numpy(zero_copy_only=False))
    assert len(values_of(pa.chunked_array([], kind))) == 0


@given(st.lists(st.text(max_size=9)))
def test_texts_are_those_of_arrow(texts: list[str]) -> None:
    made = as_strings(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.large_string()))
    assert as_strings(iter(texts)).equals(made)


def test_gaps_and_what_is_no_text_are_for_arrow_to_judge() -> None:
    assert as_strings(["a", None]).null_count == 1
    with pytest.raises((pa.ArrowException, TypeError)):
        as_strings(["a", 1])
    with pytest.raises(ValueError, match="surrogate"):
        as_strings(["a", "\ud800"])
