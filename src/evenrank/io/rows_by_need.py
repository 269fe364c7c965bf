"""Counts and groups that are opened, not loaded: rows are read when somebody asks for their documents.

A pass reads the ids of all rows, a group of rows at a time and several files at once, and the other columns
only of groups that hold a document that somebody asked for. What was read is kept.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import Bools, Floats, Int64s, UInt64s
from evenrank.data.attribute import Attribute
from evenrank.data.evidence_source import Gathered, Pairs, Sparse
from evenrank.data.membership import Membership
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, counted
from evenrank.ids import as_strings, hash_strings
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import ID, StoredCounts, counts_file, counts_of_table, plain_columns, sound_counts
from evenrank.io.derived_groups import DerivedGroups, StoredGroups, sound_groups

Sound = Callable[[Path], AbstractContextManager[None]]  # turns what is wrong with a file into one error

_WORKERS = 4  # at most
_LARGEST_SIEVE = 26  # bits of a hash: 64 MB
_NOTHING: UInt64s = np.zeros(0, np.uint64)
_reading = threading.RLock()  # one thread reads and the others wait: they may want the same rows


class RowsByNeed:
    """What was read so far of files whose first column is ``id``; ``schema`` has the columns that are read.

    Rows are asked for by the hash of their id: one more than was meant does no harm. They keep their numbers
    whatever is read after them.
    """

    def __init__(self, files: Sequence[Path], schema: pa.Schema, rows: int, sound: Sound) -> None:
        self.rows = rows
        self.passes = 0  # over all rows, for the documents that were asked for
        self._files, self._schema, self._sound = tuple(files), schema, sound
        self._stamps = [_stamp(path) for path in files]
        self._asked = _NOTHING  # hashes that were looked for, sorted
        self._known: pa.Table = schema.empty_table()
        self._is_whole = False

    @property
    def reading(self) -> dict[str, int]:
        """How much was read so far, each time that it was, and of how much."""
        size = sum(size for size, _ in self._stamps)
        return {
            "passes": self.passes,
            "rows read": self.passes * self.rows,
            "rows": self.rows,
            "bytes read": self.passes * size,
            "bytes": size,
        }

    def known(self, hashes: UInt64s) -> pa.Table:
        """The rows that have been asked for, these among them; a hash may stand there many times."""
        wanted = np.sort(hashes)  # ``np.unique`` takes ten times as long
        wanted = wanted[np.diff(wanted, prepend=wanted[:1] - np.uint64(1)) != 0]
        with _reading:
            new = wanted[~_among(wanted, self._asked)]
            if len(new) and not self._is_whole:
                self.passes += 1
                self._known = pa.concat_tables([self._known, *self._find(new)])
                self._asked = np.sort(np.concatenate([self._asked, new]))
            return self._known

    def all(self) -> pa.Table:
        """All rows, those that were known first."""
        with _reading:
            if not self._is_whole:
                self.passes += 1
                whole = pa.concat_tables([self._schema.empty_table(), *self.pieces()])
                others = ~_among(hash_strings(as_strings(whole.column(0))), self._asked)
                self._known = pa.concat_tables([self._known, whole.filter(pa.array(others))])
                self._is_whole = True
            return self._known

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows in their order, a group of them at a time."""
        for path in self._files:
            with self._sound(path), counts_file(path) as file:
                for group in range(file.num_row_groups):
                    yield self._read(file, group, columns)
        self._check_unchanged()

    def _read(self, file: Any, group: int, columns: Sequence[str] | None = None) -> pa.Table:
        names = self._schema.names if columns is None else list(columns)
        schema = pa.schema([self._schema.field(name) for name in names], self._schema.metadata)
        return file.read_row_group(group, names, use_threads=False).select(names).cast(schema)

    def _find(self, hashes: UInt64s) -> Iterator[pa.Table]:
        """The rows with these hashes, which are sorted and distinct."""
        # most rows that nobody wants do not pass the sieve, and need not be looked for
        bits = min(_LARGEST_SIEVE, max(10, (8 * len(hashes)).bit_length()))
        shift = np.uint64(64 - bits)
        sieve = np.zeros(1 << bits, dtype=bool)
        sieve[hashes >> shift] = True

        def find(path: Path) -> list[pa.Table]:
            found = []
            with self._sound(path), counts_file(path) as file:
                for group in range(file.num_row_groups):
                    own = hash_strings(as_strings(self._read(file, group, [ID]).column(0)))
                    rows = np.flatnonzero(sieve[own >> shift])
                    rows = rows[_among(own[rows], hashes)]
                    if len(rows):
                        found.append(self._read(file, group).take(pa.array(rows)).combine_chunks())
            return found

        with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1), thread_name_prefix="rows") as pool:
            for tables in pool.map(find, self._files):
                yield from tables
        self._check_unchanged()

    def _check_unchanged(self) -> None:
        """Several passes give one answer only if nobody writes to the files in between."""
        for path, stamp in zip(self._files, self._stamps, strict=True):
            if not path.exists() or _stamp(path) != stamp:
                raise DataError(f"{path}: was changed since it was opened: open what is there now")


def _stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def _among(hashes: UInt64s, known: UInt64s) -> Bools:
    """Which of the hashes are among those known, which are sorted."""
    if not len(known):
        return np.zeros(len(hashes), dtype=bool)
    found: Bools = known[np.minimum(np.searchsorted(known, hashes), len(known) - 1)] == hashes
    return found


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
        about = stored.about
        self.__dict__.update(  # the fields of a frozen class
            lexicon=about.lexicon,
            tokenizer=about.tokenizer,
            source=about.source,
            _stored=stored,
            _rows=RowsByNeed(stored.files, about.schema, about.rows, sound_counts),
            _sizes={},
        )
        self.__dict__["_built"] = self._counts(about.schema.empty_table())

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
        return self._stored.about.has_terms

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
