"""Making the index of word counts: all rows again, in buckets and blocks by the hash of their id.

Two passes, each by parts that are kept when they are finished, so that a process that is killed goes on. The
first sorts stretches of the counts by hash; the second joins what each stretch has for a bucket. No more than
a stretch or a bucket for each thread is in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import UInt64s
from evenrank.errors import DamagedError, DataError
from evenrank.ids import as_strings, hash_strings
from evenrank.io.atomic import atomic_write
from evenrank.io.counts import CountsAbout, about_counts, counts_file, sound_counts
from evenrank.io.counts_blocks import PLACES, ROWS, TermLists, blocks_of
from evenrank.io.counts_folder import COMMIT, INDEX_FOLDER, read_counts_folder
from evenrank.io.damage import with_check
from evenrank.io.fingerprint import fingerprint
from evenrank.io.outputs import workers_of
from evenrank.io.part_folder import PartFolder, is_sealed, part_path, read_record, sealed, write_record

INDEX = "index.json"
FORMAT = 2  # 1 had no checksums of how many rows a block has, of places and of this description
KIND = "word counts by hash"
STRETCH = 1 << 20  # rows that are sorted at once: about 150 MB while they are
BUCKET = 1 << 20  # rows of a bucket, about
SORTED, JOINED = "documents sorted", "documents joined"  # what each pass counts

Progress = Callable[[int, int | None, str], None]


class IndexSummary(NamedTuple):
    rows: int
    buckets: int
    bytes: int
    seconds: float
    found: int  # parts that an earlier process had finished


class StoredCounts(NamedTuple):
    """Counts on disk: a folder or one file."""

    path: Path
    files: list[Path]
    about: CountsAbout
    rows: int

    @property
    def index_folder(self) -> Path:
        """Where the index is: in the folder, under a name that other tools pass over, or beside the file."""
        return (
            self.path / INDEX_FOLDER
            if self.path.is_dir()
            else self.path.with_name(self.path.name + ".by-hash")
        )

    @property
    def identity(self) -> str:
        """Tells these counts from others."""
        if self.path.is_dir():
            return hashlib.sha256((self.path / COMMIT).read_bytes()).hexdigest()
        return fingerprint(self.path)


def stored_counts(path: str | os.PathLike[str]) -> StoredCounts:
    """What is kept under a name; an unfinished folder is refused."""
    where = Path(path)
    if where.is_dir():
        folder = read_counts_folder(where)
        if not folder.parts:
            raise DamagedError(f"{where}: holds no word counts: scan again")
        about = about_counts(folder.files[0], str(where))
        own = {**about.provenance, **folder.source}
        return StoredCounts(
            where, folder.files, about._replace(provenance=own, rows=folder.rows), folder.rows
        )
    about = about_counts(where, str(where))
    return StoredCounts(where, [where], about, about.rows)


def index_counts(
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
) -> IndexSummary:
    """Write the index of a folder or a file of counts, beside them. It holds every row once more."""
    begin = time.monotonic()
    stored = stored_counts(path)
    bits = max(0, (stored.rows - 1) // BUCKET).bit_length()
    settings = {"counts": stored.identity, "rows": stored.rows, "bits": bits, "block": ROWS}
    parts = PartFolder(stored.index_folder, "index", settings, resume=resume)
    try:
        with parts.naming_the_output():
            work = _IndexWork(stored, parts, bits, progress)
            with ThreadPoolExecutor(workers_of(threads), thread_name_prefix="index") as pool:
                try:
                    buckets = work.run(pool)
                except BaseException:
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
            size = _move(stored, parts, buckets, bits)
        parts.remove()
    finally:
        parts.close()
    return IndexSummary(stored.rows, len(buckets), size, time.monotonic() - begin, work.found)


class _Stretch(NamedTuple):
    number: int
    file: Path
    groups: range


class _IndexWork:
    def __init__(self, stored: StoredCounts, parts: PartFolder, bits: int, progress: Progress | None) -> None:
        self._stored, self._parts, self._bits, self._progress = stored, parts, bits, progress
        self.found = 0
        self._done = self._stretches = 0

    def run(self, pool: ThreadPoolExecutor) -> list[int]:
        """The rows of every bucket."""
        stretches = list(_stretches(self._stored.files))
        self._stretches = len(stretches)
        for rows in pool.map(self._sort, stretches):
            self._account(rows, SORTED)
        self._done = 0
        spills = [self._path(one.number, "arrow") for one in stretches]
        counts = []
        for rows in pool.map(lambda number: self._join(number, spills), range(1 << self._bits)):
            counts.append(rows)
            self._account(rows, JOINED)
        if sum(counts) != self._stored.rows:
            raise DataError(
                f"{self._stored.path}: has {sum(counts):,} rows, not {self._stored.rows:,}: scan again"
            )
        return counts

    def _account(self, rows: int, what: str) -> None:
        self._done += rows
        if self._progress is not None:
            self._progress(self._done, self._stored.rows, what)

    def _path(self, number: int, kind: str) -> Path:
        return part_path(self._parts.folder, number, self._parts.key, kind)

    def _sort(self, stretch: _Stretch) -> int:
        """Write the rows of a stretch by hash, a batch for each bucket."""
        path = self._path(stretch.number, "arrow")
        if self._is_finished(stretch.number, path):
            with pa.memory_map(str(path)) as raw, pa.ipc.open_file(raw) as file:
                return sum(file.get_batch(number).num_rows for number in range(file.num_record_batches))
        names = self._stored.about.schema.names
        with sound_counts(stretch.file), counts_file(stretch.file) as file:
            table = file.read_row_groups(list(stretch.groups), use_threads=False).select(names)
        hashes = hash_strings(as_strings(table.column("id")))
        table, hashes = _by_hash(table, hashes)
        edges = np.searchsorted(hashes, _bucket_edges(self._bits))
        table = table.append_column("evenrank.hash", pa.array(hashes))
        with atomic_write(path) as out, pa.ipc.new_file(out, table.schema) as writer:
            for first, last in zip(edges, [*edges[1:], len(table)], strict=True):
                batches = table.slice(first, last - first).combine_chunks().to_batches()
                writer.write_batch(batches[0] if batches else _empty(table.schema))
        self._finish(stretch.number, path)
        return len(table)

    def _join(self, number: int, spills: Sequence[Path]) -> int:
        """Write the blocks of a bucket, and where each of them is."""
        blocks, places = self._path(number, "blocks"), self._path(number, "npy")
        if self._is_finished(self._stretches + number, blocks, places):
            return int(np.load(places, allow_pickle=False)["hash"][-1])
        batches = []
        for spill in spills:
            with pa.memory_map(str(spill)) as raw:
                batches.append(pa.ipc.open_file(raw).get_batch(number))
        table = pa.Table.from_batches(batches)
        table, hashes = _by_hash(table, table.column("evenrank.hash").to_numpy())
        found = []
        with atomic_write(blocks) as out:
            at = 0
            for first, block in self._blocks(table, hashes):
                out.write(block)
                found.append((first, at))
                at += len(block)
        # the last entry is no block: how many rows there are, and where the file ends
        with atomic_write(places) as out:
            np.save(out, np.array([*found, (len(table), at)], PLACES), allow_pickle=False)
        self._finish(self._stretches + number, blocks, places)
        return len(table)

    def _finish(self, number: int, *files: Path) -> None:
        """Keep a record of files that are whole, of stretches and then of buckets."""
        write_record(self._path(number, "json"), {"files": [sealed(file) for file in files]})

    def _is_finished(self, number: int, *files: Path) -> bool:
        """Whether an earlier process wrote these files, and nothing has happened to them since."""
        record = read_record(self._path(number, "json"))
        seals = [] if record is None else record.get("files", [])
        same = len(seals) == len(files) and all(
            is_sealed(file, seal, read=True) for file, seal in zip(files, seals, strict=True)
        )
        self.found += same
        return same

    def _blocks(self, table: pa.Table, hashes: UInt64s) -> Iterator[tuple[int, bytes]]:
        about = self._stored.about
        groups = np.empty((len(table), len(about.lexicon.groups)), np.int32)
        for code, group in enumerate(about.lexicon.groups):
            groups[:, code] = table.column(group).to_numpy()
        terms = None
        if about.has_terms:
            lists = [table.column(name).combine_chunks() for name in ("terms", "term_counts")]
            lists = [one.chunk(0) if isinstance(one, pa.ChunkedArray) else one for one in lists]
            sizes = lists[0].value_lengths().to_numpy(zero_copy_only=False)
            flat = [one.flatten().to_numpy(zero_copy_only=False).astype(np.int32) for one in lists]
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            terms = TermLists(offsets, np.ascontiguousarray(np.stack(flat, axis=1)))
        lengths = table.column("length").to_numpy()
        return blocks_of(hashes, as_strings(table.column("id")), lengths, groups, terms)


def _move(stored: StoredCounts, parts: PartFolder, rows: Sequence[int], bits: int) -> int:
    """Bring the finished buckets to their place; the index is whole when its description is there."""
    target = stored.index_folder
    target.mkdir(exist_ok=True)
    (target / INDEX).unlink(missing_ok=True)
    buckets: list[dict[str, Any]] = []
    for number, count in enumerate(rows):
        entry: dict[str, Any] = {"rows": count}
        for kind in ("blocks", "npy"):
            file = target / bucket_name(number, kind)
            part_path(parts.folder, number, parts.key, kind).replace(file)
            entry[kind] = file.stat().st_size
        entry["crc"] = zlib.crc32((target / bucket_name(number, "npy")).read_bytes())
        buckets.append(entry)
    about = {
        "format": FORMAT, "kind": KIND, "counts": stored.identity, "rows": stored.rows, "bits": bits,
        "groups": list(stored.about.lexicon.groups), "terms": stored.about.has_terms, "buckets": buckets,
    }  # fmt: skip
    with atomic_write(target / INDEX) as file_:
        file_.write((json.dumps(with_check(about), indent=1) + "\n").encode())
    return sum(int(entry["blocks"]) + int(entry["npy"]) for entry in buckets)


def bucket_name(number: int, kind: str) -> str:
    """
    >>> bucket_name(3, "blocks")
    'bucket-00003.blocks'
    """
    return f"bucket-{number:05d}.{kind}"


def _stretches(files: Sequence[Path]) -> Iterator[_Stretch]:
    number = 0
    for path in files:
        with sound_counts(path), counts_file(path) as file:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        first = held = 0
        for group, size in enumerate(sizes):
            held += size
            if held >= STRETCH or group == len(sizes) - 1:
                yield _Stretch(number, path, range(first, group + 1))
                number, first, held = number + 1, group + 1, 0


def _by_hash(table: pa.Table, hashes: UInt64s) -> tuple[pa.Table, UInt64s]:
    order = np.argsort(hashes, kind="stable")
    return table.take(pa.array(order)), hashes[order]


def _bucket_edges(bits: int) -> UInt64s:
    """The first hash of each bucket."""
    edges: npt.NDArray[np.uint64] = np.arange(1 << bits, dtype=np.uint64)
    return edges << np.uint64(64 - bits) if bits else edges


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)
