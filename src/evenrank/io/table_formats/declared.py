"""How a format of tables declares itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from evenrank.errors import DataError, Problem
    from evenrank.io.frames import Frame
    from evenrank.io.row_problems import RowProblems
    from evenrank.io.source import Content, Source


class OpenTable(NamedTuple):
    """A file whose columns are read when they are asked for."""

    frame: Frame
    report: RowProblems
    metadata: dict[str, str]
    problems: tuple[Problem, ...] = ()  # lines that are no rows; the rows are read all the same


Nothing = Callable[[str, str], "DataError"]  # the error for a file without rows, of its name and the reason
Open = Callable[["Source", Nothing], OpenTable]


class TableFormat(NamedTuple):
    """``has_header``: the first line names the columns, so a file without one may be taken for a table."""

    suffixes: tuple[str, ...]
    open: Open
    has_header: bool


FORMATS: dict[str, TableFormat] = {}


def declare_format(name: str, *suffixes: str, has_header: bool = False) -> Callable[[Open], Open]:
    """Enter a function that opens a file under the name of its format."""

    def declare(opened: Open) -> Open:
        FORMATS[name] = TableFormat(suffixes, opened, has_header)
        return opened

    return declare


def text_of(source: Source, nothing: Nothing) -> str:
    """The whole file as text; empty files and what is not UTF-8 are errors."""
    return decoded(content_of(source, nothing), source.name)


def content_of(source: Source, nothing: Nothing) -> Content:
    """The whole file without a byte order mark; an empty one is an error."""
    content = source.content().without_bom(source.name)
    if content.buffer.size == 0:
        raise nothing(source.name, "the file is empty")
    return content


def decoded(content: Content, name: str) -> str:
    """The content as text; what is not UTF-8 is an error."""
    from evenrank.errors import DataError, Problem

    data: bytes = content.buffer.to_pybytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        at = content.skipped + error.start
        raise DataError.listing(name, [Problem(line, f"invalid UTF-8 at byte {at} of the file")]) from error
