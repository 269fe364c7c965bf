"""How fast a server is asked, and how long to wait after a failure."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from evenrank.errors import ParameterError


@dataclass(frozen=True)
class Clock:
    """Time and chance from outside, so that a test neither waits nor is lucky."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    random: Callable[[], float] = field(default_factory=lambda: random.Random().random)


class RateLimit:
    """At most ``rate`` requests a second, evenly spaced, over all threads.

    >>> waits = []
    >>> limit = RateLimit(5.0, Clock(now=lambda: 0.0, sleep=waits.append))
    >>> for _ in range(3): limit.wait()
    >>> waits
    [0.2, 0.4]
    """

    def __init__(self, rate: float, clock: Clock | None = None) -> None:
        if not rate > 0:
            raise ParameterError(f"rate must be a number of requests a second > 0, got {rate!r}")
        self._clock = clock or Clock()
        self._interval = 1.0 / rate  # 0 where the rate is infinite
        self._next = float("-inf")
        self._lock = threading.Lock()

    def wait(self) -> None:
        with self._lock:
            now = self._clock.now()
            begin = max(now, self._next)
            self._next = begin + self._interval
        if begin > now:
            self._clock.sleep(begin - now)


def back_off(attempt: int, clock: Clock, *, first: float = 0.5, most: float = 30.0) -> float:
    """Seconds to wait after failure number ``attempt`` (from 0): doubled each time, the second half of it
    random, so that several clients do not come back together.

    >>> still = Clock(random=lambda: 1.0)
    >>> [back_off(attempt, still) for attempt in range(4)]
    [0.5, 1.0, 2.0, 4.0]
    """
    whole = min(most, first * 2.0**attempt)
    return whole / 2 + whole / 2 * clock.random()
