"""Membership from what is known otherwise: labels, bias scores, words in the documents, gains by intent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Floats, Int64s, ragged, values_of
from evenrank.data.attribute import Attribute, attribute_of
from evenrank.data.diversity import DiversityQrels
from evenrank.data.membership import Membership
from evenrank.data.run import as_numbers
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.ids import as_strings, take

OWN = "own"


def from_labels(
    attribute: Attribute | str,
    labels: Mapping[Any, Any],
    *,
    even: Iterable[str] = (),
    ignore: Iterable[str] = (),
    unlabelled: str | None = None,
    multilabel: bool = False,
    split: str = "share",
) -> Membership:
    """From ``{document: value}`` or ``{query: {document: value}}``; a list of values needs ``multilabel``.

    A label in ``even`` belongs equally to all values, as a neutral document does to both sides; one in
    ``ignore`` counts as no label. A document labelled None is not listed; with ``unlabelled="own"`` it is a
    value of its own, as a shop that belongs to no chain, and a ranked document that is not listed is an
    error. The values of an attribute given by name are the labels found.
    """
    if unlabelled not in (None, OWN):
        raise ParameterError(f"unlabelled must be None or {OWN!r}, got {unlabelled!r}")
    rows = list(_rows(labels))
    evenly = even_labels(even)
    if unlabelled == OWN:
        own = dict.fromkeys(document for _, document, value in rows if value is None)
        rows = [(query, document, document if value is None else value) for query, document, value in rows]
        if isinstance(attribute, Attribute):
            attribute = replace(attribute, values=tuple(dict.fromkeys((*attribute.values, *own))))
    dropped = even_labels(ignore)
    if dropped:
        rows = [(query, document, _without(value, dropped)) for query, document, value in rows]
    named = [(query, document, value) for query, document, value in rows if value is not None]
    if not named:
        raise DataError("no document has a label")
    spread = [(q, d, v) for q, d, values in named for v in _listed(values)]
    for _, document, value in spread:
        if not isinstance(value, str):
            raise InputTypeError(f"document {document!r}: a label must be a string, got {value!r}")
    named_values = isinstance(attribute, Attribute)
    if isinstance(attribute, str):
        attribute = attribute_of(attribute, [value for *_, value in spread if value not in evenly])
    by_query = any(query is not None for query, *_ in rows)
    queries, documents, values = zip(*spread, strict=True)
    places, values, shares = spread_evenly(attribute, as_strings(values), evenly)
    built = Membership.build(
        attribute, [documents[place] for place in places], values, shares,
        queries=[queries[place] for place in places] if by_query else None,
        multilabel=multilabel, split=split,
    )  # fmt: skip
    return replace(built, own=unlabelled == OWN, named=named_values)


def _without(value: Any, dropped: frozenset[str]) -> Any:
    """The label or labels that are not dropped, None where none is left."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [label for label in _listed(value) if label not in dropped] or None
    return None if isinstance(value, str) and value in dropped else value


def even_labels(even: Iterable[str]) -> frozenset[str]:
    """Labels that are treated apart, as those that belong equally to all values; one may be given alone."""
    return frozenset([even] if isinstance(even, str) else even)


def spread_evenly(
    attribute: Attribute, labels: pa.LargeStringArray | pa.DictionaryArray, even: frozenset[str]
) -> tuple[Int64s, pa.LargeStringArray | pa.DictionaryArray, npt.NDArray[np.float64] | None]:
    """Where each label went, values in its place, and their shares: for one of ``even``, all values."""
    both = sorted(even & set(attribute.values))
    if both:
        raise ParameterError(
            f"attribute {attribute.name!r}: {both[0]!r} is a value and cannot be shared evenly among all"
        )
    if not even:
        return np.arange(len(labels)), labels, None
    labels, width = as_strings(labels), len(attribute.values)
    marked = values_of(pc.is_in(labels, value_set=as_strings(sorted(even))))
    lengths = np.where(marked, width, 1)
    places = np.repeat(np.arange(len(labels)), lengths)
    turns = ragged(np.zeros_like(lengths), lengths)  # 0 .. width - 1 for each that is even
    names = pa.concat_arrays([as_strings(attribute.values), labels])
    values = take(names, np.where(marked[places], turns, width + places))
    return places, values, np.where(marked, 1 / width, 1.0)[places]


