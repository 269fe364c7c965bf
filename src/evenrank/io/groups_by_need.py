"""Groups that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s, UInt64s
from evenrank.data.attribute import SHARE_TOLERANCE, Attribute
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.errors import DamagedError
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
        return self._shares(self._rows.known(hashes))

    def all(self) -> DerivedGroups:
        return self._shares(self._rows.all())

    def _shares(self, table: pa.Table) -> DerivedGroups:
        found = self._stored.of_table(table)
        sums = found.shares.sum(axis=1, keepdims=True)
        # so written that NaN, which compares with nothing, is refused
        if not ((found.shares >= 0).all() and (np.abs(sums - 1) <= SHARE_TOLERANCE).all()):
            raise DamagedError(f"{self.name}: has shares that do not sum to 1: derive the groups again")
        return found._replace(shares=found.shares / sums)


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
