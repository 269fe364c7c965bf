"""The rows of a table as documents, values of an attribute and shares of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.arrays import Bools, Floats, Int64s, values_of
from evenrank.data.lookup import repeated_pairs
from evenrank.errors import PROBLEMS_SHOWN, DataError, ParameterError
from evenrank.ids import as_strings, encode_first_seen, is_text
from evenrank.io.cells import described, id_cells, is_missing, is_number, listed_cells, one_array, score_cells
from evenrank.io.column_names import ACCEPTED, candidates, listed
from evenrank.io.groups.bins import CURE, Bins, binned
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import Role, column_of_roles, query_column

NO_HEADER = (
    "if the first line is not a header and every line is document,label,label,.. then say format='trec-fair' "
    "(in the project file too)"
)
_ROLES = ("query", "document", "value", "share", "rater")
_SPARE_IDS = ("id", "_id")


@dataclass(frozen=True)
class Asked:
    """What decides how a source is read."""

    name: str
    values: Sequence[str] | None = None
    column: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    multilabel: bool = False
    votes: bool = False  # each row is the label of one rater
    bins: Bins | None = None  # the column has numbers, which become ordered groups


class Entries(NamedTuple):
    """What a source says: the document of row ``rows[e]`` has ``names[codes[e]]`` by ``shares[e]``.

    A row without an entry is a document without a value. Names are in the order of their first appearance,
    or, where the source ``lists`` them, in its order.
    """

    documents: pa.LargeStringArray  # (R,)
    queries: pa.LargeStringArray | None  # (R,)
    rows: Int64s  # (E,)
    codes: Int64s  # (E,)
    names: tuple[str, ...]
    shares: Floats | None  # (E,); None: each has the whole document
    report: RowProblems
    lists: bool = False

    @property
    def owners(self) -> Int64s:
        """(R,): one number for each document, or for each pair of query and document."""
        owners, found = encode_first_seen(self.documents)
        if self.queries is None:
            return owners.astype(np.int64)
        return encode_first_seen(self.queries)[0].astype(np.int64) * len(found) + owners


Values = tuple[Int64s, Int64s, tuple[str, ...], Floats | None]  # rows, codes, names and shares of entries


def table_entries(table: NamedTable, asked: Asked) -> Entries:
    report, called = table.report, asked.name
    chosen: Mapping[str, str] = table.roles or {}
    if table.roles is None:
        chosen = _chosen(table, asked)
        called = chosen.get("value", called)
    documents = id_cells(table.column(chosen["document"]), "document", report)
    queries = as_strings(query_column(table, chosen["query"])) if "query" in chosen else None
    report.subject = lambda row: f"document {documents[row].as_py()!r}: "
    lists = asked.bins is not None or "value" not in chosen
    if asked.bins is not None:
        values = _bins(table, chosen.get("value"), called, asked.bins)
    elif lists:
        names = _value_columns(table, asked, chosen)
        values = _shares_by_column(table, names)
        if asked.values is None:
            report.hint = f" (the columns taken for values: {listed(names)})"
    else:
        values = _labels(table.column(chosen["value"]), called, report)
        if "share" in chosen and values[3] is None:
            cells = table.column(chosen["share"])
            values = _with_shares(values, score_cells(cells, report, "share", text=table.text), report)
    report.check()
    if len(documents) == 0:
        raise DataError(f"{table.name}: no groups (the table has no rows)")
    entries = Entries(documents, queries, *values, report, lists)
    if asked.votes:
        _check_votes(entries, id_cells(table.column(chosen["rater"]), "rater", report))
    return entries


def _chosen(table: NamedTable, asked: Asked) -> dict[str, str]:
    """The columns of documents, queries, values and shares, as far as there are any."""
    given = dict(asked.columns)
    if wrong := [role for role in given if role not in _ROLES]:
        raise ParameterError(f"columns: {wrong[0]!r} is not one of {', '.join(_ROLES)}")
    if asked.column is not None and given.setdefault("value", asked.column) != asked.column:
        raise ParameterError(f"the values are in {asked.column!r} or in {given['value']!r}: say one")
    if asked.name in table.names:
        given.setdefault("value", asked.name)
    found = {role: [name for name in table.names if name in ACCEPTED[role]] for role in _ROLES}
    if spare := [name for name in _SPARE_IDS if name in table.names and not found["document"]]:
        given.setdefault("document", spare[0])
    has_value = bool("value" in given or found["value"] or asked.votes)
    there = {
        "document": True,
        "query": "query" in given or not set(found["query"]) <= set(given.values()),
        "rater": asked.votes,
        "value": has_value,
        "share": has_value and ("share" in given or bool(found["share"])),
    }
    try:
        if "value" not in given and len(found["value"]) > 1:
            raise DataError(
                f"{table.name}: the values of {asked.name!r} could be in any of the columns "
                f"{listed(found['value'])}: say which, column={found['value'][0]!r} (in the shell "
                f"FILE:column={found['value'][0]})"
            )
        roles = [Role(role) for role in there if there[role]]
        return column_of_roles(table, roles, given)
    except DataError as error:
        has_header = not table.text or candidates(table.names, "document")
        raise error if has_header else DataError(f"{error}\n{NO_HEADER}") from None


def _value_columns(table: NamedTable, asked: Asked, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that stand for a value each."""
    rest = [name for name in table.names if name not in chosen.values() and name not in ACCEPTED["share"]]
    names = rest if asked.values is None else list(asked.values)
    missing = [name for name in names if name not in rest]
    if asked.values is None:
        missing = [name for name in names if not _holds_numbers(table.column(name))]
    if missing or len(names) < 2:
        lacking = f" for {listed(missing)}" if missing else ""
        raise DataError(
            f"{table.name}: no column of labels for {asked.name!r} (accepted: {asked.name}, "
            f"{', '.join(ACCEPTED['value'])}), and no columns of shares{lacking}; the columns found are "
            f"{listed(table.names)}: name the column of labels with column=... (in the shell "
            "FILE:column=NAME)"
        )
    return tuple(names)


