"""A trained ranker as a re-ranker: run in, run out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Int64s
from evenrank.data.run import Run
from evenrank.errors import MissingEvidenceError, counted, few
from evenrank.evidence.align import Sources
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.scoring import BATCH, pair_scores
from evenrank.neural.tokens import PairBatches
from evenrank.rerankers.base import Reranker, Reranking, rearranged


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NeuralReranker(Reranker):
    """The documents of every list by a ranker's score, equal ones in their old order.

    It is used like any re-ranker: ``rerank(run, NeuralReranker.of(ranker, queries, documents)@100)``, and
    ``|`` puts another one behind it. Texts are mappings from id to text.
    """

    name: ClassVar[str] = "Neural"

    ranker: NeuralRanker
    queries: Mapping[str, str]
    documents: Mapping[str, str]
    called: str = "Neural"
    batch: int = BATCH
    precision: str = "float32"
    progress: Callable[[int, int], None] | None = None

    @classmethod
    def of(
        cls, ranker: NeuralRanker, queries: Mapping[str, str], documents: Mapping[str, str], **more: Any
    ) -> NeuralReranker:
        return cls(ranker=ranker, queries=queries, documents=documents, **more)

    def __repr__(self) -> str:
        return self.called if self.cutoff is None else f"{self.called}@{self.cutoff}"

    def draws(self, run: Run, sources: Sources, draws: Sequence[int]) -> list[Reranking]:
        lists = ScorablePairs.of(
            run if self.cutoff is None else run.head(self.cutoff), self.queries, self.documents
        )
        scores = lists.scores(self.ranker, batch=self.batch, precision=self.precision, progress=self.progress)
        done = Reranking(lists.reordered(run, scores, self))
        return [done] * len(draws)


@dataclass(frozen=True, eq=False)
class ScorablePairs:
    """The pairs of a run, ready to be scored by one ranker after another."""

    run: Run
    tokens: dict[tuple[int, int], PairBatches]  # by the tokenizer and the length that they were made for
    queries: list[str]
    documents: list[str]

    @classmethod
    def of(cls, run: Run, queries: Mapping[str, str], documents: Mapping[str, str]) -> ScorablePairs:
        """Texts of everything that is ranked; what has none is an error that names three."""
        ids = run.doc_ids.to_pylist()
        _check("query", "queries", run.query_ids, queries)
        _check("document", "documents", ids, documents)
        repeated = np.repeat(np.arange(len(run)), run.lengths).tolist()
        texts = [queries[query] for query in run.query_ids]
        return cls(run, {}, [texts[place] for place in repeated], [documents[document] for document in ids])

    def scores(self, ranker: NeuralRanker, **how: Any) -> npt.NDArray[np.float32]:
        """(N,): of every ranked document."""
        key = (id(ranker.tokenizer), ranker.max_length)
        if key not in self.tokens:
            self.tokens[key] = ranker.batches(self._texts, len(self.documents))
        return pair_scores(ranker, self.tokens[key], np.arange(len(self.documents)), **how)

    def _texts(self, rows: Int64s) -> tuple[list[str], list[str]]:
        places = rows.tolist()
        return [self.queries[place] for place in places], [self.documents[place] for place in places]

    def reordered(self, whole: Run, scores: npt.NDArray[np.float32], method: Reranker) -> Run:
        """``whole`` with its first ranks, those of these lists, in the order of the scores."""
        depth = self.run.depth
        mask = np.arange(depth) < self.run.lengths[:, None]  # (Q, K)
        table = np.full(mask.shape, -np.inf)
        table[mask] = scores
        order = np.argsort(-table, axis=1, kind="stable")
        return rearranged(whole, np.where(mask, order, -1), depth, method)


def _check(one: str, many: str, ids: Sequence[str], texts: Collection[str]) -> None:
    lacking = [name for name in dict.fromkeys(ids) if name not in texts]
    if lacking:
        raise MissingEvidenceError(
            f"{counted(len(lacking), f'ranked {one} has', f'ranked {many} have')} no text: {few(lacking)}; "
            f"give texts of all {many}"
            + (" (a project file can name the column, columns = { text = .. })" if one == "query" else "")
            + ", or leave them out of the run"
        )
