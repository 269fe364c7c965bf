"""From documents to word counts: files by partitions, and what can only be read once as one stream."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from evenrank.data.lexicon import Lexicon
from evenrank.data.words import WordCounts
from evenrank.errors import DataError, DataErrors, ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.counter import Counter, make_counter
from evenrank.evidence.scan.documents import Fetch, Stream, pieces_in_order
from evenrank.evidence.scan.part import counted_batch
from evenrank.evidence.scan.sources import size_of
from evenrank.evidence.scan.spread import scan_on
from evenrank.evidence.scan.summary import ScanSummary
from evenrank.evidence.scan.unique_ids import Ascent, check_ids
from evenrank.io.atomic import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.collections import Progress, is_in_files
from evenrank.io.counts import CountsWriter, counts_schema, ids_of_counts, read_counts, writing
from evenrank.io.counts_folder import folder_target
from evenrank.io.executor import ahead, workers_of
from evenrank.io.part_folder import PartFolder


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
    if output is not None:
        scan_file(
            source, lexicon, output, tokenizer=tokenizer, terms=terms, threads=threads, resume=resume,
            progress=progress, format=format, columns=columns, on=on,
        )  # fmt: skip
        return read_counts(output)
    if on is not None:
        raise ParameterError("on= needs output=, a file or folder that all workers can write to")
    with tempfile.TemporaryDirectory(prefix="evenrank-scan-") as folder:
        counts = Path(folder) / "counts.parquet"
        scan_file(
            source, lexicon, counts, tokenizer=tokenizer, terms=terms, threads=threads, progress=progress,
            format=format, columns=columns,
        )  # fmt: skip
        return read_counts(counts)


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
    block_bytes: int = BLOCK,
    on: object = None,
    partition_bytes: int | None = None,
) -> ScanSummary:
    """``scan`` into a file or a folder, without reading it back: constant memory whatever the size."""
    folder = folder_target(output)
    for read in (source, lexicon):
        check_not_read(target_of(output) if folder is None else folder, output, read)
    lexicon = _lexicon(lexicon)
    terms = terms or lexicon.weights is not None  # they are weighed when the counts are read
    if on is None and folder is None and not is_in_files(source):
        return _scan_stream(
            source, lexicon, output, tokenizer, terms, workers_of(threads), progress, format, columns
        )
    import evenrank

    with evenrank.open_executor(on, threads) as executor:
        return scan_on(
            executor, source, lexicon, output, tokenizer=tokenizer, terms=terms, resume=resume,
            progress=progress, format=format, columns=columns, block_bytes=block_bytes,
            partition_bytes=partition_bytes,
        )  # fmt: skip


def _scan_stream(
    source: object,
    lexicon: Lexicon,
    output: str | os.PathLike[str],
    tokenizer: str,
    terms: bool,
    threads: int,
    progress: Progress | None,
    format: str | None,
    columns: Mapping[str, str] | None,
) -> ScanSummary:
    """What comes through a pipe or from memory is read once, and cannot be gone on with."""
    begin = time.monotonic()
    target = target_of(output)
    counter = make_counter(lexicon, tokenizer, terms=terms, size=size_of(source))
    summary = ScanSummary(groups=dict.fromkeys(lexicon.groups, 0))
    ascent = Ascent()
    with (
        closing(Stream(source, format, columns)) as stream,
        PartFolder(target, {}, resume=False).until_done() as parts,
    ):
        with growing_file(parts.growing) as file:
            schema = counts_schema(lexicon, tokenizer, terms=terms, source={"name": stream.name})
            with writing(CountsWriter(file, schema)) as writer:
                for batch, bytes_read in _counted(stream, counter, schema, threads):
                    writer.write(batch)
                    ascent.add(batch.column(0))
                    summary.add(batch, bytes_read)
                    if progress is not None:
                        progress(summary.documents, None, "documents")
                writer.close()
        if not summary.documents:
            raise DataError(f"{stream.name}: no documents")
        check_ids(lambda: ids_of_counts([parts.growing]), [ascent.ends], summary.documents, stream.name)
        move_into_place(parts.growing, target)
    summary.seconds = time.monotonic() - begin
    return summary


def _counted(
    stream: Stream, counter: Counter, schema: pa.Schema, threads: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The counts of each piece. Where one is wrong, the others are still read, for one error about all."""

    def count(fetch: Fetch) -> tuple[pa.RecordBatch, int]:
        documents = fetch()
        return counted_batch(documents, counter, schema), documents.bytes_read

    wrong = DataErrors()
    with closing(ahead(count, pieces_in_order(stream.pieces()), threads)) as calls:
        for call in calls:
            try:
                found = call()
            except DataError as error:
                wrong.add(error)
                if wrong.full:
                    break
            else:
                if not wrong:
                    yield found
    wrong.check()


def _lexicon(lexicon: object) -> Lexicon:
    if isinstance(lexicon, Lexicon):
        return lexicon
    from evenrank.io.lexicons import read_lexicon

    return read_lexicon(lexicon)
