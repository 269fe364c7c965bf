"""Where does bias come from: the collection, what queries bring up of it, or the ranker?

A measure is taken three times: of documents of the whole collection in random order, of the background of
each query (what a first stage found) in random order, and of the lists of the ranker. The ranker answers for
the last step only. Reference: nfairc-advbert-2021, section 4.3 and Figure 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from evenrank.comparison.measure_table import MeasureTable, tables_of
from evenrank.comparison.random_lists import DocumentPool, Progress, random_scores, reach
from evenrank.data.run import Run
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, InputTypeError, ParameterError, counted, for_reader
from evenrank.evaluation import evaluate
from evenrank.evaluation.notes import share_notes
from evenrank.inputs import Inputs, Known
from evenrank.inputs.coerce import BACKGROUND_DEPTH, describe_backgrounds, own_background
from evenrank.io.texts import read_document_ids
from evenrank.measures import Measure
from evenrank.measures.neutrality import FaiRR, NeutralityMeasure, NFaiRR, NSetFaiRR, SetFaiRR
from evenrank.scores import Scores, ScoresBlock
from evenrank.scores.categories import NO_CATEGORY
from evenrank.stats.difference import DifferenceInterval
from evenrank.tables import Table, number

COLLECTION, BACKGROUND = "(collection)", "(background)"
DRAWS = 200
ABOVE = 1e-9
NO_DIFFERENCE = DifferenceInterval(math.nan, math.nan, math.nan, 0, 0, 0)


class Step(NamedTuple):
    """A place where bias can come in: its value, and what it adds to the place before it.

    ``against`` is that place: the collection for the background, the background for a system. ``verdict``
    is ``better`` or ``worse`` where the interval of the difference leaves out 0, by the measure's direction.
    """

    measure: Measure
    column: str
    place: str
    value: float
    low: float
    high: float
    queries: int
    defined: int
    against: str | None
    adds: DifferenceInterval
    verdict: str
    interval_note: str = ""  # why there is no interval, or why it may be too narrow
    infinite: int = 0  # queries whose value is infinite, which the mean leaves out


class Extreme(NamedTuple):
    """A query whose list of a system has one of the lowest or highest values, and where that comes from."""

    measure: Measure
    column: str
    system: str
    end: str  # lowest or highest
    query: str
    value: float
    background: float
    collection: float


@dataclass(frozen=True, eq=False)
class Origin:
    """Scores of systems, and beside them those of the collection and of the background in random order."""

    scores: Scores  # the places are runs called COLLECTION and BACKGROUND, where there are such
    systems: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Where a list can come from, without the systems."""
        return tuple(place for place in (COLLECTION, BACKGROUND) if place in self.scores.runs)

    @property
    def system_scores(self) -> Scores:
        """The scores of the systems alone."""
        own = tuple(block for block in self.scores.blocks if block.run in self.systems)
        return replace(self.scores, blocks=own)

    def steps(self) -> tuple[Step, ...]:
        """For each measure the collection, the background, and each system."""
        rows = {(row.run, row.measure, row.column): row for row in self.scores.summary()}
        found = []
        for table in tables_of(self.scores):
            for place in (*self.places, *self.systems):
                row = rows.get((place, repr(table.measure), table.column))
                if row is None:
                    continue
                against = self._before(place, table)
                adds = NO_DIFFERENCE if against is None else table.difference(place, against)
                found.append(
                    Step(
                        table.measure, table.column, place, row.value, row.low, row.high, row.queries,
                        row.defined, against, adds, _verdict(table, adds),
                        row.interval_note if row.defined else "", row.infinite,
                    )
                )  # fmt: skip
        return tuple(found)

    def _before(self, place: str, table: MeasureTable) -> str | None:
        known = [each for each in self.places if np.isfinite(table.values[:, table.place(each)]).any()]
        if place in self.systems:
            return known[-1] if known else None
        return COLLECTION if place == BACKGROUND and COLLECTION in known else None

    def extremes(self, count: int = 5) -> tuple[Extreme, ...]:
        """For each measure and system the ``count`` queries with the lowest and with the highest values.

        Queries of equal value are in the order of their ids; no query is at both ends.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ParameterError(f"the number of extreme queries must be an integer >= 1, got {count!r}")
        found = []
        for table in tables_of(self.scores):
            for system in self.systems:
                values = table.values[:, table.place(system)]
                order = sorted(
                    np.flatnonzero(~np.isnan(values)).tolist(),
                    key=lambda row, values=values: (values[row], table.query_ids[row]),  # type: ignore[misc]
                )
                lowest = order[:count]
                highest = order[max(len(lowest), len(order) - count) :][::-1]
                for end, rows in (("lowest", lowest), ("highest", highest)):
                    found += [self._extreme(table, row, system, end) for row in rows]
        return tuple(found)

    def _extreme(self, table: MeasureTable, row: int, system: str, end: str) -> Extreme:
        values = [
            float(table.values[row, table.place(place)]) if place in table.systems else math.nan
            for place in (system, BACKGROUND, COLLECTION)
        ]
        return Extreme(table.measure, table.column, system, end, table.query_ids[row], *values)

    def by(self, categories: Mapping[str, str | Iterable[str]]) -> dict[str, Origin]:
        """The same for each category of queries; a query may have several."""
        if not isinstance(categories, Mapping) or not categories:
            raise InputTypeError("categories must be a mapping {query: category}, or {query: [category, ..]}")
        own = {query: {given} if isinstance(given, str) else {*given} for query, given in categories.items()}
        asked = {query for block in self.scores.blocks for query in block.query_ids}
        if not asked & set(own):
            raise DataError(
                f"none of the {len(own):,} queries with a category was scored: are ids written the same way?"
            )
        names = dict.fromkeys(
            name
            for query, given in categories.items()
            for name in ([given] if isinstance(given, str) else given)
            if query in asked
        )
        found = {}
        for name in [*names, NO_CATEGORY]:
            inside = {query for query in asked if name in (own.get(query) or {NO_CATEGORY})}
            if inside:
                blocks = tuple(_only(block, inside) for block in self.scores.blocks)
                found[name] = replace(self, scores=replace(self.scores, blocks=blocks))
        return found

    def __repr__(self) -> str:
        from evenrank.comparison.origin_table import origin_tables
        from evenrank.tables import printed

        return printed(origin_tables(self), "table").rstrip("\n")

    def _repr_html_(self) -> str:
        return self.to_table().to_html()

    def to_table(self, labels: Mapping[str, str] | None = None) -> Table:
        """One row for each measure and place: its value, and what it adds to the place before."""
        from evenrank.comparison.origin_table import origin_table

        return origin_table(self if labels is None else self.with_labels(labels))

    def with_labels(self, labels: Mapping[str, str]) -> Origin:
        """The same with other names of measures, as ``{"NFaiRR@10": "Neutrality"}``."""
        return replace(self, scores=self.scores.with_labels(labels))


def origin(
    run: Any,
    measures: Any,
    *,
    collection: WordCounts | Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress | None = None,
    cutoffs: Sequence[int] | None = None,
    missing: str | None = None,
    **known: Unpack[Known],
) -> Origin:
    """Score runs, and beside them the collection and the background in random order.

    The inputs are those of ``evaluate``. The background is its ``background``, for one run alone the run's
    own first documents. The collection is ``collection``, else the documents of ``words``, else those of
    ``documents``. For NFaiRR and FaiRR at a cut-off the values of random orders are exact; for any other
    measure they are means over ``draws`` random lists, by ``seed``. ``progress`` is called with how many
    of all draws are done.
    """
    inputs = Inputs.of(run, **known)
    runs = inputs.runs
    for name in runs:
        if name in (COLLECTION, BACKGROUND):
            raise ParameterError(
                f"a run cannot be called {name!r} here: that is the name of what is compared"
            )
    documents = inputs.words if collection is None else collection
    if documents is None and inputs.documents is not None:
        documents = read_document_ids(inputs.documents)
    background, pool = _background(inputs)
    inputs = inputs.with_known(background=background)
    scores = evaluate(inputs, measures, cutoffs=cutoffs, missing=missing)
    queries = list(dict.fromkeys(query for block in scores.blocks for query in block.query_ids))
    inputs = inputs.with_known(queries=queries)
    if pool is not None and pool.by_query is not None and not any(q in pool.by_query for q in queries):
        raise DataError(
            f"the background {pool.by_query.name!r} has none of the queries: are ids written the same way?"
        )
    pools = {COLLECTION: _pool(documents), BACKGROUND: pool}
    wanted = {place: _possible(each, scores.measures) for place, each in pools.items()}
    exact = {place: [m for m in wanted[place] if type(m) in (FaiRR, NFaiRR) and m.cutoff] for place in pools}
    sampled = {place: [m for m in wanted[place] if m not in exact[place]] for place in pools}
    total = draws * sum(map(bool, sampled.values()))
    blocks: list[ScoresBlock] = []
    notes: list[str] = []
    before = 0
    for turn, (place, each) in enumerate(pools.items()):
        if each is None:
            continue
        for measure in exact[place]:
            whole = documents if place == COLLECTION else background
            block = _expected(measure, inputs.with_runs(next(iter(runs.values()))), whole)  # type: ignore[arg-type]
            blocks.append(replace(block, run=place))
            notes += _above_note(block, place)
        if sampled[place]:
            done = before
            drawn = random_scores(
                each, sampled[place], inputs, draws=draws, seed=seed * 2 + turn,
                progress=None if progress is None else lambda n, _, done=done: progress(done + n, total),  # type: ignore[misc]
            )  # fmt: skip
            before += draws
            blocks += [replace(block, run=place) for block in drawn.blocks]
            notes.append(_error_note(drawn.blocks, place, draws))
            notes += [f"{place}: {note}" for block in drawn.blocks for note in share_notes(block, draws)]
        notes += [
            f"{place}: {measure!r} needs a ranked list, which the whole collection is not, so it has no "
            "value there"
            for measure in scores.measures
            if measure not in wanted[place]
        ]
    if pools[COLLECTION] is None:
        notes.append(
            for_reader(
                "the collection is not known: pass documents= (--documents), words= (--words) or "
                "collection= (--collection)"
            )
        )
    together = Scores((*blocks, *scores.blocks), scores.notes_by_run, scores.describe_inputs)
    return Origin(together, tuple(runs), tuple(notes))


def _background(inputs: Inputs) -> tuple[Any, DocumentPool | None]:
    """The background, for a run alone its own, and the documents that are drawn from it."""
    given, depth = inputs.background, inputs.background_depth or BACKGROUND_DEPTH
    if given is None:
        own = own_background(inputs.runs)
        if own is None:
            raise ParameterError(
                "several runs need one common background, which they chose from: "
                + describe_backgrounds(inputs.runs)
            )
        given = own
    if isinstance(given, Run):
        return given, DocumentPool(by_query=given.head(depth))
    return given, _pool(given)


def _pool(documents: Any) -> DocumentPool | None:
    if documents is None:
        return None
    if isinstance(documents, WordCounts):
        return DocumentPool(shared=tuple(documents.doc_ids.to_pylist()))
    if isinstance(documents, str) or not isinstance(documents, Sequence):
        raise InputTypeError(
            "a collection is WordCounts or a list of document ids, a background these or a Run; "
            f"got {type(documents).__name__}"
        )
    if not documents:
        raise ParameterError("the collection is empty: give at least one document id, or leave it out")
    return DocumentPool(shared=tuple(dict.fromkeys(documents)))


def _possible(pool: DocumentPool | None, measures: Sequence[Measure]) -> list[Measure]:
    """The measures that a pool can be drawn for: of a whole collection the first documents, not all."""
    if pool is None:
        return []
    return [m for m in measures if pool.by_query is not None or reach(m) is not None]


def _expected(measure: NeutralityMeasure, inputs: Inputs, documents: Any) -> ScoresBlock:
    """The expectation of FaiRR or NFaiRR over random orders, in closed form.

    NFaiRR of any set has the ideal of the background below it: ``SetFaiRR(set) / IFaiRR(background)``.
    """
    own, normal = (
        kind(cutoff=measure.cutoff, tau=measure.tau, missing=measure.missing)
        for kind in (SetFaiRR, NSetFaiRR)
    )
    # a depth belongs to a run only
    depth = inputs.background_depth if isinstance(documents, Run) else None
    (of_set,) = evaluate(inputs, own, background=documents, background_depth=depth).blocks
    if not isinstance(measure, NFaiRR):
        return replace(of_set, measure=measure)
    ratio, of_background = (evaluate(inputs, m).blocks[0] for m in (normal, own))
    ideal = np.divide(
        of_background.values, ratio.values, out=np.full(ratio.values.shape, np.nan), where=ratio.values > 0
    )
    values = of_set.values / ideal
    # what lacks an ideal lacks the value, for the same reason
    return replace(ratio, measure=measure, values=np.where(ratio.status <= 1, values, np.nan))


def _above_note(block: ScoresBlock, place: str) -> list[str]:
    """The collection may allow more than the background, which NFaiRR measures it by."""
    above = int((block.values > 1 + ABOVE).sum()) if isinstance(block.measure, NFaiRR) else 0
    if not above:
        return []
    many = counted(above, "query", "queries")
    return [f"{place}: {block.measure!r} is above 1 for {many}, whose background allows less"]


def _error_note(blocks: Sequence[ScoresBlock], place: str, draws: int) -> str:
    """One line for all measures that were drawn, with the largest of their errors."""
    values = [block.draws for block in blocks if block.draws is not None and len(block.draws) > 1]
    errors = [np.std(drawn, axis=0, ddof=1) / math.sqrt(len(drawn)) for drawn in values]
    known = np.concatenate([error[np.isfinite(error)] for error in errors]) if errors else np.zeros(0)
    names = ", ".join(repr(block.measure) for block in blocks)
    least = "at most " if len(known) > 1 else ""
    error = f", standard error {least}{number(known.max())}" if len(known) else ""
    return f"{place}: means over {draws:,} random lists{error}: {names}"


def _verdict(table: MeasureTable, adds: DifferenceInterval) -> str:
    if not table.has_better or not (adds.low > 0 or adds.high < 0):
        return ""
    return "better" if (adds.low > 0) != table.lower_is_better else "worse"


def _only(block: ScoresBlock, queries: set[str]) -> ScoresBlock:
    return block.select([row for row, query in enumerate(block.query_ids) if query in queries])


__all__ = ["BACKGROUND", "COLLECTION", "Extreme", "Origin", "Step", "origin"]
