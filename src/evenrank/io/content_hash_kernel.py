"""The sums of ``content_hash`` by numba: memory is read no faster."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow; ``content_hash.py`` is the typed door to it

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from evenrank.io.content_hash import SHIFT, WORDS

_HALF = np.uint64(32)


def _compiled(function) -> Any:
    try:
        return njit(nogil=True, cache=True, boundscheck=False)(function)
    except RuntimeError:  # neither the package's folder nor the home can be written to
        return njit(nogil=True, boundscheck=False)(function)


@_compiled
def chunk_sums(words, key, sums):
    """``sums[c, s]`` of chunk c, of ``WORDS`` words, with the key and with the key moved on."""
    for chunk in range(sums.shape[0]):
        first = np.uint64(0)
        second = np.uint64(0)
        begin = chunk * WORDS
        for place in range(WORDS):
            word = words[begin + place]
            low, high = np.uint32(word), np.uint32(word >> _HALF)
            one, other = key[place], key[place + SHIFT]
            # the compiler sees products of 32 bits, of which it does several at a time
            first += np.uint64(np.uint32(low + np.uint32(one))) * np.uint64(
                np.uint32(high + np.uint32(one >> _HALF))
            )
            second += np.uint64(np.uint32(low + np.uint32(other))) * np.uint64(
                np.uint32(high + np.uint32(other >> _HALF))
            )
        sums[chunk, 0] = first
        sums[chunk, 1] = second
