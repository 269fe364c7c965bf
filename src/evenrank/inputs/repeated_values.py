"""Which queries have a value of an attribute more than once near the top of their list?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from evenrank.arrays import ragged
from evenrank.data.evidence_source import Pairs
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import DataError, ParameterError, counted
from evenrank.ids import StringRows

PREFIX = "repeated:"
DEPTH = 20  # ranks, as gfr-2022 has it


class RepeatedOption(NamedTuple):
    """``repeated:NAME[:depth=N][:run=RUN]``: the attribute, the ranks looked at, and in which run."""

    attribute: str
    depth: int = DEPTH
    run: str | None = None  # the first one


def repeated_of(text: str) -> RepeatedOption:
    """What stands behind ``--queries`` where it is no file.

    >>> repeated_of("repeated:chain:depth=10")
    RepeatedOption(attribute='chain', depth=10, run=None)
    """
    name, *parts = text.removeprefix(PREFIX).split(":")
    settings = dict(part.partition("=")[::2] for part in parts)
    depth = settings.pop("depth", str(DEPTH))
    run = settings.pop("run", None)
    if not name or settings or not (depth.isascii() and depth.isdigit() and int(depth) > 1):
        raise ParameterError(
            f"--queries: must be {PREFIX}ATTRIBUTE[:depth=N][:run=NAME] with a depth of 2 or more, "
            f"got {text!r}"
        )
    return RepeatedOption(name, int(depth), run)


def repeating_queries(run: Run, membership: Membership, *, depth: int = DEPTH) -> tuple[str, ...]:
    """The queries of which two documents in the first ``depth`` ranks share a value of the attribute.

    gfr-2022 §5 keeps those for its test of exposure by companies, with a depth of 20: where every company
    is listed once, no order favours one of them. A document without a value shares none.

    >>> chain = Membership.from_labels("chain", {"a": "x", "b": "x", "c": "y"})
    >>> run = Run.build(["q1", "q1", "q2", "q2"], ["a", "b", "a", "c"], [2, 1, 2, 1])
    >>> repeating_queries(run, chain)
    ('q1',)
    """
    lengths = np.minimum(np.diff(run.offsets), depth)
    places = ragged(run.offsets[:-1], lengths)
    codes = np.repeat(np.arange(len(run.query_ids)), lengths)
    pairs = Pairs(run.query_ids, codes, StringRows(run.doc_ids, places), run.doc_hashes[places])
    rows, values, shares = membership.entries(membership.rows_of(pairs))
    if shares is not None:
        rows, values = rows[shares > 0], values[shares > 0]
    width = len(membership.attribute.values)
    held, counts = np.unique(codes[rows] * width + values, return_counts=True)  # (query, value) by number
    found = set((held[counts > 1] // width).tolist())
    return tuple(query for place, query in enumerate(run.query_ids) if place in found)


def queries_asked(
    asked: RepeatedOption, runs: Mapping[str, Run | RunSet], groups: Iterable[Membership]
) -> tuple[list[str], str]:
    """The queries that the option keeps, and what there is to say about it."""
    what, name = f"--queries {PREFIX}{asked.attribute}", asked.attribute
    membership = next((one for one in groups if one.attribute.name == name), None)
    if membership is None:
        raise ParameterError(f"{what}: there are no groups {name!r}: add --groups {name}=FILE")
    run = next(iter(runs.values()), None) if asked.run is None else runs.get(asked.run)
    if not isinstance(run, Run):
        raise ParameterError(
            f"{what}: name a run that has one list for each query, :run=NAME; the runs are "
            f"{', '.join(runs) or 'none'}"
        )
    kept = list(repeating_queries(run, membership, depth=asked.depth))
    where = f"in the first {asked.depth} ranks of run {run.name!r}"
    if not kept:
        raise DataError(f"{what}: no query has a value of {name!r} twice {where}")
    of = counted(len(run.query_ids), "query has", "queries have")
    return kept, f"{len(kept):,} of {of} a value of {name!r} twice {where}; only these are scored"
