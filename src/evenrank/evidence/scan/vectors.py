"""Sixty-four bytes in one step: what numba lacks, said to its compiler (LLVM) directly.

An address is that of the first byte, as a number. LLVM turns a comparison of 64 bytes into whatever the
processor has for it. Only the look-up of 64 bytes in a table needs an instruction that not all have
(AVX-512 VBMI); without it ``may_begin`` says yes to everything, which costs time and changes nothing.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return, attr-defined"
# what numba compiles has no types that a checker could follow

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, njit, types
from numba.extending import intrinsic

from evenrank.evidence.scan.tables import sketch_places

WINDOW = 64
PADDING = WINDOW + 8  # bytes that must be readable behind a text
BIT, NO_BITS, ALL_BITS = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
BLANK = 32

_BYTE, _INTEGER, _NUMBER = ir.IntType(8), ir.IntType(32), ir.IntType(64)
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


def _writer(kind, accepted):
    @intrinsic
    def write(context, address, value):
        def build(context, builder, signature, arguments):
            builder.store(arguments[1], builder.inttoptr(arguments[0], kind.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.intp, accepted), build

    return write


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


def _ends_json(builder, window):
    """Quotes, backslashes and control characters, at which a string of JSON may end."""
    quote = builder.icmp_unsigned("==", window, _every(ord('"')))
    backslash = builder.icmp_unsigned("==", window, _every(ord("\\")))
    return builder.or_(builder.or_(quote, backslash), builder.icmp_unsigned("<", window, _every(BLANK)))


read_byte = _reader(_BYTE, types.uint8)
read_integer = _reader(_INTEGER, types.int32)
read_number = _reader(_NUMBER, types.uint64)
write_byte = _writer(_BYTE, types.uint8)
write_number = _writer(_NUMBER, types.uint64)
word_mask = _mask(_is_word)
high_mask = _mask(_is_high)
json_mask = _mask(_ends_json)
filled_mask = _mask(lambda builder, window: builder.icmp_unsigned("!=", window, _every(BLANK)))


@intrinsic
def same_mask(context, address, spelling):
    """Bit i says whether byte i of 64, made small if it is an ASCII capital, is byte i of the spelling."""

    def build(context, builder, signature, arguments):
        window, letters = (_load(builder, argument, _BYTES) for argument in arguments)
        is_capital = _between(builder, window, ord("A"), ord("Z"))
        small = builder.select(is_capital, builder.or_(window, _every(BLANK)), window)
        return builder.bitcast(builder.icmp_unsigned("==", small, letters), _NUMBER)

    return types.uint64(types.intp, types.intp), build


def _can_look_up():
    try:
        features = get_host_cpu_features()
    except RuntimeError:  # LLVM does not know this processor
        return False
    own_choice = config.CPU_NAME is not None or config.CPU_FEATURES is not None or not config.ENABLE_AVX
    return bool(features.get("avx512vbmi")) and not own_choice


@intrinsic
def may_begin(context, address, inside, sketch):
    """Bit i is set wherever a token that begins at byte i may be a word, by its first four letters.

    ``inside`` tells tokens from the rest, so that a short token differs from the beginning of a long one;
    ``sketch`` is the address of that table, where ``tables.sketch_places`` says what stands where.
    """

    def letters(builder, address, inside, place):
        """The letters so many places behind each byte, in lower case; 0 where the token has ended."""
        there = inside
        for step in range(1, place + 1):
            there = builder.and_(there, builder.lshr(inside, ir.Constant(_NUMBER, step)))
        window = _load(builder, builder.add(address, ir.Constant(_NUMBER, place)), _BYTES)
        is_there = builder.bitcast(there, ir.VectorType(ir.IntType(1), WINDOW))
        return builder.select(is_there, builder.or_(window, _every(BLANK)), _every(0))

    def build(context, builder, signature, arguments):
        if not _can_look_up():
            return ir.Constant(_NUMBER, (1 << WINDOW) - 1)
        address, inside, sketch = arguments
        kind = ir.FunctionType(_BYTES, [_BYTES, _BYTES])
        permute = builder.module.declare_intrinsic("llvm.x86.avx512.permvar.qi.512", (), kind)
        first, second, third, fourth = (letters(builder, address, inside, place) for place in range(4))
        kinds = _every(0xFF)
        for row, places in enumerate(sketch_places(builder.add, first, second, third, fourth)):
            table = _load(builder, builder.add(sketch, ir.Constant(_NUMBER, WINDOW * row)), _BYTES)
            kinds = builder.and_(kinds, builder.call(permute, [table, places]))
        return builder.bitcast(builder.icmp_unsigned("!=", kinds, _every(0)), _NUMBER)

    return types.uint64(types.intp, types.uint64, types.intp), build


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
