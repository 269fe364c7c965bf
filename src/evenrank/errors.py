"""What can go wrong, as one tree.

    EvenrankError
    ├── DataError (ValueError)            the input is wrong; lists what and where
    │   └── MissingEvidenceError          ranked documents have no evidence
    ├── ParameterError (ValueError)       a measure or an option was given a wrong value
    │   └── UnknownNameError              no measure of that name; names the closest
    ├── InputTypeError (TypeError)        an object of a kind that is not accepted
    └── MissingExtraError (ImportError)   an optional dependency is not installed

    EvenrankWarning (UserWarning)         accepted, but worth a look

A message says what is wrong, where, and the way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

PROBLEMS_SHOWN = 20


class EvenrankError(Exception):
    """Anything that this package raises on purpose."""


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
    more: bool = False  # there are problems beyond those listed

    @classmethod
    def listing(cls, source: str, problems: Sequence[Problem], *, more: bool = False) -> DataError:
        """All problems of one source, one a line, at most twenty of them."""
        shown = list(problems[:PROBLEMS_SHOWN])
        lines = [f"{source}:{problem.line}: {problem.what}" for problem in shown]
        if more or len(problems) > PROBLEMS_SHOWN:
            lines.append(f"{source}: only the first {len(shown)} problems are listed")
        error = cls("\n".join(lines))
        error.problems = tuple(shown)
        error.more = more or len(problems) > PROBLEMS_SHOWN
        return error


class MissingEvidenceError(DataError):
    """Ranked documents without the evidence that a measure needs."""


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
        return cls(f"{job} needs {package}: pip install 'evenrank[{extra}]'")


class EvenrankWarning(UserWarning):
    """Something was accepted that the user should know of."""


def counted(number: int, one: str, many: str) -> str:
    """``1 query``, ``2 queries``."""
    return f"{number:,} {one if number == 1 else many}"
