"""How a format of documents declares itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

    from evenrank.io.source import Source

Read = Callable[["Source", Mapping[str, str] | None], Iterator["pa.Table"]]
"""From a source, and what its columns are called, to tables with the columns ``id`` and ``text``."""


class DocumentFormat(NamedTuple):
    """``suffixes`` are those that no table has: ``.tsv`` and the like are known already."""

    suffixes: tuple[str, ...]
    read: Read


DOCUMENT_FORMATS: dict[str, DocumentFormat] = {}


def declare_documents(name: str, *suffixes: str) -> Callable[[Read], Read]:
    """Enter a function that reads documents under the name of their format."""

    def declare(read: Read) -> Read:
        DOCUMENT_FORMATS[name] = DocumentFormat(suffixes, read)
        return read

    return declare
