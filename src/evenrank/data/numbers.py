"""Arrays of numbers from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def real_numbers(values: Any) -> npt.NDArray[np.float64]:
    """The values as 64-bit floats. NumPy would drop the imaginary part of complex ones with a mere warning.

    >>> real_numbers([1, 2.5]).tolist()
    [1.0, 2.5]
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("complex numbers")
    return np.asarray(array, dtype=np.float64)
