"""Word counts as a Parquet file that knows how it was made.

Columns: ``id``, ``length`` (tokens), one for each group, called like the group, and, if terms were
counted, the lists ``terms`` (places in the lexicon) and ``term_counts``. The metadata under
``evenrank.counts`` is JSON: lexicon, tokeniser, name of the source, version; that under ``evenrank.source``
is the hash of all that was read of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import numbers, values_of
from evenrank.data.evidence_source import Sparse
from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import DamagedError, DataError, DiskError, ParameterError
from evenrank.ids import as_strings
from evenrank.io.content_hash import PIECE, hash_of_columns, hash_of_file
from evenrank.io.remote import is_remote
from evenrank.io.source import as_source, parquet_file

if TYPE_CHECKING:
    from evenrank.io.counts_folder import CountsFolder

FORMAT = 1
ROW_GROUP = 1 << 17

_KEY = b"evenrank.counts"
SOURCE = b"evenrank.source"
LOADED = 1 << 20  # rows: a file of so many takes less than a tenth of a second, and all of it is at hand

ID = "id"
_LENGTH, _TERMS, _TERM_COUNTS = "length", "terms", "term_counts"
_LISTS = pa.list_(pa.int32())


def counts_schema(
    lexicon: Lexicon, tokenizer: str, *, terms: bool = False, source: Mapping[str, Any] | None = None
) -> pa.Schema:
    """The columns of a file of counts, and all that must be known to use it."""
    from evenrank import __version__

    own = {ID, _LENGTH, *((_TERMS, _TERM_COUNTS) if terms else ())} & set(lexicon.groups)
    if own:
        raise ParameterError(
            f"lexicon {lexicon.name!r}: a group cannot be called {sorted(own)[0]!r} in a file of counts, "
            "which has a column of that name: rename the group"
        )
    about = {
        "format": FORMAT,
        "version": __version__,
        "tokenizer": tokenizer,
        "lexicon": {
            "name": lexicon.name,
            "fingerprint": lexicon.fingerprint,
            "groups": lexicon.groups,
            "targets": lexicon.targets,
            "words": lexicon.to_dict(),
            "partners": dict(lexicon.partners),
            **({} if lexicon.weights is None else {"weights": lexicon.to_weights()}),
        },
        "source": dict(source or {}),
    }
    fields = [
        pa.field(ID, pa.large_string(), nullable=False),  # what is never null is written faster
        pa.field(_LENGTH, pa.int32(), nullable=False),
        *(pa.field(group, pa.int32(), nullable=False) for group in lexicon.groups),
    ]
    if terms:
        fields += [pa.field(_TERMS, _LISTS, nullable=False), pa.field(_TERM_COUNTS, _LISTS, nullable=False)]
    return pa.schema(fields, metadata={_KEY: json.dumps(about)})


def counts_batch(
    schema: pa.Schema,
    ids: pa.LargeStringArray,
    lengths: npt.NDArray[np.int32],
    groups: npt.NDArray[np.int32],
    terms: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None,
) -> pa.RecordBatch:
    """Rows of the file. ``terms`` is (offsets, places in the lexicon, counts)."""
    columns = [ids, *(numbers(column.astype(np.int32, copy=False)) for column in (lengths, *groups.T))]
    if terms is not None:
        edges, places, counts = (numbers(part.astype(np.int32, copy=False)) for part in terms)
        columns += [pa.ListArray.from_arrays(edges, places), pa.ListArray.from_arrays(edges, counts)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class CountsWriter:
    """Batches in, row groups out. Where one row group ends depends on the rows alone, not on the batches'
    speed, so that equal counts give equal bytes."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._held: list[pa.RecordBatch] = []
        self._held_rows = 0
        # dictionaries and statistics cost time and gain nothing: ids are distinct, and all rows are read
        self._writer = pa.parquet.ParquetWriter(
            file,
            schema,
            compression="lz4",
            use_dictionary=False,
            write_statistics=False,
            write_batch_size=1 << 14,
            write_page_checksum=True,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._held_rows += len(batch)
        if self._held_rows >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._held_rows:
            self._writer.write_table(pa.Table.from_batches(self._held), row_group_size=self._held_rows)
        self._held, self._held_rows = [], 0

    def close(self, source: Mapping[str, Any] | None = None) -> None:
        """``source`` is what is known of it when all of it has been read."""
        self._flush()
        if source:
            self._writer.add_key_value_metadata({SOURCE.decode(): json.dumps(dict(source))})
        self._writer.close()

    def abandon(self) -> None:
        """Give up, without an error on top of the one that is the reason."""
        with suppress(Exception):
            self._writer.close()
        self._writer.is_open = False  # or Arrow tries again when the object is collected


@contextmanager
def writing(writer: Any) -> Iterator[Any]:
    """A writer that is given up where the block raises."""
    try:
        yield writer
    except BaseException:
        writer.abandon()
        raise


@contextmanager
def counts_file(
    path: Path, what: str = "word counts", cure: str = "scan again"
) -> Iterator[pa.parquet.ParquetFile]:
    """A file of counts, or of what is derived from them, open for reading. Whatever is wrong with its content
    is one error: it is damaged. What the system says (no such file, no memory) is no damage."""
    try:
        with (
            parquet_file(path) as raw,
            pa.parquet.ParquetFile(raw, page_checksum_verification=True) as file,
        ):
            yield file
    except (DataError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, OSError) and error.errno:
            raise DiskError(f"{path}: cannot be read: {os.strerror(error.errno)}") from error
        raise DamagedError(f"{path}: is not a sound Parquet file of {what} ({error}): {cure}") from error


def metadata_of(path: Path, key: bytes) -> Any:
    """What a Parquet file says about itself under a key; None where it says nothing, or is no such file."""
    try:
        with parquet_file(path) as raw:
            found = (pa.parquet.read_schema(raw).metadata or {}).get(key)
    except (pa.ArrowException, OSError, ValueError):  # whoever reads it as a table says what is wrong
        return None
    return None if found is None else json.loads(found)


def read_counts(
    path: str | os.PathLike[str],
    lexicon: Lexicon | None = None,
    tokenizer: str | None = None,
    source: str | os.PathLike[str] | None = None,
) -> WordCounts:
    """Word counts from a file or a folder that ``scan`` wrote: small files are loaded, of others only those
    rows are read that somebody asks for.

    With a ``lexicon``, a ``tokenizer`` or a ``source``, the file of the collection, counts that were made
    with another one are refused.
    """
    stored = stored_counts(path)
    stored.check(lexicon, tokenizer, source)
    if stored.folder is not None or stored.rows > LOADED:
        from evenrank.io.by_need import WordsByNeed

        return WordsByNeed(stored)
    return stored.load()


class StoredCounts(NamedTuple):
    """Counts where they lie, one file or the parts of a folder, and what they say about themselves."""

    path: Path
    files: list[Path]
    folder: CountsFolder | None
    lexicon: Lexicon
    tokenizer: str
    provenance: Mapping[str, Any]  # of the collection
    schema: pa.Schema
    rows: int

    @property
    def source(self) -> str | None:
        return self.provenance.get("name")

    @property
    def has_terms(self) -> bool:
        return _TERMS in self.schema.names and _TERMS not in self.lexicon.groups

    def load(self) -> WordCounts:
        """All rows in their order."""
        tables = []
        for path in self.files:
            with counts_file(path) as file:
                tables.append(file.read().cast(self.schema))
        return self.counts_of(pa.concat_tables(tables))

    def counts_of(self, table: pa.Table) -> WordCounts:
        """Some of the rows."""
        groups = np.stack([values_of(table.column(group)) for group in self.lexicon.groups], axis=1)
        terms = None
        if self.has_terms:
            places, counts = (table.column(name).combine_chunks() for name in (_TERMS, _TERM_COUNTS))
            terms = Sparse(
                np.concatenate([[0], np.cumsum(values_of(places.value_lengths()))]).astype(np.int64),
                values_of(places.flatten()).astype(np.int64),
                values_of(counts.flatten()).astype(np.float64),
                len(self.lexicon),
            )
        return WordCounts.build(
            as_strings(table.column(ID)), values_of(table.column(_LENGTH)), groups, self.lexicon,
            tokenizer=self.tokenizer, terms=terms, source=self.source,
        )  # fmt: skip

    def check(
        self,
        lexicon: Lexicon | None,
        tokenizer: str | None,
        source: str | os.PathLike[str] | None = None,
    ) -> None:
        """Raise where the counts were made with another lexicon or tokeniser, or of another collection."""
        own = self.lexicon
        if lexicon is not None and lexicon != own:
            raise DataError(
                f"{self.path}: was counted with another lexicon, {own!r} ({own.fingerprint[:8]}), "
                f"not with {lexicon!r} ({lexicon.fingerprint[:8]}): scan again, or use that one"
            )
        if tokenizer is not None and tokenizer != self.tokenizer:
            raise DataError(
                f"{self.path}: was counted with the tokeniser {self.tokenizer!r}, not {tokenizer!r}: scan "
                "again"
            )
        if source is not None and not self._is_of(source):
            raise DataError(
                f"{self.path}: was counted in another source, {self.source!r}, or in one that has changed "
                f"since; it is not {os.fspath(source)}: scan again"
            )

    def _is_of(self, source: str | os.PathLike[str]) -> bool:
        """Whether the files of a collection have the hashes that were kept of them."""
        from evenrank.io.shards import is_many, list_shards

        many = is_many(source)
        if many:
            addresses = [shard.address for shard in list_shards(source)]
        else:
            file = as_source(source)
            if file is None or file.path is None:
                raise ParameterError(f"source= is the file or folder of the collection, got {source!r}")
            file.check()
            addresses = [str(file.path)]
        kept = self.provenance.get("files", [] if many else [self.provenance])
        return len(kept) == len(addresses) and all(map(_is_file, kept, addresses))


def _is_file(kept: Mapping[str, Any], address: str) -> bool:
    """Whether a file has the hash that was kept of it; none is kept of what was not a file."""
    if is_remote(address):
        raise DataError(
            f"{address}: a file in a store cannot be checked without reading all of it: copy it here first"
        )
    path = Path(address)
    try:
        if "columns" in kept:
            found = hash_of_columns(path, list(kept["columns"]))
        else:
            found = hash_of_file(path, kept.get("block", PIECE))
    except pa.ArrowException:  # no Parquet file
        return False
    return bool(found == kept.get("hash"))


def stored_counts(path: str | os.PathLike[str]) -> StoredCounts:
    """What is kept under a name, without its rows; an unfinished folder is refused."""
    where, folder = Path(path), None
    files = [where]
    if where.is_dir():
        from evenrank.io.counts_folder import read_counts_folder

        folder = read_counts_folder(where)
        files = folder.files
        if not files:
            raise DamagedError(f"{where}: holds no word counts: scan again")
    else:
        file = as_source(path)
        if file is None or file.path is None:
            raise ParameterError(f"counts are read from a file, got {path!r}")
        file.check()
    with counts_file(files[0]) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
        raw = (schema.metadata or {}).get(_KEY)
        if raw is None:
            raise DataError(f"{where}: is not a file of word counts: make one with evenrank scan")
        about = json.loads(raw)
        if about.get("format") != FORMAT:
            raise DamagedError(
                f"{where}: has format {about.get('format')} of word counts, this version has {FORMAT}: scan "
                "again"
            )
        own = about["lexicon"]
        targets = dict(zip(own["groups"], own["targets"], strict=True))
        words = own.get("weights", own["words"])
        lexicon = Lexicon.build(own["name"], words, targets=targets, partners=own["partners"])
        if lexicon.fingerprint != own["fingerprint"]:
            raise ValueError("the lexicon inside is not the one it was counted with")
        kept = json.loads((metadata.metadata or {}).get(SOURCE, b"{}"))
    provenance = {**about["source"], **kept, **({} if folder is None else folder.source)}
    rows = metadata.num_rows if folder is None else folder.rows
    return StoredCounts(where, files, folder, lexicon, about["tokenizer"], provenance, schema, rows)


def is_counts(path: str | os.PathLike[str]) -> bool:
    """Whether a file was written by ``scan``, or is a folder of such files."""
    if Path(path).is_dir():
        from evenrank.io.counts_folder import is_counts_folder

        return is_counts_folder(path)
    return metadata_of(Path(path), _KEY) is not None


def counts_in_pieces(path: str | os.PathLike[str]) -> Iterator[WordCounts]:
    """The counts of a file or a folder, some documents at a time: constant memory whatever the size."""
    stored = stored_counts(path)
    for part in stored.files:
        with counts_file(part) as file:
            for batch in file.iter_batches(ROW_GROUP):
                yield stored.counts_of(pa.Table.from_batches([batch]))


def ids_of_counts(files: Iterable[Path]) -> Iterator[pa.LargeStringArray]:
    """The ids of files of counts, one file after the other, some at a time."""
    for path in files:
        with counts_file(path) as file:
            for batch in file.iter_batches(ROW_GROUP, columns=[ID]):
                yield batch.column(0).cast(pa.large_string())