def _holds_numbers(cells: Any) -> bool:
    """Whether some of the first cells are numbers."""
    return any(is_number(str(cell)) for cell in listed_cells(one_array(cells[:PROBLEMS_SHOWN])))


def _bins(table: NamedTable, column: str | None, called: str, bins: Bins) -> Values:
    """A column of numbers, in groups."""
    table.report.check()
    cells = None if column is None else table.column(column)
    if cells is None or not _holds_numbers(cells):
        raise DataError(
            f"{table.name}: no column of numbers for {called!r}, and bins= makes groups of numbers; the "
            f"columns found are {listed(table.names)}: name it with column=... (in the shell --groups seller "
            "--groups price:bins=4, or FILE:column=NAME)"
        )
    numbers, missing = _numbers(cells, table.report, called, text=table.text)
    table.report.check()
    rows = np.flatnonzero(~missing)
    codes, names = binned(numbers[rows], called, bins)
    return rows, codes, names, None


def _with_shares(values: Values, shares: Floats, report: RowProblems) -> Values:
    """Labels with the share that stands beside each."""
    rows, codes, names, _ = values
    counts = np.bincount(rows, minlength=len(shares))
    for row in np.flatnonzero(counts != 1)[: PROBLEMS_SHOWN + 1].tolist():
        report.add(row, "several values beside one share" if counts[row] else "value is missing")
    return rows, codes, names, shares[rows]


def _shares_by_column(table: NamedTable, names: tuple[str, ...]) -> Values:
    """One column a value; a row whose cells are all empty has none."""
    found = [
        _numbers(table.column(name), table.report, f"the share of {name}", text=table.text) for name in names
    ]
    shares, missing = (np.stack(both, axis=1) for both in zip(*found, strict=True))  # (R, L) each
    rows = np.flatnonzero(~missing.all(axis=1))
    for place, row in np.argwhere(missing[rows].T)[: PROBLEMS_SHOWN + 1].tolist():
        table.report.add(int(rows[row]), f"the share of {names[place]} is missing")
    codes = np.tile(np.arange(len(names)), len(rows))
    return np.repeat(rows, len(names)), codes, names, shares[rows].ravel()


def _numbers(cells: Any, report: RowProblems, role: str, *, text: bool) -> tuple[Floats, Bools]:
    """The number of each cell, 0 for one that is empty; and which are empty."""
    cells = one_array(cells)
    if isinstance(cells, pa.Array) and not is_text(cells.type):
        missing = values_of(pc.is_null(cells, nan_is_null=pa.types.is_floating(cells.type)))
    elif isinstance(cells, pa.Array):
        missing = values_of(pc.equal(pc.utf8_trim_whitespace(pc.fill_null(cells, "")), ""))
    else:
        missing = np.array([is_missing(one) or (isinstance(one, str) and not one.strip()) for one in cells])
    if missing.any():
        blank = "0" if text else 0
        cells = [blank if gap else cell for gap, cell in zip(missing, listed_cells(cells), strict=True)]
    return score_cells(cells, report, role, text=text), missing.astype(bool)


