"""A collection in, its counterpart out: all cores, constant memory, and on from where it was killed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet

from evenrank.counterfactuals.swap.blocks import make_block_swapper
from evenrank.counterfactuals.swap.pairing import KINDS
from evenrank.counterfactuals.swap.pieces import SCHEMAS, swapped_documents
from evenrank.counterfactuals.swap.spread import SwapJob, swap_partition
from evenrank.counterfactuals.swap.summary import SwapCounts, SwapSummary
from evenrank.counterfactuals.swap.swapper import Swapper, make_swapper
from evenrank.counterfactuals.swap.tagger import chosen_tagger, model_name
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, DataErrors, ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.documents import Stream, pieces_in_order
from evenrank.io.atomic import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.collections import (
    CollectionFiles,
    Partition,
    Progress,
    collection_files,
    cut,
    finished_parts,
    is_in_files,
    map_documents,
    part_of,
    provenance_of,
)
from evenrank.io.compressed import is_packed
from evenrank.io.document_formats import format_of_documents
from evenrank.io.document_tables import SCHEMA
from evenrank.io.executor import Executor, ProcessExecutor, SerialExecutor, workers_of
from evenrank.io.part_folder import PartFolder
from evenrank.io.source import guess_format

_TAGGED_BLOCK = 1 << 20  # spaCy takes long: smaller pieces keep all cores busy
_WORTH = {"rules": 16, "spacy": 2}  # pieces for each further process: fewer are done before it has started


def swap_file(
    source: object,
    output: str | os.PathLike[str],
    lexicon: Lexicon | str | os.PathLike[str] | None = None,
    *,
    kinds: tuple[str, ...] = KINDS,
    seed: int = 0,
    tagger: str = "auto",
    mapping: Mapping[str, str] | str | None = None,
    one_way: bool = False,
    share: float = 1.0,
    from_group: str | None = None,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    block_bytes: int | None = None,
    on: object = None,
    partition_bytes: int | None = None,
) -> SwapSummary:
    """Swap a collection into a file: TSV, JSONL or Parquet, as the name of the output says.

    TSV to TSV and JSONL to JSONL keep everything but the words; other ways write id and text. ``threads``
    processes work on pieces of the collection. A swap that was killed goes on where it stopped, and its file
    is the same, byte for byte. ``on`` is a cluster that does the work instead, as ``scan`` takes it, with the
    same file as a result. The other arguments are those of ``make_swapper`` and ``read_documents``.
    """
    begin = time.monotonic()
    target, kind = target_of(output), _output_kind(output)
    for read in (source, lexicon):
        check_not_read(target, output, read)
    workers = workers_of(threads)
    options = {
        "lexicon": lexicon,
        "kinds": tuple(kinds),
        "seed": seed,
        "tagger": chosen_tagger(tagger),
        "mapping": dict(mapping) if isinstance(mapping, Mapping) else mapping,
        "one_way": one_way,
        "share": share,
        "from_group": from_group,
    }
    swapper = make_swapper(**options)  # type: ignore[arg-type]  # what is wrong with it is said here
    size = (_TAGGED_BLOCK if swapper.tagger == "spacy" else BLOCK) if block_bytes is None else block_bytes
    if size < 1:
        raise ParameterError(f"block_bytes must be at least 1, got {size}")
    by = model_name() if swapper.tagger == "spacy" else swapper.tagger
    summary = SwapSummary(tagger=by, exceptions=swapper.pairing.exceptions())
    if on is None and not is_in_files(source):
        _swap_stream(Stream(source, format, columns), swapper, target, kind, summary, progress)
    else:
        files = collection_files(source, format)
        lines = _are_lines(files, kind, columns)
        partition_bytes = size if partition_bytes is None else partition_bytes
        settings = {
            "source name": files.name,
            "pairs": [[*old, "->", *entry] for old, entry in swapper.pairing.entries.items()],
            "tagger": by,
            "output": kind,
            "parts": SCHEMAS[kind].names,
            "lines": lines,
            "format": format,
            "block": size,
            "partition": partition_bytes,
            "columns": dict(columns or {}),
        }
        parts = PartFolder(target, settings, resume=resume)
        job = SwapJob(
            str(parts.folder.resolve()), parts.key, options, kind, files.name, lines, files.many,
            None if columns is None else dict(columns), size,
        )  # fmt: skip
        total = sum(file.size for file in files.files)
        processes = min(workers, 1 + total // (size * _WORTH[swapper.tagger]))
        with parts.until_done(keep_sound=files.many), _executor(on, processes) as executor:
            partitions = cut(files, job, partition_bytes)
            _swap_files(executor, job, files, partitions, parts, target, summary, progress)
    summary.seconds = time.monotonic() - begin
    return summary


def _executor(on: object, processes: int) -> AbstractContextManager[Executor]:
    import evenrank

    if on is not None:
        return evenrank.open_executor(on, processes)
    return nullcontext(SerialExecutor() if processes == 1 else ProcessExecutor(processes))


def _are_lines(files: CollectionFiles, output: str, columns: Mapping[str, str] | None) -> bool:
    """Whether it is one file of lines that is written in its own format, so that all but words stays."""
    if files.many:
        return False
    (file,) = files.files
    kind = file.format or format_of_documents(file.address)
    same = kind == output and (output == "jsonl" or (output == "tsv" and columns is None))
    return same and file.size > 0 and not is_packed(Path(file.address))


def _swap_files(
    executor: Executor,
    job: SwapJob,
    files: CollectionFiles,
    partitions: list[Partition],
    parts: PartFolder,
    target: Path,
    summary: SwapSummary,
    progress: Progress | None,
) -> None:
    """Swap what is missing, join everything in a file beside the parts, and move it to its place."""
    finished = finished_parts(partitions, partial(part_of, job))
    stretches: list[dict[str, Any]] = []
    done = map_documents(executor, job, partial(swap_partition, job), partitions, finished, progress)
    with closing(done), growing_file(parts.growing) as file, _writing(file, job.output) as write:
        for part in done:
            with part.path.open("rb") as raw, pa.ipc.open_stream(raw) as batches:
                for batch in batches:
                    write(batch)
            counts = SwapCounts.of_record(part.record)
            if part.found:
                counts.bytes_read = 0
                summary.found += counts.pieces
            summary.add(counts)
            stretches += part.record["stretches"]
    if not summary.documents:
        raise DataError(f"{job.name}: no documents")
    summary.source = {"name": job.name, **provenance_of(files, stretches)}
    move_into_place(parts.growing, target)


def _swap_stream(
    stream: Stream,
    swapper: Swapper,
    target: Path,
    kind: str,
    summary: SwapSummary,
    progress: Progress | None,
) -> None:
    """What comes through a pipe or from memory is read once, by one process, and cannot be gone on with.

    Where one piece is wrong, the others are still read, for one error about all.
    """
    blocks, wrong = make_block_swapper(swapper), DataErrors()
    with closing(stream), PartFolder(target, {}, resume=False).until_done() as parts:
        with growing_file(parts.growing) as file, _writing(file, kind) as write:
            for fetch in pieces_in_order(stream.pieces()):
                try:
                    piece = swapped_documents(fetch, blocks, kind, stream.name)
                except DataError as error:
                    wrong.add(error)
                    if wrong.full:
                        break
                else:
                    write(piece.rows)
                    summary.add(piece.counts)
                    if progress is not None:
                        progress(summary.documents, None, "documents")
            wrong.check()
        if not summary.documents:
            raise DataError(f"{stream.name}: no documents")
        summary.source = {"name": stream.name}
        move_into_place(parts.growing, target)


@contextmanager
def _writing(file: BinaryIO, kind: str) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """What adds the rows of a piece to the output."""
    if kind != "parquet":
        yield lambda rows: file.write(rows.column("lines")[0].as_buffer())
        return
    with closing(pa.parquet.ParquetWriter(file, SCHEMA, compression="zstd")) as writer:
        yield writer.write_batch


def _output_kind(output: str | os.PathLike[str]) -> str:
    kind = guess_format(Path(output))
    if kind not in SCHEMAS or Path(output).suffix in (".gz", ".zst"):
        raise ParameterError(f"{output}: the output ends in {', '.join('.' + name for name in SCHEMAS)}")
    return kind
