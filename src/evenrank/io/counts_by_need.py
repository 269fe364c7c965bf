"""Counts that are opened, not loaded: rows are read when somebody asks for their documents."""

from __future__ import annotations

import io
import json
import os
import warnings
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.arrays import UInt64s
from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.data.words_by_need import FoundRows, WordsByNeed
from evenrank.errors import EvenrankWarning
from evenrank.io.counts import read_counts
from evenrank.io.counts_blocks import AGAIN, ReadBlocks
from evenrank.io.counts_folder import read_counts_folder
from evenrank.io.counts_index import FORMAT, INDEX, KIND, StoredCounts, bucket_name, stored_counts
from evenrank.io.counts_stream import StreamedCounts
from evenrank.io.damage import check_of, noticing_damage
from evenrank.io.source import as_source

LOADED = 1 << 20  # rows: a file of so many takes less than a tenth of a second, and all of it is at hand

_NEAR = 1 << 12  # bytes between two blocks that are read with them: cheaper than another call of the system
_AT_ONCE = 1 << 24  # bytes of blocks in memory at a time


def open_counts(
    path: str | os.PathLike[str],
    lexicon: Lexicon | None = None,
    tokenizer: str | None = None,
    source: str | os.PathLike[str] | None = None,
) -> WordCounts:
    """Word counts from a file or a folder that ``scan`` wrote: small files are loaded, others read by need.

    With a ``lexicon``, a ``tokenizer`` or a ``source``, counts that were made with another are refused.
    """
    file = as_source(path)
    if not Path(path).is_dir() and file is not None:
        file.check()
    stored = stored_counts(path)
    if not stored.path.is_dir() and stored.rows <= LOADED and not stored.index_folder.is_dir():
        return read_counts(path, lexicon, tokenizer, source)
    stored.about.check(lexicon, tokenizer, source)
    folder = read_counts_folder(stored.path) if stored.path.is_dir() else None
    arguments = (str(stored.path), stored.files, stored.about, folder)
    index = _index(stored)
    store = (
        StreamedCounts(*arguments) if index is None else IndexedCounts(stored.index_folder, index, *arguments)
    )
    return WordsByNeed(store)


def _index(stored: StoredCounts) -> dict[str, Any] | None:
    """The description of the index, where there is one of these very counts."""
    try:
        about: dict[str, Any] = json.loads((stored.index_folder / INDEX).read_bytes())
        if about["kind"] == KIND and about["format"] != FORMAT:
            raise ValueError(f"it has format {about['format']}, and this version has {FORMAT}")
        if about["check"] != check_of(about):
            raise ValueError(f"{INDEX} is damaged")
        if about["kind"] != KIND or about["counts"] != stored.identity:
            raise ValueError("it is of other counts")
        for number, bucket in enumerate(about["buckets"]):
            for kind in ("blocks", "npy"):
                file = stored.index_folder / bucket_name(number, kind)
                if file.stat().st_size != bucket[kind]:
                    raise ValueError(f"{file.name} has another size")
    except FileNotFoundError as error:
        if error.filename is None or Path(error.filename).name == INDEX:
            return None
        reason = f"{Path(error.filename).name} is not there"
    except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
        reason = str(error)
    else:
        return about
    warnings.warn(
        f"{stored.index_folder}: the index is not used ({reason}), and all rows are read instead: make it "
        f"again with evenrank scan {stored.path}",
        EvenrankWarning,
        stacklevel=3,
    )
    return None


