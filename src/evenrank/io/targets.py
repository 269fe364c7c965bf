"""Targets in: the share that each value of an attribute should have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.data.attribute import SHARE_TOLERANCE, Attribute
from evenrank.errors import DataError, InputTypeError, Problem
from evenrank.io.cells import BadValue, parse_score, score_cells
from evenrank.io.column_names import candidates, listed
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import Role, any_table, column_of_roles, mapping_table, read_roles
from evenrank.io.trec import numbered_lines

_TABLES = ("csv", "tsv", "jsonl", "parquet")

Target = tuple[float, ...] | Mapping[str, tuple[float, ...]]


def read_target(source: object, attribute: Attribute) -> Target:
    """The target of an attribute from a file or a table, for ``Attribute`` and ``with_target``.

    A table has rows of ``value, share``, or of ``query, value, share``, or one row a query and one
    column a value; a value that is not listed has no share. Any other file has one number a line, in the
    order of the values, as NTCIR's ``.golddistr`` files.
    """
    file = as_source(source)
    if file is not None and file.guessed_format not in _TABLES:
        file.check()
        return _read_numbers(file, attribute)
    name = f"target of {attribute.name}"
    if isinstance(source, Mapping):
        return _of_table(mapping_table(source, ("query", "value", "share"), name), attribute)
    table = any_table(source, "target", name)
    if table is None:
        raise InputTypeError(
            "a target is read from a path, an open file, a dict {value: share} or {query: {value: share}}, "
            f"or a pandas, polars or Arrow table; got {type(source).__name__}"
        )
    return _of_table(table, attribute)


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


def _of_table(table: NamedTable, attribute: Attribute) -> Target:
    by_query, own = bool(candidates(table.names, "query")), attribute.name in table.names
    long = bool(candidates(table.names, "share")) and (own or bool(candidates(table.names, "value")))
    if not by_query and not long:
        raise DataError(
            f"{table.name}: a target has the columns value, share, or query, value, share, or query and one "
            f"column a value; the columns found are {listed(table.names)}"
        )
    roles = [*([Role("query", "query")] if by_query else [])]
    roles += [Role("value"), Role("share", "number")] if long else []
    named = column_of_roles(table, roles, {"value": attribute.name} if long and own else None)
    found = read_roles(table, roles, named)
    if long:
        values, shares = found["value"].to_pylist(), found["share"]
    else:
        values = [name for name in table.names if name not in named.values()]
        columns = [
            score_cells(table.column(name), table.report, f"the share of {name}", text=table.text)
            for name in values
        ]
        shares = np.stack(columns, axis=1).ravel() if columns else np.zeros(0)
    table.report.check()
    rows = np.arange(len(shares)) // (1 if long else max(1, len(values)))
    values = values if long else values * (len(shares) // max(1, len(values)))
    owners = found["query"].take(pa.array(rows)).to_pylist() if by_query else [""] * len(values)
    shared = _gathered(attribute, owners, values, shares.tolist(), rows.tolist(), table.report)
    table.report.check()
    if not shared:
        raise DataError(f"{table.name}: no target (there are no shares)")
    return shared if by_query else shared[""]


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
