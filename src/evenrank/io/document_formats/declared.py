"""How a format of documents declares itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from evenrank.errors import DataError
    from evenrank.io.reading import Documents, Reading

Read = Callable[["Reading"], Iterator["Documents | DataError"]]
"""The documents of a stretch of a file. What is wrong with some of them is given in their place, where those
behind them can be read; it is raised where they cannot."""

R = TypeVar("R", bound=Read)
Edge = tuple[int, int | None, int]  # begin, end and bytes of a stretch
Cut = Callable[["Reading", int, int], list[Edge]]
"""Stretches of a file of so many bytes, of about the size that follows, which can be read apart."""


def not_cut(reading: Reading, total: int, size: int) -> list[Edge]:
    """A file that can only be read from its beginning to its end."""
    return [(0, None, total)]


def cut_lines(reading: Reading, total: int, size: int) -> list[Edge]:
    """Whole blocks of a plain file of lines; all of one that is packed."""
    from evenrank.io.ranges import ranges_of

    file = ranges_of(reading.source)
    if file is None:
        return not_cut(reading, total, size)
    file.close()
    step = max(1, size // reading.block) * reading.block
    edges = ((begin, min(begin + step, total)) for begin in range(0, total, step))
    return [(begin, end, end - begin) for begin, end in edges]


class DocumentFormat(NamedTuple):
    """``suffixes`` are those that no table has: ``.tsv`` and the like are known already."""

    suffixes: tuple[str, ...]
    read: Read
    cut: Cut


DOCUMENT_FORMATS: dict[str, DocumentFormat] = {}


def declare_documents(name: str, *suffixes: str, cut: Cut = not_cut) -> Callable[[R], R]:
    """Enter a function that reads documents under the name of their format."""

    def declare(read: R) -> R:
        DOCUMENT_FORMATS[name] = DocumentFormat(suffixes, read, cut)
        return read

    return declare
