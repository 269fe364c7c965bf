"""How much a test takes: a little in ``make test``, all in ``make test-full``."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import settings

PLENTY = 100  # hypothesis's own number, that of the thorough profile


def examples(plenty: int) -> int:
    """``plenty`` in the thorough profile, and else as much less as the profile has it."""
    return max(5, plenty * min(settings().max_examples, PLENTY) // PLENTY)


def some(values: Sequence[object], count: int = 1) -> list[object]:
    """The values of a parameter, of which ``make test`` takes the first ``count``."""
    rest = [pytest.param(value, marks=pytest.mark.slow) for value in values[count:]]
    return [*values[:count], *rest]
