"""The one place where a run meets evidence: ids go in, arrays by rank come out.

Needs are written ``block.evidence``: ``ranked.relevance`` (the grade at every rank),
``judged.relevance`` (the grades of all judged documents, best first), ``judged_by_intent.intents`` (the
same by intent), ``background.words``, ``against.documents``,
``rankings.documents``, ``pool.relevance``, ``query.target``. ``documents`` is the identity of a
document, as a code that is the same in every block; ``ranked.scores`` are the scores of the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from evenrank.arrays import Array, Int64s, ragged, values_of
from evenrank.data.diversity import DiversityQrels
from evenrank.data.evidence_source import DocumentSets, Evidence, Gathered, Pairs
from evenrank.data.membership import Membership
from evenrank.data.pool_membership import pooled
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import ParameterError
from evenrank.evidence.ranked_evidence import Ranked, RankedEvidence, Reference
from evenrank.ids import StringRows, as_strings, places_among

OF_THE_RUN = frozenset({"documents", "scores"})  # what the run itself says of its documents
BLOCKS = ("ranked", "judged", "judged_by_intent", "background", "pool", "against", "rankings", "query")


class HasNeeds(Protocol):
    """A measure or a re-ranker: it names the arrays that it reads."""

    @property
    def needs(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class Sources:
    """Everything the caller gave besides the run."""

    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    background: Run | DocumentSets | None = None
    against: Run | None = None

    def judged_queries(self, kind: str) -> tuple[str, ...]:
        """The queries that have judgements of this kind."""
        source = self.evidence.get(kind)
        return source.query_ids if isinstance(source, (Qrels, DiversityQrels)) else ()

    @property
    def judgements(self) -> Qrels | DiversityQrels | None:
        for name in ("relevance", "intents"):
            found = self.evidence.get(name)
            if isinstance(found, (Qrels, DiversityQrels)):
                return found
        return None


def split_needs(needs: Iterable[str]) -> dict[str, set[str]]:
    """``{"ranked": {"relevance"}, ...}``."""
    blocks: dict[str, set[str]] = {}
    for need in needs:
        block, _, evidence = need.partition(".")
        if block not in BLOCKS:
            raise ParameterError(f"need {need!r}: the block must be one of {', '.join(BLOCKS)}")
        blocks.setdefault(block, set()).add(evidence)
    return blocks


def align(
    run: Run | RunSet,
    queries: Sequence[str],
    needs: Iterable[str],
    sources: Sources,
    depth: int | None = None,
) -> RankedEvidence:
    """Gather what the needs name for these queries, lists cut to ``depth``. A query that the run
    lacks has an empty list; what is unknown is marked, not filled."""
    blocks = split_needs(needs)
    aligner = _Aligner(tuple(queries), sources, depth)
    names = set[str]().union(*blocks.values())
    sources = aligner.settle_targets(names)
    members = run.runs if isinstance(run, RunSet) else (run,)
    ranked = aligner.lists(members[:1], blocks.get("ranked", set()), stacked=False)
    against = rankings = None
    if "against" in blocks and sources.against is not None:
        against = aligner.lists((sources.against,), blocks["against"], stacked=False)
    if "rankings" in blocks:
        rankings = aligner.lists(members, blocks["rankings"], stacked=True)
    reference: dict[str, Reference] = {}
    for block, kind in (("judged", "relevance"), ("judged_by_intent", "intents")):
        judgements = sources.evidence.get(kind)
        if block in blocks and isinstance(judgements, (Qrels, DiversityQrels)):
            reference[block] = aligner.documents(judgements.judged(queries), blocks[block])
    if "background" in blocks and sources.background is not None:
        reference["background"] = aligner.documents(aligner.background(), blocks["background"])
    if "pool" in blocks:
        reference["pool"] = aligner.documents(aligner.pool(members), blocks["pool"])
    aligner.encode_documents()
    facts: dict[str, Array] = {}
    for name in sorted(names & set(sources.evidence)):
        for column, values in sources.evidence[name].gather_queries(queries).items():
            values.flags.writeable = False  # measures share them
            facts[f"{name}.{column}" if column else name] = values
    labels = {
        f"{name}.{key}": tuple(listed)
        for name, source in sources.evidence.items()
        for key, listed in getattr(source, "labels", {}).items()
    }
    return RankedEvidence(len(queries), ranked, reference, facts, against, rankings, labels)


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


class _Aligner:
    """Gathers blocks one by one and, at the end, gives documents codes common to all of them."""

    def __init__(self, queries: tuple[str, ...], sources: Sources, depth: int | None) -> None:
        self.queries = queries
        self.sources = sources
        self.depth = depth
        self._spots_of: dict[tuple[str, ...], Int64s] = {}
        self._to_encode: list[tuple[dict[str, Gathered], pa.LargeStringArray]] = []

    def settle_targets(self, names: set[str]) -> Sources:
        """Give sources whose target depends on a query's documents the documents of the background."""
        settled: dict[str, Evidence] = {}
        for name in sorted(names & set(self.sources.evidence)):
            source = self.sources.evidence[name]
            if isinstance(source, Membership) and source.needs_pool:
                pool = self.background()
                pairs = pool.pairs(self.queries)
                judgements = self.sources.evidence.get("relevance")
                settled[name] = pooled(
                    source, pairs, len(self.queries), shared=pool.shared, judgements=judgements
                )
        if settled:
            self.sources = replace(self.sources, evidence={**self.sources.evidence, **settled})
        return self.sources

    def lists(self, runs: Sequence[Run], evidence: set[str], *, stacked: bool) -> Ranked:
        """The lists of these runs as one matrix; ``stacked`` gives the axis S even for one run."""
        matrices, ids, codes, scores, begin = [], [], [], [], 0
        width = max((self._width(run) for run in runs), default=0)
        for run in runs:
            spots = self._spots(run)
            lengths = starts = np.zeros(len(spots), np.int64)
            if len(run):
                lengths = np.minimum(np.where(spots >= 0, run.lengths[spots], 0), width)
                starts = run.offsets[:-1][spots]
            rows = None if self._is_whole(run, lengths) else ragged(starts, lengths)
            ends = np.cumsum(lengths)
            places = np.arange(width)
            first = begin + ends - lengths
            matrices.append(np.where(places < lengths[:, None], first[:, None] + places, -1))  # (Q, K)
            ids.append(run.ids_at(rows))
            codes.append(np.repeat(np.arange(len(spots)), lengths))
            scores.append(run.scores if rows is None else run.scores[rows])
            begin += len(ids[-1])
        pairs = Pairs(self.queries, np.concatenate(codes), StringRows.joined(ids))
        rows_of_all = np.stack(matrices, axis=1) if stacked else matrices[0]
        gathered = self._gather(pairs, evidence, {})
        if "scores" in evidence:
            gathered["scores"] = Gathered.complete(np.concatenate(scores))
        return Ranked(rows_of_all, gathered)

    def documents(self, documents: DocumentSets, evidence: set[str]) -> Reference:
        gathered = documents.gathered
        if missing := evidence - set(gathered):
            gathered = self._gather(documents.pairs(self.queries), missing, gathered)
        return Reference(documents.offsets, gathered, documents.shared)

    def background(self) -> DocumentSets:
        background = self.sources.background
        if background is None:
            return DocumentSets(StringRows(as_strings([])), np.zeros(2, np.int64), True)
        if not isinstance(background, Run):
            return background
        spots = self._spots(background)
        lengths = np.where(spots >= 0, background.lengths[spots], 0)
        if self._is_whole(background, lengths):
            return DocumentSets(background.ids_at(), background.offsets)
        rows = ragged(background.offsets[:-1][spots], lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return DocumentSets(background.ids_at(rows), offsets)

    def pool(self, runs: Sequence[Run]) -> DocumentSets:
        """For each query the documents that any of its rankings or judgements names, by code."""
        ids, owners = [], []
        for run in runs:
            part = run.select(self.queries)
            ids.append(part.doc_ids)
            owners.append(np.repeat(places_among(part.query_ids, self.queries), part.lengths))
        judgements = self.sources.judgements
        if judgements is not None:
            judged = judgements.judged(self.queries)
            ids.append(judged.doc_ids.array())
            owners.append(np.repeat(np.arange(len(self.queries)), np.diff(judged.offsets)))
        all_ids = pa.concat_arrays(ids)
        codes = values_of(all_ids.dictionary_encode().indices).astype(np.int64)
        owner = np.concatenate(owners)
        _, rows = np.unique(np.stack([owner, codes]), axis=1, return_index=True)
        offsets = np.searchsorted(owner[rows], np.arange(len(self.queries) + 1)).astype(np.int64)
        return DocumentSets(StringRows(all_ids, rows), offsets)

    def encode_documents(self) -> None:
        """Replace the promise of ``documents`` by codes, equal for equal ids in all blocks."""
        if not self._to_encode:
            return
        together = pa.concat_arrays([ids for _, ids in self._to_encode])
        codes = values_of(together.dictionary_encode().indices).astype(np.int64)
        begin = 0
        for gathered, ids in self._to_encode:
            gathered["documents"] = Gathered.complete(codes[begin : begin + len(ids)])
            begin += len(ids)

    def _gather(self, pairs: Pairs, evidence: set[str], ready: Mapping[str, Gathered]) -> dict[str, Gathered]:
        gathered = dict(ready)
        found: list[tuple[Membership, Int64s]] = []  # attributes of one file list the same documents
        for name in sorted(evidence):
            source = self.sources.evidence.get(name)
            if name == "documents":
                self._to_encode.append((gathered, pairs.doc_ids.array()))
            elif isinstance(source, Membership):
                rows = next((rows for other, rows in found if source.lists_as(other)), None)
                rows = source.rows_of(pairs) if rows is None else rows
                found.append((source, rows))
                gathered[name] = source.gather_rows(rows)
            elif source is not None:
                gathered[name] = source.gather(pairs)
        return gathered

    def _spots(self, run: Run) -> Int64s:
        """Where each query stands in the run, -1 where it lacks it. Runs of a set have the same queries."""
        if run.query_ids not in self._spots_of:
            self._spots_of[run.query_ids] = places_among(self.queries, run.query_ids)
        return self._spots_of[run.query_ids]

    def _is_whole(self, run: Run, lengths: Int64s) -> bool:
        """Whether lists of these lengths are all of the run, in its order: then no row moves."""
        return run.query_ids == self.queries and len(run.doc_ids) == int(lengths.sum())

    def _width(self, run: Run) -> int:
        return run.depth if self.depth is None else min(run.depth, self.depth)
