"""A trained ranker as a scorer of pairs, which any system can be re-ranked by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenrank.neural.load import load_ranker
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.scoring import BATCH, pair_scores


class RankerScorer:
    """``score(query_texts, document_texts)`` of a ranker: one number a pair, higher is more relevant."""

    def __init__(self, ranker: NeuralRanker, name: str = "ranker", *, batch: int = BATCH) -> None:
        self.name = name
        self._ranker = ranker
        self._batch = batch

    @classmethod
    def load(cls, folder: Path, *, batch: int = BATCH) -> RankerScorer:
        return cls(load_ranker(folder), folder.name, batch=batch)

    def score(self, query_texts: Sequence[str], document_texts: Sequence[str]) -> npt.NDArray[np.float32]:
        def texts(rows: npt.NDArray[np.int64]) -> tuple[list[str], list[str]]:
            places = rows.tolist()
            return [query_texts[place] for place in places], [document_texts[place] for place in places]

        pairs = len(query_texts)
        tokens = self._ranker.batches(texts, pairs)
        return pair_scores(self._ranker, tokens, np.arange(pairs), batch=self._batch)
