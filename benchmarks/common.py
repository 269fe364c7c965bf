"""What several scripts share: time by the clock, the line about the machine, and the table of a page."""

from __future__ import annotations

import gc
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MARK = "<!-- table -->\n"


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds by the clock, and what the action gives."""
    gc.collect()
    begin = time.perf_counter()
    result = action()
    return time.perf_counter() - begin, result


def machine() -> str:
    return f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}.\n\n"


def write_table(script: str, table: str, about: str | None = None) -> None:
    """Put the table into the page of a script, below its mark; ``about`` is said before it."""
    page = Path(script).with_suffix(".md")
    before, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
    page.write_text(before + mark + (machine() if about is None else about) + table, encoding="utf-8")
