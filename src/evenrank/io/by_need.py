"""Counts and groups that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Floats, Int64s, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.errors import counted
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import StoredCounts, counts_of_table, plain_columns, sound_counts
from evenrank.io.derived_groups import DerivedGroups
from evenrank.io.rows_by_need import RowsByNeed

_NOTHING: UInt64s = np.zeros(0, np.uint64)


class WordsByNeed(WordCounts):
    """What ``WordCounts`` is, of counts that are too many to load.

    ``gather`` reads the rows of the documents that it is asked about and keeps them; ``foresee`` reads those
    of several runs at once; ``leading_sizes`` reads all rows and keeps none. Whoever looks at all documents
    (``doc_ids``, ``counts``, a background that is the whole collection) loads them all.
    """

    _stored: StoredCounts
    _rows: RowsByNeed
    _built: WordCounts  # of the rows that are known
    _sizes: dict[int, Int64s]

    def __init__(self, stored: StoredCounts) -> None:
        self.__dict__.update(  # the fields of a frozen class
            lexicon=stored.lexicon,
            tokenizer=stored.tokenizer,
            source=stored.source,
            _stored=stored,
            _rows=RowsByNeed(stored.files, stored.schema, stored.rows, sound_counts),
            _sizes={},
        )
        self.__dict__["_built"] = self._counts(stored.schema.empty_table())

    @property
    def doc_ids(self) -> pa.LargeStringArray:
        return self._whole.doc_ids

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return self._whole.lengths

    @property
    def counts(self) -> npt.NDArray[Any]:
        return self._whole.counts

    @property
    def tokens(self) -> npt.NDArray[np.int64]:
        return self._whole.tokens

    @property
    def terms(self) -> Sparse | None:
        return self._whole.terms if self.has_terms else None

    @property
    def has_terms(self) -> bool:
        return self._stored.has_terms

    @cached_property
    def fingerprint(self) -> str:
        """Of the bytes of all files, which differs from that of loaded counts."""
        stored = self._stored
        files = [(len(self), hash_of_file(stored.path))] if stored.folder is None else [
            (part.rows, part.digest) for part in stored.folder.parts
        ]  # fmt: skip
        digest = hashlib.sha256(f"{self.lexicon.fingerprint} {self.tokenizer}".encode())
        digest.update("".join(f"{rows} {bytes_digest}\n" for rows, bytes_digest in files).encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return self._rows.rows

    def __repr__(self) -> str:
        return (
            f"<WordCounts: {counted(len(self), 'document', 'documents')}, lexicon {self.lexicon.name!r}, "
            f"read from {self._stored.path} by need>"
        )

    def _repr_html_(self) -> str:
        from evenrank.text import escape_html

        return f"<p>{escape_html(repr(self))}</p>"

    @property
    def reading(self) -> dict[str, int]:
        """What was read so far."""
        return self._rows.reading

    def foresee(self, hashes: UInt64s) -> None:
        """Read the rows of all documents with these hashes of their ids, which may stand there many times."""
        self._rows.known(hashes)

    def gather(self, pairs: Pairs) -> Gathered:
        return self.among(pairs.doc_ids.hashes).gather(pairs)

    def among(self, hashes: UInt64s) -> WordCounts:
        """The counts of the documents that were asked for so far, those with these hashes among them."""
        return self._of(self._rows.known(hashes))

    def all_known(self) -> WordCounts:
        """The counts of all documents, those first that were asked for before."""
        return self._of(self._rows.all())

    def leading_sizes(self, minimum: int) -> Int64s:
        """Of all documents, by one pass over their counts, which is made once."""
        if minimum not in self._sizes:
            # weighted counts are made of terms
            columns = plain_columns(self.lexicon) if self.lexicon.weights is None else None
            parts = [self._counts(table).leading_sizes(minimum) for table in self._rows.pieces(columns)]
            self._rows.passes += 1
            self._sizes[minimum] = np.sum([np.zeros(len(self.lexicon.groups) + 1, np.int64), *parts], axis=0)
        return self._sizes[minimum]

    def _of(self, known: pa.Table) -> WordCounts:
        built = self._built
        if len(known) != len(built):
            self.__dict__["_built"] = built = self._counts(known)
        return built

    @cached_property
    def _whole(self) -> WordCounts:
        return self._counts(pa.concat_tables(list(self._rows.pieces())))

    def _counts(self, table: pa.Table) -> WordCounts:
        with sound_counts(self._stored.path):
            return counts_of_table(table, self.lexicon, self.tokenizer, self.source)


class GroupRows(Protocol):
    """Where the rows of groups come from; of all documents it knows how many each group has."""

    @property
    def name(self) -> str: ...
    @property
    def reading(self) -> dict[str, int]: ...
    def known(self, hashes: UInt64s) -> DerivedGroups: ...
    def all(self) -> DerivedGroups: ...
    def sizes(self) -> Floats: ...
    def fingerprint(self) -> str: ...


class MembershipByNeed(Membership):
    """What ``Membership`` is, of more documents than should be loaded.

    ``rows_of`` reads the rows of the documents that it is asked about and keeps them; ``foresee`` reads those
    of several runs at once. Whoever looks at all documents (``doc_ids``, ``shares``) loads them all; how many
    each group has is known without that. Rows keep their numbers whatever is read after them.
    """

    by_need = True

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        # ``dataclasses.replace`` makes a new object from all fields: these have been loaded then
        return Membership(*fields, **named)

    rows: GroupRows
    _sizes: Floats

    @classmethod
    def of(cls, rows: GroupRows, attribute: Attribute, *, multilabel: bool = False) -> MembershipByNeed:
        return cls._with(rows, rows.sizes(), attribute, multilabel)

    @classmethod
    def _with(
        cls, rows: GroupRows, sizes: Floats, attribute: Attribute, multilabel: bool
    ) -> MembershipByNeed:
        made: MembershipByNeed = object.__new__(cls)
        made.__dict__.update(  # the fields of a frozen class
            attribute=attribute, query_ids=None, multilabel=multilabel, source=rows.name, rows=rows,
            _sizes=sizes,
        )  # fmt: skip
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # a copy is made of what was read, not by ``__new__``
        return MembershipByNeed._with, (self.rows, self._sizes, self.attribute, self.multilabel)

    @property
    def doc_ids(self) -> pa.LargeStringArray:
        return self._whole().doc_ids

    @property
    def query_codes(self) -> Int64s:  # type: ignore[override]
        return self._whole().query_codes

    @property
    def shares(self) -> Sparse:
        return self._whole().shares

    def __len__(self) -> int:
        return self.reading["rows"]

    @property
    def reading(self) -> dict[str, int]:
        """What was read so far."""
        return self.rows.reading

    @cached_property
    def fingerprint(self) -> str:
        attribute = self.attribute
        target = dict(attribute.target) if isinstance(attribute.target, Mapping) else attribute.target
        about = repr((attribute.name, attribute.values, attribute.ordinal, target))
        return hashlib.sha256(f"{about} {self.rows.fingerprint()}".encode()).hexdigest()

    def with_target(self, target: Any) -> Membership:
        """The same documents with another target; what one of them reads the other need not."""
        attribute = self.attribute.with_target(target)
        return self._with(self.rows, self._sizes, attribute, self.multilabel)

    def by_id(self) -> Membership:
        return self._whole().by_id()

    def lists_as(self, other: Membership) -> bool:
        return isinstance(other, MembershipByNeed) and self.rows is other.rows

    def foresee(self, hashes: UInt64s) -> None:
        """Read the rows of all documents with these hashes of their ids, which may stand there many times."""
        self.rows.known(hashes)

    def rows_of(self, pairs: Pairs) -> Int64s:
        return self._known(pairs.doc_ids.hashes).rows_of(pairs)

    def shares_at(self, rows: Int64s) -> Sparse:
        return self._known().shares_at(rows)

    def dense_at(self, rows: Int64s) -> Floats:
        return self._known().dense_at(rows)

    def gather_rows(self, rows: Int64s) -> Gathered:
        return self._known().gather_rows(rows)

    def entries(self, rows: Int64s) -> tuple[Int64s, Int64s, Floats | None]:
        return self._known().entries(rows)

    def _collection_shares(self, query_ids: Sequence[str]) -> Floats:
        total = self._sizes.sum()
        shares = self._sizes / total if total > 0 else np.full(len(self._sizes), np.nan)
        return np.tile(shares, (len(query_ids), 1))

    def _known(self, hashes: UInt64s = _NOTHING) -> Membership:
        """What is known when documents with these hashes have been looked for."""
        return self._of(self.rows.known(hashes))

    def _whole(self) -> Membership:
        return self._of(self.rows.all())

    def _of(self, found: DerivedGroups) -> Membership:
        """The rows as they stand there, where new ones come last: those before keep their numbers."""
        built: Membership | None = self.__dict__.get("_built")
        if built is None or len(built) != len(found.ids):
            shares = Sparse.of_dense(found.shares)
            codes = np.zeros(len(found.ids), np.int64)
            built = Membership(
                self.attribute, found.ids, None, codes, shares, self.multilabel, source=self.source
            )
            self.__dict__["_built"] = built
        return built
