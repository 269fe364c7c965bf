"""How often functions are called, wherever they were imported to."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest


def counted_calls(monkeypatch: pytest.MonkeyPatch, *functions: Callable[..., Any]) -> Counter[str]:
    """The calls of each function by its name, from now on, by all modules that are loaded."""
    calls: Counter[str] = Counter()

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            calls[function.__name__] += 1
            return function(*given, **named)

        return call

    for function in functions:
        wrapper = counting(function)
        for name, module in list(sys.modules.items()):
            if name.startswith("evenrank") and getattr(module, function.__name__, None) is function:
                monkeypatch.setattr(module, function.__name__, wrapper)
    return calls


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
