"""Targets in: the share that each value of an attribute should have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count, repeat

from evenrank.data.attribute import SHARE_TOLERANCE, Attribute
from evenrank.errors import DataError
from evenrank.io.cells import score_cells
from evenrank.io.column_names import candidates, listed
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source
from evenrank.io.table_files import NamedTable, decoded
from evenrank.io.tables import Role, column_of_roles, read_roles, the_table

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
        return _of_numbers(file, attribute)
    name = f"target of {attribute.name}"
    return _of_table(the_table(source, "targets", name=name, mapping=("query", "value", "share")), attribute)


def _of_numbers(file: Source, attribute: Attribute) -> Target:
    lines = decoded(file.content(), file.name).split("\n")
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    report = RowProblems(file.name, lines=numbers)
    shares = score_cells([lines[number - 1] for number in numbers], report, "share", text=True)
    if len(shares) != len(attribute.values):
        report.check()
        raise DataError(
            f"{file.name}: {len(shares)} shares for the {len(attribute.values)} values of "
            f"{attribute.name!r}: {attribute.listed()}"
        )
    rows = zip(repeat(""), attribute.values, shares.tolist(), count(), strict=False)
    return _gathered(attribute, rows, report)[""]


def _of_table(table: NamedTable, attribute: Attribute) -> Target:
    by_query, own = bool(candidates(table.names, "query")), attribute.name in table.names
    long = bool(candidates(table.names, "share")) and (own or bool(candidates(table.names, "value")))
    if not by_query and not long:
        raise DataError(
            f"{table.name}: a target has the columns value, share, or query, value, share, or query and one "
            f"column a value; the columns found are {listed(table.names)}"
        )
    roles = [Role("query", "query")] * by_query
    roles += [Role("value"), Role("share", "number")] * long
    named = column_of_roles(table, roles, {"value": attribute.name} if long and own else None)
    found = read_roles(table, roles, named)
    queries = found["query"].to_pylist() if by_query else [""] * len(found["share"])
    if long:
        rows = list(zip(queries, found["value"].to_pylist(), found["share"].tolist(), count(), strict=False))
    else:
        values = [name for name in table.names if name not in named.values()]
        columns = [
            score_cells(table.column(name), table.report, f"the share of {name}", text=table.text)
            for name in values
        ]
        rows = [
            (query, value, float(column[row]), row)
            for row, query in enumerate(queries)
            for value, column in zip(values, columns, strict=True)
        ]
    if by_query:
        table.report.subject = lambda row: f"query {queries[row]!r}: "
    shared = _gathered(attribute, rows, table.report)
    if not shared:
        raise DataError(f"{table.name}: no target (there are no shares)")
    return shared if by_query else shared[""]


def _gathered(
    attribute: Attribute, rows: Iterable[tuple[str, str, float, int]], report: RowProblems
) -> dict[str, tuple[float, ...]]:
    """The shares of each query in the order of the values, from query, value, share and row of each."""
    given: dict[str, dict[str, float]] = {}
    last: dict[str, int] = {}
    for query, value, share, row in rows:
        known = given.setdefault(query, {})
        if value not in attribute.values:
            report.add(row, f"{value!r} is not a value of {attribute.name!r}: they are {attribute.listed()}")
        elif value in known:
            report.add(row, f"the value {value!r} is listed twice")
        elif not 0 <= share <= 1 + SHARE_TOLERANCE:
            report.add(row, f"share {share:g} of {value!r} is not between 0 and 1")
        known.setdefault(value, share)
        last[query] = row
    report.check()
    for query, known in given.items():
        total = sum(known.values())
        if abs(total - 1) > SHARE_TOLERANCE:
            report.add(last[query], f"the shares sum to {total:g}, not to 1")
    report.check()
    return {
        query: tuple(known.get(value, 0.0) for value in attribute.values) for query, known in given.items()
    }
