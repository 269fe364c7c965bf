"""What says at a checkpoint how good a ranker is, for early stopping: its probe, or a measure of lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.evaluation import evaluate
from evenrank.measures import parse_measure
from evenrank.neural.examples import Examples
from evenrank.neural.labels import PairLabels
from evenrank.neural.probe import probe_ranker
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.scoring import pair_scores
from evenrank.neural.tokens import PairBatches

LOSS, PROBE = "loss", "probe"


class Judge(Protocol):
    """One number for a ranker; less is better."""

    name: str

    def __call__(self, ranker: NeuralRanker, tokens: PairBatches) -> float: ...


class ProbeJudge:
    """What a fresh adversary tells beyond chance from documents of queries that are held out."""

    name = PROBE

    def __init__(self, held_out: Examples, labels: Mapping[str, PairLabels], seed: int) -> None:
        self._held_out, self._labels, self._seed = held_out, labels, seed

    def __call__(self, ranker: NeuralRanker, tokens: PairBatches) -> float:
        found = [
            probe_ranker(ranker, tokens, self._held_out, labels, seed=self._seed)
            for labels in self._labels.values()
        ]
        return max(abs(probe.accuracy - probe.chance) for probe in found)


class MeasureJudge:
    """A measure of the lists of queries that are held out, each the documents of the query's triples."""

    def __init__(self, measure: str, held_out: Examples) -> None:
        self.name = measure
        self._measure = parse_measure(measure)
        relevant = np.unique(held_out.triples[:, 0])
        self._pairs = np.unique(held_out.triples)
        queries = held_out.pair_queries[self._pairs]
        self._queries = [held_out.query_ids[place] for place in queries.tolist()]
        self._documents = [str(place) for place in held_out.pair_documents[self._pairs].tolist()]
        grades = np.isin(self._pairs, relevant).astype(int).tolist()
        self._qrels = Qrels.build(self._queries, self._documents, grades)

    def __call__(self, ranker: NeuralRanker, tokens: PairBatches) -> float:
        scores = pair_scores(ranker, tokens, self._pairs)
        run = Run.build(self._queries, self._documents, scores.tolist())
        found = evaluate({"ranker": run}, [self._measure], qrels=self._qrels)
        return -found.mean(self._measure)
