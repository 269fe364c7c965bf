"""Fit an axis to the documents of each query, and place documents on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.polarity import Polarity
from evenrank.errors import DataError, ParameterError, few
from evenrank.evidence.polarise.accuracy import Accuracy, accuracy_table
from evenrank.evidence.polarise.axes import Axes, fit_axes, orientation, project, without_direction
from evenrank.evidence.polarise.cache import VectorCache
from evenrank.evidence.polarise.chance import right_by_text
from evenrank.evidence.polarise.encoders import MINILM, as_encoder
from evenrank.evidence.polarise.encoding import encoded
from evenrank.evidence.polarise.held_out import FittedQuery
from evenrank.evidence.polarise.opinions import Opinions, read_opinions, read_perspectives
from evenrank.evidence.polarise.vectors import as_vectors
from evenrank.tables import Table

Progress = Callable[[int, int], None]
"""Called with how many texts are encoded, of how many."""

SHUFFLES = 1000  # of labels, for the accuracy by chance
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
    said = vectors[1 if other is None else 2] if sentences is not None else np.empty((0, 0))
    if removed is not None:
        direction = _distractor_direction(removed, vectors[-1])
        vectors[:2] = (without_direction(own, direction) for own in vectors[:2])
    fit_vectors, placed_vectors = vectors[0], vectors[0 if other is None else 1]
    by = None if sentences is None or sides is None else _leads(sentences, said, sides)
    fitted, without, unturned = _fit(fit, fit_vectors, axes, labelled, by)

    def place(part: Opinions, vectors: Floats) -> Polarity:
        scores, missing = np.zeros((len(part), axes)), dict(without)
        for code, query in enumerate(part.query_ids):
            if query not in fitted:
                missing.setdefault(query, NO_DOCUMENTS)
                continue
            rows = part.rows(code)
            scores[rows] = project(vectors[rows], fitted[query])
        return Polarity.build(
            list(part.doc_ids),
            scores,
            queries=[part.query_ids[code] for code in part.query_codes.tolist()],
            oriented=sides is not None and len(unturned) < len(fitted),
            without_axis={query: missing[query] for query in part.query_ids if query in missing},
            source=part.source,
        )

    queries, accuracy = _of_fitted(fit, fit_vectors, fitted, labelled, seed)
    return PolariseResult(
        place(placed, placed_vectors),
        accuracy,
        unturned,
        None if other is None else place(fit, fit_vectors),
        queries,
        {} if other is None or sides is None else _placed_right(other, placed_vectors, fitted, sides),
    )


def _fit(
    fit: Opinions,
    vectors: Floats,
    count: int,
    sides: tuple[str, str] | None,
    leads: Mapping[str, Floats] | None,
) -> tuple[dict[str, Axes], dict[str, str], tuple[str, ...]]:
    """The axes of every query that has them, why others have none, and the queries where nothing says which
    side is positive: neither documents of both sides, nor ``leads``, by which axes are turned if given."""
    fitted: dict[str, Axes] = {}
    without: dict[str, str] = {}
    unturned: list[str] = []
    takes = fit.taking(sides)
    for code, query in enumerate(fit.query_ids):
        rows = fit.rows(code)
        found = fit_axes(vectors[rows], count)
        if isinstance(found, str):
            without[query] = found
            continue
        first, second = takes[:, rows]
        turn = orientation(project(vectors[rows], found), first, second)
        directions = found.directions * turn[:, None]
        if leads is not None and query in leads:
            directions = directions * np.where(leads[query] @ directions.T < 0, -1.0, 1.0)[:, None]
        elif leads is not None or (sides is not None and not (first.any() and second.any())):
            unturned.append(query)
        fitted[query] = Axes(found.centre, directions)
    return fitted, without, tuple(unturned)


def _leads(sentences: Opinions, vectors: Floats, sides: tuple[str, str]) -> dict[str, Floats]:
    """For queries with a sentence of each side, what the first one has and the second one has not."""
    takes, found = sentences.taking(sides), {}
    for code, query in enumerate(sentences.query_ids):
        rows = sentences.rows(code)
        first, second = (vectors[rows[own]] for own in takes[:, rows])
        if len(first) and len(second):
            found[query] = first[-1] - second[-1]
    return found


def _of_fitted(
    fit: Opinions, vectors: Floats, fitted: Mapping[str, Axes], sides: tuple[str, str] | None, seed: int
) -> tuple[tuple[FittedQuery, ...], Accuracy | None]:
    """What the axes were fitted to, and the accuracy of the first axis, over the queries that have documents
    of both sides."""
    generator = np.random.default_rng(seed)
    queries, names, values, chance = list[FittedQuery](), list[str](), list[float](), list[float]()
    takes = fit.taking(sides)
    for code, query in enumerate(fit.query_ids):
        if query not in fitted:
            continue
        rows = fit.rows(code)
        scores = project(vectors[rows], fitted[query])[:, 0]
        first, second = takes[:, rows]
        named, both = first | second, bool(first.any() and second.any())
        if both:
            labels = first[named]
            shuffled = generator.permuted(np.tile(labels, (SHUFFLES, 1)), axis=1)
            names.append(query)
            values.append(float(right_by_text(scores[named], labels[None])[0]))
            chance.append(float(right_by_text(scores[named], shuffled).mean()))
        documents = tuple(fit.doc_ids[row] for row in rows.tolist())
        whole = first if both and named.all() else None
        queries.append(FittedQuery(query, documents, vectors[rows], scores, whole))
    found = Accuracy(tuple(names), np.array(values), np.array(chance)) if names else None
    return tuple(queries), found


def _placed_right(
    placed: Opinions, vectors: Floats, fitted: Mapping[str, Axes], sides: tuple[str, str]
) -> dict[str, float]:
    """The share of placed documents on the side that they name, for queries that name both."""
    found: dict[str, float] = {}
    takes = placed.taking(sides)
    for code, query in enumerate(placed.query_ids):
        rows = placed.rows(code)
        one, other = takes[:, rows]
        if query in fitted and one.any() and other.any():
            scores = project(vectors[rows], fitted[query])[:, 0]
            found[query] = float((((scores > 0) & one) | ((scores < 0) & other))[one | other].mean())
    return found


def _distractor_direction(removed: Opinions, vectors: Floats) -> Floats:
    """The unit vector between the means of two sets of distractors."""
    if removed.sides is None:
        raise DataError(
            "distractors need a perspective for every document: two sets that differ in something else"
        )
    one, other = removed.taking(removed.sides)
    between = vectors[one].mean(axis=0) - vectors[other].mean(axis=0)
    length = float(np.linalg.norm(between))
    if length == 0:
        raise DataError("the two sets of distractors have the same mean: there is no direction to remove")
    direction: Floats = between / length
    return direction


def _encoded(
    parts: list[Opinions],
    given: Any,
    batch: int,
    cache: str | os.PathLike[str] | None,
    progress: Progress | None,
    on: object,
) -> list[Floats]:
    """Vectors of all parts; every text is encoded once."""
    own = as_encoder(given, batch=batch)
    names: dict[str, str] = {}  # the first document of each text
    for part in parts:
        for text, document in zip(part.texts or (), part.doc_ids, strict=True):
            names.setdefault(text, document)
    kept = None if cache is None or own.identity is None else VectorCache(cache, own.identity)
    place: dict[str, int] = {}
    found: list[Floats] = []
    for block, vectors in encoded(names, own, cache=kept, on=on):
        place.update(zip(block, range(len(place), len(place) + len(block)), strict=True))
        found.append(vectors)
        if progress is not None:
            progress(len(place), len(names))
    everything = np.concatenate(found)
    return [everything[[place[text] for text in part.texts or ()]] for part in parts]
