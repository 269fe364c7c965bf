"""Sixty-four bytes in one step: what numba lacks, said to its compiler (LLVM) directly.

An address is that of the first byte, as a number. All of it is portable: LLVM turns a comparison of 64
bytes into whatever the processor has for it.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# what numba compiles has no types that a checker could follow

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

WINDOW = 64
PADDING = WINDOW  # bytes that must be readable behind a text
BIT, NO_BITS, ALL_BITS = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
BLANK, TAB, NEWLINE, RETURN = 32, 9, 10, 13

_BYTE, _NUMBER = ir.IntType(8), ir.IntType(64)
_BYTES = ir.VectorType(_BYTE, WINDOW)


def compiled(**options: Any) -> Any:
    """``njit`` that keeps its result for the next process, where there is a folder to keep it in."""

    def decorate(function):
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # neither the package's folder nor the home can be written to
            return njit(nogil=True, **options)(function)

    return decorate


def _load(builder, address, kind):
    value = builder.load(builder.inttoptr(address, kind.as_pointer()), typ=kind)
    value.align = 1
    return value


def _reader(kind, result):
    @intrinsic
    def read(context, address):
        def build(context, builder, signature, arguments):
            return _load(builder, arguments[0], kind)

        return result(types.intp), build

    return read


def _mask(test):
    """A function of an address: bit i of its value says whether byte i of 64 passes the test."""

    @intrinsic
    def mask(context, address):
        def build(context, builder, signature, arguments):
            return builder.bitcast(test(builder, _load(builder, arguments[0], _BYTES)), _NUMBER)

        return types.uint64(types.intp), build

    return mask


def _every(value):
    return ir.Constant(_BYTES, [ir.Constant(_BYTE, value)] * WINDOW)


def _between(builder, window, first, last):
    return builder.icmp_unsigned("<", builder.sub(window, _every(first)), _every(last - first + 1))


def _is_word(builder, window):
    """ASCII letters, digits and the underscore; and all that is not ASCII, until it is decoded."""
    letter = _between(builder, builder.or_(window, _every(BLANK)), ord("a"), ord("z"))
    digit = _between(builder, window, ord("0"), ord("9"))
    other = builder.or_(builder.icmp_unsigned("==", window, _every(ord("_"))), _is_high(builder, window))
    return builder.or_(builder.or_(letter, digit), other)


def _is_high(builder, window):
    return builder.icmp_unsigned(">=", window, _every(0x80))


read_byte = _reader(_BYTE, types.uint8)
read_number = _reader(_NUMBER, types.uint64)
word_mask = _mask(_is_word)
high_mask = _mask(_is_high)
filled_mask = _mask(lambda builder, window: builder.icmp_unsigned("!=", window, _every(BLANK)))
tab_mask = _mask(lambda builder, window: builder.icmp_unsigned("==", window, _every(TAB)))
newline_mask = _mask(lambda builder, window: builder.icmp_unsigned("==", window, _every(NEWLINE)))


def _bit_count(operation):
    @intrinsic
    def count(context, number):
        def build(context, builder, signature, arguments):
            return operation(builder, arguments[0])

        return types.int64(types.uint64), build

    return count


# of zero, the first two are 64
lowest_bit = _bit_count(lambda builder, number: builder.cttz(number, ir.Constant(ir.IntType(1), 0)))
empty_bits_above = _bit_count(lambda builder, number: builder.ctlz(number, ir.Constant(ir.IntType(1), 0)))
bits_set = _bit_count(lambda builder, number: builder.ctpop(number))


@compiled(inline="always")
def bits_below(place):
    """The lowest ``place`` bits, for 1 to 64."""
    return ALL_BITS >> np.uint64(WINDOW - place)
