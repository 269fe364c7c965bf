"""A command that makes many objects and no cycles of them, without the search for such cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Objects that nothing refers to are freed as always; only cycles wait until the block ends.

    A report keeps what it makes until it is written, and the collector would look at all of it many times.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
