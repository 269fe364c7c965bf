"""A page behind a password (HTTP Basic), with few guesses and no answer that tells a guess from a block."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections import deque
from collections.abc import Callable

from evenrank.web.rates import TokenBucket

GUESSES, ALL_GUESSES = 5, 30  # a minute: from one address, and from all addresses together
SESSIONS = 20  # that gave the password and are remembered


class Password:
    """Tells whether a request may pass. While the guesses are used up, the right password is refused as well:
    otherwise the answer would tell it. A session that has given it before has guesses of its own, so that
    strangers cannot keep its owner out."""

    def __init__(self, password: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._expected = _digest(password)
        self._each = TokenBucket(GUESSES / 60, GUESSES, clock)
        self._all = TokenBucket(ALL_GUESSES / 60, ALL_GUESSES, clock)
        self._known: deque[str] = deque(maxlen=SESSIONS)

    def status(self, authorization: str | None, session: str, address: str) -> int:
        """200, 401 (no password, or a wrong one) or 429 (not looked at)."""
        if authorization is None:
            return 401
        buckets = [(self._each, address), (self._all, "")]
        if session in self._known:
            buckets = [(self._each, session)]
        if not all(bucket.allows(who) for bucket, who in buckets):
            return 429
        if not hmac.compare_digest(_digest(_password(authorization)), self._expected):
            return 401
        for bucket, who in buckets:  # the right password is no guess
            bucket.give_back(who)
        if session not in self._known:
            self._known.append(session)
        return 200


def _digest(text: str) -> bytes:
    """Of one length, so that comparing does not tell how long the password is."""
    return hashlib.sha256(text.encode()).digest()


def _password(authorization: str) -> str:
    kind, _, value = authorization.partition(" ")
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""
