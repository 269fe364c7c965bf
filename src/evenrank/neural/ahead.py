"""Work that a second thread does one item ahead, so that a GPU does not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item], prepare: Callable[[Item], object]) -> Iterator[Item]:
    """Every item, prepared; while one is worked on, the next is prepared.

    >>> made = []
    >>> list(ahead("ab", made.append)), made
    (['a', 'b'], ['a', 'b'])
    """
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        waiting = None
        for item in items:
            coming = pool.submit(prepare, item)
            if waiting is not None:
                yield waiting[0]
                # only now, so that the work on that item and this one's preparation overlap
            coming.result()
            waiting = (item,)
        if waiting is not None:
            yield waiting[0]
