"""Telling sources that read by need what all runs will ask for, so that they read it at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from evenrank.arrays import UInt64s, ragged
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.evidence.align import Sources


def foresee(
    sources: Sources, runs: Iterable[Run | RunSet], needs: Collection[str], depth: int | None
) -> None:
    """Of sources that can be told: the documents of all runs to ``depth``, and of the background."""
    for name, source in sources.evidence.items():
        tell = getattr(source, "foresee", None)
        if tell is None or not any(need.partition(".")[2] == name for need in needs):
            continue
        found = list(_hashes(sources, runs, needs, name, depth))
        if found:
            tell(np.concatenate(found))


def document_hashes(runs: Iterable[Run | RunSet], depth: int | None = None) -> Iterator[UInt64s]:
    """The hashes of the documents that runs list, to ``depth``; None is whole lists."""
    for run in runs:
        for ranking in run.runs if isinstance(run, RunSet) else (run,):
            if depth is None or ranking.depth <= depth:
                yield ranking.doc_hashes
            else:
                yield ranking.doc_hashes[ragged(ranking.offsets[:-1], np.minimum(ranking.lengths, depth))]


def _hashes(
    sources: Sources, runs: Iterable[Run | RunSet], needs: Collection[str], name: str, depth: int | None
) -> Iterator[UInt64s]:
    if f"ranked.{name}" in needs or f"rankings.{name}" in needs:
        yield from document_hashes(runs, depth)
    if f"against.{name}" in needs and sources.against is not None:
        yield from document_hashes([sources.against], depth)
    pooled = getattr(sources.evidence[name], "needs_pool", False)  # its target comes from the background
    if (pooled or f"background.{name}" in needs) and isinstance(sources.background, Run):
        yield from document_hashes([sources.background])
