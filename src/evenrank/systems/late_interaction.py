"""Late interaction: every token of a query looks for its nearest token in the document (MaxSim)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Int64s
from evenrank.data.run import Run
from evenrank.errors import ParameterError
from evenrank.evidence.models import MINILM
from evenrank.grammar import declare, parameter, text
from evenrank.systems.base import (
    IndexedDocuments,
    Progress,
    Texts,
    check_depth,
    check_texts,
    not_indexed,
    run_of,
)
from evenrank.systems.declared import LATE, SystemSettings, SystemTerm
from evenrank.systems.kept import Arrays, KeptArrays, digest_of
from evenrank.systems.model_folders import PAIRS, check_model, need_transformers
from evenrank.systems.token_vectors import TokenEncoder, token_encoder, token_folder

Vectors = npt.NDArray[np.floating[Any]]
TEXTS_AT_ONCE = 1024
DECIMALS = 6  # token vectors are kept in half precision: below this scores of equal texts could differ


class LateInteraction:
    """Every document by MaxSim: the sum, over the tokens of the query, of the largest cosine with a token of
    the document. Nothing is pruned, so what an approximate index may miss is found.

    Token vectors have length 1 and are kept in half precision, 1,024 documents in a block; with ``cache``
    blocks lie on disk, and memory holds one at a time.
    Khattab and Zaharia 2020, ColBERT.
    """

    def __init__(
        self,
        encoder: TokenEncoder,
        *,
        name: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._encoder = encoder
        self.name = name or f"{encoder.name}-maxsim"
        self._kept = KeptArrays(cache if encoder.identity else None)
        self._progress = progress
        self._collection: IndexedDocuments | None = None
        self._texts: list[str] = []
        self._blocks: list[Arrays] = []

    def index(self, documents: Texts) -> None:
        texts = check_texts(documents, "documents")
        self._texts, self._blocks = list(texts.values()), []
        for begin in range(0, len(self._texts), TEXTS_AT_ONCE):
            block = self._block(begin)
            if not self._kept.lasting:  # else it is read again when it is needed
                self._blocks.append(block)
            if self._progress is not None:
                done = min(begin + TEXTS_AT_ONCE, len(self._texts))
                self._progress("encoding documents", done, len(self._texts))
        self._collection = IndexedDocuments(texts)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        if self._collection is None:
            raise not_indexed(self.name)
        asked, k = check_texts(queries, "queries"), check_depth(k)
        held = self._encoder.encode(list(asked.values()), query=True)
        scores = np.empty((len(asked), len(self._collection)))
        for begin in range(0, len(self._texts), TEXTS_AT_ONCE):
            kept = bool(self._blocks)
            block = self._blocks[begin // TEXTS_AT_ONCE] if kept else self._block(begin)
            vectors = block["vectors"].astype(np.float32)  # (T, D)
            for row, tokens in enumerate(held):
                end = begin + len(block["starts"])
                scores[row, begin:end] = max_sim(tokens.astype(np.float32), vectors, block["starts"])
            if self._progress is not None:
                self._progress("comparing documents", begin + len(block["starts"]), len(self._texts))
        scores = scores.round(DECIMALS)
        lists = []
        for query, row_scores in zip(asked, scores, strict=True):
            best = self._collection.best(row_scores, k)
            lists.append((query, [self._collection.ids[at] for at in best], row_scores[best].tolist()))
        return run_of(lists, self.name)

    def _block(self, begin: int) -> Arrays:
        texts = self._texts[begin : begin + TEXTS_AT_ONCE]

        def make() -> Arrays:
            encoded = self._encoder.encode(texts, query=False)
            lengths = [len(tokens) for tokens in encoded]
            starts = np.cumsum([0, *lengths[:-1]], dtype=np.int64)
            return {"vectors": np.concatenate(encoded).astype(np.float16), "starts": starts}

        key = digest_of(f"tokens {self._encoder.identity}", texts) if self._kept.lasting else ""
        return self._kept.get(key, make)


def max_sim(query: Vectors, documents: Vectors, starts: Int64s) -> Vectors:
    """(N,): for each document, whose tokens begin at ``starts``, the sum of the best match of every token.

    >>> max_sim(np.eye(2), np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), np.array([0, 2])).tolist()
    [1.8, 1.0]
    """
    similar = query @ documents.T  # (M, T)
    best: Vectors = np.maximum.reduceat(similar, starts, axis=1)  # (M, N)
    return best.sum(axis=0)  # type: ignore[no-any-return]


@declare
class LateInteractionTerm(SystemTerm):
    """Late interaction (MaxSim) over the token vectors of any encoder, or with ColBERT weights."""

    name = "LateInteraction"
    family = LATE
    extra = "embed"

    model: str = parameter(
        MINILM, text(), "minilm, or the folder of a sentence-transformers or ColBERT model"
    )

    def check(self, settings: SystemSettings) -> None:
        need_transformers("late interaction")
        folder = token_folder(self.model, settings.path(self.model))
        check_model(folder, "encoder of tokens", refused=(PAIRS,))

    def make(self, settings: SystemSettings) -> LateInteraction:
        folder: Path = token_folder(self.model, settings.path(self.model))
        if not folder.is_dir():
            raise ParameterError(f"{folder}: no such folder of a model")
        name = self.model if self.model == MINILM else folder.name
        encoder = token_encoder(folder, name, batch=settings.batch)
        return LateInteraction(encoder, cache=settings.cache, progress=settings.progress)
