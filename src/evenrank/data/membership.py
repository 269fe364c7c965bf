"""Which values of an attribute each document has, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import (
    Array,
    Floats,
    Int64s,
    check_lengths,
    in_order,
    lock,
    real_numbers,
    rows_or_zero,
)
from evenrank.data.attribute import COLLECTION, COMBINED, UNIFORM, Attribute, attribute_of
from evenrank.data.evidence_source import Column, Gathered, Labels, Pairs, Sparse
from evenrank.data.lookup import PairRows, row_ids
from evenrank.data.membership_rows import (
    OWN,
    even_labels,
    id_order,
    label_rows,
    listed_labels,
    one_row_each,
    spread_evenly,
)
from evenrank.data.qrels import fingerprint_columns
from evenrank.data.run import as_numbers, encode_ids
from evenrank.errors import DataError, InputTypeError, ParameterError, Problem
from evenrank.ids import as_ids, as_strings, places_among, take

if TYPE_CHECKING:
    from evenrank.data.diversity import DiversityQrels
    from evenrank.data.words import WordCounts

PREFIX = "group:"  # the evidence of an attribute is called so, before the attribute's name
TARGET_MARK = ":"  # between the attribute and a target; no attribute has it in its name
SPLITS = ("share", "full")

_MOST_LABELS = 64  # values that are looked at one by one; of more, shares are kept
_DENSE = 1 << 24  # numbers of a table that is kept dense, since it is looked up faster


def evidence_name(attribute: str, target: str | None = None) -> str:
    """What measures call the membership of an attribute, with a target that is not the attribute's own."""
    return PREFIX + attribute + ("" if target is None else TARGET_MARK + target)


def named_by(evidence: str) -> tuple[str, str | None]:
    """The attribute and the target that such a name stands for.

    >>> named_by("group:gender:pool"), named_by("group:gender")
    (('gender', 'pool'), ('gender', None))
    """
    attribute, _, target = evidence.removeprefix(PREFIX).partition(TARGET_MARK)
    return attribute, target or None


