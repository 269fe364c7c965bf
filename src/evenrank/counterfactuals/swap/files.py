"""A collection in, its counterpart out: all cores, constant memory, and on from where it was killed."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from evenrank.counterfactuals.swap.frames import FRAME, frame_of, piece_of
from evenrank.counterfactuals.swap.pairing import KINDS
from evenrank.counterfactuals.swap.pieces import OUTPUTS, Piece
from evenrank.counterfactuals.swap.summary import SwapSummary
from evenrank.counterfactuals.swap.swapper import Swapper, make_swapper
from evenrank.counterfactuals.swap.tagger import chosen_tagger, model_name
from evenrank.counterfactuals.swap.workers import Job, WorkerPool, open_lines
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, DataErrors, ParameterError
from evenrank.evidence.scan.blocks import BLOCK
from evenrank.evidence.scan.counter import UnsoundText
from evenrank.evidence.scan.documents import Collection, DocumentBatch, Fetch, pieces_in_order
from evenrank.evidence.scan.sources import open_collection
from evenrank.io.compressed import is_packed
from evenrank.io.content_hash import digest_of_block, joined_digests
from evenrank.io.document_formats import format_of_documents
from evenrank.io.document_tables import SCHEMA
from evenrank.io.fingerprint import fingerprint
from evenrank.io.outputs import (
    check_not_read,
    growing_file,
    move_into_place,
    target_of,
    workers_of,
)
from evenrank.io.resumable import Resumable, Stamp, check_unchanged
from evenrank.io.source import as_source, guess_format

Progress = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much (None: unknown), and of what: bytes or documents."""

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
    work = SwapWork.of(source, kind, swapper, options, format, columns, size)
    with closing(work):
        if on is not None:
            summary = _spread(
                on, work, source, target, kind, threads, resume, progress, format, partition_bytes
            )
            summary.seconds = time.monotonic() - begin
            return summary
        parts = Resumable(
            target, "swap", work.settings(kind), resume=resume and work.fingerprint is not None,
            stamp=work.stamp, recheck=work.recheck,
        )  # fmt: skip
        with parts.until_done():
            summary = _write(work, parts, target, kind, workers, progress)
    summary.exceptions = swapper.pairing.exceptions()
    summary.seconds = time.monotonic() - begin
    return summary