class IndexedCounts(StreamedCounts):
    """Counts with an index by hash: of each bucket only the blocks are read that hold a wanted document."""

    def __init__(self, folder: Path, index: dict[str, Any], *arguments: Any) -> None:
        super().__init__(*arguments)
        self._index_folder = folder
        self._bits = int(index["bits"])
        self._buckets = index["buckets"]
        self._places: dict[int, npt.NDArray[np.void]] = {}
        self.bytes = sum(int(bucket["blocks"]) for bucket in self._buckets)

    def find(self, hashes: UInt64s) -> FoundRows:
        self._unchanged.check()  # before as well: places in an old index are none in a new one
        tables = [self._about.schema.empty_table()]
        rows_read = bytes_read = 0
        shift = np.uint64(64 - self._bits)
        owners = (hashes >> shift if self._bits else np.zeros(len(hashes), np.uint64)).astype(np.int64)
        edges = np.searchsorted(owners, np.arange((1 << self._bits) + 1)).tolist()
        for bucket, (first, last) in enumerate(pairwise(edges)):
            if first == last:
                continue
            wanted = hashes[first:last]
            for blocks, size in self._blocks(bucket, wanted):
                tables.append(blocks.table(wanted, self._about.schema))
                rows_read += blocks.rows
                bytes_read += size
        self._unchanged.check()
        return FoundRows(self._counts(pa.concat_tables(tables)), rows_read, bytes_read)

    def _blocks(self, bucket: int, wanted: UInt64s) -> Iterator[tuple[ReadBlocks, int]]:
        """The blocks of a bucket that can hold these hashes, some at a time, and how many bytes were read."""
        places = self._load_places(bucket)
        firsts, offsets = places["hash"][:-1], places["offset"].astype(np.int64)
        if not len(firsts):
            return
        own = np.searchsorted(firsts, wanted, side="right") - 1
        # rows of one hash may begin in the block before
        begin = np.searchsorted(firsts, wanted, side="left") - 1
        between = [np.arange(begin[at], own[at]) for at in np.flatnonzero(own - begin > 1).tolist()]
        reached = np.unique(np.concatenate([own, begin, *between]))
        reached = reached[reached >= 0]
        name = str(self._index_folder / bucket_name(bucket, "blocks"))
        groups = len(self.lexicon.groups)
        with noticing_damage(name, "a sound file of the index", AGAIN), Path(name).open("rb") as file:
            held, size = ReadBlocks(name, groups, self.has_terms), 0
            stretches = list(_stretches(offsets[reached], offsets[reached + 1]))
            _announce(file.fileno(), stretches)
            for begins, ends in stretches:
                view = memoryview(os.pread(file.fileno(), ends[-1] - begins[0], begins[0]))
                size += len(view)
                for start, end in zip(begins, ends, strict=True):
                    held.add(view[start - begins[0] : end - begins[0]])
                if size >= _AT_ONCE:
                    yield held, size
                    held, size = ReadBlocks(name, groups, self.has_terms), 0
            yield held, size

    def _load_places(self, bucket: int) -> npt.NDArray[np.void]:
        if bucket not in self._places:
            path = self._index_folder / bucket_name(bucket, "npy")
            with noticing_damage(path, "a sound file of the index", AGAIN):
                content = path.read_bytes()
                if zlib.crc32(content) != self._buckets[bucket]["crc"]:
                    raise ValueError("it is damaged")
                found = np.load(io.BytesIO(content), allow_pickle=False)
            self._places[bucket] = found
        return self._places[bucket]


def _announce(descriptor: int, stretches: list[tuple[list[int], list[int]]]) -> None:
    """Let the system fetch from the disk what will be read: all of it at once, not one after another."""
    if hasattr(os, "posix_fadvise"):
        for begins, ends in stretches:
            os.posix_fadvise(descriptor, begins[0], ends[-1] - begins[0], os.POSIX_FADV_WILLNEED)


def _stretches(
    begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> Iterator[tuple[list[int], list[int]]]:
    """Where blocks begin and end that are read at once: those with little between them, and not too many."""
    if not len(begins):
        return
    sizes = np.cumsum(ends - begins)
    cuts = np.flatnonzero((begins[1:] - ends[:-1] > _NEAR) | (np.diff(sizes // _AT_ONCE) > 0)) + 1
    edges = [0, *cuts.tolist(), len(begins)]
    starts, stops = begins.tolist(), ends.tolist()
    for first, last in pairwise(edges):
        yield starts[first:last], stops[first:last]
