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
from evenrank.evidence.encoding import Encoder, as_encoder, encoded
from evenrank.evidence.models import MINILM
from evenrank.evidence.polarise.accuracy import Accuracy, accuracy_table, right_by_text
from evenrank.evidence.polarise.axes import Axes, fit_axes, orientation, project, without_direction
from evenrank.evidence.polarise.held_out import FittedQuery
from evenrank.evidence.polarise.opinions import Opinions, Sides, read_opinions, read_perspectives
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


def polarise(fit_documents: Any, documents: Any = None, **options: Any) -> Polarity:
    """Polarity scores of documents on the axis along which the fit documents of their query differ most.

    ``fit_documents`` and ``documents`` are texts by query: a table or file with the columns query,
    document, text and perhaps perspective, or ``{query: {document: text}}``. Without ``documents`` the fit
    documents are scored. The options are ``encoder``, ``axes``, ``distractors``, ``positive``,
    ``perspectives``, ``batch``, ``cache``, ``progress``, ``seed`` and ``on``.

    ``encoder`` is a callable of a list of texts, a sentence-transformers model or
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
    return polarise_with_accuracy(fit_documents, documents, **options).polarity


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
            f"but documents name {few(fit.sides or ())}: use the same names"
        )
    other = None if documents is None else read_opinions(documents, texts=texts)
    removed = None if distractors is None else read_opinions(distractors, texts=texts)
    asked = {"fit": fit, "placed": other, "sentences": sentences, "distractors": removed}
    parts = {name: part for name, part in asked.items() if part is not None}
    if given is None:
        vectors = _encoded(parts, as_encoder(encoder, batch=batch), cache, progress, on)
    else:
        vectors = {name: given.of(part.doc_ids) for name, part in parts.items()}
    leads = None
    if sentences is not None and sides is not None:
        leads = _leads(sentences, vectors["sentences"], sides)
    if removed is not None:
        direction = _distractor_direction(removed, vectors["distractors"])
        vectors = {name: without_direction(own, direction) for name, own in vectors.items()}
    fitted = _fit(fit, vectors["fit"], axes, labelled, leads, seed)
    oriented = sides is not None and len(fitted.unturned) < len(fitted.axes)
    at_home = _place(fit, vectors["fit"], fitted, axes, oriented)
    about = (fitted.accuracy, tuple(fitted.unturned))
    if other is None:
        return PolariseResult(at_home, *about, queries=tuple(fitted.queries))
    placed = _place(other, vectors["placed"], fitted, axes, oriented)
    right = _placed_right(other, vectors["placed"], fitted.axes, sides)
    return PolariseResult(placed, *about, at_home, tuple(fitted.queries), right)


@dataclass
class _Fit:
    """The axes of every query that has them, why others have none, and what is known of their accuracy.

    ``unturned`` are queries where nothing says which side is positive.
    """

    axes: dict[str, Axes] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)
    unturned: list[str] = field(default_factory=list)
    queries: list[FittedQuery] = field(default_factory=list)
    accuracy: Accuracy | None = None  # over the queries that have documents of both sides


def _fit(
    fit: Opinions,
    vectors: Floats,
    count: int,
    sides: Sides | None,
    leads: Mapping[str, Floats] | None,
    seed: int,
) -> _Fit:
    """Axes are turned by the documents of both sides, or by ``leads`` if these are given."""
    found = _Fit()
    generator = np.random.default_rng(seed)
    right: dict[str, tuple[float, float]] = {}  # by the labels, and by chance
    for own in fit.by_query(sides):
        axes = fit_axes(vectors[own.rows], count)
        if isinstance(axes, str):
            found.without[own.query] = axes
            continue
        turn = orientation(project(vectors[own.rows], axes), own.first, own.second)
        directions = axes.directions * turn[:, None]
        if leads is not None and own.query in leads:
            directions = directions * np.where(leads[own.query] @ directions.T < 0, -1.0, 1.0)[:, None]
        elif leads is not None or (sides is not None and not own.names_both):
            found.unturned.append(own.query)
        found.axes[own.query] = axes = Axes(axes.centre, directions)
        scores = project(vectors[own.rows], axes)[:, 0]
        named = own.first | own.second
        if own.names_both:
            labels = own.first[named]
            shuffled = generator.permuted(np.tile(labels, (SHUFFLES, 1)), axis=1)
            rule = right_by_text(scores[named], np.vstack([labels[None], shuffled]))
            right[own.query] = float(rule[0]), float(rule[1:].mean())
        documents = tuple(fit.doc_ids[row] for row in own.rows.tolist())
        whole = own.first if own.names_both and named.all() else None
        found.queries.append(FittedQuery(own.query, documents, vectors[own.rows], scores, whole))
    if right:
        found.accuracy = Accuracy(tuple(right), *np.array(list(right.values())).T)
    return found


def _place(part: Opinions, vectors: Floats, found: _Fit, count: int, oriented: bool) -> Polarity:
    """Documents on the axes of their queries; 0 where there is none."""
    scores, without = np.zeros((len(part), count)), dict[str, str]()
    for own in part.by_query(None):
        if own.query in found.axes:
            scores[own.rows] = project(vectors[own.rows], found.axes[own.query])
        else:
            without[own.query] = found.without.get(own.query, NO_DOCUMENTS)
    return Polarity.build(
        list(part.doc_ids),
        scores,
        queries=[part.query_ids[code] for code in part.query_codes.tolist()],
        oriented=oriented,
        without_axis=without,
        source=part.source,
    )


def _leads(sentences: Opinions, vectors: Floats, sides: Sides) -> dict[str, Floats]:
    """For queries with a sentence of each side, what the first one has and the second one has not."""
    return {
        own.query: vectors[own.rows[own.first][-1]] - vectors[own.rows[own.second][-1]]
        for own in sentences.by_query(sides)
        if own.names_both
    }


def _placed_right(
    placed: Opinions, vectors: Floats, axes: Mapping[str, Axes], sides: Sides | None
) -> dict[str, float]:
    """The share of placed documents on the side that they name, for queries that name both."""
    found: dict[str, float] = {}
    for own in placed.by_query(sides):
        if own.query in axes and own.names_both:
            scores = project(vectors[own.rows], axes[own.query])[:, 0]
            right = ((scores > 0) & own.first) | ((scores < 0) & own.second)
            found[own.query] = float(right[own.first | own.second].mean())
    return found


def _distractor_direction(removed: Opinions, vectors: Floats) -> Floats:
    """The unit vector between the means of two sets of distractors."""
    if removed.sides is None:
        raise DataError(
            "distractors need a perspective for every document: two sets that differ in something else"
        )
    one, other = removed.taking(removed.sides)
    between: Floats = vectors[one].mean(axis=0) - vectors[other].mean(axis=0)
    if not between.any():
        raise DataError("the two sets of distractors have the same mean: there is no direction to remove")
    return between / float(np.linalg.norm(between))


def _encoded(
    parts: Mapping[str, Opinions],
    encoder: Encoder,
    cache: str | os.PathLike[str] | None,
    progress: Progress | None,
    on: object,
) -> dict[str, Floats]:
    """Vectors of all parts; every text is encoded once."""
    names: dict[str, str] = {}  # the first document of each text
    for part in parts.values():
        for text, document in zip(part.texts or (), part.doc_ids, strict=True):
            names.setdefault(text, document)
    known: dict[str, Floats] = {}
    for block, vectors in encoded(names, encoder, cache=encoder.kept_in(cache), on=on):
        known.update(zip(block, vectors, strict=True))
        if progress is not None:
            progress(len(known), len(names))
    return {name: np.stack([known[text] for text in part.texts or ()]) for name, part in parts.items()}
