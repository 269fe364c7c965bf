"""A collection in, its counterpart out: all cores, constant memory, and on from where it was killed.

The collection map of ``io/collections.py`` gives pieces to workers; each piece is swapped by a function.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from evenrank.counterfactuals.swap.blocks import BlockSwapper, Tally
from evenrank.counterfactuals.swap.lines import Piece, swapped_documents, swapped_json, swapped_tsv
from evenrank.counterfactuals.swap.pairing import KINDS
from evenrank.counterfactuals.swap.swapper import Swapper, make_swapper
from evenrank.counterfactuals.swap.tagger import model_name
from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError, ParameterError
from evenrank.io.atomic import check_not_read, growing_file, move_into_place, target_of
from evenrank.io.collections import (
    Collection,
    FinishedPart,
    Progress,
    Record,
    batches_of,
    collection_of,
    is_in_files,
    map_documents,
    planned,
    provenance_of,
    write_stream,
)
from evenrank.io.content_hash import PIECE
from evenrank.io.documents import open_documents, read_stretch
from evenrank.io.executor import Executor, ProcessExecutor, SerialExecutor, workers_of
from evenrank.io.lines import line_blocks
from evenrank.io.part_folder import PartFolder, part_path
from evenrank.io.reading import SCHEMA, Reading
from evenrank.io.source import guess_format, is_packed

OUTPUTS = ("tsv", "jsonl", "parquet")
_TAGGED_BLOCK = 1 << 20  # spaCy takes long: smaller pieces keep all cores busy
_WORTH = {"rules": 16, "spacy": 2}  # pieces for each further process: fewer are done before it has started


@dataclass
class SwapSummary:
    """What a swap did. ``found`` pieces were there from an earlier run and were not swapped again."""

    tagger: str
    exceptions: Mapping[str, str]  # terms that do not come back
    documents: int = 0
    changed: int = 0  # documents with a word swapped
    pieces: int = 0
    found: int = 0
    bytes_read: int = 0
    tally: Tally = field(default_factory=Counter)
    source: Mapping[str, Any] = field(default_factory=dict)  # its name, and the hash of all that was read
    seconds: float = 0.0

    def add(self, part: FinishedPart) -> None:
        """Count the pieces of a part, by its record."""
        record = part.record
        self.pieces += record["pieces"]
        self.documents += record["documents"]
        self.changed += record["changed"]
        self.tally.update({(old, new, kind): count for old, new, kind, count in record["tally"]})
        self.found += record["pieces"] if part.found else 0
        self.bytes_read += 0 if part.found else record["bytes read"]

    @property
    def words(self) -> int:
        return self.tally.total()

    @property
    def kinds(self) -> dict[str, int]:
        """Words swapped, by kind."""
        counts = dict.fromkeys(KINDS, 0)
        for (_, _, kind), count in self.tally.items():
            counts[kind] += count
        return counts

    def most_often(self) -> list[tuple[tuple[str, str, str], int]]:
        """The words swapped, the most frequent first; of equally frequent ones the first in the alphabet."""
        return sorted(self.tally.items(), key=lambda item: (-item[1], item[0]))

    @property
    def one_way(self) -> dict[tuple[str, str], int]:
        """The words swapped that a second swap does not bring back."""
        return {
            (old, new): count for (old, new, _), count in self.most_often() if self.exceptions.get(old) == new
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything about it as JSON holds it; times are left out, so that equal swaps are equal."""
        return {
            "source": dict(self.source),
            "documents": self.documents,
            "documents_changed": self.changed,
            "words": self.words,
            "kinds": self.kinds,
            "tagger": self.tagger,
            "pairs": [
                {"word": old, "becomes": new, "kind": kind, "count": count}
                for (old, new, kind), count in self.most_often()
            ],
            "not_restored": [
                {"word": old, "becomes": new, "count": count} for (old, new), count in self.one_way.items()
            ],
        }


