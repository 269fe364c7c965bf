"""Columns that grow as a file goes by, written once into the memory where they stay.

Touching new memory costs more than parsing into it. So each piece of a file is copied to its final
place while it is still in the cache, and the memory it was parsed into serves the next piece. Room for
the whole column is asked for at the start, from the size of the file; what is never written costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import values_of
from evenrank.ids import as_strings, offsets_of


class GrowingNumbers:
    """An array that is filled from the front."""

    def __init__(self, dtype: Any, room: int) -> None:
        self._values: npt.NDArray[Any] = np.empty(max(room, 16), dtype)
        self.count = 0

    def extend(self, values: npt.NDArray[Any]) -> None:
        end = self.count + len(values)
        if end > len(self._values):  # the guess was too small
            larger = np.empty(end + end // 2, self._values.dtype)
            larger[: self.count] = self._values[: self.count]
            self._values = larger
        self._values[self.count : end] = values
        self.count = end

    def array(self) -> npt.NDArray[Any]:
        """What has been filled, for reading only: nobody else holds it, and it need not be copied."""
        values = self._values[: self.count]
        values.flags.writeable = False
        return values


class GrowingStrings:
    """An Arrow array of strings that is filled from the front."""

    def __init__(self, room: int, bytes_room: int) -> None:
        self._ends = GrowingNumbers(np.int64, room + 1)
        self._ends.extend(np.zeros(1, np.int64))
        self._bytes = GrowingNumbers(np.uint8, bytes_room)

    def extend(self, column: pa.ChunkedArray) -> None:
        for chunk in column.chunks:
            if len(chunk) == 0:
                continue
            offsets = offsets_of(chunk)
            buffer = chunk.buffers()[2]
            shift = self._bytes.count - int(offsets[0])
            self._ends.extend(offsets[1:] + shift)
            if buffer is not None:
                self._bytes.extend(np.frombuffer(buffer, np.uint8)[int(offsets[0]) : int(offsets[-1])])

    def array(self) -> pa.LargeStringArray:
        count = self._ends.count - 1
        ends, data = pa.py_buffer(self._ends.array()), pa.py_buffer(self._bytes.array())
        return pa.LargeStringArray.from_buffers(count, ends, data)


class GrowingCodes:
    """Strings of which few differ, as codes by first appearance."""

    def __init__(self, room: int) -> None:
        self._places = GrowingNumbers(np.int32, room)  # among the words of all pieces, one after another
        self._words: list[pa.StringArray] = []
        self._count = 0

    def extend(self, column: pa.ChunkedArray) -> None:
        for chunk in column.chunks:
            self._places.extend(values_of(chunk.indices) + np.int32(self._count))
            self._words.append(chunk.dictionary)
            self._count += len(chunk.dictionary)

    def array(self) -> pa.DictionaryArray:
        words = pa.concat_arrays([as_strings([]).cast(pa.string()), *self._words]).dictionary_encode()
        codes = values_of(words.indices)[self._places.array()]
        indices = pa.Array.from_buffers(pa.int32(), len(codes), [None, pa.py_buffer(codes)])
        return pa.DictionaryArray.from_arrays(indices, words.dictionary)