@dataclass(frozen=True, eq=False, repr=False)
class Membership(PairRows):
    """For each document, or each (query, document), a share of every value of one attribute.

    Shares are probabilities: they sum to 1, and a label is one value with all of it. With
    ``multilabel`` a document has each of several values (0 to 1); ``split="share"`` divides it among
    them, ``"full"`` counts it for each. A document without any value is as one that is not listed.

    >>> gender = Attribute("gender", ("f", "m"))
    >>> Membership.build(gender, ["d1", "d2", "d2"], ["f", "f", "m"], [1, 0.25, 0.75])
    <Membership of 'gender': 2 documents, 2 values>
    """

    attribute: Attribute
    doc_ids: pa.LargeStringArray  # (R,)
    query_ids: tuple[str, ...] | None  # the distinct queries, for membership by (query, document)
    query_codes: Int64s  # (R,), all 0 for membership by document
    shares: Sparse  # (R, L)
    multilabel: bool = False
    exists: npt.NDArray[np.bool_] | None = None  # (Q, L): the values of each query, where they differ
    source: str | None = None
    own: bool = False  # each document without a label is a value of its own
    named: bool = True  # whether somebody named the values; else they are the labels that were found
    observed: Membership | None = None  # the labels, where these shares are what they probably mean
    rates: Floats | None = None  # (L, L): the chance of each label (column) by true value (row)
    unit: Membership | None = None  # what labels belong to, as the seller of each product; else the document

    def __post_init__(self) -> None:
        lock(self.query_codes, self.shares.offsets, self.shares.places, self.shares.values)

    @classmethod
    def build(
        cls,
        attribute: Attribute,
        documents: Any,
        values: Any,
        shares: Any = None,
        *,
        queries: Any = None,
        multilabel: bool = False,
        split: str = "share",
        source: str | None = None,
    ) -> Membership:
        """From rows (document, value, share), with the query of each row for membership by query.

        Without ``shares`` a document has the one value it is listed with, or, with ``multilabel``, all of
        them. Everything that is wrong is said at once, by row.
        """
        name = source or attribute.name
        if split not in SPLITS:
            raise ParameterError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
        doc_ids, codes, query_ids = row_ids(documents, queries, name)
        value_codes, found = encode_ids(values, "value", name)
        numbers = np.ones(len(doc_ids)) if shares is None else as_numbers(shares, "share", name)
        check_lengths(documents=doc_ids, values=value_codes, shares=numbers)
        ids, rows, entries = one_row_each(
            attribute, doc_ids, codes, value_codes, found, numbers, labels_only=shares is None,
            multilabel=multilabel, divide=not multilabel or split == "share", name=name,
        )  # fmt: skip
        return cls(attribute, ids, query_ids, rows, entries, multilabel, None, source)

    @classmethod
    def from_matrix(
        cls,
        attribute: Attribute,
        documents: Any,
        matrix: Any,
        *,
        queries: Any = None,
        multilabel: bool = False,
        split: str = "share",
        source: str | None = None,
    ) -> Membership:
        """From one row a document and one column a value."""
        name, width = source or attribute.name, len(attribute.values)
        doc_ids = as_ids(documents, "document", name)
        try:
            table = real_numbers(matrix)
        except (TypeError, ValueError):
            raise InputTypeError(f"{name}: a matrix holds numbers alone") from None
        if table.shape != (len(doc_ids), width):
            raise DataError(
                f"{name}: a matrix of {table.shape} does not fit {len(doc_ids)} documents and {width} values"
            )
        rows = np.repeat(np.arange(len(doc_ids)), width)
        owners = None if queries is None else take(as_ids(queries, "query", attribute.name), rows)
        try:
            return cls.build(
                attribute, take(doc_ids, rows), list(attribute.values) * len(doc_ids), table.ravel(),
                queries=owners, multilabel=multilabel, split=split, source=source,
            )  # fmt: skip
        except DataError as error:  # it counts cells
            problems = [Problem((problem.line - 1) // width + 1, problem.what) for problem in error.problems]
            raise DataError.listing(name, problems, more=error.more) if problems else error from None

    @property
    def name(self) -> str:
        return evidence_name(self.attribute.name)

    def __len__(self) -> int:
        return len(self.doc_ids)

    def __repr__(self) -> str:
        of = "documents" if self.query_ids is None else "documents of queries"
        values = f"{len(self.attribute.values):,} values"
        return f"<Membership of {self.attribute.name!r}: {len(self):,} {of}, {values}>"

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        return {"values": self.attribute.values}

    @property
    def needs_pool(self) -> bool:
        return self.attribute.needs_pool

    def with_target(self, target: Any) -> Membership:
        """The same documents with another target."""
        return replace(self, attribute=self.attribute.with_target(target))

    def sizes(self) -> Floats:
        """(L,): how many documents each value has, shares added up."""
        shares = self.shares
        return np.bincount(shares.places, weights=shares.values, minlength=shares.width).astype(np.float64)

    @cached_property
    def _table(self) -> Floats | None:
        """All shares, dense, where they are few enough."""
        if len(self) * self.shares.width > _DENSE:
            return None
        return self.shares.dense(np.arange(len(self)))

    @cached_property
    def _places(self) -> npt.NDArray[np.int16] | None:
        """The value of every document, where all have one and no more; then -1, for row -1."""
        one = len(self.shares.places) == len(self) and (np.diff(self.shares.offsets) == 1).all()
        if not one or self.shares.width > _MOST_LABELS or (self.shares.values != 1).any():
            return None
        return np.append(self.shares.places, -1).astype(np.int16)

    def by_id(self) -> Membership:
        """The same in the order of queries and ids, which says nothing about the order of the source."""
        order = id_order(self.query_codes, self.doc_ids)
        if in_order(order, len(self)):
            return self
        return replace(
            self, doc_ids=take(self.doc_ids, order), query_codes=self.query_codes[order],
            shares=self.shares.rows(order), observed=self.observed and self.observed.by_id(),
        )  # fmt: skip

    @cached_property
    def fingerprint(self) -> str:
        ordered = self.by_id()
        about = repr((self.attribute.name, self.attribute.values, self.attribute.ordinal))
        target = self.attribute.target
        target = dict(target) if isinstance(target, Mapping) else target
        shares = ordered.shares
        return fingerprint_columns(
            (*(self.query_ids or ()), about, repr(target)), ordered.query_codes, ordered.doc_ids,
            starts=shares.offsets, places=shares.places, shares=shares.values,
        )  # fmt: skip

    def lists_as(self, other: Membership) -> bool:
        """Whether the other one lists the same documents, in the same rows."""
        return (
            self.query_ids == other.query_ids
            and np.array_equal(self.query_codes, other.query_codes)
            and self.doc_ids.equals(other.doc_ids)
        )

    def gather(self, pairs: Pairs) -> Gathered:
        """Shares (P, L) of the pairs."""
        return self.gather_rows(self.rows_of(pairs))

    def gather_rows(self, rows: Int64s) -> Gathered:
        """The same for rows that are known already."""
        column: Column
        if self._places is not None:
            column = Labels(self._places[rows], self.shares.width)
        elif self._table is None:
            column = self.shares.rows(rows)
        else:
            column = rows_or_zero(self._table, rows)
        return Gathered({"": column}, rows >= 0)

    def entries(self, rows: Int64s) -> tuple[Int64s, Int64s, Floats | None]:
        """What the rows hold, value by value: which row, the value, the share; None where all are 1."""
        listed = np.flatnonzero(rows >= 0)
        if self._places is not None:
            return listed, self._places[rows[listed]].astype(np.int64), None
        found = self.shares.rows(rows[listed])
        return np.repeat(listed, np.diff(found.offsets)), found.places, found.values

    def gather_queries(self, query_ids: Sequence[str]) -> Mapping[str, Array]:
        """``target`` (Q, L), NaN for a query without one, and ``exists`` (Q, L): the values it has."""
        if self.attribute.target == COLLECTION:
            target = self._collection_shares(query_ids)
        else:
            target = self.attribute.targets(query_ids)
        exists = np.ones(target.shape, dtype=bool)
        if self.exists is not None:
            codes = self.codes_of(query_ids)
            # a query may have a target and no document: its values are then those that are wanted
            wanted = np.nan_to_num(target) > 0
            wanted[~wanted.any(axis=1)] = True
            exists = np.where((codes >= 0)[:, None], self.exists[codes], wanted)
            if self.attribute.target == UNIFORM:
                target = exists / exists.sum(axis=1, keepdims=True)
        return {"target": target, "exists": exists}

    def _collection_shares(self, query_ids: Sequence[str]) -> Floats:
        """(Q, L): the mean share of all documents listed, or of those listed for the query."""
        mass = self.sizes()[None]
        if self.query_ids is not None:
            owners = np.repeat(self.query_codes, np.diff(self.shares.offsets))
            mass = np.zeros((len(self.query_ids), self.shares.width))
            np.add.at(mass, (owners, self.shares.places), self.shares.values)
        total = mass.sum(axis=1, keepdims=True)
        shares = np.divide(mass, total, out=np.full(mass.shape, np.nan), where=total > 0)
        codes = self.codes_of(query_ids)
        return np.where((codes >= 0)[:, None], shares[codes], np.nan)

    @classmethod
    def from_labels(
        cls,
        attribute: Attribute | str,
        labels: Mapping[Any, Any],
        *,
        even: Iterable[str] = (),
        ignore: Iterable[str] = (),
        unlabelled: str | None = None,
        multilabel: bool = False,
        split: str = "share",
    ) -> Membership:
        """From ``{document: value}`` or ``{query: {document: value}}``; lists of values need ``multilabel``.

        A label in ``even`` belongs equally to all values, as a neutral document does to both sides; one in
        ``ignore`` counts as no label. A document labelled None is not listed; with ``unlabelled="own"`` it is
        a value of its own, as a shop that belongs to no chain, and a ranked document that is not listed is an
        error. The values of an attribute given by name are the labels found.

        >>> Membership.from_labels("gender", {"d1": "f", "d2": "m", "d3": "both"}, even=["both"])
        <Membership of 'gender': 3 documents, 2 values>
        """
        if unlabelled not in (None, OWN):
            raise ParameterError(f"unlabelled must be None or {OWN!r}, got {unlabelled!r}")
        evenly, dropped = even_labels(even), even_labels(ignore)
        named, own = not isinstance(attribute, str), list[Any]()
        rows = []
        for query, document, given in label_rows(labels):
            if given is None and unlabelled == OWN:
                own.append(document)
                given = document
            for label in listed_labels(given):
                if not isinstance(label, str):
                    raise InputTypeError(f"document {document!r}: a label must be a string, got {label!r}")
                if label not in dropped:
                    rows.append((query, document, label))
        if not rows:
            raise DataError("no document has a label")
        queries, documents, values = zip(*rows, strict=True)
        if isinstance(attribute, str):
            attribute = attribute_of(attribute, [value for value in values if value not in evenly])
        elif own:
            attribute = replace(attribute, values=tuple(dict.fromkeys((*attribute.values, *own))))
        places, spread, shares = spread_evenly(attribute, as_strings(values), evenly)
        built = cls.build(
            attribute, [documents[place] for place in places], spread, shares,
            queries=None if queries[0] is None else [queries[place] for place in places],
            multilabel=multilabel, split=split,
        )  # fmt: skip
        return replace(built, own=unlabelled == OWN, named=named)

    @classmethod
    def from_scores(cls, attribute: Attribute, scores: Mapping[str, float], *, positive: str) -> Membership:
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
        return cls.from_matrix(attribute, ids, np.stack(columns, axis=1))

    @classmethod
    def from_words(cls, counts: WordCounts, name: str | None = None, *, minimum: int = 1) -> Membership:
        """From the words of a lexicon: a document belongs to groups as its group words do.

        One with fewer than ``minimum`` group words is not listed. The target is the lexicon's.
        """
        lexicon = counts.lexicon
        attribute = Attribute(name or lexicon.name, lexicon.groups, target=lexicon.targets)
        ids, shares = counts.shares_of_groups(minimum)
        return cls.from_matrix(attribute, ids, shares, source=counts.source)

    @classmethod
    def from_intents(cls, judgements: DiversityQrels, name: str = "intent") -> Membership:
        """From judgements by intent: a document belongs to the intents of its query by its gains, 2**g - 1.

        The target is how likely the intents are. Each query has its own; the value ``1`` is its first.
        """
        width = judgements.grades.width
        if width < 2:
            raise ParameterError("intents as groups need a query with two intents or more")
        counts = np.array([len(names) for names in judgements.intent_ids])  # (Q,)
        grades = np.maximum(judgements.grades.dense(np.arange(len(judgements.doc_ids))), 0)  # (J, I)
        top = grades.max(axis=1, keepdims=True, initial=0)  # shares do not change, and no grade is too large
        gains = np.exp2(grades - top) - np.exp2(-top)  # (J, I)
        rows = np.flatnonzero((gains.sum(axis=1) > 0) & (counts[judgements.query_codes] > 1))
        several = np.flatnonzero(counts > 1).tolist()
        targets = {judgements.query_ids[code]: judgements.probabilities[code] for code in several}
        built = cls.from_matrix(
            Attribute(name, tuple(str(place + 1) for place in range(width)), target=targets),
            judgements.doc_ids.take(rows),
            gains[rows] / gains[rows].sum(axis=1, keepdims=True),
            queries=[judgements.query_ids[query] for query in judgements.query_codes[rows].tolist()],
            source=judgements.source,
        )
        own = counts[places_among(built.query_ids or (), judgements.query_ids)]
        return replace(built, exists=np.arange(width) < own[:, None])

    @classmethod
    def combined(cls, *parts: Membership, target: Any = None) -> Membership:
        """All combinations of the values of several attributes as the values of one, ``a*b``.

        A document has a combination by the product of its shares. The target is the product of theirs,
        unless given; kinds of targets that need documents must be the same for all. For nominal sets:
        a distance between combined values means nothing.
        """
        from evenrank.data.combining import combine

        return combine(parts, target)


def split_name(attribute: str) -> tuple[str, ...]:
    """The attributes of a combination: ``"gender*country"``."""
    return tuple(attribute.split(COMBINED))
