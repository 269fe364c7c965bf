"""A second look: the first documents of any system, in the order of a scorer of pairs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.systems.base import Progress, Retriever, Texts, check_depth, check_texts, run_of
from evenrank.systems.kept import KeptArrays, digest_of
from evenrank.systems.scorers import as_scorer

PAIRS_AT_ONCE = 1024  # scores are kept after so many: what an interruption costs at most
PAIRS_KEPT = 200_000


class Reranked:
    """The first ``depth`` documents of a system, ordered anew; what the system ranks below is left out.

    A pair of texts that was scored before keeps its score: of a collection that changes here and there only
    what has changed is scored again, and an unchanged document cannot move by the noise of a batch.
    """

    def __init__(
        self,
        first: Retriever,
        scorer: Any,
        *,
        depth: int = 100,
        name: str | None = None,
        batch: int = 32,
        progress: Progress | None = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        self._first = first
        self._scorer = as_scorer(scorer, batch=batch)
        self._depth = check_depth(depth)
        self.name = name or f"{first.name}>>{self._scorer.name}"
        self._progress = progress
        self._kept = KeptArrays(None if self._scorer.identity is None else cache)
        self._texts: dict[str, str] = {}
        self._scored: dict[tuple[str, str], float] = {}

    def index(self, documents: Texts) -> None:
        self._texts = check_texts(documents, "documents")
        self._first.index(self._texts)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        asked, k = check_texts(queries, "queries"), check_depth(k)
        candidates = self._first.retrieve(asked, self._depth)
        lists = [(query, candidates.documents(query)) for query in candidates.query_ids]
        pairs = [(asked[query], self._texts[document]) for query, found in lists for document in found]
        self._score(pairs)
        ranked = []
        for query, found in lists:
            scores = [self._scored[asked[query], self._texts[document]] for document in found]
            ranked.append((query, found, scores))
        return run_of(ranked, self.name).head(k)

    @property
    def notes(self) -> list[str]:
        return list(getattr(self._first, "notes", []))

    @property
    def similarity(self) -> str | None:
        """How the first stage compares vectors, where it does."""
        return getattr(self._first, "similarity", None)

    def _score(self, pairs: list[tuple[str, str]]) -> None:
        if len(self._scored) > PAIRS_KEPT:
            self._scored.clear()
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._scored]
        for begin in range(0, len(fresh), PAIRS_AT_ONCE):
            block = fresh[begin : begin + PAIRS_AT_ONCE]
            scores = self._block(block)
            self._scored.update(zip(block, scores.tolist(), strict=True))
            if self._progress is not None:
                self._progress(f"scoring pairs by {self._scorer.name}", begin + len(block), len(fresh))

    def _block(self, block: list[tuple[str, str]]) -> Any:
        queries, documents = [query for query, _ in block], [document for _, document in block]
        key = digest_of(f"pairs {self._scorer.identity}", queries, documents) if self._kept.lasting else ""
        kept = self._kept.get(key, lambda: {"scores": np.asarray(self._scorer.score(queries, documents))})
        return kept["scores"]
