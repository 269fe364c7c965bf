"""The line-by-line way through a TREC file: takes whatever the format allows, and lists what it does not.

What it takes it writes anew, clean, for the fast way, so that there is one way from lines to columns.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from evenrank.data.lookup import repeated_pairs
from evenrank.errors import PROBLEMS_SHOWN, DataError, EvenrankWarning, Problem, counted
from evenrank.io.cells import ID_LIMIT, BadValue, quoted
from evenrank.io.column_names import ACCEPTED
from evenrank.io.layout import BY_INTENT, NO_BLANKS, Columns, Layout
from evenrank.io.source import Content
from evenrank.io.trec import fast

_BLOCK = 1 << 22
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)")


def parse(content: Content, layout: Layout, name: str) -> Columns:
    """The columns of a file, or one error that lists its problems."""
    problems: list[Problem] = []
    numbers = array("q")  # of the lines that are rows
    clean = bytearray()  # these lines as ``fast`` takes them
    perhaps_moved = list[tuple[int, bytes]]()
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
            misfit = layout.misfit(fields)
        else:
            misfit = layout.moved(fields) or (layout.too_long(fields) if len(line) > ID_LIMIT else "")
        if misfit:
            other = _table_format(line, fields) if not problems and not len(numbers) else None
            if other is not None:  # every line would be wrong in the same way
                raise DataError.listing(name, [Problem(number, _not_trec(layout, other))])
            problems.append(Problem(number, misfit))
            continue
        if layout.perhaps_moved(fields) and len(perhaps_moved) <= PROBLEMS_SHOWN:
            perhaps_moved.append((number, fields[layout.document] + b" " + fields[layout.document + 1]))
        value = 0
        try:
            value = layout.parse(fields[layout.value])
        except BadValue as error:
            problems.append(Problem(number, str(error)))
        numbers.append(number)
        clean += layout.clean(fields, value)
    columns = fast.parse(Content(pa.py_buffer(clean)), layout)
    if columns is not None:
        flawed = {problem.line for problem in problems}
        repeated = _repeated(columns, layout, numbers, clean)
        problems += [problem for problem in repeated if problem.line not in flawed]
    if problems:
        raise DataError.listing(name, sorted(problems))
    if perhaps_moved:
        _warn_of_moved(name, perhaps_moved)
    if columns is None:
        empty = content.buffer.size + content.lines == 0
        raise layout.nothing(name, "the file is empty" if empty else "only comments and blank lines")
    return columns


def _repeated(columns: Columns, layout: Layout, numbers: Sequence[int], clean: bytearray) -> list[Problem]:
    """Lines whose document stands in the same list already, with the line of the first."""
    codes = columns.queries.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if columns.intents is not None:
        intents = columns.intents.dictionary_encode()
        codes = codes * len(intents.dictionary) + intents.indices.to_numpy(zero_copy_only=False)
    problems, lines = list[Problem](), list[bytes]()
    for first, row in repeated_pairs(codes, columns.documents, PROBLEMS_SHOWN + 1):
        lines = lines or bytes(clean).split(b"\n")
        fields, others = lines[row].split(), lines[first].split()
        what = layout.repeated(
            quoted(fields[layout.document]), quoted(fields[0]), quoted(fields[1]), numbers[first]
        )
        hint = BY_INTENT if layout.value_name == "grade" and fields[1] != others[1] else ""
        problems.append(Problem(numbers[row], what + hint))
    return problems


def _warn_of_moved(name: str, found: Sequence[tuple[int, bytes]]) -> None:
    line, document = found[0]
    others = f" and {counted(len(found) - 1, 'line', 'lines')} more" if len(found) > 1 else ""
    if len(found) > PROBLEMS_SHOWN:
        others = f" and {PROBLEMS_SHOWN} lines or more"
    warnings.warn(
        f"{name}:{line}{others}: more than six fields, and the sixth is a number. They were read as a tag "
        f"with blanks; if {quoted(document)} is one document id, the scores are wrong: {NO_BLANKS}",
        EvenrankWarning,
        stacklevel=2,
    )


def _table_format(line: bytes, fields: Sequence[bytes]) -> str | None:
    """The format that the first line has, where it is clearly not one of TREC."""
    if line.lstrip().startswith(b"{"):
        return "jsonl"
    if line.count(b",") > 1 and len(fields) < 3:
        return "csv"
    if line.count(b";") > 1 and len(fields) < 3:
        return ";"
    cells = {cell.strip().decode(errors="replace") for cell in line.split(b"\t")}
    return "tsv" if all(cells & {*ACCEPTED[role]} for role in ("query", "document")) else None


def _not_trec(layout: Layout, format: str) -> str:
    needed = " ".join(layout.fields)
    if format == ";":
        return (
            f"this file is read as TREC ({needed}), but this line is separated by semicolons (';'): write it "
            "as CSV, with commas"
        )
    return (
        f"this file is read as TREC ({needed}), but this line looks like {format.upper()}: write "
        f"FILE:format={format} (in Python format={format!r}), or give the file the suffix .{format}"
    )


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
