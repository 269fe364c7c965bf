"""Labels and shares of values, row by row as sources have them, made into one row a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Floats, Int64s, integers, ragged, values_of
from evenrank.data.attribute import SHARE_TOLERANCE, Attribute
from evenrank.data.evidence_source import Sparse
from evenrank.data.lookup import all_differ, first_of_pairs
from evenrank.errors import PROBLEMS_SHOWN, DataError, InputTypeError, ParameterError, Problem
from evenrank.ids import as_strings, positions, take

OWN = "own"


def one_row_each(
    attribute: Attribute,
    doc_ids: pa.LargeStringArray,
    codes: Int64s,
    label_codes: npt.NDArray[Any],
    labels: Sequence[str],
    shares: Floats,
    *,
    labels_only: bool,
    multilabel: bool,
    divide: bool,
    name: str,
) -> tuple[pa.LargeStringArray, Int64s, Sparse]:
    """Rows of one (query, document) each, from rows of one value each: ids, query codes, shares.

    Labels of documents that are all listed once stay where they are; anything else is brought into the order
    of queries and ids, so that sums of shares do not depend on the order of the source.
    """
    spot, width = positions(attribute.values), len(attribute.values)
    places = np.array([spot.get(label, -1) for label in labels], np.int64)[label_codes]
    flawed = (places < 0) | ~((shares >= 0) & (shares <= 1 + SHARE_TOLERANCE))  # NaN, too
    if labels_only and not flawed.any() and all_differ(codes, doc_ids):
        return doc_ids, codes, Sparse(np.arange(len(places) + 1), places, shares, width)
    order = id_order(codes, doc_ids, places)
    codes, places, shares, ids = codes[order], places[order], shares[order], take(doc_ids, order)
    fresh = first_of_pairs(codes, ids)
    again = ~fresh & (places == np.roll(places, 1))
    keep = np.flatnonzero(~again)  # the same row again says nothing new
    heads = np.flatnonzero(fresh[keep])  # (D,): where the rows of a document begin among those kept
    sizes = np.diff(heads, append=len(keep))
    sums = np.add.reduceat(shares[keep], heads) if len(heads) else np.zeros(0)

    flawed, unlike, wrong = flawed[order], again & (shares != np.roll(shares, 1)), np.zeros(len(heads), bool)
    if not multilabel:
        wrong = sizes > 1 if labels_only else np.abs(sums - 1) > SHARE_TOLERANCE
    if flawed.any() or unlike.any() or wrong.any():
        owners = np.cumsum(fresh) - 1
        sound = (
            np.bincount(owners, flawed) == 0
        )  # (D,): of others it is said that they are flawed, and no more
        lasts = np.maximum.reduceat(order[keep], heads)  # where a document is complete
        problems = []
        for at in _first(np.flatnonzero(flawed), order):
            what = f"share {shares[at]:g} is not between 0 and 1"
            if places[at] < 0:
                label = labels[label_codes[order[at]]]
                what = f"{label!r} is not a value of {attribute.name!r}: they are {attribute.listed()}"
            problems.append((int(order[at]), f"document {ids[at].as_py()!r}: {what}"))
        for at in _first(np.flatnonzero(unlike & sound[owners]), order):
            what = f"has two shares of {attribute.values[places[at]]!r}"
            problems.append((int(order[at]), f"document {ids[at].as_py()!r} {what}"))
        for document in _first(np.flatnonzero(wrong & sound), lasts):
            head = int(keep[heads[document]])
            what = f": its shares sum to {sums[document]:g}, not to 1"
            if labels_only:
                both = places[keep[heads[document] :][:2]]
                two = " and ".join(repr(attribute.values[place]) for place in both)
                what = f" has two values, {two}: give their shares, or say multilabel"
            problems.append((int(lasts[document]), f"document {ids[head].as_py()!r}{what}"))
        raise DataError.listing(name, [Problem(row + 1, what) for row, what in sorted(problems)])

    shares = shares[keep] / np.repeat(np.where(sums > 0, sums, 1.0), sizes) if divide else shares[keep]
    some = sums > 0  # a document without any value is not listed
    entries = np.flatnonzero((shares > 0) & np.repeat(some, sizes))
    lengths = np.bincount(np.repeat(np.arange(len(heads)), sizes)[entries], minlength=len(heads))[some]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = keep[heads[some]]
    return take(ids, rows), codes[rows], Sparse(offsets, places[keep][entries], shares[entries], width)


def id_order(codes: Int64s, doc_ids: pa.LargeStringArray, places: Int64s | None = None) -> Int64s:
    """The rows by query, document id and, if there are several values of a document, by value."""
    columns = {"query": integers(codes), "document": doc_ids}
    columns |= {} if places is None else {"place": integers(places)}
    keys = [(column, "ascending") for column in columns]
    order: Int64s = values_of(pc.sort_indices(pa.table(columns), sort_keys=keys)).astype(np.int64)
    return order


def _first(found: Int64s, order: Int64s) -> list[int]:
    """Those of the places that come first in the source, as many as are shown, and one more."""
    first: list[int] = found[np.argsort(order[found], kind="stable")][: PROBLEMS_SHOWN + 1].tolist()
    return first


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


def label_rows(labels: Any) -> Iterable[tuple[str | None, Any, Any]]:
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


def listed_labels(values: Any) -> Iterable[Any]:
    if isinstance(values, (set, frozenset)):
        return sorted(values, key=str)  # the order of a set changes from process to process
    if values is None:
        return ()
    return values if isinstance(values, (list, tuple)) else [values]
