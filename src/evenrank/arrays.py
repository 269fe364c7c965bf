"""Arrays: their types, and what every layer does with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.errors import DataError

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
UInt64s = npt.NDArray[np.uint64]


def check_lengths(**columns: Any) -> None:
    """Raise unless all columns have as many rows as the first."""
    if len({len(column) for column in columns.values()}) > 1:
        sizes = ", ".join(f"{len(column)} {name}" for name, column in columns.items())
        raise DataError(f"columns of different length: {sizes}")


def owned(array: npt.NDArray[Any], values: Any) -> npt.NDArray[Any]:
    """The array made of ``values``, to be locked: a copy where the caller could still write to it."""
    fresh = isinstance(values, (list, tuple, pa.Array, pa.ChunkedArray))
    return array.copy() if array.flags.writeable and not fresh else array


def real_numbers(values: Any) -> Floats:
    """The values as 64-bit floats. NumPy would drop the imaginary part of complex ones with a mere warning.

    >>> real_numbers([1, 2.5]).tolist()
    [1.0, 2.5]
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers")
    return np.asarray(array, dtype=np.float64)


def lock(*columns: npt.NDArray[Any]) -> None:
    for column in columns:
        column.flags.writeable = False


def ragged(starts: Int64s, lengths: Int64s) -> Int64s:
    """``starts[0] .. starts[0] + lengths[0] - 1, starts[1] ..`` as one array."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    rows: Int64s = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return rows


def in_order(rows: npt.NDArray[Any], count: int) -> bool:
    """Whether the rows are all ``count`` of them one after another, so that nothing needs to move."""
    flat = rows.reshape(-1)
    return len(flat) == count and (count == 0 or flat[0] == 0) and bool((flat[1:] - flat[:-1] == 1).all())


def rows_or_zero(values: npt.NDArray[Any], rows: Int64s) -> npt.NDArray[Any]:
    """``values[rows]``, with zeros where the row is -1."""
    if in_order(rows, len(values)):
        return values.reshape(*rows.shape, *values.shape[1:])
    there = rows >= 0
    if there.all():
        return values[rows]
    out = np.zeros((*rows.shape, *values.shape[1:]), dtype=values.dtype)
    out[there] = values[rows[there]]
    return out


def numbers(values: npt.NDArray[Any]) -> pa.Array:
    """An Arrow view of numbers. (``pa.array`` would import pandas wherever it is installed.)"""
    own = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(own.dtype), len(own), [None, pa.py_buffer(own)])


def integers(values: npt.NDArray[Any]) -> pa.Int64Array:
    """An Arrow view of whole numbers."""
    return numbers(values.astype(np.int64, copy=False))


def values_of(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The values of an Arrow column of numbers or truth values: a view where it lies in one piece.

    Arrow's ``to_numpy`` would import pandas wherever it is installed, which takes a third of a second.

    >>> values_of(pa.chunked_array([[1, 2], [3]])).tolist()
    [1, 2, 3]
    """
    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks != 1:
            pieces = [values_of(chunk) for chunk in column.chunks]
            return np.concatenate(pieces) if pieces else np.empty(0, column.type.to_pandas_dtype())
        column = column.chunk(0)
    if pa.types.is_boolean(column.type) and not column.null_count:
        return values_of(column.cast(pa.uint8())).view(np.bool_)
    buffer = column.buffers()[-1]
    plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if column.null_count or buffer is None or not plain:
        found: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return found
    kind = np.dtype(column.type.to_pandas_dtype())
    return np.frombuffer(buffer, kind, len(column), column.offset * kind.itemsize)
