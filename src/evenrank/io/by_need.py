"""Counts and groups that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from evenrank.arrays import Floats, Int64s, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Sparse
from evenrank.data.lookup import NO_HASHES
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.errors import counted
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import StoredCounts, counts_of_table, plain_columns, sound_counts
from evenrank.io.derived_groups import DerivedGroups
from evenrank.io.rows_by_need import RowsByNeed


class WordsByNeed(WordCounts):
    """What ``WordCounts`` is, of counts that are too many to load.

    ``at_hand`` reads the rows of the documents that it is asked about and keeps them; ``leading_sizes`` reads
    all rows and keeps none. Whoever looks at all documents (``doc_ids``, ``counts``, a background that is the
    whole collection) loads them all.
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

    def __getattr__(self, name: str) -> Any:
        """The fields that are not there until somebody looks at all documents, which load in their order."""
        if name not in ("doc_ids", "lengths", "counts", "terms", "tokens"):
            raise AttributeError(name)
        whole = self._counts(pa.concat_tables(list(self._rows.pieces())))
        self.__dict__.update(vars(whole))
        return self.__dict__[name]

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

    def at_hand(self, hashes: UInt64s | None = NO_HASHES) -> WordCounts:
        known = self._rows.known(hashes)
        built = self._built
        if len(known) != len(built):
            self.__dict__["_built"] = built = self._counts(known)
        return built

    def leading_sizes(self, minimum: int) -> Int64s:
        """Of all documents, by one pass over their counts, which is made once."""
        if minimum not in self._sizes:
            # weighted counts are made of terms
            columns = plain_columns(self.lexicon) if self.lexicon.weights is None else None
            parts = [self._counts(table).leading_sizes(minimum) for table in self._rows.pieces(columns)]
            self._rows.passes += 1
            self._sizes[minimum] = np.sum([np.zeros(len(self.lexicon.groups) + 1, np.int64), *parts], axis=0)
        return self._sizes[minimum]

    def _counts(self, table: pa.Table) -> WordCounts:
        with sound_counts(self._stored.path):
            return counts_of_table(table, self.lexicon, self.tokenizer, self.source)


class GroupRows(Protocol):
    """Where the rows of groups come from; of all documents it knows how many each group has."""

    @property
    def name(self) -> str: ...
    @property
    def reading(self) -> dict[str, int]: ...
    def known(self, hashes: UInt64s | None) -> DerivedGroups: ...
    def sizes(self) -> Floats: ...
    def fingerprint(self) -> str: ...


class MembershipByNeed(Membership):
    """What ``Membership`` is, of more documents than should be loaded.

    ``at_hand`` reads the rows of the documents that it is asked about and keeps them. Whoever looks at all
    documents (``doc_ids``, ``shares``) loads them all; how many each group has is known without that. Rows
    keep their numbers whatever is read after them.
    """

    by_need = True
    rows: GroupRows

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        # ``dataclasses.replace`` makes a new object from all fields: these have been loaded then
        return Membership(*fields, **named)

    @classmethod
    def of(cls, rows: GroupRows, attribute: Attribute, multilabel: bool = False) -> MembershipByNeed:
        made: MembershipByNeed = object.__new__(cls)
        made.__dict__.update(  # the fields of a frozen class
            attribute=attribute, query_ids=None, multilabel=multilabel, source=rows.name, rows=rows
        )  # fmt: skip
        return made

    def __reduce__(self) -> tuple[Any, ...]:  # a copy is made of what was read, not by ``__new__``
        return MembershipByNeed.of, (self.rows, self.attribute, self.multilabel)

    def __getattr__(self, name: str) -> Any:
        if name not in ("doc_ids", "query_codes", "shares"):
            raise AttributeError(name)
        return getattr(self.at_hand(None), name)

    def __len__(self) -> int:
        return self.reading["rows"]

    @property
    def reading(self) -> dict[str, int]:
        """What was read so far."""
        return self.rows.reading

    @cached_property
    def _sizes(self) -> Floats:
        return self.rows.sizes()

    @cached_property
    def fingerprint(self) -> str:
        attribute = self.attribute
        target = dict(attribute.target) if isinstance(attribute.target, Mapping) else attribute.target
        about = repr((attribute.name, attribute.values, attribute.ordinal, target))
        return hashlib.sha256(f"{about} {self.rows.fingerprint()}".encode()).hexdigest()

    def with_target(self, target: Any) -> Membership:
        """The same documents with another target; what one of them reads the other need not."""
        return self.of(self.rows, self.attribute.with_target(target), self.multilabel)

    def lists_as(self, other: Membership) -> bool:
        return isinstance(other, MembershipByNeed) and self.rows is other.rows

    def at_hand(self, hashes: UInt64s | None = NO_HASHES) -> Membership:
        found = self.rows.known(hashes)  # new rows come last, so that those before keep their numbers
        built: Membership | None = self.__dict__.get("_built")
        if built is None or len(built) != len(found.ids):
            shares = Sparse.of_dense(found.shares)
            codes = np.zeros(len(found.ids), np.int64)
            built = Membership(
                self.attribute, found.ids, None, codes, shares, self.multilabel, source=self.source
            )
            self.__dict__["_built"] = built
        return built
