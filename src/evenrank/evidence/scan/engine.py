"""From documents to word counts: files part by part, and what can only be read once as one stream."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import ParameterError
from evenrank.evidence.scan.unique_ids import Ascent, check_ids
from evenrank.evidence.scan.work import ARROW, PARQUET, ScanSummary, ScanWork, counter_of
from evenrank.ids import as_strings
from evenrank.io.atomic import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.collections import (
    Collection,
    FinishedPart,
    Progress,
    batches_of,
    collection_of,
    is_in_files,
    map_documents,
    planned,
    provenance_of,
    write_stream,
)
from evenrank.io.content_hash import PIECE
from evenrank.io.counts import CountsWriter, counts_schema, ids_of_counts, read_counts, writing
from evenrank.io.counts_folder import folder_target, write_parts
from evenrank.io.documents import NoDocumentsError, open_documents
from evenrank.io.executor import Executor, ThreadExecutor, workers_of
from evenrank.io.lexicons import read_lexicon
from evenrank.io.part_folder import PartFolder
from evenrank.io.source import is_packed

_JOINED = 1 << 25  # bytes of a part that is joined with others: all cores have their share
_UNPACKED = 4  # times the size of a compressed file


def scan(
    source: object,
    lexicon: Lexicon | str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    tokenizer: str = "word",
    terms: bool = False,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    on: object = None,
) -> WordCounts:
    """Count the words of a lexicon in every document of a collection.

    ``source`` is what ``read_documents`` takes: a TSV, JSONL, Parquet or CSV file, ``-``, a table, pairs
    of id and text. ``lexicon`` may be anything that ``read_lexicon`` takes: the name of a shipped one, a
    file. ``terms`` keeps the count of every term; a lexicon with weights always does. With an ``output``
    the counts go to a Parquet file in constant memory; a scan that was interrupted goes on where it stopped,
    and its file is the same, byte for byte. ``threads`` is one a core unless said otherwise. An output whose
    name ends in ``/``, or that is a folder, gets one Parquet file for each partition of the collection.
    ``on`` is a cluster that does the work, with the same result: a client of Dask, a session of Spark,
    ``"dask"``, ``"dask://HOST:PORT"`` or ``"spark"``; it needs an output that all workers can write to.

    >>> kin = Lexicon.build("kin", {"f": ["mother"], "m": ["father"]})
    >>> counts = scan([("d1", "My mother's mother"), ("d2", "nobody")], kin)
    >>> counts.counts.tolist(), counts.lengths.tolist()
    ([[2, 0], [0, 0]], [4, 1])
    """
    if output is None:
        if on is not None:
            raise ParameterError("on= needs output=, a file or folder that all workers can write to")
        with tempfile.TemporaryDirectory(prefix="evenrank-scan-") as folder:
            return scan(
                source, lexicon, Path(folder) / "counts.parquet", tokenizer=tokenizer, terms=terms,
                threads=threads, progress=progress, format=format, columns=columns,
            )  # fmt: skip
    scan_file(
        source, lexicon, output, tokenizer=tokenizer, terms=terms, threads=threads, resume=resume,
        progress=progress, format=format, columns=columns, on=on,
    )  # fmt: skip
    return read_counts(output)


def scan_file(
    source: object,
    lexicon: Lexicon | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    tokenizer: str = "word",
    terms: bool = False,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    block_bytes: int = PIECE,
    on: object = None,
    partition_bytes: int | None = None,
) -> ScanSummary:
    """``scan`` into a file or a folder, without reading it back: constant memory whatever the size.

    The file, and the parts of a folder, are the same whatever does the work, byte for byte.
    """
    import evenrank

    begin = time.monotonic()
    folder = folder_target(output)
    target = target_of(output) if folder is None else folder
    for read in (source, lexicon):
        check_not_read(target, output, read)
    words = lexicon if isinstance(lexicon, Lexicon) else read_lexicon(lexicon)
    about: dict[str, Any] = {"terms": terms, "columns": columns, "block_bytes": block_bytes}
    about["size"] = size_of(source) if on is None else None
    if on is None and folder is None and not is_in_files(source):
        name, documents = open_documents(source, format, columns)
        work = scan_work(words, name, tokenizer, kind=PARQUET, **about)
        summary = _scan_stream(name, documents, work, target, workers_of(threads), progress)
    else:
        collection = collection_of(source, format)
        kind = ARROW if folder is None else PARQUET
        work = scan_work(words, collection.name, tokenizer, kind=kind, **about)
        with evenrank.open_executor(on, threads) as executor:
            summary = _scan_files(executor, collection, work, target, resume, progress, partition_bytes)
    summary.seconds = time.monotonic() - begin
    logging.getLogger(__name__).info(
        "%s: %d pieces, %d found finished, %d bytes read",
        output, summary.pieces, summary.found, summary.bytes_read,
    )  # fmt: skip
    return summary


def scan_work(
    lexicon: Lexicon,
    name: str,
    tokenizer: str,
    *,
    kind: str = ARROW,
    terms: bool = False,
    columns: Mapping[str, str] | None = None,
    block_bytes: int = PIECE,
    size: int | None = None,
) -> ScanWork:
    """What workers do with the collection of that name. What is wrong with the options is said here."""
    if block_bytes < 1:
        raise ParameterError(f"block_bytes must be at least 1, got {block_bytes}")
    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    counter_of(lexicon, tokenizer, terms, size)
    schema = counts_schema(lexicon, tokenizer, terms=terms, source={"name": name})
    own = None if columns is None else dict(columns)  # any mapping, sent to workers
    return ScanWork(kind, lexicon, tokenizer, terms, schema, own, block_bytes, size)


def size_of(source: object) -> int | None:
    """About how many bytes of text there are, where that can be told before they are read."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return path.stat().st_size * (_UNPACKED if is_packed(path) else 1) if path.is_file() else None
    if isinstance(source, (list, tuple)):
        pairs = (row for row in source if isinstance(row, (list, tuple)) and len(row) > 1)
        return sum(len(text) for _, text, *_ in pairs if isinstance(text, str))
    return None


