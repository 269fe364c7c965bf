"""How many examples a test takes: few in ``make test``, many in ``make test-full``."""

from __future__ import annotations

from hypothesis import settings

PLENTY = 100  # hypothesis's own number, that of the thorough profile


def examples(plenty: int) -> int:
    """``plenty`` in the thorough profile, and else as much less as the profile has it."""
    return max(5, plenty * min(settings().max_examples, PLENTY) // PLENTY)
