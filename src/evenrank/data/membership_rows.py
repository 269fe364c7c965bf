"""Labels and shares of values, row by row as sources have them, made into one row a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Floats, Int64s, integers, ragged, values_of
from evenrank.data.attribute import SHARE_TOLERANCE, Attribute
from evenrank.data.evidence_source import Sparse
from evenrank.data.lookup import all_differ
from evenrank.errors import PROBLEMS_SHOWN, DataError, InputTypeError, ParameterError, Problem
from evenrank.ids import as_strings, take

OWN = "own"


def check_cells(
    attribute: Attribute,
    doc_ids: pa.LargeStringArray,
    codes: Int64s,
    places: Int64s,
    found: Sequence[str],
    value_codes: npt.NDArray[Any],
    shares: Floats,
    name: str,
    gather: Callable[..., object],
) -> None:
    """Raise for values and shares that are none, and for what ``gather`` finds in the other documents."""
    problems = []
    inside = (shares >= 0) & (shares <= 1 + SHARE_TOLERANCE)  # NaN is not
    flawed = np.flatnonzero((places < 0) | ~inside)
    for row in flawed[: PROBLEMS_SHOWN + 1].tolist():
        document = doc_ids[row].as_py()
        if places[row] < 0:
            label = found[value_codes[row]]
            what = f"{label!r} is not a value of {attribute.name!r}: they are {attribute.listed()}"
        else:
            what = f"share {shares[row]:g} is not between 0 and 1"
        problems.append(Problem(row + 1, f"document {document!r}: {what}"))
    if not problems:
        return
    documents = doc_ids.to_pylist()
    bad = {(codes[row], documents[row]) for row in flawed.tolist()}
    others = np.array(
        [row for row, document in enumerate(documents) if (codes[row], document) not in bad], np.int64
    )
    try:
        gather(take(doc_ids, others), codes[others], places[others], shares[others])
    except DataError as error:
        problems += [Problem(int(others[line - 1]) + 1, what) for line, what in error.problems]
    raise DataError.listing(name, sorted(problems))


def grouped(
    attribute: Attribute,
    doc_ids: pa.LargeStringArray,
    codes: Int64s,
    places: Int64s,
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
    if labels_only and all_differ(codes, doc_ids):
        return doc_ids, codes, Sparse(np.arange(len(places) + 1), places, shares, len(attribute.values))
    order = id_order(codes, doc_ids, places)
    codes, places, shares, ids = codes[order], places[order], shares[order], take(doc_ids, order)
    fresh, repeated = np.ones(len(order), dtype=bool), np.zeros(len(order), dtype=bool)
    if len(order) > 1:
        same = values_of(pc.equal(ids.slice(1), ids.slice(0, len(order) - 1)))
        fresh[1:] = ~same | (codes[1:] != codes[:-1])
        repeated[1:] = ~fresh[1:] & (places[1:] == places[:-1])
    problems = [
        (
            int(order[row]),
            f"document {ids[row].as_py()!r} has two shares of {attribute.values[places[row]]!r}",
        )
        for row in _first(np.flatnonzero(repeated & (shares != np.roll(shares, 1))), order)
    ]
    keep = ~repeated  # the same row again says nothing new
    heads = np.flatnonzero(fresh[keep])
    codes, places, shares, ids, order = (
        codes[keep],
        places[keep],
        shares[keep],
        ids.filter(pa.array(keep)),
        order[keep],
    )
    sums = np.add.reduceat(shares, heads) if len(heads) else np.zeros(0)
    sizes = np.diff(heads, append=len(places))
    if not multilabel:
        wrong = (sizes > 1) if labels_only else np.abs(sums - 1) > SHARE_TOLERANCE
        lasts = np.maximum.reduceat(order, heads) if len(heads) else heads  # where a document is complete
        for row in _first(np.flatnonzero(wrong), lasts):
            head = heads[row]
            document = ids[int(head)].as_py()
            if labels_only:
                two = " and ".join(repr(attribute.values[place]) for place in places[head : head + 2])
                what = f"document {document!r} has two values, {two}: give their shares, or say multilabel"
            else:
                what = f"document {document!r}: its shares sum to {sums[row]:g}, not to 1"
            problems.append((int(lasts[row]), what))
    if problems:
        raise DataError.listing(name, [Problem(row + 1, what) for row, what in sorted(problems)])
    if divide:
        shares = shares / np.repeat(np.where(sums > 0, sums, 1.0), sizes)
    row_of = np.repeat(np.arange(len(heads)), sizes)
    some = sums > 0  # a document without any value is not listed
    entries = (shares > 0) & some[row_of]
    lengths = np.bincount(row_of[entries], minlength=len(heads))[some]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sparse = Sparse(offsets, places[entries], shares[entries], len(attribute.values))
    rows = heads[some]
    return take(ids, rows), codes[rows].astype(np.int64), sparse


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


def without_labels(value: Any, dropped: frozenset[str]) -> Any:
    """The label or labels that are not dropped, None where none is left."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [label for label in listed_labels(value) if label not in dropped] or None
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
    return values if isinstance(values, (list, tuple)) else [values]
