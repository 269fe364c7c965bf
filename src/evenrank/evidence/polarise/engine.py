"""Fit an axis to the documents of each query, and place documents on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats
from evenrank.data.polarity import Polarity
from evenrank.errors import DataError, ParameterError, few
from evenrank.evidence.polarise.accuracy import Accuracy, accuracy_table, chance_share, share_right
from evenrank.evidence.polarise.axes import (
    Axes,
    fit_axes,
    orientation,
    project,
    spurious_direction,
    without_direction,
)
from evenrank.evidence.polarise.cache import VectorCache
from evenrank.evidence.polarise.encoders import MINILM, Encoder, as_encoder, checked, longest_first
from evenrank.evidence.polarise.held_out import FittedQuery
from evenrank.evidence.polarise.opinions import Opinions, read_opinions, read_perspectives
from evenrank.evidence.polarise.spread import encoding_ahead
from evenrank.evidence.polarise.vectors import as_vectors
from evenrank.ids import positions
from evenrank.tables import Table

Progress = Callable[[int, int], None]
"""Called with how many texts are encoded, of how many."""

TEXTS_AT_ONCE = 512
NO_DOCUMENTS = "no documents to fit an axis to"


@dataclass(frozen=True)
class PolariseResult:
    """Scores, and how well those of labelled documents tell the perspectives apart (None without labels).

    ``unturned`` are queries whose fit documents do not take both perspectives: their sign has no meaning.
    ``fit`` are the scores of the fit documents, where others were placed. ``queries`` are what the axes were
    fitted to, and ``placed_right`` the share of placed documents on the side that they name, by query.
    """

    polarity: Polarity
    accuracy: Accuracy | None
    unturned: tuple[str, ...] = ()
    fit: Polarity | None = None
    queries: tuple[FittedQuery, ...] = ()
    placed_right: Mapping[str, float] = field(default_factory=dict)

    def to_table(self) -> Table:
        """How well the scores tell the perspectives apart; without a row where no documents are labelled."""
        return accuracy_table({} if self.accuracy is None else {"scores": self.accuracy})

    def _repr_html_(self) -> str:
        return self.to_table().to_html()


def polarise(
    fit_documents: Any,
    documents: Any = None,
    *,
    encoder: Any = MINILM,
    axes: int = 1,
    distractors: Any = None,
    batch: int = 32,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    positive: str | None = None,
    perspectives: Any = None,
    on: object = None,
) -> Polarity:
    """Polarity scores of documents on the axis along which the fit documents of their query differ most.

    ``fit_documents`` and ``documents`` are texts by query: a table or file with the columns query,
    document, text and perhaps perspective, or ``{query: {document: text}}``. Without ``documents`` the fit
    documents are scored. ``encoder`` is a callable of a list of texts, a sentence-transformers model or
    its folder (``"minilm"`` comes with the extra ``embed`` and needs no network), or vectors that are there
    already, by document: ``{document: vector}``, a Parquet table with the columns document and vector,
    ``vectors.npy`` with the ids in ``vectors.txt``; then no text is needed. ``distractors`` are documents
    with two perspectives that differ in something else: the direction between them is removed first.
    ``cache`` is a folder for vectors of models. Where fit documents name two perspectives, ``positive`` is
    positive, or the first in alphabetical order; else the sign of a query's scores has no meaning, unless
    ``perspectives`` has a sentence for each side of a query (columns query, perspective, text): the axis is
    then turned by these, whatever the documents name. ``on`` is a cluster that encodes, as ``scan`` takes it.

    >>> texts = {"q": {"a": "yes", "b": "no", "c": "maybe"}}
    >>> polarise(texts, encoder=lambda batch: [[len(text), 1.0] for text in batch])
    <Polarity: 3 documents of 1 queries, 1 axis>
    """
    return polarise_with_accuracy(
        fit_documents, documents, encoder=encoder, axes=axes, distractors=distractors, batch=batch,
        cache=cache, progress=progress, seed=seed, positive=positive, perspectives=perspectives,
        on=on,
    ).polarity  # fmt: skip


def polarise_with_accuracy(
    fit_documents: Any,
    documents: Any = None,
    *,
    encoder: Any = MINILM,
    axes: int = 1,
    distractors: Any = None,
    batch: int = 32,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    seed: int = 0,
    positive: str | None = None,
    perspectives: Any = None,
    on: object = None,
) -> PolariseResult:
    """``polarise``, and the accuracy of the scores where fit documents have perspectives."""
    if isinstance(axes, bool) or not isinstance(axes, int) or axes < 1:
        raise ParameterError(f"axes must be an integer >= 1, got {axes!r}")
    given = as_vectors(encoder)
    texts = given is None
    fit = read_opinions(fit_documents, texts=texts)
    sentences = None if perspectives is None else read_perspectives(perspectives, texts=texts)
    labelled = fit.sides_from(positive) if sentences is None or fit.sides is not None else None
    sides = labelled or (None if sentences is None else sentences.sides_from(positive))
    if sentences is not None and labelled is not None and sentences.sides != fit.sides:
        raise DataError(
            f"{sentences.source or 'perspectives'}: has sentences for {few(sentences.sides or ())}, "
            "but documents "
            f"name {few(fit.sides or ())}: use the same names"
        )
    placed = fit if documents is None else read_opinions(documents, texts=texts)
    removed = None if distractors is None else read_opinions(distractors, texts=texts)
    other = None if placed is fit else placed
    everything = [part for part in (fit, other, sentences, removed) if part is not None]
    if given is None:
        vectors = _encoded(everything, encoder, batch, cache, progress, on)
    else:
        vectors = [given.of(part.doc_ids) for part in everything]
    fit_vectors = vectors[0]
    placed_vectors = vectors[0] if placed is fit else vectors[1]
    said = vectors[1 if other is None else 2] if sentences is not None else None
    if removed is not None:
        direction = _distractor_direction(removed, vectors[-1])
        fit_vectors, placed_vectors = (without_direction(v, direction) for v in (fit_vectors, placed_vectors))
    fitted, without, unturned = _fit(fit, fit_vectors, axes, labelled)
    if sentences is not None and said is not None and sides is not None:
        unturned = _turn_by(fitted, fit, sentences, said, sides)
    where = positions(fit.query_ids)

    def place(part: Opinions, vectors: Floats) -> Polarity:
        scores, missing = np.zeros((len(part), axes)), dict(without)
        for code, query in enumerate(part.query_ids):
            own = fitted.get(where.get(query, -1))
            if own is None:
                missing.setdefault(query, NO_DOCUMENTS)
                continue
            rows = part.rows(code)
            scores[rows] = project(vectors[rows], own)
        return Polarity.build(
            list(part.doc_ids),
            scores,
            queries=[part.query_ids[code] for code in part.query_codes.tolist()],
            oriented=sides is not None and len(unturned) < len(fitted),
            without_axis={query: missing[query] for query in part.query_ids if query in missing},
            source=part.source,
        )

    return PolariseResult(
        place(placed, placed_vectors),
        _accuracy(fit, fit_vectors, fitted, labelled, seed),
        unturned,
        None if placed is fit else place(fit, fit_vectors),
        _fitted_queries(fit, fit_vectors, fitted, labelled),
        {} if other is None or sides is None else _placed_right(placed, placed_vectors, fitted, where, sides),
    )


def _turn_by(
    fitted: dict[int, Axes], fit: Opinions, sentences: Opinions, said: Floats, sides: tuple[str, str]
) -> tuple[str, ...]:
    """Turn every axis so that the sentence of the first perspective lies further along it than that of the
    second; the queries without both sentences are given back."""
    known = {(sentences.query_ids[code], side): row for row, (code, side) in enumerate(
        zip(sentences.query_codes.tolist(), sentences.perspectives or (), strict=True)
    )}  # fmt: skip
    unturned = []
    for code, axes in fitted.items():
        query = fit.query_ids[code]
        rows = [known.get((query, side)) for side in sides]
        if rows[0] is None or rows[1] is None:
            unturned.append(query)
            continue
        lead = (said[rows[0]] - said[rows[1]]) @ axes.directions.T  # (A,)
        turn = np.where(lead < 0, -1.0, 1.0)
        fitted[code] = Axes(axes.centre, axes.directions * turn[:, None])
    return tuple(unturned)


def _fitted_queries(
    fit: Opinions, vectors: Floats, fitted: Mapping[int, Axes], sides: tuple[str, str] | None
) -> tuple[FittedQuery, ...]:
    found = []
    for code, axes in fitted.items():
        rows = fit.rows(code)
        first = None
        if sides is not None and fit.perspectives is not None:
            one, other = (_takes(fit, rows, side) for side in sides)
            first = one if one.any() and other.any() and (one | other).all() else None
        names = tuple(fit.doc_ids[row] for row in rows.tolist())
        scores = project(vectors[rows], axes)[:, 0]
        found.append(FittedQuery(fit.query_ids[code], names, vectors[rows], scores, first))
    return tuple(found)


def _placed_right(
    placed: Opinions,
    vectors: Floats,
    fitted: Mapping[int, Axes],
    where: Mapping[str, int],
    sides: tuple[str, str],
) -> dict[str, float]:
    """The share of placed documents on the side that they name, for queries that name both."""
    found: dict[str, float] = {}
    if placed.perspectives is None:
        return found
    for code, query in enumerate(placed.query_ids):
        axes = fitted.get(where.get(query, -1))
        rows = placed.rows(code)
        one, other = (_takes(placed, rows, side) for side in sides)
        if axes is None or not one.any() or not other.any():
            continue
        scores = project(vectors[rows], axes)[:, 0]
        found[query] = float((((scores > 0) & one) | ((scores < 0) & other))[one | other].mean())
    return found


def _encoded(
    parts: list[Opinions],
    given: Any,
    batch: int,
    cache: str | os.PathLike[str] | None,
    progress: Progress | None,
    on: object,
) -> list[Floats]:
    """Vectors of all parts; every text is encoded once."""
    encoder = as_encoder(given, batch=batch)
    names: dict[str, str] = {}  # the first document of each text
    for part in parts:
        for text, document in zip(part.texts or (), part.doc_ids, strict=True):
            names.setdefault(text, document)
    names = {text: names[text] for text in longest_first(names)}
    texts = list(names)
    kept = None
    if cache is not None and encoder.identity is not None:
        kept = VectorCache(cache, encoder.identity)
    if on is None:
        everything = _in_blocks(names, encoder, kept, cache, progress)
    else:
        import evenrank

        blocks = [texts[begin : begin + TEXTS_AT_ONCE] for begin in range(0, len(texts), TEXTS_AT_ONCE)]
        wanted = blocks if kept is None else [kept.unknown(block) for block in blocks]
        with (
            evenrank.open_executor(on) as executor,
            encoding_ahead(given, batch, executor, wanted) as ahead,
        ):
            everything = _in_blocks(names, ahead, kept, cache, progress)
    place = positions(texts)
    return [everything[[place[text] for text in part.texts or ()]] for part in parts]


def _in_blocks(
    names: Mapping[str, str],
    encoder: Encoder,
    kept: VectorCache | None,
    cache: str | os.PathLike[str] | None,
    progress: Progress | None,
) -> Floats:
    """The vectors of texts, each of which has the name of a document."""
    texts = list(names)
    blocks: list[Floats] = []
    for begin in range(0, len(texts), TEXTS_AT_ONCE):
        block = texts[begin : begin + TEXTS_AT_ONCE]
        width = blocks[0].shape[1] if blocks else None

        def encode(wanted: list[str], width: int | None = width) -> Floats:
            ids = [names[text] for text in wanted]
            return checked(encoder.encode(wanted), ids, width, f"encoder {encoder.name!r}")

        blocks.append(encode(block) if kept is None else kept.encode(block, encode))
        if blocks[-1].shape[1] != blocks[0].shape[1]:
            raise DataError(
                f"{cache}: holds vectors of {encoder.name!r} of widths {blocks[0].shape[1]} and "
                f"{blocks[-1].shape[1]}, which do not compare: use another folder"
            )
        if progress is not None:
            progress(begin + len(block), len(texts))
    return np.concatenate(blocks)


def _fit(
    fit: Opinions, vectors: Floats, count: int, sides: tuple[str, str] | None
) -> tuple[dict[int, Axes], dict[str, str], tuple[str, ...]]:
    """The axes of every query that has them, why others have none, and where perspectives do not say
    which side is positive."""
    fitted: dict[int, Axes] = {}
    unturned: list[str] = []
    without: dict[str, str] = {}
    for code, query in enumerate(fit.query_ids):
        rows = fit.rows(code)
        found = fit_axes(vectors[rows], count)
        if isinstance(found, str):
            without[query] = found
            continue
        if sides is not None:
            first, second = (_takes(fit, rows, side) for side in sides)
            if not first.any() or not second.any():
                unturned.append(query)
            turn = orientation(project(vectors[rows], found), first, second)
            found = Axes(found.centre, found.directions * turn[:, None])
        fitted[code] = found
    return fitted, without, tuple(unturned)


def _takes(fit: Opinions, rows: npt.NDArray[np.int64], side: str) -> npt.NDArray[np.bool_]:
    named = fit.perspectives or ()
    return np.array([named[row] == side for row in rows.tolist()], dtype=bool)


def _distractor_direction(removed: Opinions, vectors: Floats) -> Floats:
    sides = removed.sides
    if sides is None:
        raise DataError(
            "distractors need a perspective for every document: two sets that differ in something else"
        )
    everywhere = np.arange(len(removed))
    direction = spurious_direction(*(vectors[_takes(removed, everywhere, side)] for side in sides))
    if direction is None:
        raise DataError("the two sets of distractors have the same mean: there is no direction to remove")
    return direction


def _accuracy(
    fit: Opinions, vectors: Floats, fitted: Mapping[int, Axes], sides: tuple[str, str] | None, seed: int
) -> Accuracy | None:
    """Of the first axis, for the queries that have documents of both perspectives."""
    if sides is None:
        return None
    generator = np.random.default_rng(seed)
    queries, values, chance = [], [], []
    for code, axes in fitted.items():
        rows = fit.rows(code)
        first, second = (_takes(fit, rows, side) for side in sides)
        if not first.any() or not second.any():
            continue
        named = first | second
        scores = project(vectors[rows], axes)[named, 0]
        queries.append(fit.query_ids[code])
        values.append(share_right(scores, first[named]))
        chance.append(chance_share(scores, first[named], generator))
    return Accuracy(tuple(queries), np.array(values), np.array(chance)) if queries else None
