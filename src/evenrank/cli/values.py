"""What options may be: integers above 0, lists of them, and pairs of names."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def positive(text: str) -> int:
    """An integer above 0, in plain digits."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"must be an integer > 0, got {text!r}")
    return int(text)


def positives(text: str) -> list[int]:
    """
    >>> positives("5, 10")
    [5, 10]
    """
    try:
        return [positive(part.strip()) for part in text.split(",")]
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"must be integers > 0 separated by commas, got {text!r}") from None


def pair(form: str) -> Callable[[str], tuple[str, str]]:
    """A reader of two parts with ``=`` between them, of a form such as ``RUN=RUN``."""

    def read(text: str) -> tuple[str, str]:
        first, equals, second = text.partition("=")
        if not (first.strip() and equals and second):
            raise argparse.ArgumentTypeError(f"must be {form}, got {text!r}")
        return first.strip(), second

    return read
