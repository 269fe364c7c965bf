"""When the compiled loops are used. Their numbers are the same, so it is only a matter of time."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_KERNEL = "evenrank.measures.orders.kernel"
_WORTH_LOADING = 100_000_000  # steps: numpy takes about as long for them as numba takes to load


def kernel(steps: int) -> Any:
    """The module of compiled loops, where numba is there and they are loaded or worth it; else None."""
    if _KERNEL in sys.modules:
        return sys.modules[_KERNEL]
    if steps < _WORTH_LOADING or find_spec("numba") is None:
        return None
    return import_module(_KERNEL)
