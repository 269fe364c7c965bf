"""TSV: an id, a tab, the text, which is the rest of the line; with columns, fields under a header."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa

from evenrank.arrays import Int64s, integers
from evenrank.errors import PROBLEMS_SHOWN, DataError
from evenrank.io.cells import checked_ids
from evenrank.io.document_formats.declared import Edge, cut_lines, declare_documents, not_cut
from evenrank.io.document_formats.delimited import read_delimited
from evenrank.io.lines import NEWLINE, LineBlock, line_blocks
from evenrank.io.reading import Documents, Reading, Texts
from evenrank.io.row_problems import RowProblems

_TAB, _RETURN = 9, 13


def _cut(reading: Reading, total: int, size: int) -> list[Edge]:
    return (cut_lines if reading.columns is None else not_cut)(reading, total, size)


@declare_documents("tsv", cut=_cut)
def read_tsv(reading: Reading) -> Iterator[Documents | DataError]:
    if reading.columns is not None:
        yield from read_delimited(reading, "\t")
        return
    for block in line_blocks(reading):
        try:
            yield documents_of_lines(block)
        except DataError as error:
            yield error


def documents_of_lines(block: LineBlock) -> Documents:
    """The documents of a block, whose texts are not copied."""
    name = block.reading.name
    starts, tabs, ends = _edges(block)
    if ((tabs >= ends) | (tabs == starts)).any():
        raise _bad_lines(block)
    # as strings that alternate: an id, and the rest of its line
    edges = np.append(np.stack([starts, tabs], axis=1).ravel(), ends[-1:])
    both = pa.LargeStringArray.from_buffers(2 * len(starts), pa.py_buffer(edges), pa.py_buffer(block.data))
    ids = both.take(integers(np.arange(0, 2 * len(starts), 2)))
    try:
        ids.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _bad_lines(block) from error
    report = RowProblems(name)
    checked_ids(ids, "id", report)
    if report.found:
        newlines = np.flatnonzero(block.data == NEWLINE)
        report.lines = (block.line + np.searchsorted(newlines, starts)).tolist()
    report.check()
    return Documents(
        name, ids, Texts(block.data, tabs + 1, ends), block.bytes_read, lambda: _bad_lines(block)
    )


def _edges(block: LineBlock) -> tuple[Int64s, Int64s, Int64s]:
    """Start, first tab and end of each line that is not blank; a line without a tab has its end there."""
    data = block.data
    marks = np.flatnonzero(data <= NEWLINE)  # one look at every byte: few others are as small
    marks = marks[data[marks] >= _TAB]
    is_end = data[marks] == NEWLINE
    if data[-1] != NEWLINE:
        marks, is_end = np.append(marks, len(data)), np.append(is_end, True)
    last = np.flatnonzero(is_end)
    ends = marks[last]
    starts = np.concatenate([[0], ends[:-1] + 1])
    tabs = marks[np.concatenate([[0], last[:-1] + 1])]  # what follows a newline is the first tab, or the next
    ends = ends - ((ends > starts) & (data[ends - 1] == _RETURN))
    filled = ends > starts
    if filled.all():
        return starts, tabs, ends
    return starts[filled], tabs[filled], ends[filled]


def _bad_lines(block: LineBlock) -> DataError:
    """All that is wrong with the lines of a block: no tab, no id, not UTF-8."""
    return block.error(islice(_problems(block), PROBLEMS_SHOWN + 1))


def _problems(block: LineBlock) -> Iterator[tuple[int, str]]:
    for row, place, line in block.lines():
        raw = line.removesuffix(b"\r")
        tab = raw.find(b"\t")
        try:
            raw.decode()
            if raw and tab <= 0:
                yield row, "the id is empty" if tab == 0 else "no tab: a line is an id, a tab and the text"
        except UnicodeDecodeError as error:
            role = "id" if error.start < tab else "text"
            yield row, f"invalid UTF-8 in the {role} at byte {place + error.start} of the file"
