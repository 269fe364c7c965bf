"""A table on a terminal: columns that fit its width, blocks where they do not, and colour."""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from evenrank.tables.cells import Column, Tone, Value
from evenrank.text import display_width, fit

HEAD = "1"  # bold
BEST = "1;32"  # bold and green
_COLOURS = {Tone.GOOD: "32", Tone.BAD: "31", Tone.FAINT: "2"}
_LEAST = 12  # columns of a terminal that text keeps where it goes on in the next line
_LEAST_OF_NAMES = 20  # that the names of rows keep
_LONGEST_WORD = 40  # a longer word may be broken where a column wraps
_GAP = 2  # columns of a terminal between two columns of a table

Cells = Sequence[Sequence[str]]


def wants_colour() -> bool:
    """Whether text may be coloured: on a terminal, unless the variable NO_COLOR is set."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def colour_of(cell: Any) -> str:
    """The code that a terminal colours a cell by, or nothing."""
    if isinstance(cell, Value) and (cell.best or cell.tone is not None):
        return BEST if cell.best else _COLOURS[cell.tone]  # type: ignore[index]
    number = cell.value if isinstance(cell, Value) else cell
    return _COLOURS[Tone.FAINT] if isinstance(number, float) and math.isnan(number) else ""


def column_sizes(cells: Cells) -> list[int]:
    return [max(map(display_width, column)) for column in zip(*cells, strict=True)]


def total_width(sizes: Sequence[int]) -> int:
    return sum(sizes) + _GAP * (len(sizes) - 1)


def spare_width(columns: Sequence[Column], sizes: Sequence[int]) -> int:
    """Columns of a terminal that text can give back."""
    flexible = (size for size, column in zip(sizes, columns, strict=True) if column.wraps)
    return sum(max(0, size - _LEAST) for size in flexible)


def fitted(
    columns: Sequence[Column], cells: Cells, width: int, *, names_wrap: bool = True
) -> tuple[list[Column], list[int]]:
    """The columns and their sizes: no word is broken where text wraps. Names of rows wrap, too, where no
    other column would fit beside them, unless ``names_wrap`` is False."""
    columns, sizes = list(columns), column_sizes(cells)
    names = _naming_columns(columns) if names_wrap else 0

    def over_beside_names() -> int:
        return total_width([*sizes[:names], max(sizes[names:], default=0)]) - width

    def cut(place: int, over: int, least: int) -> int:
        kept = max(sizes[place] - over, min(sizes[place], least))
        over -= sizes[place] - kept
        sizes[place] = kept
        return over

    if over_beside_names() > 0:
        columns[:names] = [replace(column, wraps=True) for column in columns[:names]]
    over = total_width(sizes) - width
    for place, column in enumerate(columns):
        if over > 0 and column.wraps:
            words = [word for row in cells for word in row[place].split()]
            longest = max((min(display_width(word), _LONGEST_WORD) for word in words), default=0)
            over = cut(place, over, max(_LEAST, longest))
    over = over_beside_names()
    for place in range(names):
        if over > 0:
            over = cut(place, over, _LEAST_OF_NAMES)
    return columns, sizes


def _naming_columns(columns: Sequence[Column]) -> int:
    """How many columns name a row: the first, and those with text beside it."""
    numbers = (place for place, column in enumerate(columns) if place and column.right)
    return max(1, min(next(numbers, len(columns)), len(columns) - 1))


def blocks_of(columns: Sequence[Column], sizes: Sequence[int], width: int) -> list[list[int]]:
    """The places of the columns that stand beside each other.

    Where a table is too wide, its columns are printed in several blocks. Each repeats the columns with
    names, so that rows can be told apart.
    """
    if total_width(sizes) <= width:
        return [list(range(len(sizes)))]
    names = _naming_columns(columns)
    while names > 1 and total_width([*sizes[:names], max(sizes[names:])]) > width:
        names -= 1
    blocks: list[list[int]] = []
    for place in range(names, len(sizes)):
        if not blocks or total_width([sizes[one] for one in (*blocks[-1], place)]) > width:
            blocks.append([*range(names)])
        blocks[-1].append(place)
    return blocks


def row_lines(
    columns: Sequence[Column], cells: Sequence[str], sizes: Sequence[int], colours: Sequence[str]
) -> Iterator[str]:
    """A row: one line, or as many as the longest text takes in a column that wraps."""
    parts = [
        textwrap.wrap(cell, size, break_on_hyphens=False) or [""] if column.wraps else [cell]
        for cell, size, column in zip(cells, sizes, columns, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=""):
        shown = []
        for cell, size, column, colour in zip(line, sizes, columns, colours, strict=True):
            text = fit(cell, size)
            space = " " * (size - display_width(text))
            text = f"\x1b[{colour}m{text}\x1b[0m" if colour and text else text
            shown.append(space + text if column.right else text + space)
        yield (" " * _GAP).join(shown).rstrip()
