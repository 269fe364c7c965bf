"""Scores and grades as text: one grammar for every format."""

from __future__ import annotations

import json
import math
import re

from evenrank.errors import shortened

GRADE_PATTERN = r"^[+-]?[0-9]+$"
GRADE_LIMIT = 2**31
ID_LIMIT = 10_000  # bytes: no id is that long, but a text in the wrong column is

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
SCORE_PATTERN = rf"^{_NUMBER}$"
_SCORE = re.compile(_NUMBER.encode())
_GRADE = re.compile(rb"[+-]?[0-9]+")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


class BadValue(ValueError):
    """Text that is no score or grade; the message says why."""


def parse_score(text: bytes, role: str = "score") -> float:
    """A decimal number that is finite as a 64-bit float.

    >>> parse_score(b"-1.5e3")
    -1500.0
    """
    if _SCORE.fullmatch(text):
        value = float(text)
        if math.isinf(value):
            raise BadValue(f"{role} {quoted(text)} is too large for a 64-bit float")
        return value
    kind = "not finite" if _NOT_FINITE.fullmatch(text) else "not a number"
    raise BadValue(f"{role} {quoted(text)} is {kind}")


def parse_grade(text: bytes) -> int:
    """A whole number that fits 32 bits.

    >>> parse_grade(b"+2")
    2
    """
    if not _GRADE.fullmatch(text):
        raise BadValue(f"grade {quoted(text)} is not a whole number")
    # leading zeros carry nothing, and int() refuses thousands of digits
    digits = text.lstrip(b"+-").lstrip(b"0") or b"0"
    value = int(digits) if len(digits) <= 10 else GRADE_LIMIT * 2
    value = -value if text.startswith(b"-") else value
    if not -GRADE_LIMIT <= value < GRADE_LIMIT:
        raise BadValue(f"grade {quoted(text)} does not fit 32 bits")
    return value


def is_whole(text: bytes) -> bool:
    """Whether the text is a whole number, of any size.

    >>> is_whole(b"12"), is_whole(b"1.0")
    (True, False)
    """
    return _GRADE.fullmatch(text) is not None


def parse_ntcir_grade(text: bytes) -> int:
    """A grade as NTCIR writes it, with or without the L.

    >>> parse_ntcir_grade(b"L2")
    2
    """
    try:
        return parse_grade(text.removeprefix(b"L"))
    except BadValue:
        if _GRADE.fullmatch(text.removeprefix(b"L")):
            raise
        raise BadValue(f"grade {quoted(text)} is not one of L0, L1, L2, ..") from None


def long_id(role: str, text: bytes | str, length: int) -> str:
    """What to say of an id that is longer than any id is."""
    return (
        f"{role} {quoted(text)} is {length:,} bytes long; an id has at most {ID_LIMIT:,}: "
        "is this column a text, or are the fields separated in another way?"
    )


def quoted(text: bytes | str) -> str:
    """For a message: in quotes, with everything that does not print escaped, and not too long."""
    return repr(shortened(text.decode("utf-8", "backslashreplace") if isinstance(text, bytes) else text))


def describe_json_error(error: Exception) -> str:
    """What is wrong with a line of JSON, whose number is said by whoever knows it.

    >>> try:
    ...     json.loads('{"id" "d1"}')
    ... except ValueError as error:
    ...     describe_json_error(error)
    "Expecting ':' delimiter: column 7"
    """
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if error.doc.startswith("\ufeff"):
        return "a byte order mark stands before it: remove it, as where files were joined that begin with one"
    return f"{error.msg}: column {error.colno}"


def is_number(text: str) -> bool:
    """Whether Python reads it as one, also as ``nan`` or ``1_000``."""
    try:
        float(text)
    except ValueError:
        return False
    return True
