"""Groups that stay where they are stored: only the rows of documents that somebody asks for are read."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.data.words_by_need import distinct_hashes
from evenrank.ids import hash_strings


class FoundShares(NamedTuple):
    """Documents with their shares, (N, G), and what had to be read to find them."""

    ids: pa.LargeStringArray
    shares: Floats
    rows_read: int
    bytes_read: int


class GroupsStore(Protocol):
    """Where groups are kept. It finds rows by the hash of their id: one more than was meant does no harm."""

    name: str
    rows: int
    bytes: int

    @property
    def sizes(self) -> Floats:
        """(G,): how many documents each group has, shares added up."""
        ...

    @property
    def fingerprint(self) -> str: ...

    def find(self, hashes: UInt64s) -> FoundShares:
        """The rows whose ids have these hashes, which are sorted and distinct."""
        ...

    def all_rows(self) -> FoundShares: ...


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

    _reading: _Reading
    _sizes: Floats

    @classmethod
    def of(
        cls, store: GroupsStore, attribute: Attribute, *, multilabel: bool = False, split: str = "share"
    ) -> MembershipByNeed:
        build = partial(
            Membership.from_matrix, attribute, multilabel=multilabel, split=split, source=store.name
        )
        return cls._with(_Reading(store, build), attribute, multilabel)

    @classmethod
    def _with(cls, reading: _Reading, attribute: Attribute, multilabel: bool) -> MembershipByNeed:
        made: MembershipByNeed = object.__new__(cls)
        for name, value in {
            "attribute": attribute,
            "query_ids": None,
            "multilabel": multilabel,
            "source": reading.store.name,
            "_reading": reading,
            "_sizes": reading.store.sizes,
        }.items():
            object.__setattr__(made, name, value)
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # a copy is made of what was read, not by ``__new__``
        return MembershipByNeed._with, (self._reading, self.attribute, self.multilabel)

    @property
    def doc_ids(self) -> pa.LargeStringArray:
        return self._reading.whole().doc_ids

    @property
    def query_codes(self) -> Int64s:
        return self._reading.whole().query_codes

    @property
    def shares(self) -> Sparse:
        return self._reading.whole().shares

    def __len__(self) -> int:
        return self._reading.store.rows

    @property
    def reading(self) -> dict[str, int]:
        """In how many passes how many rows were read so far, each time that they were, of how many, and how
        many bytes, of how many."""
        store = self._reading.store
        return {
            "passes": self._reading.passes,
            "rows read": self._reading.rows_read,
            "rows": store.rows,
            "bytes read": self._reading.bytes_read,
            "bytes": store.bytes,
        }

    @cached_property
    def fingerprint(self) -> str:
        attribute = self.attribute
        target = dict(attribute.target) if isinstance(attribute.target, Mapping) else attribute.target
        about = repr((attribute.name, attribute.values, attribute.ordinal, target))
        return hashlib.sha256(f"{about} {self._reading.store.fingerprint}".encode()).hexdigest()

    def with_target(self, target: Any) -> Membership:
        """The same documents with another target; what one of them reads the other need not."""
        return self._with(self._reading, self.attribute.with_target(target), self.multilabel)

    def by_id(self) -> Membership:
        return replace(self._reading.whole(), attribute=self.attribute).by_id()

    def foresee(self, hashes: UInt64s) -> None:
        """Read the rows of all documents with these hashes of their ids, which may stand there many times."""
        self._reading.rows(hashes)

    def rows_of(self, pairs: Pairs) -> Int64s:
        return self._reading.rows(pairs.doc_hashes).rows_of(pairs)

    def shares_at(self, rows: Int64s) -> Sparse:
        return self._reading.known().shares_at(rows)

    def dense_at(self, rows: Int64s) -> Floats:
        return self._reading.known().dense_at(rows)

    def gather_rows(self, rows: Int64s) -> Gathered:
        return self._reading.known().gather_rows(rows)

    def entries(self, rows: Int64s) -> tuple[Int64s, Int64s, Floats | None]:
        return self._reading.known().entries(rows)

    @property
    def _listing(self) -> object:
        return self._reading

    def _collection_shares(self, query_ids: Sequence[str]) -> Floats:
        total = self._sizes.sum()
        shares = self._sizes / total if total > 0 else np.full(len(self._sizes), np.nan)
        return np.tile(shares, (len(query_ids), 1))


class _Reading:
    """The rows that were read so far. Memberships that differ in their target alone share them.

    Threads may ask at once: one of them reads, and the others wait, since they may want the same rows.
    """

    def __init__(
        self, store: GroupsStore, build: Callable[[pa.LargeStringArray, Floats], Membership]
    ) -> None:
        self.store = store
        self.passes = self.rows_read = self.bytes_read = 0
        self._build = build
        self._asked: UInt64s = np.zeros(0, np.uint64)  # hashes that were looked for, sorted
        self._known: Membership | None = None  # the rows that were found for them, or all
        self._is_whole = False
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def rows(self, hashes: UInt64s) -> Membership:
        """What is known when documents with these hashes have been looked for."""
        wanted = distinct_hashes(hashes)
        with self._lock:
            if self._is_whole:
                return self.known()
            if len(self._asked):
                places = np.minimum(np.searchsorted(self._asked, wanted), len(self._asked) - 1)
                wanted = wanted[self._asked[places] != wanted]
            if len(wanted) or self._known is None:
                self._add(self.store.find(wanted))
                self._asked = np.sort(np.concatenate([self._asked, wanted]))
            return self.known()

    def known(self) -> Membership:
        known = self._known
        return known if known is not None else self.rows(self._asked)

    def whole(self) -> Membership:
        """All rows; those that were known come first, so that their numbers stay what they were."""
        with self._lock:
            if not self._is_whole:
                found = self.store.all_rows()
                rows = np.arange(len(found.ids))
                if len(self._asked):
                    own = hash_strings(found.ids)
                    places = np.minimum(np.searchsorted(self._asked, own), len(self._asked) - 1)
                    rows = rows[self._asked[places] != own]
                self._add(found._replace(ids=found.ids.take(pa.array(rows)), shares=found.shares[rows]))
                self._is_whole = True
            return self.known()

    def _add(self, found: FoundShares) -> None:
        new = self._build(found.ids, found.shares)
        self._known = new if self._known is None else _joined(self._known, new)
        self.passes += found.rows_read > 0
        self.rows_read += found.rows_read
        self.bytes_read += found.bytes_read


def _joined(one: Membership, other: Membership) -> Membership:
    """The rows of one, then those of the other."""
    offsets = np.concatenate([one.shares.offsets, other.shares.offsets[1:] + one.shares.offsets[-1]])
    shares = Sparse(
        offsets,
        np.concatenate([one.shares.places, other.shares.places]),
        np.concatenate([one.shares.values, other.shares.values]),
        one.shares.width,
    )
    ids = pa.concat_arrays([one.doc_ids, other.doc_ids])
    codes = np.concatenate([one.query_codes, other.query_codes])
    return Membership(one.attribute, ids, None, codes, shares, one.multilabel, None, one.source)
