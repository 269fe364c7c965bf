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
from evenrank.io.cells import described, id_cells, is_missing, is_number, one_array, score_cells
from evenrank.io.column_names import ACCEPTED, SharedColumns, candidates, listed, resolve
from evenrank.io.groups.bins import CURE, Bins, binned
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import query_column

NO_HEADER = (
    "if the first line is not a header and every line is document,label,label,.. then say format='trec-fair' "
    "(in the shell FILE:format=trec-fair)"
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

    @property
    def own_columns(self) -> dict[str, str]:
        """Those that were named for this source: that of documents may be named for several files at once."""
        shared = isinstance(self.columns, SharedColumns)
        return {role: name for role, name in self.columns.items() if not (shared and role == "document")}


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
    report, chosen = table.report, table.roles
    called = asked.name  # in messages
    if chosen is None:
        try:
            chosen = _chosen(table, asked)
        except DataError as error:
            said = report.error() if report.found else error  # lines that are no rows may be why
            has_header = bool(candidates(table.names, "document"))
            raise DataError(f"{said}\n{NO_HEADER}") if table.text and not has_header else said from None
        called = chosen.get("value", called)
    documents = id_cells(table.column(chosen["document"]), "document", report)
    queries = None
    if "query" in chosen:
        queries = as_strings(query_column(table, chosen["query"]))
    report.subject = lambda row: f"document {documents[row].as_py()!r}: "
    if asked.bins is not None:
        values = _bins(table, asked.name, chosen.get("value"), called, asked.bins)
    elif "value" in chosen:
        values = _labels(table.column(chosen["value"]), called, report)
        if "share" in chosen and values[3] is None:
            values = _with_shares(
                values, score_cells(table.column(chosen["share"]), report, "share", text=table.text), report
            )
    else:
        values = _shares_by_column(table, _value_columns(table, asked, chosen))
        if asked.values is None:
            report.hint = f" (the columns taken for values: {listed(values[2])})"
    report.check()
    if len(documents) == 0:
        raise DataError(f"{table.name}: no groups (the table has no rows)")
    lists = asked.bins is not None or "value" not in chosen
    entries = Entries(documents, queries, *values, report, lists)
    if asked.votes:
        if entries.shares is not None:
            raise DataError(f"{table.name}: a vote is one label, not shares: read shares without votes")
        _check_votes(entries, id_cells(table.column(chosen["rater"]), "rater", report))
    return entries


def _chosen(table: NamedTable, asked: Asked) -> dict[str, str]:
    """The columns of documents, queries, values and shares, as far as there are any."""
    given = {role: name for role, name in asked.columns.items() if name in table.names} | asked.own_columns
    for role in given:
        if role not in _ROLES:
            raise ParameterError(f"columns: {role!r} is not one of {', '.join(_ROLES)}")
    if asked.column is not None and given.setdefault("value", asked.column) != asked.column:
        raise ParameterError(f"the values are in {asked.column!r} or in {given['value']!r}: say one")
    if "value" not in given and asked.name in table.names:
        given["value"] = asked.name
    found = {role: [name for name in table.names if name in ACCEPTED[role]] for role in _ROLES}
    spare = [name for name in _SPARE_IDS if name in table.names]
    if spare and "document" not in given and not found["document"]:
        given["document"] = spare[0]
    taken = {name for role, name in given.items() if role != "query"}
    has_value = "value" in given or found["value"] or asked.votes
    wanted = {
        "document": True,
        "query": "query" in given or set(found["query"]) - taken,
        "rater": asked.votes,
        "value": has_value,
        "share": has_value and ("share" in given or found["share"]),
    }
    if "value" not in given and len(found["value"]) > 1:
        raise DataError(
            f"{table.name}: the values of {asked.name!r} could be in any of the columns "
            f"{listed(found['value'])}: say which, column={found['value'][0]!r} (in the shell "
            f"FILE:column={found['value'][0]})"
        )
    advice = " (in the shell --columns document=NAME, or behind a file of groups FILE:document=NAME)"
    roles = [role for role, there in wanted.items() if there]
    return resolve(table.names, roles, given, table.name, advice=advice, shell="FILE:")


def _value_columns(table: NamedTable, asked: Asked, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that stand for a value each."""
    rest = [name for name in table.names if name not in chosen.values()]
    names = rest if asked.values is None else list(asked.values)
    missing = [name for name in names if name not in rest]
    if asked.values is None:
        missing = [name for name in names if not _holds_numbers(table.column(name))]
    if missing or len(names) < 2:
        lacking = f" for {listed(missing)}" if missing else ""
        raise DataError(
            f"{table.name}: no column of labels for {asked.name!r} (accepted: {asked.name}, "
            f"{', '.join(ACCEPTED['value'])}), and no columns of shares{lacking}; the columns found are "
            f"{listed(table.names)}: name it with column=... (in the shell FILE:column=NAME)"
        )
    return tuple(names)


def _holds_numbers(cells: Any) -> bool:
    """Whether some of the first cells are numbers."""
    first = one_array(cells[:PROBLEMS_SHOWN])
    return any(is_number(str(cell)) for cell in (first.to_pylist() if isinstance(first, pa.Array) else first))


def _bins(table: NamedTable, name: str, column: str | None, called: str, bins: Bins) -> Values:
    """A column of numbers, in groups."""
    if column is None:
        raise DataError(
            f"{table.name}: no column of numbers for {name!r}; the columns found are {listed(table.names)}: "
            "name it with column=... (in the shell FILE:column=NAME)"
        )
    table.report.check()
    cells = table.column(column)
    if not _holds_numbers(cells):
        raise DataError(
            f"{table.name}: {called!r} has no numbers, and bins= makes groups of numbers: give it to columns "
            "of numbers alone (in the shell --groups seller --groups price:bins=4)"
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
    columns = [
        _numbers(table.column(name), table.report, f"the share of {name}", text=table.text) for name in names
    ]
    shares = np.stack([numbers for numbers, _ in columns], axis=1)  # (R, L)
    missing = np.stack([gaps for _, gaps in columns], axis=1)  # (R, L)
    rows = np.flatnonzero(~missing.all(axis=1))
    for place, row in np.argwhere(missing[rows].T)[: PROBLEMS_SHOWN + 1].tolist():
        table.report.add(int(rows[row]), f"the share of {names[place]} is missing")
    codes = np.tile(np.arange(len(names)), len(rows))
    return np.repeat(rows, len(names)), codes, names, shares[rows].ravel()


def _numbers(cells: Any, report: RowProblems, role: str, *, text: bool) -> tuple[Floats, Bools]:
    """The number of each cell, 0 for one that is empty; and which are empty."""
    cells = one_array(cells)
    if isinstance(cells, pa.Array):
        gaps = pc.is_null(cells, nan_is_null=pa.types.is_floating(cells.type))
        if is_text(cells.type):
            blank = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(cells)), 0)
            gaps = pc.or_(gaps, pc.fill_null(blank, True))
        missing = values_of(gaps)
    else:
        missing = np.array(
            [is_missing(cell) or (isinstance(cell, str) and not cell.strip()) for cell in cells], bool
        )
    if missing.any():
        listed_cells = cells.to_pylist() if isinstance(cells, pa.Array) else cells
        blank = "0" if text else 0
        cells = [blank if gap else cell for gap, cell in zip(missing.tolist(), listed_cells, strict=True)]
    return score_cells(cells, report, role, text=text), missing


def _labels(cells: Any, column: str, report: RowProblems) -> Values:
    """An empty cell has no value, a list several, and a mapping has shares of them."""
    cells = one_array(cells)
    if isinstance(cells, list) and all(isinstance(cell, str) for cell in cells):
        cells = as_strings(cells)
    if isinstance(cells, pa.Array) and pa.types.is_integer(cells.type):
        cells = cells.cast(pa.large_string())
    if isinstance(cells, pa.Array) and is_text(cells.type):
        return (*_text_labels(cells), None)
    rows, values, shares = list[int](), list[str](), list[float]()
    whole, wrong = True, 0
    cells = cells.to_pylist() if isinstance(cells, pa.Array) else cells
    for row, cell in enumerate(cells):
        for item, share in _values_of(cell):
            value, flaw = _label(item)
            if flaw and _is_number(item) and all(_is_number(one) or is_missing(one) for one in cells):
                raise DataError(
                    f"{report.source}: {column!r} has numbers with a part behind the point, not labels: "
                    f"{CURE}"
                )
            if not flaw and not _is_number(share):
                flaw = f"the share of {value!r} must be a number, got {described(share)}"
            if flaw:
                report.add(row, flaw)
                wrong += 1
            elif value:
                rows.append(row)
                values.append(value)
                shares.append(float(share))
        whole = whole and not isinstance(cell, Mapping)
        if wrong > PROBLEMS_SHOWN:
            break
    codes, names = encode_first_seen(values)
    return np.array(rows, np.int64), codes.astype(np.int64), names, None if whole else np.array(shares)


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
    if _is_number(item) and item == math.floor(item):
        return str(int(item)), ""
    if is_missing(item):
        return "", "a value in the list is missing"
    return "", f"value {described(item)} is not a label: labels are text or whole numbers"


def _is_number(item: Any) -> bool:
    number = isinstance(item, (int, float, np.number)) and not isinstance(item, bool)
    return number and math.isfinite(item)


def _check_votes(entries: Entries, raters: pa.LargeStringArray) -> None:
    """Each rater votes once on a document (of a query), for one label."""
    report = entries.report
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