class SwapWork(NamedTuple):
    """A collection and how its pieces are swapped."""

    job: Job
    swapper: Swapper
    collection: Collection | None  # None: the workers read the lines themselves
    pieces: int | None
    fingerprint: str | None
    total: int | None
    stamp: Stamp | None

    @classmethod
    def of(
        cls,
        source: object,
        output: str,
        swapper: Swapper,
        options: Mapping[str, Any],
        format: str | None,
        columns: Mapping[str, str] | None,
        block_bytes: int,
    ) -> SwapWork:
        file = as_source(source)
        if file is not None and file.path is not None and file.path.is_file():
            file.check()
            kind = format or format_of_documents(file.path)
            same = kind == output and (output == "jsonl" or (output == "tsv" and columns is None))
            if same and file.path.stat().st_size and not is_packed(file.path):
                stamp = Stamp.of(file.path)
                job = Job(options, output, file.name, file.path, block_bytes, columns)
                with closing(open_lines(job)) as lines:
                    return cls(job, swapper, None, len(lines), fingerprint(file.path), lines.total, stamp)
        collection = open_collection(source, format=format, columns=columns, block_bytes=block_bytes)
        job = Job(options, output, collection.name, None, block_bytes, columns)
        return cls(job, swapper, collection, None, collection.fingerprint, collection.total, collection.stamp)

    def close(self) -> None:
        if self.collection is not None:
            self.collection.close()

    @property
    def path(self) -> Path | None:
        return self.job.path if self.collection is None else self.collection.path

    def recheck(self, index: int) -> bytes:
        """The digest of a piece, read anew."""
        if self.collection is None and self.job.path is not None:
            return digest_of_block(self.job.path, index, self.job.block_bytes)
        again = None if self.collection is None else self.collection.recheck
        return b"" if again is None else again(index)

    def provenance(self, digests: list[bytes]) -> dict[str, Any]:
        if self.collection is not None:
            return self.collection.provenance(digests)
        return {"hash": joined_digests(digests), "block": self.job.block_bytes, "bytes": self.total}

    def settings(self, output: str) -> dict[str, Any]:
        """What must be the same for a swap to go on."""
        entries = [[*old, "->", *entry] for old, entry in self.swapper.pairing.entries.items()]
        tagger = self.swapper.tagger
        return {
            "source": self.fingerprint,
            "source name": self.job.name,
            "pairs": json.loads(json.dumps(entries)),
            "tagger": model_name() if tagger == "spacy" else tagger,
            "output": output,
            "pieces": "lines" if self.collection is None else self.collection.kind,
            "block": self.job.block_bytes,
            "columns": dict(self.job.columns or {}),
        }

    def swapped(
        self, parts: Resumable, threads: int, pass_over: Callable[[int, int], None]
    ) -> Iterator[tuple[int, Piece]]:
        """All pieces in their order; those that are finished are fetched from where they are kept.

        ``pass_over`` is called for those that are read and not given out, since others were wrong.
        """
        waiting: deque[tuple[int, Any, DocumentBatch | None]] = deque()
        worth = _WORTH[self.swapper.tagger]
        if self.pieces is None:  # it is not known how many will come
            processes, patience = threads, worth
        else:
            processes, patience = min(threads, 1 + (self.pieces - 1) // worth), 0
        wrong = DataErrors()
        fetches = self._fetches(parts)
        with WorkerPool(self.job, processes, patience) as pool:
            while not wrong.full:
                # a few pieces ahead keep every process busy, and no more than that stay in memory
                for index, fetch in islice(fetches, threads + 2 - len(waiting)):
                    waiting.append((index, *self._submitted(pool, index, fetch, parts)))
                if not waiting:
                    break
                index = waiting[0][0]
                try:
                    piece = self._next(waiting, parts)
                except DataError as error:  # others are still read, for one error about all
                    wrong.add(error)
                    pass_over(index, 0)
                    continue
                if wrong:
                    pass_over(index, piece[1].documents)
                else:
                    yield piece
        wrong.check()

    def _submitted(
        self, pool: WorkerPool, index: int, fetch: Fetch | None, parts: Resumable
    ) -> tuple[Any, DocumentBatch | None]:
        """What a process will give for a piece (None if it is finished), and the documents it was sent."""
        if fetch is None:
            return None if index in parts.finished else pool.submit_lines(index), None
        try:
            documents = fetch().alone()
        except DataError as error:
            failed: Future[Piece] = Future()
            failed.set_exception(error)
            return failed, None
        return pool.submit_documents(documents), documents

    def _fetches(self, parts: Resumable) -> Iterator[tuple[int, Fetch | None]]:
        if self.collection is None:
            yield from ((index, None) for index in range(self.pieces or 0))
        else:
            yield from enumerate(pieces_in_order(self.collection.pieces(parts.finished)))

    def _next(
        self, waiting: deque[tuple[int, Any, DocumentBatch | None]], parts: Resumable
    ) -> tuple[int, Piece]:
        index, future, documents = waiting.popleft()
        if future is None:
            frame = parts.load(index, FRAME)
            return index, piece_of(frame, self.job.output, parts.digest(index))
        try:
            piece: Piece = future.result()
        except UnsoundText as unsound:
            if documents is None:
                raise
            raise documents.unsound(unsound.row) from unsound
        if documents is not None:
            piece = piece._replace(digest=documents.digest)
        parts.save(index, frame_of(piece), piece.digest)
        return index, piece

    def done(self, index: int, documents: int) -> int:
        if self.collection is not None:
            return self.collection.done(index, documents)
        return min(self.job.block_bytes, (self.total or 0) - index * self.job.block_bytes)


def _spread(
    on: object,
    work: SwapWork,
    source: object,
    target: Path,
    kind: str,
    workers: int | None,
    resume: bool,
    progress: Progress | None,
    format: str | None,
    partition_bytes: int | None,
) -> SwapSummary:
    import evenrank
    from evenrank.counterfactuals.swap.spread import swap_on

    def write(pieces: Iterator[tuple[Piece, bool]], growing: Path, finish: Callable[[], Any]) -> SwapSummary:
        return _written(work, pieces, growing, target, kind, finish)

    with evenrank.open_executor(on, workers) as executor:
        job = work.job._replace(path=work.path if work.collection is None else None)
        summary = swap_on(
            executor, job, source, target, work.settings(kind), write, lines=work.collection is None,
            resume=resume, progress=progress, format=format, partition_bytes=partition_bytes,
        )  # fmt: skip
    summary.exceptions = work.swapper.pairing.exceptions()
    return summary


def _write(
    work: SwapWork, parts: Resumable, target: Path, kind: str, threads: int, progress: Progress | None
) -> SwapSummary:
    """Swap what is missing, join everything in a file beside the parts, and move it to its place."""
    unit = "bytes" if work.collection is None else work.collection.unit
    digests = []
    done = 0

    def pass_over(index: int, documents: int) -> None:
        nonlocal done
        done += work.done(index, documents)
        if progress is not None:
            progress(done, work.total, unit)

    def pieces() -> Iterator[tuple[Piece, bool]]:
        for index, piece in work.swapped(parts, threads, pass_over):
            digests.append(piece.digest)
            yield piece, index in parts.finished
            pass_over(index, piece.documents)

    def finish() -> dict[str, Any]:
        check_unchanged(work.job.name, work.path, work.stamp)
        return work.provenance(digests)

    return _written(work, pieces(), parts.growing, target, kind, finish)


def _written(
    work: SwapWork,
    pieces: Iterator[tuple[Piece, bool]],
    growing: Path,
    target: Path,
    kind: str,
    finish: Callable[[], dict[str, Any]],
) -> SwapSummary:
    """Write all pieces, which come with whether they were finished before, and move the file to its place.

    ``finish`` gives the provenance of all that was read, once it is.
    """
    summary = SwapSummary(model_name() if work.swapper.tagger == "spacy" else "rules")
    with growing_file(growing) as file:
        with _writing(file, kind) as write:
            for piece, finished in pieces:
                write(piece.data)
                summary.add(piece, finished=finished)
        if not summary.documents:
            raise DataError(f"{work.job.name}: no documents")
        summary.source = {"name": work.job.name, **finish()}
    move_into_place(growing, target)
    return summary


@contextmanager
def _writing(file: BinaryIO, kind: str) -> Iterator[Callable[[Any], object]]:
    """What adds a piece to the output."""
    if kind != "parquet":
        yield file.write
        return
    with closing(pa.parquet.ParquetWriter(file, SCHEMA, compression="zstd")) as writer:
        yield writer.write_batch


def _output_kind(output: str | os.PathLike[str]) -> str:
    kind = guess_format(Path(output))
    if kind not in OUTPUTS or Path(output).suffix in (".gz", ".zst"):
        raise ParameterError(f"{output}: the output ends in {', '.join('.' + name for name in OUTPUTS)}")
    return kind
