"""A bi-encoder: queries and documents as vectors, and every document compared with every query."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.erasure.eraser import Eraser
from evenrank.erasure.identity import encoder_identity
from evenrank.errors import ParameterError
from evenrank.evidence.encoding import Encoder, VectorCache, as_encoder, encoded
from evenrank.evidence.models import COSINE, DOT, MINILM, WORDLLAMA
from evenrank.grammar import choice, declare, parameter, text
from evenrank.systems.base import (
    IndexedDocuments,
    Progress,
    Texts,
    check_depth,
    check_texts,
    not_indexed,
    run_of,
)
from evenrank.systems.declared import DENSE, SystemSettings, SystemTerm
from evenrank.systems.model_folders import PAIRS, check_model
from evenrank.systems.naming import declare_short

TEXTS_AT_ONCE = 1024  # vectors are kept after so many: what an interruption costs at most
QUERIES_AT_ONCE = 64
TEXTS_KEPT = 200_000
DECIMALS = 12  # below what sums of the same numbers differ by: equal texts have equal scores


class _Side(NamedTuple):
    """How documents or queries become vectors, and the vectors that there are already.

    Both have the same one, unless the model tells queries from documents.
    """

    encoder: Encoder
    cache: VectorCache | None
    known: dict[str, npt.NDArray[np.float32]]


class Dense:
    """Exact search over the vectors of a sentence-transformers model or of any callable.

    Vectors are compared as the model's folder says, by cosine or by dot product, unless ``similarity`` says
    otherwise; those of a callable by cosine.

    Texts that are indexed again are not encoded again; ``cache`` is a folder that keeps vectors for later.
    A model that tells queries from documents encodes each in its own way, and where it changes vectors after
    it brought them to length 1, as one that erases does, they are compared as it leaves them.
    With an ``eraser`` a score is the product of the query, of length 1, and the document as the eraser leaves
    it: bringing it to length 1 again would bring some of what was erased back. An eraser with a penalty does
    that, and its strength times the probability of the label is subtracted from every score. ``on`` is a
    cluster that encodes documents, as ``scan`` takes it; queries are encoded here.
    """

    def __init__(
        self,
        encoder: Any = MINILM,
        *,
        name: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        batch: int = 32,
        progress: Progress | None = None,
        eraser: Eraser | None = None,
        erase_queries: bool = False,
        on: object = None,
        similarity: str | None = None,
    ) -> None:
        self._encoder = as_encoder(encoder, batch=batch)
        self._on = on
        if eraser is not None:
            check_eraser(eraser, encoder)
        self._eraser, self._erase_queries = eraser, erase_queries
        # an eraser that is given was fitted to vectors of length 1
        self._sets_lengths = self._encoder.sets_lengths and eraser is None
        self.name = name or Path(self._encoder.name).name
        self._similarity = similarity
        self._progress = progress
        for_queries = self._encoder.for_queries
        self._documents = self._queries = self._side(self._encoder, cache)
        if for_queries is not self._encoder:
            self._queries = self._side(for_queries, cache)
        self._collection: IndexedDocuments | None = None
        self._vectors: Floats = np.empty((0, 0))
        self._penalties: Floats | None = None

    @cached_property
    def similarity(self) -> str:
        """How vectors are compared: ``cosine`` or ``dot``."""
        found = self._similarity or self._encoder.similarity()
        check_similarity(found, self.name, erases=self._eraser is not None)
        return found

    def _side(self, encoder: Encoder, cache: str | os.PathLike[str] | None) -> _Side:
        if cache is None:
            return _Side(encoder, None, {})
        if encoder.identity is None:
            raise ParameterError(
                f"{self.name}: vectors of a callable cannot be kept, for nobody knows when it changes: "
                "leave cache out"
            )
        return _Side(encoder, VectorCache(cache, encoder.identity), {})

    def index(self, documents: Texts) -> None:
        texts, _ = check_texts(documents, "documents"), self.similarity  # one that is unknown is an error now
        vectors = self._encoded(texts, "encoding documents", self._documents, self._on)
        self._vectors = vectors if self._eraser is None else self._eraser.for_index(vectors)
        if self._eraser is not None and self._eraser.penalty is not None:
            self._penalties = self._eraser.penalty.strength * self._eraser.probability(vectors)  # (N,)
        self._collection = IndexedDocuments(texts)

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        if self._collection is None:
            raise not_indexed(self.name)
        asked, k = check_texts(queries, "queries"), check_depth(k)
        vectors = self._encoded(asked, "encoding queries", self._queries)
        if self._eraser is not None and self._erase_queries:
            vectors = self._eraser.erased_texts(vectors)
        lists = []
        ids = list(asked)
        for begin in range(0, len(ids), QUERIES_AT_ONCE):
            scores = vectors[begin : begin + QUERIES_AT_ONCE] @ self._vectors.T  # (q, N)
            if self._penalties is not None:
                scores -= self._penalties
            scores = scores.round(DECIMALS)
            for query, row in zip(ids[begin:], scores, strict=False):
                best = self._collection.best(row, k)
                lists.append((query, [self._collection.ids[at] for at in best], row[best].tolist()))
        return run_of(lists, self.name)

    def _encoded(self, texts: dict[str, str], what: str, side: _Side, on: object = None) -> Floats:
        """(N, D): vectors of length 1, or of the lengths that the model means."""
        known = side.known
        if len(known) > TEXTS_KEPT:
            known.clear()
        named = {text: identifier for identifier, text in texts.items() if text not in known}
        done = 0
        for block, vectors in encoded(
            named, side.encoder, cache=side.cache, on=on, at_once=TEXTS_AT_ONCE, source=self.name, zero=True
        ):
            known.update(zip(block, vectors.astype(np.float32), strict=True))
            done += len(block)
            if self._progress is not None:
                self._progress(what, done, len(named))
        table = np.stack([known[text] for text in texts.values()]).astype(np.float64)
        if self._sets_lengths or self.similarity == DOT:
            return table
        lengths = np.linalg.norm(table, axis=1, keepdims=True)
        # a text without a word that the model knows is like no other: its cosine is 0
        return table / np.where(lengths > 0, lengths, 1.0)


def check_similarity(found: str, name: str, *, erases: bool) -> None:
    """Raise unless Dense compares vectors so; with an eraser, unless vectors of length 1 are meant."""
    if found not in (COSINE, DOT):
        raise ParameterError(
            f"{name}: its vectors are meant to be compared by {found}, but Dense compares them by "
            "cosine or dot: give similarity='cosine' or similarity='dot'"
        )
    if found == DOT and erases:
        raise ParameterError(
            f"{name}: its vectors are meant to be compared by dot product, but an eraser is for vectors of "
            "length 1: name the search with its eraser, Dense(model=..,eraser=..,similarity='cosine'), and "
            "compare it with Dense(model=..,similarity='cosine')"
        )


def check_eraser(eraser: Eraser, encoder: Any, source: str = "the eraser") -> None:
    """Raise unless the eraser belongs to this encoder, and to vectors of length 1."""
    if isinstance(encoder, (str, os.PathLike)):
        eraser.check_encoder(encoder_identity(encoder), source)
    if not eraser.unit:
        raise ParameterError(
            f"{source}: was fitted to vectors that are not of length 1, but a search by cosine has such: fit "
            "it to vectors of length 1"
        )


@declare
class DenseTerm(SystemTerm):
    """A bi-encoder: exact search over the vectors of a sentence-transformers model, by its own similarity."""

    name = "Dense"
    family = DENSE
    extra = "embed"

    model: str = parameter(
        MINILM, text(), "minilm, wordllama, or the folder of a sentence-transformers model"
    )

    similarity: str | None = parameter(
        None, choice(COSINE, DOT, optional=True), "how vectors are compared; None: as the model's folder says"
    )
    eraser: str | None = parameter(
        None, text(optional=True), "an eraser of evenrank debias erase, for the vectors of documents"
    )
    erase: str = parameter(
        "documents",
        choice("documents", "both"),
        "whose vectors it changes: those of documents, or queries too",
    )

    def check(self, settings: SystemSettings) -> None:
        if self.eraser is None and self.erase != "documents":
            raise ParameterError("Dense: erase=both needs an eraser: add eraser='FILE'")
        encoder = as_encoder(self._encoder(settings))
        if self.model not in (MINILM, WORDLLAMA):
            check_model(settings.path(self.model), "bi-encoder", refused=(PAIRS,))
        if self.eraser is not None:
            check_eraser(Eraser.load(settings.path(self.eraser)), self._encoder(settings), self.eraser)
            check_similarity(self.similarity or encoder.similarity(), self.model, erases=True)

    def make(self, settings: SystemSettings) -> Dense:
        encoder = self._encoder(settings)
        name = None
        if self.eraser is not None:
            name = f"{Path(encoder).name}-{Path(self.eraser).stem}"
        return Dense(
            encoder,
            name=name,
            cache=settings.cache,
            batch=settings.batch,
            progress=settings.progress,
            eraser=None if self.eraser is None else Eraser.load(settings.path(self.eraser)),
            erase_queries=self.erase == "both",
            on=settings.on,
            similarity=self.similarity,
        )

    def _encoder(self, settings: SystemSettings) -> str:
        """A local folder, never a name of the hub: nothing is fetched."""
        if self.model in (MINILM, WORDLLAMA):
            return self.model
        path = settings.path(self.model)
        return str(path if path.is_absolute() else Path.cwd() / path)


declare_short(MINILM, "Dense", model=MINILM)
declare_short(WORDLLAMA, "Dense", model=WORDLLAMA)
