"""Several rankings for each query: what a stochastic ranker gives, or one query asked many times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError


@dataclass(frozen=True, eq=False, repr=False)
class RunSet:
    """Rankings of the same queries, each draw a ``Run``. A query may be missing from some draws.

    Measures that need all rankings of a query at once (expected exposure) see them together; any
    other measure gives its mean over the rankings of the query.
    """

    runs: tuple[Run, ...]
    name: str = "runs"

    @classmethod
    def build(cls, runs: Sequence[Run], *, name: str = "runs") -> RunSet:
        given: Any = runs
        if isinstance(given, Run) or not hasattr(given, "__iter__"):  # a run is iterable: over its queries
            raise InputTypeError(f"a RunSet is built from several runs, got {type(given).__name__}")
        members: tuple[Any, ...] = tuple(given)
        if not members:
            raise DataError("a RunSet needs at least one run")
        for place, member in enumerate(members, 1):
            if not isinstance(member, Run):
                raise InputTypeError(
                    f"a RunSet is built from runs; number {place} is {type(member).__name__}: "
                    "read_run makes a run of it"
                )
        return cls(members, name)

    @cached_property
    def query_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(query for run in self.runs for query in run.query_ids))

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256("".join(run.fingerprint for run in self.runs).encode()).hexdigest()

    @property
    def reads_judgements(self) -> bool:
        """Whether judgements were known to what made the order of any of the rankings."""
        return any(run.reads_judgements for run in self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __repr__(self) -> str:
        return f"<RunSet {self.name!r}: {len(self.runs):,} rankings of {len(self.query_ids):,} queries>"
