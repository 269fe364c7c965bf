"""Groups that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.io.derived_groups import ID, DerivedGroups, StoredGroups, sound_groups
from evenrank.io.rows_by_need import RowsByNeed

_NOTHING: UInt64s = np.zeros(0, np.uint64)


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


class StoredRows:
    """Those of derived groups."""

    def __init__(self, stored: StoredGroups) -> None:
        self._stored = stored
        self.name = str(stored.path)
        columns = [(ID, pa.large_string()), *((group, pa.float64()) for group in stored.groups)]
        self._rows = RowsByNeed(stored.files, pa.schema(columns), stored.rows, sound_groups)
        self.sizes, self.fingerprint = stored.sizes, stored.fingerprint

    @property
    def reading(self) -> dict[str, int]:
        return self._rows.reading

    def known(self, hashes: UInt64s) -> DerivedGroups:
        return self._stored.of_table(self._rows.known(hashes))

    def all(self) -> DerivedGroups:
        return self._stored.of_table(self._rows.all())


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

    _read: _ReadSoFar
    _sizes: Floats

    @classmethod
    def of(
        cls, rows: GroupRows, attribute: Attribute, *, multilabel: bool = False, split: str = "share"
    ) -> MembershipByNeed:
        build = partial(
            Membership.from_matrix, attribute, multilabel=multilabel, split=split, source=rows.name
        )
        return cls._with(_ReadSoFar(rows, build), rows.sizes(), attribute, multilabel)

    @classmethod
    def _with(
        cls, read: _ReadSoFar, sizes: Floats, attribute: Attribute, multilabel: bool
    ) -> MembershipByNeed:
        made: MembershipByNeed = object.__new__(cls)
        for name, value in {
            "attribute": attribute,
            "query_ids": None,
            "multilabel": multilabel,
            "source": read.rows.name,
            "_read": read,
            "_sizes": sizes,
        }.items():
            object.__setattr__(made, name, value)
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # a copy is made of what was read, not by ``__new__``
        return MembershipByNeed._with, (self._read, self._sizes, self.attribute, self.multilabel)

    @property
    def doc_ids(self) -> pa.LargeStringArray:
        return self._read.whole().doc_ids

    @property
    def query_codes(self) -> Int64s:
        return self._read.whole().query_codes

    @property
    def shares(self) -> Sparse:
        return self._read.whole().shares

    def __len__(self) -> int:
        return self.reading["rows"]

    @property
    def reading(self) -> dict[str, int]:
        """What was read so far."""
        return self._read.rows.reading

    @cached_property
    def fingerprint(self) -> str:
        attribute = self.attribute
        target = dict(attribute.target) if isinstance(attribute.target, Mapping) else attribute.target
        about = repr((attribute.name, attribute.values, attribute.ordinal, target))
        return hashlib.sha256(f"{about} {self._read.rows.fingerprint()}".encode()).hexdigest()

    def with_target(self, target: Any) -> Membership:
        """The same documents with another target; what one of them reads the other need not."""
        attribute = self.attribute.with_target(target)
        return self._with(self._read, self._sizes, attribute, self.multilabel)

    def by_id(self) -> Membership:
        return replace(self._read.whole(), attribute=self.attribute).by_id()

    def foresee(self, hashes: UInt64s) -> None:
        """Read the rows of all documents with these hashes of their ids, which may stand there many times."""
        self._read.known(hashes)

    def rows_of(self, pairs: Pairs) -> Int64s:
        return self._read.known(pairs.doc_hashes).rows_of(pairs)

    def shares_at(self, rows: Int64s) -> Sparse:
        return self._read.known().shares_at(rows)

    def dense_at(self, rows: Int64s) -> Floats:
        return self._read.known().dense_at(rows)

    def gather_rows(self, rows: Int64s) -> Gathered:
        return self._read.known().gather_rows(rows)

    def entries(self, rows: Int64s) -> tuple[Int64s, Int64s, Floats | None]:
        return self._read.known().entries(rows)

    @property
    def _listing(self) -> object:
        return self._read

    def _collection_shares(self, query_ids: Sequence[str]) -> Floats:
        total = self._sizes.sum()
        shares = self._sizes / total if total > 0 else np.full(len(self._sizes), np.nan)
        return np.tile(shares, (len(query_ids), 1))


class _ReadSoFar:
    """The rows that were read so far, as a membership. Those that differ in their target alone share them."""

    def __init__(self, rows: GroupRows, build: Callable[[pa.LargeStringArray, Floats], Membership]) -> None:
        self.rows = rows
        self._build = build
        found = rows.known(_NOTHING)
        self._count, self._built = len(found.ids), build(*found)
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock())

    def known(self, hashes: UInt64s = _NOTHING) -> Membership:
        """What is known when documents with these hashes have been looked for."""
        with self._lock:
            return self._of(self.rows.known(hashes))

    def whole(self) -> Membership:
        with self._lock:
            return self._of(self.rows.all())

    def _of(self, found: DerivedGroups) -> Membership:
        """Rows that are new come last, so that those before keep their numbers."""
        if len(found.ids) > self._count:
            self._built = _joined(self._built, self._build(*_part(found, self._count)))
            self._count = len(found.ids)
        return self._built


def _part(found: DerivedGroups, first: int) -> tuple[pa.LargeStringArray, Floats]:
    return found.ids.slice(first), found.shares[first:]


def _joined(one: Membership, other: Membership) -> Membership:
    """The rows of one, then those of the other."""
    shares = Sparse(
        np.concatenate([one.shares.offsets, other.shares.offsets[1:] + one.shares.offsets[-1]]),
        np.concatenate([one.shares.places, other.shares.places]),
        np.concatenate([one.shares.values, other.shares.values]),
        one.shares.width,
    )
    ids = pa.concat_arrays([one.doc_ids, other.doc_ids])
    codes = np.concatenate([one.query_codes, other.query_codes])
    return Membership(one.attribute, ids, None, codes, shares, one.multilabel, None, one.source)
