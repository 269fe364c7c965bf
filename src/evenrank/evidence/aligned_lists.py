"""Runs that are joined with evidence once, for all who look at the same lists."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evenrank.data.run import Run
from evenrank.evidence.align import Sources, align
from evenrank.evidence.ranked_evidence import RankedEvidence


class AlignedLists:
    """The lists of runs to ``depth`` with everything that ``needs`` name. A run is aligned when somebody
    first asks for it; whoever asks after that gets a view of the same arrays. ``queries`` are those that
    somebody may ask for later."""

    def __init__(
        self, sources: Sources, needs: Collection[str], depth: int | None, queries: Sequence[str] = ()
    ) -> None:
        self._sources, self._needs, self._depth, self._queries = sources, frozenset(needs), depth, queries
        self._kept: dict[int, tuple[Run, tuple[str, ...], RankedEvidence]] = {}

    def of(
        self, run: Run, queries: Sequence[str], needs: Collection[str], depth: int | None
    ) -> RankedEvidence:
        """The lists of these queries cut to ``depth``: what ``align`` gives, with more evidence perhaps."""
        too_deep = self._depth is not None and (depth is None or depth > self._depth)
        if too_deep or not self._needs.issuperset(needs):
            return align(run, queries, needs, self._sources, depth)
        asked = tuple(queries)
        kept = self._kept.get(id(run))
        if kept is None or not set(kept[1]).issuperset(asked):
            # the run is kept, too, so that no other one gets its identity
            every = tuple(dict.fromkeys([*asked, *self._queries]))
            kept = run, every, align(run, every, self._needs, self._sources, self._depth)
            self._kept[id(run)] = kept
        _, known, evidence = kept
        if asked != known:
            place = {query: row for row, query in enumerate(known)}
            evidence = evidence.select([place[query] for query in asked])
        return evidence.cut(depth)
