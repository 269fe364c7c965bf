"""How many functions are called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def python_calls(work: Callable[[], Any]) -> int:
    """How many functions the interpreter calls: a loop in Python calls one for each step."""
    count = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count
