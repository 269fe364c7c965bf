"""Groups that were derived from the words of documents, as Parquet that knows how it was made.

Columns: ``id``, and one for each group, called like the group, with the share of the document that belongs to
it. The metadata under ``evenrank.groups`` is JSON: the groups, their target, the lexicon and the minimum of
words. Where there are many documents, a folder holds one such file for each partition, with a commit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import Floats, numbers, values_of
from evenrank.data.attribute import SHARE_TOLERANCE
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.ids import as_strings
from evenrank.io.counts import ID, CountsWriter, counts_file, metadata_of, writing
from evenrank.io.counts_folder import GROUPS, is_counts_folder, read_counts_folder

FORMAT = 2
_KEY = b"evenrank.groups"


class DerivedGroups(NamedTuple):
    """Documents and their shares, (N, G)."""

    ids: pa.LargeStringArray
    shares: Floats


class StoredGroups(NamedTuple):
    """Derived groups as they lie in a file or a folder."""

    groups: tuple[str, ...]
    target: tuple[float, ...]
    documents: DerivedGroups


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
    """Write documents with their shares; how many there are."""
    rows = 0
    with writing(CountsWriter(file, schema)) as writer:
        for ids, shares in batches:
            rows += len(ids)
            columns = [ids, *(numbers(column) for column in shares.T)]
            writer.write(pa.RecordBatch.from_arrays(columns, schema=schema))
        writer.close()
    return rows


def stored_groups(path: str | os.PathLike[str]) -> StoredGroups | None:
    """Groups that were derived; None where a file or folder holds anything else."""
    place = Path(path)
    if place.is_dir():
        if not is_counts_folder(place):
            return None
        files = read_counts_folder(place, GROUPS).files
    elif place.suffix.lower() in (".parquet", ".pq"):
        files = [place]
    else:
        return None
    about = metadata_of(files[0], _KEY) if files else None
    if about is None:
        if not place.is_dir():
            return None
        raise DataError(f"{place}: is no folder of groups: derive them again")
    if about["format"] != FORMAT:
        raise DataError(
            f"{place}: has format {about['format']} of derived groups, this version has {FORMAT}: derive "
            "them again"
        )
    tables = []
    for part in files:
        with _groups_file(part) as file:
            tables.append(file.read())
    documents = _documents(pa.concat_tables(tables))
    sums = documents.shares.sum(axis=1)
    wrong = np.flatnonzero((np.abs(sums - 1) > SHARE_TOLERANCE) | (documents.shares < 0).any(axis=1))
    if len(wrong):
        document, found = documents.ids[int(wrong[0])].as_py(), sums[wrong[0]]
        raise DataError(f"{place}: document {document!r}: its shares sum to {found:g}, not to 1")
    documents = documents._replace(shares=documents.shares / sums[:, None])
    return StoredGroups(tuple(about["groups"]), tuple(about["target"]), documents)


def _groups_file(path: Path) -> AbstractContextManager[pa.parquet.ParquetFile]:
    return counts_file(path, "groups", "derive them again (evenrank scan .. --field groups)")


def _documents(table: pa.Table) -> DerivedGroups:
    ids, *columns = table.columns
    return DerivedGroups(as_strings(ids), np.stack([values_of(column) for column in columns], axis=1))