def _rows(labels: Any) -> Iterable[tuple[str | None, Any, Any]]:
    if not isinstance(labels, Mapping) or not labels:
        raise InputTypeError(f"labels must be a mapping {{document: value}}, got {labels!r:.80}")
    nested = [isinstance(inner, Mapping) for inner in labels.values()]
    if any(nested) and not all(nested):
        raise InputTypeError("labels are {document: value} or {query: {document: value}}, not a mix of both")
    if not any(nested):
        for document, value in labels.items():
            yield None, document, value
        return
    for query, inner in labels.items():
        for document, value in inner.items():
            yield query, document, value


def _listed(values: Any) -> Iterable[Any]:
    if isinstance(values, (set, frozenset)):
        return sorted(values, key=str)  # the order of a set changes from process to process
    return values if isinstance(values, (list, tuple)) else [values]


def from_scores(
    attribute: Attribute, scores: Mapping[str, float], *, positive: str, queries: Any = None
) -> Membership:
    """From bias scores in [-1, 1]: +1 is all ``positive``, -1 all the other value, 0 half of each.

    The share of ``positive`` is (1 + b) / 2. (The paper's Eq. 5 gives that share to the value which its
    prose calls the negative one; naming the value avoids the question.)
    """
    if len(attribute.values) != 2 or positive not in attribute.values:
        raise ParameterError(
            f"attribute {attribute.name!r}: bias scores are for two values, one of them "
            f"positive={positive!r}; the values are {attribute.listed()}"
        )
    ids, given = list(scores), as_numbers(list(scores.values()), "bias score", attribute.name)
    wrong = np.flatnonzero(~(np.abs(given) <= 1))  # NaN too
    if len(wrong):
        row = int(wrong[0])
        raise DataError(f"document {ids[row]!r}: bias score {given[row]:g} is not between -1 and 1")
    share = (1 + given) / 2
    columns = [share, 1 - share] if attribute.values[0] == positive else [1 - share, share]
    return Membership.from_matrix(attribute, ids, np.stack(columns, axis=1), queries=queries)


def from_words(counts: WordCounts, name: str | None = None, *, minimum: int = 1) -> Membership:
    """From the words of a lexicon: a document belongs to groups as its group words do.

    One with fewer than ``minimum`` group words is not listed. The target is the lexicon's.
    """
    lexicon = counts.lexicon
    attribute = Attribute(name or lexicon.name, lexicon.groups, target=lexicon.targets)
    ids, shares = shares_of_words(counts, minimum)
    return Membership.from_matrix(attribute, ids, shares, source=counts.source)


def shares_of_words(counts: WordCounts, minimum: int = 1) -> tuple[pa.LargeStringArray, Floats]:
    """The documents with ``minimum`` group words or more, and the share of each group in these: (N, G)."""
    total = counts.counts.sum(axis=1)  # (N,)
    rows = np.flatnonzero(counts.tokens >= max(1, minimum))
    return counts.doc_ids.take(rows), counts.counts[rows] / total[rows, None]


def from_intents(judgements: DiversityQrels, name: str = "intent") -> Membership:
    """From judgements by intent: a document belongs to the intents of its query by its gains, 2**g - 1.

    The target is how likely the intents are. Each query has its own; the value ``1`` is its first.
    """
    width = judgements.grades.width
    if width < 2:
        raise ParameterError("intents as groups need a query with two intents or more")
    queries = np.repeat(np.arange(len(judgements)), np.diff(judgements.offsets))
    grades = np.maximum(judgements.grades.dense(np.arange(len(judgements.doc_ids))), 0)  # (J, I)
    top = grades.max(axis=1, keepdims=True, initial=0)  # shares do not change, and no grade is too large
    gains = np.exp2(grades - top) - np.exp2(-top)  # (J, I)
    total = gains.sum(axis=1, keepdims=True)
    rows = np.flatnonzero(total[:, 0] > 0)
    several = np.array([len(names) > 1 for names in judgements.intent_ids])
    rows = rows[several[queries[rows]]]
    places = tuple(str(place + 1) for place in range(width))
    targets = {
        query: judgements.probabilities[code]
        for code, query in enumerate(judgements.query_ids)
        if several[code]
    }
    built = Membership.from_matrix(
        Attribute(name, places, target=targets),
        judgements.doc_ids.take(rows),
        gains[rows] / total[rows],
        queries=[judgements.query_ids[query] for query in queries[rows].tolist()],
        source=judgements.source,
    )
    counts = [len(judgements.intent_ids[judgements.query_positions[q]]) for q in built.query_ids or ()]
    exists = np.arange(width) < np.array(counts, dtype=np.int64)[:, None]
    return replace(built, exists=exists)
