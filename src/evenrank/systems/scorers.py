"""What gives a pair of query and document a score: a cross-encoder, nanoranker, or anything callable."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from evenrank.arrays import Floats, real_numbers
from evenrank.errors import DataError, InputTypeError, MissingExtraError
from evenrank.evidence.models import folder_identity, load_from
from evenrank.files import regular_file

NANORANKER = "nanoranker"
RANKER = "ranker.json"  # evenrank debias writes it beside the weights
HEAD = "ForSequenceClassification"
TEXTS_KEPT = 100_000


@runtime_checkable
class Scorer(Protocol):
    """Scores pairs of texts, higher is better: as many numbers as there are pairs."""

    def score(self, query_texts: Sequence[str], document_texts: Sequence[str]) -> Any: ...


class Scoring:
    """A named scorer that is checked: one finite number a pair.

    ``identity`` is what scores are kept under; None for a callable, of which nobody knows when it changes.
    """

    def __init__(
        self, name: str, score: Callable[[list[str], list[str]], Any], identity: str | None = None
    ) -> None:
        self.name = name
        self.identity = identity
        self._score = score

    def score(self, query_texts: Sequence[str], document_texts: Sequence[str]) -> Floats:
        given = self._score(list(query_texts), list(document_texts))
        try:
            scores = real_numbers(given).reshape(-1)
        except (TypeError, ValueError):
            scores = np.empty(0)
        if len(scores) != len(query_texts):
            raise DataError(f"{self.name}: gave {np.shape(given)} for {len(query_texts)} pairs of texts")
        if not np.isfinite(scores).all():
            raise DataError(f"{self.name}: gave a score that is not finite")
        return scores


def as_scorer(given: Any, *, batch: int = 32) -> Scoring:
    """An object with ``score(query_texts, document_texts)``, a callable of pairs, ``"nanoranker"``, or the
    folder of a sentence-transformers cross-encoder or of a ranker that ``evenrank debias`` wrote."""
    if isinstance(given, Scoring):
        return given
    if isinstance(given, Scorer):
        return Scoring(str(getattr(given, "name", type(given).__name__)), given.score)
    if callable(given):
        function = given
        return Scoring(
            getattr(given, "__name__", type(given).__name__),
            lambda queries, documents: function(list(zip(queries, documents, strict=True))),
        )
    if given == NANORANKER:
        return _nanoranker()
    if isinstance(given, (str, os.PathLike)):
        return _cross_encoder(Path(given).expanduser(), batch)
    raise InputTypeError(
        "a scorer has score(query_texts, document_texts), or is a callable of pairs (query, document), "
        f"{NANORANKER!r} or the folder of a cross-encoder; got {type(given).__name__}"
    )


def _cross_encoder(folder: Path, batch: int) -> Scoring:
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder of a cross-encoder")
    if (folder / RANKER).is_file():
        return _ranker(folder, batch)
    if importlib.util.find_spec("sentence_transformers") is None:
        raise MissingExtraError.for_job(f"the cross-encoder {folder}", "sentence-transformers", "embed")
    _check_head(folder)
    loaded: list[Any] = []

    def score(queries: list[str], documents: list[str]) -> Any:
        if not loaded:
            from sentence_transformers import CrossEncoder

            loaded.append(load_from(folder, CrossEncoder))
        pairs = list(zip(queries, documents, strict=True))
        return loaded[0].predict(pairs, batch_size=batch, show_progress_bar=False)

    return Scoring(folder.name, score, folder_identity(folder))


def _ranker(folder: Path, batch: int) -> Scoring:
    """A ranker that ``evenrank debias`` wrote."""
    from evenrank.neural.extra import require

    require(f"the ranker {folder}")
    loaded: list[Scorer] = []

    def score(queries: list[str], documents: list[str]) -> Any:
        if not loaded:
            from evenrank.neural.scorer import RankerScorer

            loaded.append(RankerScorer.load(folder, batch=batch))
        return loaded[0].score(queries, documents)

    return Scoring(folder.name, score, folder_identity(folder))


def _check_head(folder: Path) -> None:
    """An encoder alone would be loaded too, with a head drawn at random, and order by chance."""
    try:
        kinds = (
            json.loads(regular_file(folder / "config.json").read_text(encoding="utf-8")).get("architectures")
            or []
        )
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise DataError(f"{folder}: no cross-encoder: it has no config.json that could be read") from error
    if kinds and not any(HEAD in str(kind) for kind in kinds):
        raise DataError(
            f"{folder}: {', '.join(map(str, kinds))} has no head that scores pairs: a cross-encoder is "
            f"a model .. {HEAD}; an encoder can be a system of its own"
        )


def _nanoranker() -> Scoring:
    """A small trained network over sentence vectors of query and document, in a wheel with its weights.

    Its own ``rank`` makes the vectors of all documents anew for every query; here a text has one. The scores
    are those of ``rank(.., normalize_scores=False)``: normalised ones depend on the other documents.
    """
    if importlib.util.find_spec(NANORANKER) is None:
        raise MissingExtraError.for_job("the re-ranker 'nanoranker'", NANORANKER, NANORANKER)
    from importlib import metadata

    known: dict[str, Floats] = {}

    def vectors(texts: list[str]) -> Floats:
        from nanoranker import embed

        if len(known) > TEXTS_KEPT:
            known.clear()
        for text in texts:
            if text not in known:
                known[text] = embed(text)
        return np.stack([known[text] for text in texts])

    def score(queries: list[str], documents: list[str]) -> Any:
        from nanoranker import reranker_model

        pairs = np.concatenate([vectors(queries), vectors(documents)], axis=1)  # (N, 2 * 576)
        return reranker_model.run(["output"], {"input": pairs.astype(np.float32)})[0]

    return Scoring(NANORANKER, score, f"{NANORANKER} {metadata.version(NANORANKER)}")
