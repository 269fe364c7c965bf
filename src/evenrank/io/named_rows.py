"""Rows with names from a small table that a person wrote: CSV, TSV or JSON lines, each with its line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from evenrank.errors import DataError, Problem
from evenrank.files import read_utf8

JSON_LINES = (".jsonl", ".json", ".ndjson")
TABS = (".tsv", ".tab")


def read_named_rows(
    path: Path, *, columns: Sequence[str] = (), holds: str = ""
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The line at which each row begins, and its cells by name.

    The ending of the file's name says how it is written. A table of cells must have these ``columns``; in
    JSON lines every object says itself what it has.
    """
    text = read_utf8(path, holds)
    if path.suffix.lower() in JSON_LINES:
        yield from _objects(text, path)
    else:
        yield from _cells(text, path, columns)


def _objects(text: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            row = json.loads(content)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise DataError.listing(str(path), [Problem(line, "is not a JSON object, {...}")])
        yield line, row


def _cells(text: str, path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    delimiter = "\t" if path.suffix.lower() in TABS else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1  # at which the next row begins: a row may have several lines, and empty ones are no rows
    try:
        names = next(reader, [])
        for name in columns:
            if name not in names:
                there = ", ".join(map(repr, names)) or "none"
                raise DataError(
                    f"{path}:1: no column {name!r}; the file needs {', '.join(columns)}; its columns: {there}"
                )
        line = reader.line_num + 1
        for cells in reader:
            if len(cells) > len(names):
                wrong = f"{len(cells)} cells, the head has {len(names)}: quote cells that hold {delimiter!r}"
                raise DataError.listing(str(path), [Problem(line, wrong)])
            if cells:
                yield line, dict(zip_longest(names, cells, fillvalue=""))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError.listing(str(path), [Problem(line, f"is not CSV: {error}")]) from None
