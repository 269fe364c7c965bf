"""Telling sources that read by need what all runs will ask for, so that they read it at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from evenrank.arrays import UInt64s, ragged
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.evidence.align import Sources
from evenrank.io.by_need import MembershipByNeed, WordsByNeed


def foresee(
    sources: Sources, runs: Iterable[Run | RunSet], needs: Collection[str], depth: int | None
) -> None:
    """Of sources that read by need: the documents of all runs to ``depth``, and of the background."""
    for name, source in sources.evidence.items():
        blocks = {need.partition(".")[0] for need in needs if need.partition(".")[2] == name}
        if not blocks or not isinstance(source, (WordsByNeed, MembershipByNeed)):
            continue
        found: list[UInt64s] = []
        if blocks & {"ranked", "rankings"}:
            found += document_hashes(runs, depth)
        if "against" in blocks and sources.against is not None:
            found += document_hashes([sources.against], depth)
        pooled = isinstance(source, MembershipByNeed) and source.needs_pool  # its target is the background's
        if (pooled or "background" in blocks) and isinstance(sources.background, Run):
            found += document_hashes([sources.background])
        if found:
            source.at_hand(np.concatenate(found))


def document_hashes(runs: Iterable[Run | RunSet], depth: int | None = None) -> Iterator[UInt64s]:
    """The hashes of the documents that runs list, to ``depth``; None is whole lists."""
    for run in runs:
        for ranking in run.runs if isinstance(run, RunSet) else (run,):
            lengths = ranking.lengths if depth is None else np.minimum(ranking.lengths, depth)
            yield ranking.doc_hashes[ragged(ranking.offsets[:-1], lengths)]
