"""The line-by-line way through a TREC file: takes whatever the format allows, and lists what it does not."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem
from evenrank.io.frames import BY_INTENT
from evenrank.io.layout import Columns, Layout
from evenrank.io.source import Content
from evenrank.io.values import BadValue, quoted

_BLOCK = 1 << 22
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)")


def parse(content: Content, layout: Layout, name: str) -> Columns:
    """The columns of a file, or one error that lists its problems."""
    problems: list[Problem] = []
    query_codes: dict[bytes, int] = {}
    queries, documents, intents = array("i"), list[bytes](), list[bytes]()
    values = array("d" if layout.value_name == "score" else "q")
    lines_of: dict[
        object, dict[bytes, tuple[int, bytes]]
    ] = {}  # of each list: document -> line, second field
    most = len(layout.fields) - 1 if layout.rest_of_line else -1
    for number, line, flaw in numbered_lines(content):
        if len(problems) > PROBLEMS_SHOWN:
            break
        if flaw is not None:
            problems.append(Problem(number, flaw))
            continue
        fields = line.split(None, most)  # of bytes: only ASCII blanks separate, U+00A0 does not
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) != len(layout.fields):
            problems.append(Problem(number, layout.misfit(fields)))
            continue
        query, intent, document = fields[0], fields[1], fields[layout.document]
        seen = lines_of.setdefault((query, intent) if layout.intent else query, {})
        first, beside = seen.setdefault(document, (number, intent))
        try:
            values.append(layout.parse(fields[layout.value]))
        except BadValue as error:
            problems.append(Problem(number, str(error)))
            continue
        if first != number:
            problems.append(
                Problem(
                    number,
                    layout.repeated(quoted(document), quoted(query), quoted(intent), first)
                    + (BY_INTENT if layout.value_name == "grade" and beside != intent else ""),
                )
            )
            continue
        queries.append(query_codes.setdefault(query, len(query_codes)))
        documents.append(document)
        if layout.intent:
            intents.append(intent)
    if problems:
        raise DataError.listing(name, problems)
    if not documents:
        raise layout.nothing(
            name,
            "the file is empty"
            if content.buffer.size + content.lines == 0
            else "only comments and blank lines",
        )
    query_column = pa.DictionaryArray.from_arrays(
        pa.array(np.frombuffer(queries, np.int32)), _strings(list(query_codes)).cast(pa.string())
    )
    column = np.array(values)
    return Columns(query_column, _strings(documents), column, _strings(intents) if layout.intent else None)


def _strings(values: list[bytes]) -> pa.LargeStringArray:
    return pa.array(values, pa.large_binary()).cast(pa.large_string())


def numbered_lines(content: Content) -> Iterator[tuple[int, bytes, str | None]]:
    """Each physical line with its number in the file, and what is wrong with its bytes, if anything is.

    Bytes and lines that stood before the content count in what is said.
    """
    number, skipped = content.lines, content.skipped
    for begin, block in _line_blocks(content.buffer):
        sound = _CONTROL.search(block) is None and _invalid_at(block) is None
        ended = block.endswith(b"\n")
        lines = block.split(b"\n")
        if ended:
            lines.pop()
        offset = begin + skipped
        for line in lines:
            number += 1
            if sound:
                yield number, line, None
                continue
            last = not ended and offset + len(line) == begin + skipped + len(block)
            yield number, line, _flaw(line if last else line + b"\n", offset)
            offset += len(line) + 1


def _flaw(line: bytes, offset: int) -> str | None:
    control = _CONTROL.search(line)
    if control is not None:
        byte = control.group()[0]
        at = offset + control.start()
        if byte == 0:
            return f"NUL byte at byte {at} of the file"
        if byte == 13:
            return f"carriage return inside the line, at byte {at} of the file: lines end with LF or CR LF"
        return f"control character 0x{byte:02X} at byte {at} of the file"
    wrong = _invalid_at(line)
    if wrong is not None:
        return f"invalid UTF-8 at byte {offset + wrong} of the file"
    return None


def _invalid_at(data: bytes) -> int | None:
    if data.isascii():
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _line_blocks(buffer: pa.Buffer) -> Iterator[tuple[int, bytes]]:
    """The buffer in pieces that end where a line ends, each with its place."""
    begin = 0
    while begin < buffer.size:
        size = _BLOCK
        while True:
            block = buffer.slice(begin, min(size, buffer.size - begin)).to_pybytes()
            if begin + len(block) == buffer.size:
                break
            end = block.rfind(b"\n") + 1
            if end:
                block = block[:end]
                break
            size *= 2  # a line longer than a block
        yield begin, block
        begin += len(block)
