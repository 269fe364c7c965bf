"""Pieces of a collection, swapped: lines of TSV and JSONL in their places, or documents written anew.

What is read and written in the same format stays byte for byte what it was, but for the texts with a word
swapped: ids, line ends, blank lines, other fields of a JSON object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa

from evenrank.counterfactuals.swap.blocks import BlockSwapper, Tally
from evenrank.errors import DataError
from evenrank.evidence.scan.counter import UnsoundText
from evenrank.io.document_formats.json_lines import keys_of, objects_of
from evenrank.io.document_formats.tsv import documents_of_lines
from evenrank.io.lines import LineBlock
from evenrank.io.reading import SCHEMA, Bytes, Documents

_KEY = re.compile(r'\s*[{,]\s*("(?:[^"\\]|\\.)*")\s*:\s*')  # up to the value
_DECODER = json.JSONDecoder()


class Piece(NamedTuple):
    """What a piece became: rows of id and text for Parquet, else bytes of the output."""

    content: pa.RecordBatch | bytes | Bytes
    documents: int
    changed: int  # of them
    tally: Tally


def swapped_tsv(block: LineBlock, blocks: BlockSwapper) -> Piece:
    """Lines of a TSV file, with all that is between the texts."""
    documents = documents_of_lines(block)
    try:
        swapped = blocks(documents.texts, 0, len(block.data))
    except UnsoundText as error:
        raise documents.unsound() from error
    data = block.mark + swapped.data.tobytes() if block.mark else swapped.data
    return Piece(data, len(documents.ids), swapped.changed, swapped.tally)


def swapped_json(block: LineBlock, blocks: BlockSwapper) -> Piece:
    """Lines of a JSONL file; only the title and the text of an object are swapped."""
    objects = list(objects_of(block))
    if problems := [(row, found) for row, found in objects if isinstance(found, str)]:
        raise block.error(problems)
    fields = [key for role, key in keys_of(block.reading).items() if role in ("title", "text")]
    values = [
        (row, field, members[field])
        for row, members in objects
        for field in fields
        if isinstance(members, dict) and isinstance(members.get(field), str)
    ]
    news, tally = blocks.swap_strings([value for _, _, value in values])
    changed: dict[int, dict[str, tuple[str, str]]] = {}
    for (row, field, value), new in zip(values, news, strict=True):
        if new != value:
            changed.setdefault(row, {})[field] = value, new
    lines = block.data.tobytes().split(b"\n")
    for row, members in changed.items():
        lines[row] = _rewritten(lines[row].decode(), members).encode()
    return Piece(block.mark + b"\n".join(lines), len(objects), len(changed), tally)


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


def swapped_documents(documents: Documents, blocks: BlockSwapper, output: str, name: str) -> Piece:
    """Documents from anywhere, as lines or rows of id and text."""
    try:
        swapped = blocks.swap_all(documents.texts)
    except UnsoundText as error:
        raise documents.unsound() from error
    ids, news = documents.ids.to_pylist(), swapped.texts()
    content: pa.RecordBatch | bytes
    if output == "parquet":
        content = pa.record_batch([documents.ids, pa.array(news, pa.large_string())], SCHEMA)
    elif output == "jsonl":
        objects = ({"id": one, "text": text} for one, text in zip(ids, news, strict=True))
        content = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects).encode()
    else:
        content = "".join(_tsv(ids, news, name)).encode()
    return Piece(content, len(ids), swapped.changed, swapped.tally)


def _tsv(ids: list[str], texts: list[str], name: str) -> Iterator[str]:
    for own, text in zip(ids, texts, strict=True):
        if "\n" in text or "\r" in text or "\t" in own:
            raise DataError(
                f"{name}: document {own!r} holds a line break, which TSV cannot hold: write .jsonl or "
                ".parquet"
            )
        yield f"{own}\t{text}\n"
