"""Whether counts were made of the collection that lies here now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.errors import DataError, ParameterError
from evenrank.io.content_hash import PIECE, hash_of_columns, hash_of_file
from evenrank.io.remote import is_remote
from evenrank.io.shards import is_many, list_shards
from evenrank.io.source import as_source


def check_source(kept: Mapping[str, Any], name: str, source: str | os.PathLike[str]) -> None:
    """Raise if the source that counts keep the hash of is not this one; ``name`` is that of the counts."""
    many = is_many(source)
    wanted = as_source(source)
    if wanted is None or (wanted.path is None and not many):
        raise ParameterError(f"source= is the file or folder of the collection, got {source!r}")
    if not many:
        wanted.check()
    own = kept.get("name")
    if "fingerprint" in kept:
        raise DataError(
            f"{name}: was counted by an earlier version, which kept no hash of all of {own!r}: scan again"
        )
    if "hash" not in kept:
        raise DataError(
            f"{name}: was not counted in a file ({own}), so it cannot be checked whether this is "
            f"{wanted.name}"
        )
    files = kept.get("files")
    if files is not None:
        shards = [shard.address for shard in list_shards(source)]
        same = len(files) == len(shards) and all(map(_is_file, files, shards))
    else:
        same = not many and wanted.path is not None and _is_file(kept, str(wanted.path))
    if not same:
        raise DataError(
            f"{name}: was counted in another source, {own!r}, or in one that has changed since; "
            f"it is not {wanted.name}: scan again"
        )


def _is_file(kept: Mapping[str, Any], address: str) -> bool:
    """Whether a file has the hash that was kept of it."""
    if is_remote(address):
        raise DataError(
            f"{address}: a file in a store cannot be checked without reading all of it: copy it here first"
        )
    path = Path(address)
    try:
        if "columns" in kept:
            return bool(hash_of_columns(path, list(kept["columns"])) == kept["hash"])
        if path.stat().st_size != kept["bytes"]:
            return False
        return bool(hash_of_file(path, kept.get("block", PIECE)) == kept.get("hash"))
    except pa.ArrowException:  # no Parquet file
        return False