def _scan_stream(
    name: str,
    documents: Iterator[Any],
    work: ScanWork,
    target: Path,
    threads: int,
    progress: Progress | None,
) -> ScanSummary:
    """What comes through a pipe or from memory is read once, and cannot be gone on with."""
    with PartFolder(target, {}, resume=False).until_done() as parts:
        with growing_file(parts.growing) as file:
            record = write_stream(work, documents, file, threads, progress)
        found = [FinishedPart(parts.growing, record, found=False)]
        summary = checked_summary(found, Collection(name, (), many=False))
        move_into_place(parts.growing, target)
    return summary


@contextmanager
def counted_parts(
    executor: Executor,
    collection: Collection,
    work: ScanWork,
    target: Path,
    *,
    resume: bool,
    progress: Progress | None,
    part_bytes: int | None,
) -> Iterator[tuple[PartFolder, Iterator[FinishedPart]]]:
    """The counts of a collection, part by part, as soon as they are there; they go when the block ends."""
    settings = {
        "lexicon": work.lexicon.fingerprint,
        "tokenizer": work.tokenizer,
        "terms": work.terms,
        "columns": work.columns or {},
        "block": work.block_bytes,
        "unicode": unicodedata.unidata_version,
        "file": work.schema.metadata[b"evenrank.counts"].decode(),
    }
    folder = PartFolder(target, settings, resume=resume)
    joined = work.kind == ARROW
    # parts of other files than those that must be mended
    keep_sound = collection.many and not (joined and isinstance(executor, ThreadExecutor))
    with folder.until_done(keep_sound=keep_sound):
        parts = planned(collection, work, folder, work.kind, part_bytes or (_JOINED if joined else None))
        with closing(map_documents(executor, work, parts, progress)) as done:
            yield folder, done


def _scan_files(
    executor: Executor,
    collection: Collection,
    work: ScanWork,
    target: Path,
    resume: bool,
    progress: Progress | None,
    part_bytes: int | None,
) -> ScanSummary:
    with counted_parts(
        executor, collection, work, target, resume=resume, progress=progress, part_bytes=part_bytes
    ) as (folder, done):
        if work.kind == PARQUET:
            found = list(done)
            summary = checked_summary(found, collection)
            listed = [(part.path, part.record["documents"]) for part in found]
            write_parts(target, listed, {"name": collection.name, **provenance_of(collection, found)})
            return summary
        with growing_file(folder.growing) as file, writing(CountsWriter(file, work.schema)) as writer:
            found, ascent = [], Ascent()
            for part in done:
                for batch in batches_of(part.path):
                    writer.write(batch)
                    ascent.add(batch.column(0))
                found.append(part)
            summary = checked_summary(found, collection, ascent)
            writer.close(provenance_of(collection, found))
        move_into_place(folder.growing, target)
        return summary


def checked_summary(
    found: Sequence[FinishedPart], collection: Collection, ascent: Ascent | None = None
) -> ScanSummary:
    """What is in all parts; without a document, and with one that is there twice, that is an error."""
    summary = ScanSummary()
    for part in found:
        summary.add(part.record, part.found)
    if not summary.documents:
        raise NoDocumentsError(f"{collection.name}: no documents")

    def ids() -> Iterator[pa.LargeStringArray]:
        for path, *_ in found:
            if path.suffix == ".arrow":
                yield from (as_strings(batch.column(0)) for batch in batches_of(path))
            else:
                yield from ids_of_counts([path])

    def file_of(row: int) -> str:
        stretches = [stretch for part in found for stretch in part.record["stretches"]]
        ends = list(accumulate(stretch["documents"] for stretch in stretches))
        return str(stretches[bisect_right(ends, row)]["file"])

    if ascent is None:
        ascent = Ascent()
        for some in ids():
            ascent.add(some)
    if not ascent.holds:
        check_ids(ids, summary.documents, collection.name, file_of if collection.many else None)
    return summary
