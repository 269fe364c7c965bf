"""One piece of a collection, swapped: a block of a TSV or JSONL file, or a batch of documents.

What is read and written in the same format stays byte for byte what it was, but for the words swapped: ids,
line ends, blank lines, other fields of a JSON object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, swap_strings
from evenrank.counterfactuals.swap.summary import SwapCounts
from evenrank.counterfactuals.swap.swapper import Swapper
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.evidence.scan.blocks import Block
from evenrank.evidence.scan.counter import Bytes, UnsoundText
from evenrank.evidence.scan.documents import Fetch
from evenrank.evidence.scan.line_files import LineCollection, TsvCollection
from evenrank.io.cells import describe_json_error
from evenrank.io.column_names import resolve_documents
from evenrank.io.document_lines import unsound_line
from evenrank.io.document_tables import SCHEMA
from evenrank.io.ranges import ByteRanges

LINES = pa.schema([("lines", pa.large_binary())])
SCHEMAS = {"tsv": LINES, "jsonl": LINES, "parquet": SCHEMA}

_KEY = re.compile(r'\s*[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*')  # up to the value
_DECODER = json.JSONDecoder()
_PAIR = r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # two escapes that are one character
_CHARACTER = re.compile(rf"{_PAIR}|\\u[\da-fA-F]{{4}}|\\.|.", re.DOTALL)  # as a string in JSON writes it


class Piece(NamedTuple):
    """What a piece became: rows of id and text for Parquet, else one row with the bytes of the output."""

    rows: pa.RecordBatch
    counts: SwapCounts
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
        counts = SwapCounts(len(documents.ids), swapped.changed, 1, block.bytes_read, swapped.tally)
        return Piece(_lines(swapped.data), counts, block.digest)


class JsonLines(LineCollection):
    """Blocks of a JSONL file. Only the title and the text of an object are swapped."""

    def __init__(
        self, file: ByteRanges, name: str, block_bytes: int, columns: Mapping[str, str] | None
    ) -> None:
        super().__init__(file, name, block_bytes)
        try:
            members = json.loads(self._file.first_line().decode())
            if not isinstance(members, dict):
                raise ValueError("expected an object {...}")
        except ValueError as error:
            raise DataError(f"{name}: the first line is not JSON: {error}") from error
        chosen = resolve_documents(list(members), columns, name)
        if "text" not in (columns or {}):
            chosen.setdefault("title", "title")  # it may be left out where it is empty
        self._fields = [chosen[role] for role in ("title", "text") if role in chosen]

    def __len__(self) -> int:
        return len(self._file)

    def swapped(self, index: int, blocks: BlockSwapper) -> Piece:
        block = self._block(index)
        lines = bytes(block.data[block.begin : block.end]).split(b"\n")
        objects = dict(self._objects(block, lines))
        values = [
            (row, field, members[field])
            for row, members in objects.items()
            for field in self._fields
            if isinstance(members.get(field), str)
        ]
        news, tally = swap_strings(blocks, [value for _, _, value in values])
        changed: dict[int, dict[str, str]] = {}
        for (row, field, value), new in zip(values, news, strict=True):
            if new != value:
                changed.setdefault(row, {})[field] = new
        for row, fields in changed.items():
            lines[row] = _replaced(lines[row].decode(), fields, blocks.swapper).encode()
        mark = bytes(block.data[: block.begin]) if index == 0 else b""
        counts = SwapCounts(len(objects), len(changed), 1, block.bytes_read, tally)
        return Piece(_lines(mark + b"\n".join(lines)), counts, block.digest)

    def _objects(self, block: Block, lines: list[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The lines that hold something, by number, and the object in each."""
        problems: list[Problem] = []
        at = block.begin
        for row, raw in enumerate(lines):
            if raw.strip():
                try:
                    members = json.loads(raw.decode())
                    if not isinstance(members, dict):
                        raise ValueError("expected an object {...}")
                    yield row, members
                except UnicodeDecodeError as error:
                    problems.append(unsound_line(self._line(block, at), block.offset + at + error.start))
                except (ValueError, RecursionError) as error:
                    what = f"not JSON: {describe_json_error(error)}"
                    problems.append(Problem(self._line(block, at), what))
            if len(problems) > PROBLEMS_SHOWN:
                break
            at += len(raw) + 1
        if problems:
            raise DataError.listing(self.name, problems)


def places_of(line: str) -> dict[str, tuple[int, int]]:
    """Where the value of each member of a JSON object starts and ends in the line.

    >>> places_of('{"_id": "d1", "text": "some"}')
    {'_id': (8, 12), 'text': (22, 28)}
    """
    places: dict[str, tuple[int, int]] = {}
    at = 0
    while key := _KEY.match(line, at):
        _, at = _DECODER.raw_decode(line, key.end())
        places[json.loads(key[1])] = key.end(), at
    return places


def _replaced(line: str, fields: Mapping[str, str], swapper: Swapper) -> str:
    """A line with other values for some fields, and nothing else changed."""
    places = places_of(line)
    # the last first, so that the places of the others hold
    for field, new in sorted(fields.items(), key=lambda item: places[item[0]], reverse=True):
        start, end = places[field]
        line = line[:start] + _as_json(new, line[start:end], swapper) + line[end:]
    return line


def _as_json(new: str, written: str, swapper: Swapper) -> str:
    """The new value in JSON, with everything that was not swapped escaped as it was ``written``."""
    value = json.loads(written)
    for ascii_alone in (False, True):
        if json.dumps(value, ensure_ascii=ascii_alone) == written:
            return json.dumps(new, ensure_ascii=ascii_alone)
    # escaped in a way of its own (\/, \u00C9, both \u00e9 and é): only the words are written anew
    places = [match.start() for match in _CHARACTER.finditer(written, 1, len(written) - 1)]
    places.append(len(written) - 1)
    pieces, done = [], 0
    for change in swapper.swap(value).changes:
        start, end = places[change.start], places[change.end]
        pieces += [
            written[done:start],
            json.dumps(change.new, ensure_ascii=written[start:end].isascii())[1:-1],
        ]
        done = end
    return "".join([*pieces, written[done:]])


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
    counts = SwapCounts(len(ids), swapped.changed, 1, documents.bytes_read, swapped.tally)
    return Piece(rows, counts, documents.digest)


def _tsv(ids: list[str], texts: list[str], name: str) -> Iterator[str]:
    for own, text in zip(ids, texts, strict=True):
        if "\n" in text or "\r" in text or "\t" in own:
            raise DataError(
                f"{name}: document {own!r} holds a line break, which TSV cannot hold: write .jsonl or "
                ".parquet"
            )
        yield f"{own}\t{text}\n"
