"""CRBO over several pairings of names.

Names have no counterpart of their own: which name replaces which is drawn, and another draw may move lists
otherwise. One seed is one draw.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenrank.counterfactuals.experiment import DEPTH, PERSISTENCE, Counterfactual, Experiment
from evenrank.counterfactuals.swap import KINDS, make_swapper
from evenrank.errors import ParameterError
from evenrank.stats.intervals import ConfidenceInterval, mean_interval
from evenrank.systems import make_system, read_texts
from evenrank.tables import Interval, Table

SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Pairings:
    """The same experiment with several pairings; ``results`` has one for each seed."""

    seeds: tuple[int, ...]
    results: tuple[Counterfactual, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """CRBO of each pairing."""
        return tuple(result.crbo for result in self.results)

    @property
    def crbo(self) -> float:
        return float(np.mean(self.values))

    @property
    def interval(self) -> ConfidenceInterval:
        """The 95% interval over pairings, for the queries there are."""
        return mean_interval(np.array(self.values), (0.0, 1.0))

    def to_table(self) -> Table:
        """A row for each pairing, and one for all of them."""
        rows: list[tuple[Any, ...]] = [
            (str(seed), result.crbo, Interval(*result.interval), len(result.changed))
            for seed, result in zip(self.seeds, self.results, strict=True)
        ]
        found = self.interval
        changed = round(float(np.mean([len(result.changed) for result in self.results])))
        rows.append(("all", self.crbo, Interval(found.low, found.high), changed))
        return Table.of(
            ["pairing", "CRBO", "95% interval", "documents changed"],
            rows,
            words=1,
            notes=["the interval of a pairing is over queries, that of all is over pairings"],
            meaning="CRBO of 1: swapping group words moves no document, whichever names are paired.",
        )


def over_pairings(
    system: Any,
    documents: Any,
    lexicon: Any = None,
    *,
    queries: Any,
    seeds: Sequence[int] = SEEDS,
    kinds: Collection[str] = KINDS,
    swap_queries: bool = False,
    depth: int = DEPTH,
    p: float = PERSISTENCE,
    k: int | None = None,
    tagger: str = "auto",
) -> Pairings:
    """``counterfactual`` with one pairing of names for each seed; the original lists are retrieved once.

    >>> texts = {"d1": "He is a nurse.", "d2": "She is a nurse.", "d3": "Nurses work at night."}
    >>> over_pairings("bm25", texts, queries={"q1": "where is he", "q2": "night"}, seeds=[1, 2]).values
    (0.5, 0.5)
    """
    chosen = tuple(seeds)
    if not chosen or len(set(chosen)) != len(chosen):
        raise ParameterError(f"seeds must be different numbers, at least one, got {list(chosen)}")
    texts, asked = read_texts(documents, "documents"), read_texts(queries, "queries")
    trial = Experiment(make_system(system), texts, asked, depth=depth, p=p, k=k)
    results = tuple(
        trial.swap(make_swapper(lexicon, kinds=kinds, seed=seed, tagger=tagger), swap_queries=swap_queries)
        for seed in chosen
    )
    return Pairings(chosen, results)
