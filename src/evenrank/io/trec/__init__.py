"""TREC files: the fast way where the file is clean, the careful one where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from evenrank.errors import DataError
from evenrank.io.layout import Columns, Layout
from evenrank.io.source import Source
from evenrank.io.trec import careful, fast

Built = TypeVar("Built")


def read(source: Source, layout: Layout, build: Callable[[Columns], Built]) -> Built:
    """What ``build`` makes of the file. A file with any problem gives one error and nothing else."""
    content = source.content().without_bom(source.name)
    if layout.described:
        content = content.without_description()
    columns = fast.parse(content, layout)
    if columns is not None:
        try:
            return build(columns)
        except DataError:
            pass  # a duplicate: the careful way finds the line of its first occurrence
        del columns
    return build(careful.parse(content, layout, source.name))