def _labels(cells: Any, called: str, report: RowProblems) -> Values:
    """An empty cell has no value, a list several, and a mapping has shares of them."""
    cells = one_array(cells)
    if isinstance(cells, list) and all(isinstance(cell, str) for cell in cells):
        cells = as_strings(cells)
    if isinstance(cells, pa.Array) and pa.types.is_integer(cells.type):
        cells = cells.cast(pa.large_string())
    if isinstance(cells, pa.Array) and is_text(cells.type):
        return (*_text_labels(cells), None)
    rows, values, shares, wrong = list[int](), list[str](), list[float](), 0
    cells = listed_cells(cells)
    for row, cell in enumerate(cells):
        for item, share in _values_of(cell):
            value, flaw = _label(item)
            if not flaw and not _is_number(share):
                flaw = f"the share of {value!r} must be a number, got {described(share)}"
            if flaw:
                report.add(row, flaw)
                wrong += 1
            elif value:
                rows.append(row)
                values.append(value)
                shares.append(float(share))
        if wrong > PROBLEMS_SHOWN:
            break
    if wrong and all(_is_number(cell) or is_missing(cell) for cell in cells):
        what = f"{called!r} has numbers with a part behind the point, not labels"
        raise DataError(f"{report.source}: {what}: {CURE}")
    codes, names = encode_first_seen(values)
    shared = any(isinstance(cell, Mapping) for cell in cells)
    return np.array(rows, np.int64), codes.astype(np.int64), names, np.array(shares) if shared else None


def _text_labels(cells: pa.Array) -> tuple[Int64s, Int64s, tuple[str, ...]]:
    """The rows that are not blank, and their labels. Few labels differ, and only those are trimmed."""
    found = pc.fill_null(cells, "").dictionary_encode()
    trimmed, words = encode_first_seen(pc.utf8_trim_whitespace(found.dictionary))  # (D,)
    codes = trimmed.astype(np.int64)[values_of(found.indices)]  # (R,)
    rows = np.arange(len(codes))
    if "" in words:
        blank = words.index("")
        rows = np.flatnonzero(codes != blank)
        codes = codes[rows]
        codes -= codes > blank
    return rows, codes, tuple(word for word in words if word)


def _values_of(cell: Any) -> Iterator[tuple[Any, Any]]:
    """The values in one cell, each with its share."""
    if isinstance(cell, Mapping):
        yield from ((value, share) for value, share in cell.items() if share is not None)
    elif isinstance(cell, (set, frozenset)):
        yield from ((value, 1.0) for value in sorted(cell, key=str))
    elif isinstance(cell, (list, tuple, np.ndarray)):
        yield from ((value, 1.0) for value in cell)
    elif not is_missing(cell):
        yield cell, 1.0


def _label(item: Any) -> tuple[str, str]:
    """Text, or a whole number as its digits (a column of numbers with gaps is one of floats to pandas); and
    what is wrong with anything else."""
    if isinstance(item, str):
        return item.strip(), ""
    if is_missing(item):
        return "", "a value in the list is missing"
    if _is_number(item) and item == math.floor(item):
        return str(int(item)), ""
    return "", f"value {described(item)} is not a label: labels are text or whole numbers"


def _is_number(item: Any) -> bool:
    number = isinstance(item, (int, float, np.number)) and not isinstance(item, bool)
    return number and math.isfinite(item)


def _check_votes(entries: Entries, raters: pa.LargeStringArray) -> None:
    """Each rater votes once on a document (of a query), for one label."""
    report = entries.report
    if entries.shares is not None:
        raise DataError(f"{report.source}: a vote is one label, not shares: read shares without votes")
    for first, row in repeated_pairs(entries.owners, raters):
        place = f"{'row' if report.lines is None else 'line'} {report.line(first)}"
        report.add(row, f"rater {raters[row].as_py()!r} votes twice (first on {place})")
    labels = np.bincount(entries.rows, minlength=len(entries.documents))
    for row in np.flatnonzero(labels > 1)[: PROBLEMS_SHOWN + 1].tolist():
        report.add(row, "a vote is one label, not several")
    report.check()


def shares_of_votes(entries: Entries) -> Entries:
    """One entry for each value that a document has votes for, with the share of its votes."""
    owners = entries.owners[entries.rows]  # (E,)
    width = max(1, len(entries.names))
    keys, places, votes = np.unique(owners * width + entries.codes, return_index=True, return_counts=True)
    order = np.argsort(places)
    kept, shares = places[order], (votes / np.bincount(owners)[keys // width])[order]
    return entries._replace(rows=entries.rows[kept], codes=entries.codes[kept], shares=shares)
