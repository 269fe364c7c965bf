"""Collecting what is wrong with the rows of a table, and saying where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem


class RowProblems:
    """Problems of one source by row, until there are more than are shown.

    Where the rows come from lines of a file, ``lines`` holds the number of each, or counts them for a
    message, and ``broken`` are lines that are no rows. For rows of anything else ``at`` says where a row is,
    as the query and document of a mapping; without either, a row is called by its number after the ``first``.

    >>> report = RowProblems("frame")
    >>> report.add(2, "score is missing")
    >>> report.check()
    Traceback (most recent call last):
    evenrank.errors.DataError: frame: row 3: score is missing
    """

    def __init__(
        self,
        source: str,
        *,
        lines: Sequence[int] | Callable[[], Sequence[int]] | None = None,
        broken: Sequence[Problem] = (),
        at: Callable[[int], str] | None = None,
        called: str = "row",
        first: int = 0,
    ) -> None:
        self.source = source
        self.lines = lines
        self.at = at
        self.called, self.first = called, first
        self.hint = ""  # what to add to a problem that ``relocated`` tells
        self.subject: Callable[[int], str] | None = None  # what to put before a problem that is added
        self._broken = broken
        self._problems: list[tuple[int, str]] = []
        self._more = False

    def add(self, row: int, what: str) -> None:
        """``row`` counts from 0."""
        self._problems.append((row, what if self.subject is None else self.subject(row) + what))

    @property
    def found(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self._problems or self._broken)

    @property
    def full(self) -> bool:
        """Whether more is known than will be told."""
        return len(self._problems) + len(self._broken) > PROBLEMS_SHOWN

    def check(self) -> None:
        """Raise if there is anything to tell."""
        if self.found:
            raise self.error()

    def error(self) -> DataError:
        rows = sorted(self._problems, key=lambda problem: problem[0])
        numbered = [Problem(self.line(row), what) for row, what in rows]
        if self.lines is not None:
            return DataError.listing(self.source, sorted([*numbered, *self._broken]), more=self._more)
        shown = [f"{self.where(row)}: {what}" for row, what in rows[:PROBLEMS_SHOWN]]
        if self._more or len(rows) > PROBLEMS_SHOWN:
            shown.append(f"{self.source}: only the first {PROBLEMS_SHOWN} problems are listed")
        error = DataError("\n".join(shown))
        error.problems = tuple(numbered[:PROBLEMS_SHOWN])
        return error

    def relocated(self, error: DataError) -> DataError:
        """The same problems, found in columns by row number, told by the places of this source, with those
        of other rows that are known already."""
        if not error.problems:
            return error
        self._more = error.more
        known = {row for row, _ in self._problems}
        for (number, what), first in zip_longest(error.problems, error.firsts):
            if number - 1 not in known:
                before = (
                    ""
                    if first is None
                    else f" (first on {'row' if self.lines is None else 'line'} {self.line(first)})"
                )
                self._problems.append((number - 1, what + before + self.hint))
        return self.error()

    def line(self, row: int) -> int:
        """The number of a row, or of the line that it begins in."""
        if callable(self.lines):
            self.lines = self.lines()
        return row + 1 if self.lines is None else self.lines[row]

    def where(self, row: int) -> str:
        """The source and the place of a row in it."""
        if self.at is not None:
            return self.at(row)
        if self.lines is None:
            return f"{self.source}: {self.called} {self.first + row + 1}"
        return f"{self.source}:{self.line(row)}"
