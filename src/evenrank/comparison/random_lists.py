"""Lists that no ranker made: documents drawn from a pool in random order, and what measures say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.data.runset import RunSet
from evenrank.errors import ParameterError
from evenrank.evaluation import evaluate
from evenrank.evaluation.rankings import mean_of_defined
from evenrank.inputs import Inputs
from evenrank.measures import Measure
from evenrank.scores import Scores, ScoresBlock

SPARE = 20  # times the cut-off, where documents are left out of a list from the collection
AT_ONCE = 10  # draws between two reports of progress

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class DocumentPool:
    """The documents that a list is drawn from: those of a query, or the same for every query."""

    by_query: Run | None = None
    shared: tuple[str, ...] = ()

    def size(self) -> int:
        return len(self.shared) if self.by_query is None else self.by_query.depth

    def draw(
        self, queries: Sequence[str], depth: int | None, generator: np.random.Generator
    ) -> Iterator[tuple[str, str]]:
        """For each query the first ``depth`` documents of a random order of its pool, or all of them."""
        for query in queries:
            if self.by_query is None:
                documents: Sequence[str] = self.shared
            elif query in self.by_query:
                documents = self.by_query.documents(query)
            else:
                continue
            count = len(documents) if depth is None else min(depth, len(documents))
            for place in generator.choice(len(documents), count, replace=False).tolist():
                yield query, documents[place]


def random_scores(
    pool: DocumentPool,
    measures: Sequence[Measure],
    inputs: Inputs,
    *,
    draws: int,
    seed: int,
    progress: Progress | None = None,
) -> Scores:
    """The mean of each measure over random orders of the pool, by query; ``draws`` of a block has each one's.

    The lists are of the ``queries`` of ``inputs``; backgrounds, ideals and targets stay as they are.
    """
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise ParameterError(f"draws must be an integer >= 2, got {draws!r}")
    depth = _depth(pool, measures)
    queries = inputs.queries or ()
    generator = np.random.default_rng(seed)
    parts: list[tuple[int, Scores]] = []
    for begin in range(0, draws, AT_ONCE):
        count = min(AT_ONCE, draws - begin)
        lists = RunSet.build([_draw(pool, queries, depth, generator) for _ in range(count)])
        parts.append((count, evaluate(inputs.with_runs(lists), measures)))
        if progress is not None:
            progress(begin + count, draws)
    blocks = [
        _mean([count for count, _ in parts], [scores.block(measure) for _, scores in parts])
        for measure in parts[0][1].measures
    ]
    return Scores(tuple(blocks), parts[0][1].notes_by_run)


def reach(measure: Measure) -> int | None:
    """How many documents of a random list a measure looks at; None for all of them.

    Where it leaves documents out, later ones move up: then it is given many more.
    """
    depths = [
        part.cutoff * SPARE if closes_up(part) and part.cutoff is not None else part.depth
        for part in measure.parts()
    ]
    return None if None in depths else max(depth for depth in depths if depth is not None)


def closes_up(measure: Measure) -> bool:
    return getattr(measure, "missing", None) == "drop"


def _depth(pool: DocumentPool, measures: Sequence[Measure]) -> int | None:
    """So long must the lists be. A pool of one query is drawn whole where documents may be left out."""
    depths = [reach(measure) for measure in measures]
    whole = pool.by_query is not None and any(closes_up(p) for m in measures for p in m.parts())
    return None if whole or None in depths else max(depth for depth in depths if depth is not None)


def _draw(
    pool: DocumentPool, queries: Sequence[str], depth: int | None, generator: np.random.Generator
) -> Run:
    rows = list(pool.draw(queries, depth, generator))
    return Run.build(
        [query for query, _ in rows],
        [document for _, document in rows],
        np.arange(len(rows), 0, -1, dtype=np.float64),
        ties="file",
    )


def _mean(counts: Sequence[int], blocks: Sequence[ScoresBlock]) -> ScoresBlock:
    """Means over parts of the draws as one: of those that have a value, undefined where none has."""
    first = blocks[0]
    reasons = list(dict.fromkeys(reason for block in blocks for reason in block.reasons))
    status = np.zeros(first.values.shape, dtype=np.int16)
    total, defined = np.zeros(first.values.shape), np.zeros(first.values.shape)
    for count, block in zip(counts, blocks, strict=True):
        codes = np.array([reasons.index(reason) for reason in block.reasons], dtype=np.int16)[block.status]
        status = np.maximum(status, codes)
        valued = codes <= 1
        own = count * (valued if block.shares is None else block.shares)
        total += np.where(valued, block.values, 0.0) * own
        defined += own
    values, status = mean_of_defined(total, defined, status)
    draws = np.concatenate([block.draws if block.draws is not None else _single(block) for block in blocks])
    shares = defined / sum(counts)
    return replace(first, values=values, status=status, reasons=tuple(reasons), draws=draws, shares=shares)


def _single(block: ScoresBlock) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(1, C): the aggregate of a single draw, which evaluation does not keep apart."""
    return np.array([[block.aggregate(column) for column in range(len(block.columns))]])
