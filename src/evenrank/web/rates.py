"""How often somebody may ask: a bucket of tokens for each, in memory only."""

from __future__ import annotations

import hashlib
import ipaddress
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
        name = self._name(who)
        with self._lock:
            at = self._clock()
            left, before = self._buckets.pop(name, (float(self._burst), at))
            left = min(float(self._burst), left + (at - before) * self._per_second)
            allowed = left >= 1
            self._buckets[name] = (left - 1 if allowed else left, at)
            while len(self._buckets) > MOST_KEYS:
                self._buckets.popitem(last=False)
        return allowed

    def give_back(self, who: str) -> None:
        """Undo what ``allows`` took."""
        name = self._name(who)
        with self._lock:
            left, before = self._buckets.get(name, (float(self._burst), self._clock()))
            self._buckets[name] = (left + 1, before)  # ``allows`` cuts what is more than the burst

    def _name(self, who: str) -> bytes:
        return hashlib.blake2b(who.encode(), key=self._key, digest_size=16).digest()


def visitor_of(address: str) -> str:
    """Whom an address counts for: of IPv6 the first half, since one visitor has all of the second.

    >>> visitor_of("192.0.2.7"), visitor_of("2001:db8::1") == visitor_of("2001:db8::ffff:2")
    ('192.0.2.7', True)
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
