"""Where documents stand on an axis of opinion: a score on one axis or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s, lock, owned, real_numbers
from evenrank.data.evidence_source import Gathered, Pairs
from evenrank.data.lookup import PairRows, repeated_pairs, row_ids
from evenrank.data.membership_rows import label_rows
from evenrank.data.qrels import fingerprint_columns
from evenrank.errors import PROBLEMS_SHOWN, DataError, InputTypeError, ParameterError, Problem


@dataclass(frozen=True, eq=False, repr=False)
class Polarity(PairRows):
    """For each document, or each (query, document), a score on every axis: which side, and how far.

    ``oriented`` is True where a positive score means the first perspective, False where the sign has no
    meaning, and None where scores were given and only who gave them knows. ``without_axis`` are queries
    whose documents show no difference of opinion, with the reason; their scores are 0.

    >>> Polarity.build(["d1", "d2"], [0.7, -0.4], queries=["q", "q"])
    <Polarity: 2 documents of 1 queries, 1 axis>
    """

    doc_ids: pa.LargeStringArray  # (R,)
    query_ids: tuple[str, ...] | None  # the distinct queries, for scores by (query, document)
    query_codes: Int64s  # (R,), all 0 for scores by document
    scores: Floats  # (R, A)
    axes: tuple[str, ...] = ("1",)
    oriented: bool | None = None
    without_axis: Mapping[str, str] | None = None
    source: str | None = None

    name = "polarity"

    def __post_init__(self) -> None:
        lock(self.query_codes, self.scores)

    @classmethod
    def build(
        cls,
        documents: Any,
        scores: Any,
        *,
        queries: Any = None,
        axes: Sequence[str] | None = None,
        oriented: bool | None = None,
        without_axis: Mapping[str, str] | None = None,
        source: str | None = None,
    ) -> Polarity:
        """From columns of equal length; ``scores`` has one column, or one for each axis."""
        name = source or "polarity"
        doc_ids, codes, query_ids = row_ids(documents, queries, name)
        try:
            table = owned(real_numbers(scores), scores)
        except (TypeError, ValueError):
            raise InputTypeError(f"{name}: scores must be numbers, one row for each document") from None
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != len(doc_ids) or table.shape[1] < 1:
            raise DataError(f"{name}: scores of {table.shape} do not fit {len(doc_ids)} documents")
        names = tuple(str(place + 1) for place in range(table.shape[1])) if axes is None else tuple(axes)
        if len(names) != table.shape[1]:
            raise ParameterError(f"{name}: {len(names)} names for {table.shape[1]} axes")
        wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))[: PROBLEMS_SHOWN + 1].tolist()
        found = [(row, ": the score is not finite") for row in wrong]
        found += [(row, " is listed twice") for _, row in repeated_pairs(codes, doc_ids)]
        if found:
            problems = [
                Problem(row + 1, f"document {doc_ids[row].as_py()!r}{what}") for row, what in sorted(found)
            ]
            raise DataError.listing(name, problems)
        return cls(doc_ids, query_ids, codes, table, names, oriented, without_axis, source)

    @classmethod
    def from_labels(
        cls,
        labels: Mapping[Any, Any],
        *,
        positive: str,
        negative: str | None = None,
        neutral: Sequence[str] = (),
    ) -> Polarity:
        """From ``{document: label}`` or ``{query: {document: label}}``: +1, -1, and 0 for ``neutral`` ones.

        >>> Polarity.from_labels({"d1": "p1", "d2": "p2"}, positive="p1").scores.ravel().tolist()
        [1.0, -1.0]
        """
        rows = list(label_rows(labels)) if labels else []
        if not rows:
            raise DataError("no document has a label")
        found = tuple(dict.fromkeys(label for *_, label in rows))
        sign = dict(zip(found, label_signs(found, positive, negative, neutral).tolist(), strict=True))
        queries, documents, given = zip(*rows, strict=True)
        return cls.build(
            list(documents),
            [sign[label] for label in given],
            queries=None if queries[0] is None else list(queries),
            oriented=True,
        )

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        of = "" if self.query_ids is None else f" of {len(self.query_ids):,} queries"
        count = len(self.axes)
        return f"<Polarity: {len(self):,} documents{of}, {count} {'axis' if count == 1 else 'axes'}>"

    def negated(self) -> Polarity:
        """The same with the sides exchanged."""
        return replace(self, scores=-self.scores)

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return {"axes": self.axes}

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_columns(self.query_ids or (), self.query_codes, self.doc_ids, scores=self.scores)

    def gather(self, pairs: Pairs) -> Gathered:
        """Scores (P, A) of the pairs."""
        return self.gathered(pairs, {"": self.scores})


def label_signs(
    labels: Sequence[str], positive: str, negative: str | None = None, neutral: Sequence[str] = ()
) -> Floats:
    """(L,): +1 for the positive label, -1 for the negative one, 0 for those that are neutral."""
    listed = ", ".join(map(repr, sorted(labels)[:5])) + (", .." if len(labels) > 5 else "")
    if positive not in labels:
        raise ParameterError(f"no document is labelled {positive!r}: the labels are {listed}")
    others = sorted(set(labels) - {positive, *neutral})
    if negative is None and len(others) > 1:
        few = ", ".join(map(repr, others[:5]))
        raise ParameterError(
            f"labels other than {positive!r} are {few}: say which is negative=, which neutral="
        )
    negative = negative if negative is not None else next(iter(others), None)
    unknown = [label for label in others if label != negative]
    if unknown:
        raise DataError(
            f"the label {unknown[0]!r} is neither positive ({positive!r}) nor negative ({negative!r}): if it "
            f"takes no side, say neutral=[{unknown[0]!r}] (in the project file too)"
        )
    return np.array([1.0 if label == positive else -1.0 if label == negative else 0.0 for label in labels])
