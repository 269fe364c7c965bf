"""What can go wrong, as one tree.

    EvenrankError
    ├── DataError (ValueError)            the input is wrong; lists what and where
    │   ├── DamagedError                  a file of evenrank's is not what was written: it must be made again
    │   ├── DiskError                     the system does not let a file be read or written
    │   ├── MissingEvidenceError          ranked documents have no evidence
    │   └── RemoteError                   a server cannot be reached, or its answer cannot be used
    ├── ParameterError (ValueError)       a measure or an option was given a wrong value
    │   └── UnknownNameError              no measure of that name; names the closest
    ├── InputTypeError (TypeError)        an object of a kind that is not accepted
    └── MissingExtraError (ImportError)   an optional dependency is not installed

    EvenrankWarning (UserWarning)         accepted, but worth a look

A message says what is wrong, where, and the way out.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import groupby
from typing import Any, NamedTuple

PROBLEMS_SHOWN = 20

_PIECE = 200  # characters of one quoted piece of input in a message
_WORD = 500  # of a word: a path may be long
# a quote that opens after a blank or a bracket: an apostrophe inside a word is none
_QUOTED = re.compile(rf"""(?<![^\s(\[{{=,:])(['"])((?:(?!\1)[^\\\n]|\\.){{{_PIECE + 1},}})\1""")
_ENDLESS = re.compile(rf"\S{{{_WORD + 1},}}")


def shortened(text: str, limit: int = 80) -> str:
    """The beginning of a text, where it is longer than ``limit``.

    >>> shortened("an id that never ends", 10)
    'an id t...'
    """
    return text if len(text) <= limit else text[: limit - 3] + "..."


def readable(message: str) -> str:
    """A message without endless pieces of input: what is quoted, and words, are cut where they are too long.

    >>> readable(f"no such group: {'x' * 100_000!r}") == f"no such group: '{'x' * 197}...'"
    True
    """
    if len(message) <= _PIECE:
        return message
    message = _QUOTED.sub(lambda found: f"{found[1]}{shortened(found[2], _PIECE)}{found[1]}", message)
    return _ENDLESS.sub(lambda found: f"{found[0][:200]}...{found[0][-100:]}", message)


# what is said to Python and to a shell: ``qrels= (--qrels FILE)``, and ``(qrels=, --qrels FILE)``
_VALUE = r"(?:\w+\([^()]*\)|\[[^\]]*\]|\{[^}]*\}|'[^']*'|[^\s(),]*)"
_BOTH = (
    re.compile(rf"(?P<python>\b[a-z_]+={_VALUE}) \((?P<shell>--[^()]*)\)"),
    re.compile(rf"(?<=\()(?P<python>[a-z_]+={_VALUE}), (?P<shell>--[^()]*)(?=\))"),
)
_LINE_OF_FILE = re.compile(r"(?P<source>.*?):(?P<line>[0-9]+): (?P<what>.*)", re.DOTALL)
REPEATED = 3  # neighbouring lines with one problem, from which on it is said once
_SHELL: ContextVar[bool] = ContextVar("evenrank messages are read in a shell", default=False)


def for_reader(message: str) -> str:
    """The message with the names that its reader can use: keywords in Python, options in a shell.

    >>> for_reader("RR needs judgements: pass qrels= (--qrels FILE)")
    'RR needs judgements: pass qrels='
    """
    form = r"\g<shell>" if _SHELL.get() else r"\g<python>"
    if "--" in message:
        for both in _BOTH:
            message = both.sub(form, message)
    return message


@contextmanager
def read_in_a_shell() -> Iterator[None]:
    """Messages made in this block name options, not keywords."""
    before = _SHELL.set(True)
    try:
        yield
    finally:
        _SHELL.reset(before)


class EvenrankError(Exception):
    """Anything that this package raises on purpose."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(
            *(for_reader(readable(part)) if isinstance(part, str) else part for part in arguments)
        )


class Problem(NamedTuple):
    """One thing wrong with an input: a 1-based line (or row) and what it is."""

    line: int
    what: str


class DataError(EvenrankError, ValueError):
    """Input that cannot be used. Nothing of it was loaded.

    >>> print(DataError.listing("bm25.trec", [Problem(7, "score 'nan' is not finite")]))
    bm25.trec:7: score 'nan' is not finite
    """

    problems: tuple[Problem, ...] = ()
    listed: tuple[str, ...] = ()  # the lines of the message that are a problem each
    more: bool = False  # there are problems beyond those listed
    firsts: tuple[int, ...] = ()  # where each problem repeats another row, that row, from 0

    @classmethod
    def listing(cls, source: str, problems: Sequence[Problem], *, more: bool = False) -> DataError:
        """All problems of one source, at most twenty of them, one on each line; a problem that neighbouring
        lines share is there once."""
        shown = list(problems[:PROBLEMS_SHOWN])
        lines = [f"{source}:{problem.line}: {problem.what}" for problem in shown]
        rest = []
        if more or len(problems) > PROBLEMS_SHOWN:
            rest.append(f"{source}: only the first {len(shown)} problems are listed")
        error = cls("\n".join([*_without_repeats(lines), *rest]))
        error.problems = tuple(shown)
        error.listed = tuple(lines)
        error.more = more or len(problems) > PROBLEMS_SHOWN
        return error

    @classmethod
    def joined(cls, errors: Sequence[DataError]) -> DataError:
        """What is wrong with several sources as one error, with at most twenty problems over all of them.

        >>> one, other = (DataError.listing(name, [Problem(7, "no tab")]) for name in ("a.tsv", "b.tsv"))
        >>> print(DataError.joined([one, other]))
        a.tsv:7: no tab
        b.tsv:7: no tab
        """
        if len(errors) == 1:
            return errors[0]
        lines = [line for error in errors for line in error.listed or [str(error)]]
        more = len(lines) > PROBLEMS_SHOWN or any(error.more for error in errors)
        shown = _without_repeats(lines[:PROBLEMS_SHOWN])
        if more:
            shown.append(f"only the first {min(len(lines), PROBLEMS_SHOWN)} problems are listed")
        joined = cls("\n".join(shown))
        joined.problems = tuple(problem for error in errors for problem in error.problems)[:PROBLEMS_SHOWN]
        joined.listed = tuple(lines[:PROBLEMS_SHOWN])
        joined.more = more
        return joined


def _without_repeats(lines: Sequence[str]) -> list[str]:
    """The lines of a message, those of neighbours in a file that have the same problem as one.

    >>> _without_repeats(["a.tsv:1: no tab", "a.tsv:2: no tab", "a.tsv:3: no tab", "a.tsv:7: no tab"])
    ['a.tsv:1: no tab; the same in lines 2 to 3', 'a.tsv:7: no tab']
    """
    told: list[str] = []
    for (_, _, before), group in groupby(enumerate(lines), _shared_problem):
        places, texts = zip(*group, strict=True)
        if len(texts) < REPEATED:
            told += texts
        else:
            told.append(f"{texts[0]}; the same in lines {before + places[1]} to {before + places[-1]}")
    return told


def _shared_problem(numbered: tuple[int, str]) -> tuple[str, str, int]:
    """The file, the problem, and the line less the place in the message, which neighbours have in common."""
    place, text = numbered
    found = _LINE_OF_FILE.fullmatch(text)
    return (found["source"], found["what"], int(found["line"]) - place) if found else (text, "", -place)


class DataErrors:
    """What is wrong with the parts of a source, in their order, until more than twenty problems are known."""

    def __init__(self) -> None:
        self._errors: list[DataError] = []

    def add(self, error: DataError) -> None:
        if not self.full:
            self._errors.append(error)

    def __bool__(self) -> bool:
        return bool(self._errors)

    @property
    def full(self) -> bool:
        """Whether nothing would be gained by looking on: a store that cannot be reached stays so."""
        known = sum(len(error.listed) or 1 for error in self._errors)
        return known > PROBLEMS_SHOWN or any(
            error.more or isinstance(error, RemoteError) for error in self._errors
        )

    def check(self) -> None:
        """Raise one error with all problems, if there are any."""
        if self._errors:
            damaged = any(isinstance(error, DamagedError) for error in self._errors)
            raise (DamagedError if damaged else DataError).joined(self._errors)


class DamagedError(DataError):
    """A file that evenrank wrote, and that cannot be used: damaged, incomplete, or of another format.

    What the system says of a sound file (it may not be opened, the disk is full) is none.
    """


class DiskError(DataError):
    """What the system says of a file (the disk is full, too many are open): it says nothing of the data."""


class MissingEvidenceError(DataError):
    """Ranked documents without the evidence that a measure needs."""


class RemoteError(DataError):
    """A server that cannot be reached, refuses, or gives an answer that cannot be used."""

    status: int | None = None  # of HTTP, where the server gave one


MAY_PASS = (DiskError, RemoteError)
"""Errors after which another attempt may do better, and that say nothing about what was finished before."""


class ParameterError(EvenrankError, ValueError):
    """A parameter outside what its declaration allows."""


class UnknownNameError(ParameterError):
    """A name that is not registered."""


class InputTypeError(EvenrankError, TypeError):
    """An argument of a type that is not accepted; the message lists those that are."""


class MissingExtraError(EvenrankError, ImportError):
    """An optional dependency is missing; the message is the line that installs it."""

    @classmethod
    def for_job(cls, job: str, package: str, extra: str) -> MissingExtraError:
        return cls(f"{job} needs {package}: {installing(extra)}")


def installing(extra: str) -> str:
    """The line that installs an extra: from a checkout, since nobody owns the name on the package index.

    >>> print(installing("report"))
    pip install '.[report]' in the checkout of evenrank
    """
    return f"pip install '.[{extra}]' in the checkout of evenrank"


class EvenrankWarning(UserWarning):
    """Something was accepted that the user should know of."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*(readable(part) if isinstance(part, str) else part for part in arguments))


def counted(number: int, one: str, many: str) -> str:
    """``1 query``, ``2 queries``."""
    return f"{number:,} {one if number == 1 else many}"


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """What to say behind a name that nobody knows: the nearest names, or all of them.

    >>> nearest_hint("sytems", ["systems", "gaps"])
    '; did you mean systems?'
    >>> nearest_hint("x", ["systems", "gaps"])
    '; there are systems, gaps'
    """
    names = list(known)
    close = difflib.get_close_matches(name[:80], names, 3, 0.6)
    return f"; did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(names)}"


def few(names: Sequence[str], most: int = 3) -> str:
    """The first names, quoted: ``'q1', 'q2', 'q3', ...``."""
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
