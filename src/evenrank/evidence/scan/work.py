"""What a scan makes of some documents, wherever a worker does it: their counts, and a part of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.data.lexicon import Lexicon
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import PADDING, KernelCounter, SimpleCounter, UnsoundText, make_counter
from evenrank.io.cells import checked_ids
from evenrank.io.collections import Record
from evenrank.io.counts import CountsWriter, counts_batch, writing
from evenrank.io.document_formats.json_lines import read_json_lines
from evenrank.io.documents import read_stretch
from evenrank.io.lines import LineBlock
from evenrank.io.reading import Documents, Reading, Texts
from evenrank.io.row_problems import RowProblems

ARROW, PARQUET = "arrow", "parquet"


class Counted(NamedTuple):
    """Rows of the output."""

    rows: pa.RecordBatch

    @property
    def documents(self) -> int:
        return len(self.rows)


class ScanWork(NamedTuple):
    """All that a worker must know: plain values, which another process can be sent."""

    kind: str  # ARROW: batches that will be joined to one file; PARQUET: a file of counts
    lexicon: Lexicon
    tokenizer: str
    terms: bool
    schema: pa.Schema
    columns: Mapping[str, str] | None
    block_bytes: int
    size: int | None = None  # of the collection, where all of it is counted in this process

    def read(self, reading: Reading, format: str) -> Iterator[Documents | DataError]:
        if format == "jsonl" and counter_of(self.lexicon, self.tokenizer, self.terms, self.size).fast:
            return read_json_lines(reading, plain_objects)
        return read_stretch(reading, format)

    def make(self, documents: Documents) -> Counted:
        try:
            counts = counter_of(self.lexicon, self.tokenizer, self.terms, self.size)(documents.texts)
        except UnsoundText as error:
            raise documents.unsound() from error
        return Counted(counts_batch(self.schema, documents.ids, counts.lengths, counts.groups, counts.terms))

    def write(self, file: BinaryIO, made: Iterator[Counted]) -> Record:
        totals = [0] * (1 + len(self.lexicon.groups))
        pieces = documents = 0
        # batches as they are: what is joined later must have the same borders
        with writing((_BatchWriter if self.kind == ARROW else CountsWriter)(file, self.schema)) as writer:
            for (rows,) in made:
                writer.write(rows)
                pieces, documents = pieces + 1, documents + len(rows)
                for place in range(len(totals)):
                    totals[place] += pc.sum(rows.column(1 + place), min_count=0).as_py()
            writer.close()
        tokens, *groups = totals
        return {
            "documents": documents,
            "tokens": tokens,
            "groups": dict(zip(self.lexicon.groups, groups, strict=True)),
            "pieces": pieces,
        }


def plain_objects(block: LineBlock, chosen: Mapping[str, str]) -> Documents | None:
    """The documents of lines of JSON that are all plain, else None."""
    from evenrank.evidence.scan.json_lines import ID, TEXT, TITLE, read_objects

    if not _is_utf8(block.data):
        return None
    size, roles = len(block.data), {ID: "id", TEXT: "text", TITLE: "title"}
    keys = [chosen.get(role, "\0").encode() for _, role in sorted(roles.items())]
    text = np.concatenate([block.data, np.zeros(PADDING, np.uint8)])  # it is changed
    rows = np.empty((4, size // 8 + 1), np.int64)  # no object with an id and a text is shorter
    names = np.frombuffer(b"".join(keys), np.uint8)
    found = read_objects(text, size, names, np.cumsum([*map(len, keys)]), rows)
    if found < 0:
        return None
    starts, ends, text_starts, text_ends = rows[:, :found]
    ids, report = Texts(text, starts, ends).strings(), RowProblems(block.reading.name)
    try:
        ids.validate(full=True)
    except pa.ArrowInvalid:
        return None
    checked_ids(ids, "id", report)
    own = Documents(block.reading.name, ids, Texts(text, text_starts, text_ends), block.bytes_read)
    return None if report.found else own


def _is_utf8(data: npt.NDArray[np.uint8]) -> bool:
    if not len(data) or data.max() < 128:
        return True
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


@lru_cache(maxsize=4)
def counter_of(
    lexicon: Lexicon, tokenizer: str, terms: bool, size: int | None
) -> SimpleCounter | KernelCounter:
    """One for all parts that a worker is sent."""
    return make_counter(lexicon, tokenizer, terms=terms, size=size)


class _BatchWriter:
    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_stream(file, schema)
        self.write, self.close = self._writer.write_batch, self._writer.close

    def abandon(self) -> None:
        """Nothing is held that would have to be given up."""


@dataclass
class ScanSummary:
    """What a scan did. ``found`` pieces were there from an earlier run and were not counted again."""

    documents: int = 0
    tokens: int = 0
    groups: dict[str, int] = field(default_factory=dict)
    pieces: int = 0
    found: int = 0
    bytes_read: int = 0
    seconds: float = 0.0

    def add(self, record: Record, was_there: bool = False) -> None:
        """Add a part."""
        self.pieces += record["pieces"]
        self.documents += record["documents"]
        self.tokens += record["tokens"]
        for group, count in record["groups"].items():
            self.groups[group] = self.groups.get(group, 0) + count
        if was_there:
            self.found += record["pieces"]
        else:
            self.bytes_read += record["bytes read"]
