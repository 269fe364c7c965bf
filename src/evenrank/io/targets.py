"""Targets in: the share that each value of an attribute should have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenrank.data.attribute import SHARE_TOLERANCE, Attribute
from evenrank.errors import DataError, InputTypeError, Problem
from evenrank.ids import as_strings
from evenrank.io.cells import id_cells, score_cells
from evenrank.io.column_names import ACCEPTED, listed, resolve
from evenrank.io.frames import Frame, as_frame
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source
from evenrank.io.tables import open_table
from evenrank.io.trec.careful import numbered_lines
from evenrank.io.values import BadValue, parse_score

_TABLES = ("csv", "tsv", "jsonl", "parquet")

Target = tuple[float, ...] | Mapping[str, tuple[float, ...]]


def read_target(source: object, attribute: Attribute) -> Target:
    """The target of an attribute from a file or a table, for ``Attribute`` and ``with_target``.

    A table has rows of ``value, share``, or of ``query, value, share``, or one row a query and one
    column a value; a value that is not listed has no share. Any other file has one number a line, in the
    order of the values, as NTCIR's ``.golddistr`` files.
    """
    file = as_source(source)
    if file is not None:
        file.check()
        format = file.guessed_format
        if format not in _TABLES:
            return _read_numbers(file, attribute)
        table = open_table(file, format, _nothing)
        return _read_frame(table.frame, attribute, file.name, table.report)
    frame = as_frame(source)
    if frame is None:
        raise InputTypeError(
            "a target is read from a path, an open file, or a pandas, polars or Arrow table; "
            f"got {type(source).__name__}"
        )
    name = f"target of {attribute.name}"
    return _read_frame(frame, attribute, name, RowProblems(name))


def _nothing(name: str, why: str) -> DataError:
    return DataError(f"{name}: no target ({why})")


def _read_numbers(file: Source, attribute: Attribute) -> Target:
    problems: list[Problem] = []
    shares: list[float] = []
    number = 1
    for number, line, flaw in numbered_lines(file.content().without_bom(file.name)):
        if flaw is None and not line.strip():
            continue
        try:
            if flaw is not None:
                raise BadValue(flaw)
            shares.append(_in_range(parse_score(line.strip(), "share")))
        except BadValue as error:
            problems.append(Problem(number, str(error)))
    if problems:
        raise DataError.listing(file.name, problems)
    if len(shares) != len(attribute.values):
        raise DataError(
            f"{file.name}: {len(shares)} shares for the {len(attribute.values)} values of "
            f"{attribute.name!r}: {attribute.listed()}"
        )
    if abs(sum(shares) - 1) > SHARE_TOLERANCE:
        raise DataError(f"{file.name}: the shares sum to {sum(shares):g}, not to 1")
    return tuple(shares)


def _in_range(share: float) -> float:
    if not 0 <= share <= 1 + SHARE_TOLERANCE:
        raise BadValue(f"share {share:g} is not between 0 and 1")
    return share


def _read_frame(frame: Frame, attribute: Attribute, source: str, report: RowProblems) -> Target:
    names = set(frame.names)
    by_query = bool(names & set(ACCEPTED["query"]))
    long = bool(names & set(ACCEPTED["share"])) and bool({attribute.name, *ACCEPTED["value"]} & names)
    if not by_query and not long:
        raise DataError(
            f"{source}: a target has the columns value, share, or query, value, share, or query and one "
            f"column a value; the columns found are {listed(frame.names)}"
        )
    own = {"value": attribute.name} if attribute.name in names else None
    roles = [*(["query"] if by_query else []), *(["value", "share"] if long else [])]
    chosen = resolve(frame.names, roles, own if long else None, source)
    queries = id_cells(frame.column(chosen["query"]), "query", report) if by_query else None
    if long:
        values = id_cells(frame.column(chosen["value"]), "value", report).to_pylist()
        shares = score_cells(frame.column(chosen["share"]), report, "share", text=frame.text)
        rows = np.arange(len(values))
    else:
        columns = [name for name in frame.names if name not in chosen.values()]
        cells = [
            score_cells(frame.column(name), report, f"the share of {name}", text=frame.text)
            for name in columns
        ]
        shares = np.stack(cells, axis=1).ravel() if cells else np.zeros(0)
        rows = np.repeat(np.arange(len(shares) // max(1, len(columns))), len(columns))
        values = columns * (len(rows) // max(1, len(columns)))
    report.check()
    owners = as_strings([""] * len(values)) if queries is None else queries.take(rows)
    found = _gathered(attribute, owners.to_pylist(), values, shares.tolist(), rows.tolist(), report)
    report.check()
    if not found:
        raise _nothing(source, "there are no shares")
    return found if by_query else found[""]


def _gathered(
    attribute: Attribute,
    owners: list[str],
    values: list[str],
    shares: list[float],
    rows: list[int],
    report: RowProblems,
) -> dict[str, tuple[float, ...]]:
    """The shares of each query in the order of the values; what is wrong goes into the report."""
    given: dict[str, dict[str, Any]] = {}
    last: dict[str, int] = {}
    for query, value, share, row in zip(owners, values, shares, rows, strict=True):
        of_query = f"query {query!r}: " if query else ""
        known = given.setdefault(query, {})
        last[query] = row
        if value not in attribute.values:
            report.add(
                row,
                f"{of_query}{value!r} is not a value of {attribute.name!r}: they are {attribute.listed()}",
            )
        elif not 0 <= share <= 1 + SHARE_TOLERANCE:
            report.add(row, f"{of_query}share {share:g} of {value!r} is not between 0 and 1")
        elif value in known:
            report.add(row, f"{of_query}the value {value!r} is listed twice")
        known.setdefault(value, share)
    report.check()
    for query, known in given.items():
        if abs(sum(known.values()) - 1) > SHARE_TOLERANCE:
            of_query = f"query {query!r}: " if query else ""
            report.add(last[query], f"{of_query}the shares sum to {sum(known.values()):g}, not to 1")
    return {
        query: tuple(known.get(value, 0.0) for value in attribute.values) for query, known in given.items()
    }
