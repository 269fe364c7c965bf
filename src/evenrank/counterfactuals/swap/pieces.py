"""One piece of a collection, swapped: a block of a TSV or JSONL file, or a batch of documents.

What is read and written in the same format stays byte for byte what it was, but for the words swapped: ids,
line ends, blank lines, other fields of a JSON object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # what JSONDecoder itself uses
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, Tally, swap_strings
from evenrank.counterfactuals.swap.swapper import Swapper
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.evidence.scan.blocks import Block
from evenrank.evidence.scan.counter import Texts, UnsoundText
from evenrank.evidence.scan.line_files import LineCollection, TsvCollection
from evenrank.io.column_names import resolve_documents
from evenrank.io.document_lines import unsound_line
from evenrank.io.document_tables import SCHEMA
from evenrank.io.values import describe_json_error

OUTPUTS = ("tsv", "jsonl", "parquet")

_BLANK = " \t\r\n"
_PAIR = r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"  # two escapes that are one character
_CHARACTER = re.compile(rf"{_PAIR}|\\u[\da-fA-F]{{4}}|\\.|.", re.DOTALL)  # as a string in JSON writes it


class Piece(NamedTuple):
    """What a piece became: bytes of the output, or rows of it if that is Parquet."""

    data: pa.Buffer | pa.RecordBatch
    documents: int
    changed: int  # documents with a word swapped
    bytes_read: int
    tally: Tally
    digest: bytes = b""  # of what was read for it, where it is a piece of a file


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
        data = pa.py_buffer(swapped.data)
        return Piece(data, len(documents.ids), swapped.changed, block.bytes_read, swapped.tally, block.digest)


class JsonLines(LineCollection):
    """Blocks of a JSONL file. Only the title and the text of an object are swapped."""

    def __init__(self, path: Path, name: str, block_bytes: int, columns: Mapping[str, str] | None) -> None:
        super().__init__(path, name, block_bytes)
        try:
            members = members_of(self._file.first_line().decode())
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
        lines: list[str] = []
        values: list[tuple[int, str, str]] = []
        for line, members in self._objects(block):
            own = {field: members.get(field) for field in self._fields}
            values += [(len(lines), field, value) for field, value in own.items() if isinstance(value, str)]
            lines.append(line)
        news, tally = swap_strings(blocks, [value for _, _, value in values])
        changed: dict[int, dict[str, str]] = {}
        for (number, field, value), new in zip(values, news, strict=True):
            if new != value:
                changed.setdefault(number, {})[field] = new
        for number, fields in changed.items():
            lines[number] = _replaced(lines[number], fields, blocks.swapper)
        raw = bytes(block.data[0 if index == 0 else block.begin : block.end])
        data = pa.py_buffer(_joined(raw, lines))
        return Piece(data, len(lines), len(changed), block.bytes_read, tally, block.digest)

    def _objects(self, block: Block) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines that hold something, and the object in each."""
        problems: list[Problem] = []
        at = block.begin
        for raw in bytes(block.data[block.begin : block.end]).split(b"\n"):
            if raw.strip():
                try:
                    line = raw.decode()
                    members = json.loads(line)
                    if not isinstance(members, dict):
                        raise ValueError("expected an object {...}")
                    yield line, members
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


def members_of(line: str) -> dict[str, tuple[Any, int, int]]:
    """The members of a JSON object: value, and where it starts and ends in the line.

    >>> members_of('{"_id": "d1", "text": "some"}')["text"]
    ('some', 22, 28)
    """
    at = _after_blanks(line, 0)
    if line[at : at + 1] != "{":
        raise ValueError("expected an object {...}")
    members: dict[str, tuple[Any, int, int]] = {}
    at = _after_blanks(line, at + 1)
    while line[at : at + 1] != "}":
        if line[at : at + 1] != '"':
            raise ValueError(f"expected a key at character {at + 1}")
        key, at = scanstring(line, at + 1, True)
        at = _after_blanks(line, at)
        if line[at : at + 1] != ":":
            raise ValueError(f"expected a colon at character {at + 1}")
        start = _after_blanks(line, at + 1)
        value, end = _DECODER.raw_decode(line, start)
        members[key] = value, start, end
        at = _after_blanks(line, end)
        if line[at : at + 1] == ",":
            at = _after_blanks(line, at + 1)
        elif line[at : at + 1] != "}":
            raise ValueError(f"expected a comma or }} at character {at + 1}")
    if line[at + 1 :].strip(_BLANK):
        raise ValueError(f"something stands behind the object, at character {at + 2}")
    return members


_DECODER = json.JSONDecoder()


def _after_blanks(line: str, at: int) -> int:
    while line[at : at + 1] and line[at] in _BLANK:
        at += 1
    return at


def _replaced(line: str, fields: Mapping[str, str], swapper: Swapper) -> str:
    """A line with other values for some fields, and nothing else changed."""
    members = members_of(line)
    # the last first, so that the places of the others hold
    for field, new in sorted(fields.items(), key=lambda item: -members[item[0]][1]):
        value, start, end = members[field]
        line = line[:start] + _as_json(value, new, line[start:end], swapper) + line[end:]
    return line


def _as_json(value: str, new: str, written: str, swapper: Swapper) -> str:
    """The new value in JSON, with everything that was not swapped escaped as it was ``written``."""
    if "\\" not in written:  # what a swap puts in needs no escape
        return f'"{new}"'
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


def _joined(raw: bytes, lines: list[str]) -> bytes:
    """The lines of a block with new ones in the place of those that hold something."""
    new = iter(lines)
    mark = raw[:3] if raw.startswith(b"\xef\xbb\xbf") else b""
    return mark + b"\n".join(
        next(new).encode("utf-8", "surrogatepass") if line.strip() else line
        for line in raw[len(mark) :].split(b"\n")
    )


def swap_batch(
    ids: pa.LargeStringArray, texts: Texts, bytes_read: int, blocks: BlockSwapper, output: str, name: str
) -> Piece:
    """Documents from anywhere, as lines or rows of id and text."""
    begin, end = (int(texts.starts[0]), int(texts.ends[-1])) if len(texts.starts) else (0, 0)
    swapped = blocks(texts, begin, end)
    data, own = swapped.data.tobytes(), ids.to_pylist()
    edges = zip(swapped.starts.tolist(), swapped.ends.tolist(), strict=True)
    news = [data[start:stop].decode() for start, stop in edges]
    made: pa.Buffer | pa.RecordBatch
    if output == "parquet":
        made = pa.record_batch([ids, pa.array(news, pa.large_string())], SCHEMA)
    elif output == "jsonl":
        rows = ({"id": one, "text": text} for one, text in zip(own, news, strict=True))
        made = pa.py_buffer("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    else:
        made = pa.py_buffer("".join(_tsv(own, news, name)).encode())
    return Piece(made, len(own), swapped.changed, bytes_read, swapped.tally)


def _tsv(ids: list[str], texts: list[str], name: str) -> Iterator[str]:
    for own, text in zip(ids, texts, strict=True):
        if "\n" in text or "\r" in text or "\t" in own:
            raise DataError(
                f"{name}: document {own!r} holds a line break, which TSV cannot hold: write .jsonl or "
                ".parquet"
            )
        yield f"{own}\t{text}\n"
