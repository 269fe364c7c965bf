"""Pieces of a collection, swapped: lines of TSV and JSONL in their places, or documents written anew.

What is read and written in the same format stays byte for byte what it was, but for the texts with a word
swapped: ids, line ends, blank lines, other fields of a JSON object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, Tally
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import Bytes, UnsoundText
from evenrank.evidence.scan.documents import Fetch
from evenrank.evidence.scan.line_files import LineCollection, TsvCollection
from evenrank.io.document_lines import JsonReader, LineBlock, json_objects
from evenrank.io.document_tables import SCHEMA
from evenrank.io.ranges import ByteRanges

LINES = pa.schema([("lines", pa.large_binary())])
SCHEMAS = {"tsv": LINES, "jsonl": LINES, "parquet": SCHEMA}

_KEY = re.compile(r'\s*[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*')  # up to the value
_DECODER = json.JSONDecoder()


class Piece(NamedTuple):
    """What a piece became: rows of id and text for Parquet, else one row with the bytes of the output."""

    rows: pa.RecordBatch
    documents: int
    changed: int  # of them
    bytes_read: int
    tally: Tally
    digest: bytes = b""  # of what was read for it, where it is a piece of a file


def _lines(data: bytes | Bytes) -> pa.RecordBatch:
    """Bytes of the output, which are not copied."""
    edges = pa.py_buffer(np.array([0, len(data)], np.int64))
    return pa.record_batch(
        [pa.Array.from_buffers(pa.large_binary(), 1, [None, edges, pa.py_buffer(data)])], LINES
    )


class TsvLines(TsvCollection):
    """Blocks of a TSV file, with all that is between the texts."""

    def __len__(self) -> int:
        return len(self._file)

    def swapped(self, index: int, blocks: BlockSwapper) -> Piece:
        block = self._block(index)
        documents = self._documents(block)
        begin = 0 if index == 0 else block.begin  # the mark at the front of the file stays too
        try:
            swapped = blocks(documents.texts, begin, block.end)
        except UnsoundText as unsound:
            raise documents.unsound(unsound.row) from unsound
        return Piece(
            _lines(swapped.data), len(documents.ids), swapped.changed, block.bytes_read, swapped.tally,
            block.digest,
        )  # fmt: skip


class JsonLines(LineCollection):
    """Blocks of a JSONL file. Only the title and the text of an object are swapped."""

    def __init__(
        self, file: ByteRanges, name: str, block_bytes: int, columns: Mapping[str, str] | None
    ) -> None:
        super().__init__(file, name, block_bytes)
        line, place = self._file.blank_lines() + 1, self._file.first_place()
        first = json_objects(LineBlock(self._file.first_line(), line, place))
        if first.problems:
            raise DataError.listing(name, first.problems)
        if not first.rows:
            raise DataError(f"{name}: no documents")
        chosen = JsonReader(first.rows[0], columns, name).chosen
        self._fields = [chosen[role] for role in ("title", "text") if role in chosen]

    def __len__(self) -> int:
        return len(self._file)

    def swapped(self, index: int, blocks: BlockSwapper) -> Piece:
        block = self._block(index)
        data = bytes(block.data[block.begin : block.end])
        objects = json_objects(LineBlock(data, 0, 0))
        if objects.problems:  # the lines before are counted for the message alone
            place = block.offset + block.begin
            first = self._file.lines_before(place) + 1
            raise DataError.listing(self.name, json_objects(LineBlock(data, first, place)).problems)
        values = [
            (line, field, members[field])
            for line, members in zip(objects.lines, objects.rows, strict=True)
            for field in self._fields
            if isinstance(members.get(field), str)
        ]
        news, tally = blocks.swap_strings([value for _, _, value in values])
        changed: dict[int, dict[str, tuple[str, str]]] = {}
        for (line, field, value), new in zip(values, news, strict=True):
            if new != value:
                changed.setdefault(line, {})[field] = value, new
        lines = data.split(b"\n")
        for line, fields in changed.items():
            lines[line] = _rewritten(lines[line].decode(), fields).encode()
        mark = bytes(block.data[: block.begin]) if index == 0 else b""
        return Piece(
            _lines(mark + b"\n".join(lines)), len(objects.rows), len(changed), block.bytes_read, tally,
            block.digest,
        )  # fmt: skip


def _rewritten(line: str, fields: Mapping[str, tuple[str, str]]) -> str:
    """A line with other values for some fields, old and new, and nothing else changed.

    >>> _rewritten('{"_id":  "d1", "text": "he", "n": 1.0}', {"text": ("he", "she")})
    '{"_id":  "d1", "text": "she", "n": 1.0}'
    """
    places: dict[str, tuple[int, int]] = {}  # where the value of each member starts and ends
    at = 0
    while key := _KEY.match(line, at):
        _, at = _DECODER.raw_decode(line, key.end())
        places[json.loads(key[1])] = key.end(), at
    # the last first, so that the places of the others hold
    for field in sorted(fields, key=lambda field: places[field], reverse=True):
        (start, end), (old, new) = places[field], fields[field]
        is_plain = json.dumps(old, ensure_ascii=False) == line[start:end]  # else all beyond ASCII is escaped
        line = line[:start] + json.dumps(new, ensure_ascii=not is_plain) + line[end:]
    return line


def swapped_documents(fetch: Fetch, blocks: BlockSwapper, output: str, name: str) -> Piece:
    """Documents from anywhere, as lines or rows of id and text."""
    documents = fetch()
    try:
        swapped = blocks.swap_all(documents.texts)
    except UnsoundText as unsound:
        raise documents.unsound(unsound.row) from unsound
    ids, news = documents.ids.to_pylist(), swapped.texts()
    if output == "parquet":
        rows = pa.record_batch([documents.ids, pa.array(news, pa.large_string())], SCHEMA)
    elif output == "jsonl":
        objects = ({"id": one, "text": text} for one, text in zip(ids, news, strict=True))
        rows = _lines("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects).encode())
    else:
        rows = _lines("".join(_tsv(ids, news, name)).encode())
    return Piece(
        rows, len(ids), swapped.changed, documents.bytes_read, swapped.tally, documents.digest
    )  # fmt: skip


def _tsv(ids: list[str], texts: list[str], name: str) -> Iterator[str]:
    for own, text in zip(ids, texts, strict=True):
        if "\n" in text or "\r" in text or "\t" in own:
            raise DataError(
                f"{name}: document {own!r} holds a line break, which TSV cannot hold: write .jsonl or "
                ".parquet"
            )
        yield f"{own}\t{text}\n"