def swap_file(
    source: object,
    output: str | os.PathLike[str],
    lexicon: Lexicon | str | os.PathLike[str] | None = None,
    *,
    threads: int | None = None,
    resume: bool = True,
    progress: Progress | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    block_bytes: int | None = None,
    on: object = None,
    partition_bytes: int | None = None,
    **swapping: Any,
) -> SwapSummary:
    """Swap a collection into a file: TSV, JSONL or Parquet, as the name of the output says.

    TSV to TSV and JSONL to JSONL keep everything but the words; other ways write id and text. ``threads``
    processes work on pieces of the collection. A swap that was killed goes on where it stopped, and its file
    is the same, byte for byte. ``on`` is a cluster that does the work instead, as ``scan`` takes it, with the
    same file as a result. ``format`` and ``columns`` are those of ``read_documents``; all others, such as
    ``kinds`` and ``tagger``, are those of ``make_swapper``.
    """
    import evenrank

    begin = time.monotonic()
    target, kind = target_of(output), guess_format(Path(output))
    if kind not in OUTPUTS or Path(output).suffix in (".gz", ".zst"):
        raise ParameterError(f"{output}: the output ends in {', '.join('.' + name for name in OUTPUTS)}")
    for read in (source, lexicon):
        check_not_read(target, output, read)
    workers = workers_of(threads)
    swapper = make_swapper(lexicon, **swapping)
    tagger = model_name() if swapper.tagger == "spacy" else swapper.tagger
    size = block_bytes or (_TAGGED_BLOCK if swapper.tagger == "spacy" else PIECE)
    collection = None if on is None and not is_in_files(source) else collection_of(source, format)
    if collection is None:
        name, documents = open_documents(source, format, columns)
    else:
        name = collection.name
    lines = collection is not None and _are_lines(collection, kind, columns)
    settings = {
        "source name": name,
        "pairs": [[*old, "->", *entry] for old, entry in swapper.pairing.entries.items()],
        "tagger": tagger,
        "output": kind,
        "lines": lines,
        "format": format,
        "block": size,
        "partition": partition_bytes,
        "columns": dict(columns or {}),
    }
    folder = PartFolder(target, settings, resume=resume and collection is not None)
    work = SwapWork(swapper, kind, name, lines, None if columns is None else dict(columns), size, folder.key)
    summary = SwapSummary(tagger, swapper.pairing.exceptions())
    with folder.until_done(keep_sound=collection is not None and collection.many), ExitStack() as held:
        if collection is None:
            done = _swapped_stream(work, documents, folder, progress)
        else:
            total = sum(file.size for file in collection.files)
            processes = min(workers, 1 + total // (size * _WORTH[swapper.tagger]))
            executor: Executor = SerialExecutor() if processes == 1 else ProcessExecutor(processes)
            if on is not None:
                executor = held.enter_context(evenrank.open_executor(on, processes))
            parts = planned(collection, work, folder, "arrow", partition_bytes or size)
            done = map_documents(executor, work, parts, progress)
        with closing(done), growing_file(folder.growing) as file:
            found = _joined(done, file, summary, in_lines=kind != "parquet")
        if not summary.documents:
            raise DataError(f"{name}: no documents")
        about = {} if collection is None else provenance_of(collection, found)
        summary.source = {"name": name, **about}
        move_into_place(folder.growing, target)
    summary.seconds = time.monotonic() - begin
    return summary


def _are_lines(collection: Collection, output: str, columns: Mapping[str, str] | None) -> bool:
    """Whether it is one file of lines that is written in its own format, so that all but words stays."""
    if collection.many:
        return False
    (file,) = collection.files
    same = file.format == output and (output == "jsonl" or (output == "tsv" and columns is None))
    return same and file.size > 0 and not is_packed(Path(file.address))


def _swapped_stream(
    work: SwapWork, documents: Iterator[Any], folder: PartFolder, progress: Progress | None
) -> Generator[FinishedPart]:
    """One part, of what comes through a pipe or from memory."""
    path = part_path(folder.folder, 0, folder.key, "arrow")
    with growing_file(path) as file:
        record = write_stream(work, documents, file, 1, progress)
    yield FinishedPart(path, record, found=False)


def _joined(
    done: Iterable[FinishedPart], file: BinaryIO, summary: SwapSummary, *, in_lines: bool
) -> list[FinishedPart]:
    """All parts in one file, in their order."""
    found = []
    with nullcontext() if in_lines else pa.parquet.ParquetWriter(file, SCHEMA, compression="zstd") as rows:
        for part in done:
            if rows is None:
                with part.path.open("rb") as lines:
                    shutil.copyfileobj(lines, file, 1 << 20)
            else:
                for batch in batches_of(part.path):
                    rows.write_batch(batch)
            summary.add(part)
            found.append(part)
    return found


class SwapWork(NamedTuple):
    """All that a worker must know: plain values, which another process can be sent."""

    swapper: Swapper
    output: str
    name: str
    lines: bool  # the file is read and written as lines, else as documents
    columns: Mapping[str, str] | None
    block_bytes: int
    key: str

    def read(self, reading: Reading, format: str) -> Iterator[Any]:
        return line_blocks(reading) if self.lines else read_stretch(reading, format)

    def make(self, piece: Any) -> Piece:
        blocks = _made.get(self.key)  # the key is of everything that it depends on
        if blocks is None:
            blocks = BlockSwapper(self.swapper)
            _made.clear()
            _made[self.key] = blocks
        if not self.lines:
            return swapped_documents(piece, blocks, self.output, self.name)
        return swapped_json(piece, blocks) if self.output == "jsonl" else swapped_tsv(piece, blocks)

    def write(self, file: BinaryIO, made: Iterator[Piece]) -> Record:
        """Batches of rows for Parquet, else the lines as they will be."""
        pieces = documents = changed = 0
        tally: Tally = Counter()
        with pa.ipc.new_stream(file, SCHEMA) if self.output == "parquet" else nullcontext(file) as output:
            write: Any = getattr(output, "write_batch", file.write)
            for piece in made:
                write(piece.content)
                pieces, documents, changed = pieces + 1, documents + piece.documents, changed + piece.changed
                tally.update(piece.tally)
        counts = [[*pair, count] for pair, count in tally.items()]
        return {"pieces": pieces, "documents": documents, "changed": changed, "tally": counts}


_made: dict[str, BlockSwapper] = {}  # one for all parts of a swap that a worker is sent
