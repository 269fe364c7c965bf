"""Groups that were derived from the words of documents, as Parquet that knows how it was made.

Columns: ``id``, and one for each group, called like the group, with the share of the document that belongs to
it. The metadata under ``evenrank.groups`` is JSON: the groups, their target, the lexicon and the minimum of
words; that under ``evenrank.source`` says how many documents each group has. Where there are many documents,
a folder holds one such file for each partition, with a commit.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import Floats, UInt64s, values_of
from evenrank.data.attribute import SHARE_TOLERANCE
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.ids import as_strings
from evenrank.io.content_hash import hash_of_file
from evenrank.io.counts import ID, ROW_GROUP, SOURCE, CountsWriter, counts_file, noticing_damage, writing
from evenrank.io.counts_folder import GROUPS, is_counts_folder, read_counts_folder
from evenrank.io.rows_by_need import RowsByNeed
from evenrank.io.source import parquet_file

FORMAT = 2  # 1 did not say how many documents a group has
_KEY = b"evenrank.groups"


class DerivedGroups(NamedTuple):
    """Documents and their shares, (N, G)."""

    ids: pa.LargeStringArray
    shares: Floats


class StoredGroups:
    """Derived groups where they lie: a file, or the parts of a folder; rows of them are read by need."""

    def __init__(
        self, path: Path, files: list[Path], groups: Sequence[str], target: Sequence[float], rows: int
    ) -> None:
        self.path, self.files, self.rows, self.name = path, files, rows, str(path)
        self.groups, self.target = tuple(groups), tuple(target)
        columns = [(ID, pa.large_string()), *((group, pa.float64()) for group in groups)]
        self._rows = RowsByNeed(files, pa.schema(columns), rows, sound_groups)

    def in_order(self, groups: Sequence[str]) -> StoredGroups:
        """The same with the groups, and so their targets and columns, in another order."""
        shares = dict(zip(self.groups, self.target, strict=True))
        return StoredGroups(self.path, self.files, groups, [shares[group] for group in groups], self.rows)

    @property
    def reading(self) -> dict[str, int]:
        """How much was read so far, and of how much."""
        return self._rows.reading

    def known(self, hashes: UInt64s | None) -> DerivedGroups:
        """The documents that were asked for so far, those with these hashes of their ids among them; for None
        all, those first that were asked for before."""
        return self._of_table(self._rows.known(hashes))

    def sizes(self) -> Floats:
        """(G,): how many documents each group has, as the files say; their order is that of the schema."""
        found: dict[str, float] = dict.fromkeys(self.groups, 0.0)
        for path in self.files:
            with sound_groups(path), counts_file(path) as file:
                about = json.loads(file.metadata.metadata[SOURCE])
                for group, size in zip(file.schema_arrow.names[1:], about["sizes"], strict=True):
                    found[group] += size
        return np.array([found[group] for group in self.groups])

    def fingerprint(self) -> str:
        """Of all bytes: of a folder by the digests of its commit, of a file by reading it."""
        if not self.path.is_dir():
            return hash_of_file(self.path)
        parts = read_counts_folder(self.path, GROUPS).parts
        return hashlib.sha256("\n".join(part.digest for part in parts).encode()).hexdigest()

    def _of_table(self, table: pa.Table) -> DerivedGroups:
        shares = np.empty((len(table), len(self.groups)))
        for code, group in enumerate(self.groups):
            shares[:, code] = values_of(table.column(group))
        ids, sums = as_strings(table.column(ID)), shares.sum(axis=1)
        wrong = np.flatnonzero((np.abs(sums - 1) > SHARE_TOLERANCE) | (shares < 0).any(axis=1))
        if len(wrong):
            document, found = ids[int(wrong[0])].as_py(), sums[wrong[0]]
            raise DataError(f"{self.path}: document {document!r}: its shares sum to {found:g}, not to 1")
        return DerivedGroups(ids, shares / sums[:, None])


def groups_schema(lexicon: Lexicon, tokenizer: str, minimum: int, source: str | None) -> pa.Schema:
    from evenrank import __version__

    about = {
        "format": FORMAT,
        "version": __version__,
        "lexicon": {"name": lexicon.name, "fingerprint": lexicon.fingerprint},
        "groups": lexicon.groups,
        "target": lexicon.targets,
        "tokenizer": tokenizer,
        "minimum": minimum,
        "source": source,
    }
    shares = (pa.field(group, pa.float64(), nullable=False) for group in lexicon.groups)
    ids = pa.field(ID, pa.large_string(), nullable=False)
    return pa.schema([ids, *shares], metadata={_KEY: json.dumps(about)})


def write_groups(file: BinaryIO, schema: pa.Schema, batches: Iterable[DerivedGroups]) -> int:
    """Write documents with their shares; how many there are. The file says how many each group has."""
    rows, sizes = 0, np.zeros(len(schema.names) - 1)
    with writing(CountsWriter(file, schema)) as writer:
        for ids, shares in batches:
            rows, sizes = rows + len(ids), sizes + shares.sum(axis=0)
            columns = [ids, *(pa.array(np.ascontiguousarray(column)) for column in shares.T)]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=schema))
        writer.close({"sizes": sizes.tolist()})
    return rows


def sound_groups(name: str | os.PathLike[str]) -> AbstractContextManager[None]:
    """In this block a file of derived groups is read, and whatever is wrong with it is one error."""
    return noticing_damage(
        name, "a sound Parquet file of groups", "derive them again (evenrank scan .. --field groups)"
    )


def stored_groups(path: str | os.PathLike[str]) -> StoredGroups | None:
    """Groups that were derived; None where a file or folder holds anything else."""
    place = Path(path)
    if place.is_dir():
        if not is_counts_folder(place):
            return None
        folder = read_counts_folder(place, GROUPS)
        files, rows = folder.files, folder.rows
    elif place.suffix.lower() in (".parquet", ".pq"):
        files, rows = [place], -1
    else:
        return None
    about = _about(files[0]) if files else None
    if about is None:
        if not place.is_dir():
            return None
        raise DataError(f"{place}: is no folder of groups: derive them again")
    if rows < 0:
        with sound_groups(place), counts_file(place) as file:
            rows = file.metadata.num_rows
    return StoredGroups(place, files, about["groups"], about["target"], rows)


def _about(path: Path) -> dict[str, Any] | None:
    """What a file says about itself; None if it was not derived."""
    try:
        with parquet_file(path) as raw:
            metadata = pa.parquet.read_schema(raw).metadata or {}
    except (pa.ArrowException, OSError, ValueError):  # whoever reads it as a table says what is wrong
        return None
    if _KEY not in metadata:
        return None
    with sound_groups(path):
        about: dict[str, Any] = json.loads(metadata[_KEY])
        if about["format"] != FORMAT:
            raise DataError(
                f"{path}: has format {about['format']} of derived groups, this version has {FORMAT}: derive "
                "them again"
            )
        return about


def derived_batches(path: Path) -> Iterator[DerivedGroups]:
    """The documents of a part with their shares, some at a time."""
    with sound_groups(path), counts_file(path) as file:
        for batch in file.iter_batches(ROW_GROUP):
            shares = np.stack([values_of(column) for column in batch.columns[1:]], axis=1)
            yield DerivedGroups(as_strings(batch.column(0)), shares)
