"""Tables and mappings in memory or from a file, as values of an attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.ids import as_strings
from evenrank.io.cells import id_cells, is_missing, query_cells
from evenrank.io.column_names import ACCEPTED, SharedColumns, listed, resolve
from evenrank.io.groups.bins import Bins, binned, refuse_fractions
from evenrank.io.groups.entries import (
    Entries,
    begins_with_number,
    holds_numbers,
    label_entries,
    share_column,
    wide_entries,
)
from evenrank.io.groups.hints import long_not_wide, no_header, uneven_rows, unused_shares, wide_not_labels
from evenrank.io.groups.line_files import nothing
from evenrank.io.groups.votes import check_votes
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.table_files import NamedTable, open_table

_ROLES = ("query", "document", "value", "share", "rater")
_SPARE_IDS = ("id", "_id")


@dataclass(frozen=True)
class Asked:
    """What decides how a source is read."""

    name: str
    values: Sequence[str] | None
    multilabel: bool
    column: str | None
    columns: Mapping[str, str]
    votes: bool = False  # each row is the label of one rater
    bins: Bins | None = None  # the column has numbers, which become ordered groups

    @property
    def own_columns(self) -> dict[str, str]:
        """Those that were named for this source: that of documents may be named for several files at once."""
        shared = isinstance(self.columns, SharedColumns)
        return {role: name for role, name in self.columns.items() if not (shared and role == "document")}


def mapping_entries(mapping: Mapping[Any, Any], asked: Asked) -> Entries:
    name = asked.name
    nested = [isinstance(inner, Mapping) for inner in mapping.values()]
    if any(nested) and not all(nested):
        raise InputTypeError(
            f"{name}: groups are {{document: value}} or {{query: {{document: value}}}}, not a mix of both"
        )
    by_query = any(nested)
    of_queries = mapping.values() if by_query and asked.bins is None else ()
    if any(_is_share(cell) for inner in of_queries for cell in inner.values()):
        raise InputTypeError(
            f"{name}: {{query: {{document: value}}}} has labels, and numbers with a point are none: shares "
            "of values are a table with one column for each value, or rows for Membership.build"
        )
    cells = (
        [(query, document, cell) for query, inner in mapping.items() for document, cell in inner.items()]
        if by_query
        else [(None, document, cell) for document, cell in mapping.items()]
    )
    if not cells:
        raise nothing(name, "the mapping is empty")
    report = RowProblems(name, place=lambda row: f"query {cells[row][0]!r}" if by_query else "")
    documents = id_cells([document for _, document, _ in cells], "document", report)
    queries = id_cells([query for query, *_ in cells], "query", report) if by_query else None
    report.subject = _naming(documents)
    labels = [cell for *_, cell in cells]
    if asked.bins is not None:
        rows, values, order = binned(labels, name, asked.bins, report, text=False)
        return Entries(documents, queries, rows, values, None, report, order)
    refuse_fractions(labels, name, name)
    rows, values, shares = label_entries(labels, report)
    report.check()
    return Entries(documents, queries, rows, values, shares, report)


def opened(source: Source, format: str, nothing: type[DataError] = DataError) -> NamedTable:
    """The table in a file, unless its lines have several lengths, as those of authors have."""
    table = open_table(source, format, "groups", nothing)
    if table.report.found and (error := uneven_rows(found := table.report.error())) is not found:
        raise error
    return table


def table_entries(frame: NamedTable, asked: Asked) -> Entries:
    source, report = frame.name, frame.report
    chosen = _chosen(frame, asked, source)
    documents = id_cells(frame.column(chosen["document"]), "document", report)
    queries = None
    if "query" in chosen:
        queries = as_strings(query_cells(frame.column(chosen["query"]), report))
    report.subject = _naming(documents)
    order, shares = None, None
    if "value" in chosen:
        labels = frame.column(chosen["value"])
        if asked.bins is not None:
            rows, values, order = binned(labels, chosen["value"], asked.bins, report, text=frame.text)
            return Entries(documents, queries, rows, values, None, report, order)
        perhaps_share = "share" not in chosen and begins_with_number(labels, text=frame.text)
        wide = wide_not_labels(frame, chosen) if perhaps_share else ()
        if wide:
            raise DataError(
                f"{source}: {chosen['value']!r} holds shares, not labels: {listed(wide)} sum to 1 in every "
                f"row, and stand for one value each; say values={list(wide)!r} and no column, for an "
                f"attribute that is not called as one of them (in the shell FILE:values={','.join(wide)})"
            )
        if not asked.votes:
            refuse_fractions(labels, chosen["value"], source)
        rows, values, shares = label_entries(labels, report)
        if "share" not in chosen and shares is None:
            report.hint = _once(lambda: unused_shares(frame, chosen))
        if "share" in chosen and shares is None:
            shares = share_column(frame, chosen["share"], rows, report)
    elif asked.bins is not None:
        raise DataError(
            f"{source}: no column of numbers for {asked.name!r}; the columns found are "
            f"{listed(frame.names)}: name it with column=... (in the shell FILE:column=NAME)"
        )
    else:
        order = _value_columns(frame, asked, chosen, source)
        rows, values, shares = wide_entries(frame, order, report)
        if asked.values is None:
            report.hint = lambda row: f" (the columns taken for values: {listed(order)})"
    report.check()
    if len(documents) == 0:
        raise nothing(source, "the table has no rows")
    entries = Entries(documents, queries, rows, values, shares, report, order)
    if asked.votes:
        if shares is not None:
            raise DataError(f"{source}: a vote is one label, not shares: read shares without votes")
        check_votes(entries, id_cells(frame.column(chosen["rater"]), "rater", report), report)
    return entries


def _once(hint: Callable[[], str]) -> Callable[[int], str]:
    """The same hint for every row, looked for when there is a problem to add it to."""
    found = cache(hint)
    return lambda row: found()


def _is_share(cell: Any) -> bool:
    return isinstance(cell, (float, np.floating)) and not is_missing(cell)


def _naming(documents: pa.LargeStringArray) -> Callable[[int], str]:
    return lambda row: f"document {documents[row].as_py()!r}: "


def _chosen(frame: NamedTable, asked: Asked, source: str) -> dict[str, str]:
    """The columns of documents, queries, values and shares, as far as there are any."""
    given = {role: name for role, name in asked.columns.items() if name in frame.names} | asked.own_columns
    for role in given:
        if role not in _ROLES:
            raise ParameterError(f"columns: {role!r} is not one of {', '.join(_ROLES)}")
    if asked.column is not None and given.setdefault("value", asked.column) != asked.column:
        raise ParameterError(f"the values are in {asked.column!r} or in {given['value']!r}: say one")
    if "value" not in given and asked.name in frame.names:
        given["value"] = asked.name
    if "document" not in given and not _found(frame, "document"):
        spare = next((name for name in _SPARE_IDS if name in frame.names), None)
        given |= {} if spare is None else {"document": spare}
    taken = {name for role, name in given.items() if role != "query"}
    roles = ["document"]
    if "query" in given or set(_found(frame, "query")) - taken:
        roles.append("query")
    if asked.votes:
        roles.append("rater")
    if "value" in given or _found(frame, "value") or asked.votes:
        roles.append("value")
        if "share" in given or _found(frame, "share"):
            roles.append("share")
    several = _found(frame, "value")
    if "value" not in given and len(several) > 1:
        raise DataError(
            f"{source}: the values of {asked.name!r} could be in any of the columns {listed(several)}: "
            f"say which, column={several[0]!r} (in the shell FILE:column={several[0]})"
        )
    shell = " (in the shell --columns document=NAME, or behind a file of groups FILE:document=NAME)"
    advice = shell + no_header(frame.names, asked.name, *(asked.values or ()))
    return resolve(frame.names, roles, given, source, advice=advice, shell="FILE:")


def _found(frame: NamedTable, role: str) -> list[str]:
    return [name for name in frame.names if name in ACCEPTED[role]]


def _value_columns(
    frame: NamedTable, asked: Asked, chosen: Mapping[str, str], source: str
) -> tuple[str, ...]:
    """The columns that stand for a value each."""
    rest = [name for name in frame.names if name not in chosen.values()]
    if asked.values is not None:
        lacking = [value for value in asked.values if value not in rest]
        names = list(asked.values)
        wrong = f"none is called {lacking[0]!r}" if lacking else ""
    else:
        names = rest
        text = next((name for name in names if not holds_numbers(frame, name)), None)
        wrong = f"{text!r} holds no shares" if text is not None else ""
        wrong = "a single column cannot hold shares" if len(names) == 1 and not wrong else wrong
    if wrong or not names:
        raise DataError(
            f"{source}: no column of labels for {asked.name!r} (accepted: {asked.name}, "
            f"{', '.join(ACCEPTED['value'])}), and no columns of shares{': ' if wrong else ''}{wrong}; "
            f"the columns found are {listed(frame.names)}: name it with column=... (in the shell "
            f"FILE:column=NAME){long_not_wide(frame, chosen, rest, asked.values)}"
        )
    return tuple(names)
