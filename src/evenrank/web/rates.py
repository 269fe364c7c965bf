"""How often somebody may ask: a bucket of tokens for each, in memory only."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEYS = 50_000


class TokenBucket:
    """``burst`` requests at once, then ``per_second`` of them. Who asks is kept as a digest with a key that
    is drawn anew when the server starts, and never written anywhere.

    >>> limit = TokenBucket(1.0, 2, clock=lambda: 0.0)
    >>> [limit.allows("x") for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._key = secrets.token_bytes(16)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, who: str) -> bool:
        name = hashlib.blake2b(who.encode(), key=self._key, digest_size=16).digest()
        with self._lock:
            at = self._clock()
            left, before = self._buckets.pop(name, (float(self._burst), at))
            left = min(float(self._burst), left + (at - before) * self._per_second)
            allowed = left >= 1
            self._buckets[name] = (left - 1 if allowed else left, at)
            while len(self._buckets) > MOST_KEYS:
                self._buckets.popitem(last=False)
        return allowed
