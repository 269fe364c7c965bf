"""JSONL: one object a line. Which keys are id and text is decided by the first object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from evenrank.errors import DataError
from evenrank.ids import as_strings
from evenrank.io.cells import describe_json_error, quoted
from evenrank.io.column_names import resolve_documents
from evenrank.io.document_formats.declared import Edge, cut_lines, declare_documents
from evenrank.io.lines import NEWLINE, LineBlock, line_blocks, unsound
from evenrank.io.reading import Documents, Reading, documents_of_columns
from evenrank.io.row_problems import RowProblems

_HEAD = 1 << 12  # bytes in which the first object is looked for
_NOTHING = as_strings([])
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON may escape half of a pair


def _cut(reading: Reading, total: int, size: int) -> list[Edge]:
    keys_of(reading)  # what is wrong with the keys is said before anything is read
    return cut_lines(reading, total, size)


Plain = Callable[[LineBlock, Mapping[str, str]], "Documents | None"]


@declare_documents("jsonl", cut=_cut)
def read_json_lines(reading: Reading, plain: Plain | None = None) -> Iterator[Documents | DataError]:
    """``plain`` is a faster way for blocks without anything unusual."""
    reader = _reader_of_head(reading) if reading.begin else None
    for block in line_blocks(reading):
        if reader is None:
            reader = _reader_of(block)
        chosen = {} if reader is None else reader.chosen
        try:
            found = plain(block, chosen) if plain is not None and chosen else None
            if found is not None:
                yield replace(found, bad_lines=partial(_bad_lines, block, chosen))
                continue
            found = None if reader is None else reader.parsed(block)
            yield _by_object(block, chosen) if found is None else found
        except DataError as error:
            yield error


def _bad_lines(block: LineBlock, chosen: Mapping[str, str]) -> DataError:
    """What is wrong with lines of which a text is not UTF-8."""
    try:
        _by_object(block, chosen)
    except DataError as error:
        return error
    raise AssertionError("all lines are sound")


def keys_of(reading: Reading) -> dict[str, str]:
    """Which keys are the id, the title and the text; none where there is no object."""
    reader = _reader_of_head(reading)
    return {} if reader is None else reader.chosen


def _reader_of_head(reading: Reading) -> _JsonReader | None:
    """For whoever reads from the middle of a file."""
    head = Reading(reading.source, reading.columns)
    with closing(line_blocks(head, _HEAD)) as blocks:
        return next(filter(None, map(_reader_of, blocks)), None)


def _reader_of(block: LineBlock) -> _JsonReader | None:
    """By the first object of a block, if it holds one."""
    first = next((row for _, row in objects_of(block) if isinstance(row, dict)), None)
    return None if first is None else _JsonReader(first, block.reading.columns, block.reading.name)


class _JsonReader:
    """Blocks of objects by way of Arrow; where it stumbles, Python's own reader has the last word."""

    def __init__(self, first: Mapping[str, Any], columns: Mapping[str, str] | None, name: str) -> None:
        self._name = name
        self.chosen = resolve_documents(list(first), columns, name)
        if "text" not in (columns or {}):
            self.chosen.setdefault("title", "title")  # it may be left out where it is empty
        types = {key: pa.large_string() for key in self.chosen.values()}
        if isinstance(first[self.chosen["id"]], int):
            types[self.chosen["id"]] = pa.int64()
        # types are given, or Arrow takes an id such as 2020-01-01 for a date
        self._options = pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        )

    def parsed(self, block: LineBlock) -> Documents | None:
        """What Arrow reads; None if anything about it is unusual."""
        data = block.data
        lines = np.count_nonzero(data == NEWLINE) + (data[-1] != NEWLINE)
        try:
            table = pa.json.read_json(
                pa.BufferReader(pa.py_buffer(data)),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
                parse_options=self._options,
            )
            if len(table) != lines:
                return None  # blank lines, or an object over several lines: Arrow takes that, we do not
            if "title" in self.chosen:
                title = self.chosen["title"]
                place = table.schema.get_field_index(title)
                table = table.set_column(place, title, table.column(title).fill_null(""))
            table.validate(full=True)
            report = RowProblems(self._name)
            return documents_of_columns(table.column, self.chosen, report, block.bytes_read)
        except (pa.ArrowException, DataError):
            return None


def _by_object(block: LineBlock, chosen: Mapping[str, str]) -> Documents:
    """Line by line. The error lists the lines that hold no object among the others."""
    report = RowProblems(block.reading.name)
    lines, rows = [], list[dict[str, Any]]()
    for place, (line, row) in enumerate(objects_of(block)):
        if isinstance(row, str):
            report.add(place, row)
            row = dict.fromkeys(chosen.values(), "?")  # so that the others are looked at
        for role, key in chosen.items():
            if isinstance(row.get(key), str) and _SURROGATE.search(row[key]):
                report.add(place, f"{role} holds half of a surrogate pair, which no file can hold")
                row[key] = "?"
        lines.append(line)
        rows.append(row)

    def column(key: str) -> list[Any]:
        return [(row.get(key) or "") if key == chosen.get("title") else row.get(key) for row in rows]

    try:
        if chosen:
            return documents_of_columns(column, chosen, report, block.bytes_read)
        report.check()  # there is no object
    except DataError:
        report.lines = [block.line + line for line in lines]
        raise report.error() from None
    return Documents.of(report.source, _NOTHING, _NOTHING, block.bytes_read)


def objects_of(block: LineBlock) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The place of each line that is not blank, with its object or what is wrong with it."""
    for row, place, line in block.lines():
        if not line.strip(b" \t\r"):
            continue
        try:
            found = json.loads(line.decode())
            is_object = isinstance(found, dict)
            yield row, found if is_object else f"expected an object {{...}}, got {quoted(line.strip())}"
        except UnicodeDecodeError as error:
            yield row, unsound(place + error.start)
        except (ValueError, RecursionError) as error:
            yield row, f"not JSON: {describe_json_error(error)}"
