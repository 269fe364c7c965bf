"""Groups in: which values of an attribute documents have.

Every source becomes one table with columns of documents and values, or of documents and of a share for each
value, and that becomes a ``Membership``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from evenrank.arrays import integers
from evenrank.data.attribute import Attribute, attribute_of
from evenrank.data.evidence_source import Sparse
from evenrank.data.membership import SPLITS, Membership
from evenrank.data.membership_rows import OWN, even_labels, spread_evenly
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, Problem
from evenrank.ids import as_strings, take
from evenrank.io.column_names import listed
from evenrank.io.derived_groups import StoredGroups, stored_groups
from evenrank.io.groups.bins import checked_bins, refuse_quantities
from evenrank.io.groups.entries import Asked, Entries, shares_of_votes, table_entries
from evenrank.io.groups.folders import is_several_tables, table_of_folder
from evenrank.io.groups.lines import LINES, ROLES, table_of_lines
from evenrank.io.source import Source, as_source, check_format, format_names, guess_format
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import the_table

GROUP_SUFFIXES = {".gmemb": "gmemb"}

_NO_VALUE = "is not a value of"
_OTHER_LABELS = "; add it to values=, even= (equally of all values) or ignore= (no label)"


def read_groups(
    source: object,
    name: str,
    *,
    values: Sequence[str] | None = None,
    ordinal: bool = False,
    target: Any = None,
    multilabel: bool = False,
    split: str = "share",
    even: Iterable[str] = (),
    ignore: Iterable[str] = (),
    unlabelled: str | None = None,
    votes: bool = False,
    column: str | None = None,
    unit: str | Mapping[str, str] | None = None,
    bins: int | Sequence[float] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Membership:
    """Which values of the attribute ``name`` documents have; the guide "groups" shows every form.

    ``source`` is what ``read_run`` takes, a folder or a pattern of tables (``shards/*.jsonl.gz``), or a dict
    ``{document: value}`` or ``{query: {document: value}}``. A table has a column of documents, perhaps one of
    queries, and a column of labels called like the attribute or ``column``; or rows of ``document, value,
    share``; or a column of shares for each value. ``format`` may also be ``gmemb`` (NTCIR), ``trec`` (``query
    iteration document label``) or ``trec-fair`` (``document,label,label,..``).

    - ``values``, ``ordinal`` and ``target`` are those of ``Attribute``; without ``values``, those found.
    - ``multilabel``: a document has each of several values, counted fully with ``split="full"``.
    - ``even``: labels that belong equally to all values; ``ignore``: labels that count as none.
    - ``unlabelled="own"``: each document that is listed without a label is a value of its own.
    - ``votes``: a row for each rater's label; a document has each value by its share of the votes.
    - ``unit``: the column of what labels belong to, as a seller, or a dict ``{document: unit}``.
    - ``bins``: the column has numbers, which become so many ordered groups, or groups between these edges.

    Shares sum to 1 within 1e-6. They, unknown values and a document with two values are one error that
    names the documents and their lines.

    >>> read_groups({"d1": "f", "d2": "m", "d3": None}, "gender").attribute.values
    ('f', 'm')
    """
    check_format(format, (*format_names(), "gmemb", "trec-fair"))
    if split not in SPLITS:
        raise ParameterError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    if unlabelled not in (None, OWN):
        raise ParameterError(f"unlabelled must be None or {OWN!r}, got {unlabelled!r}")
    if isinstance(values, str):
        raise InputTypeError(f"attribute {name!r}: values must be a list of names, got {values!r}")
    of_labels = {"even": even, "ignore": ignore, "unlabelled": unlabelled, "votes": votes}
    if bins is not None:
        bins, ordinal = checked_bins(name, bins), True
        _refuse(name, of_labels | {"values": values, "multilabel": multilabel}, "bins= is for numbers")
    if votes and (multilabel or unlabelled is not None):
        raise ParameterError(f"attribute {name!r}: votes are for one value, so not multilabel or own values")
    owners = None if unit is None else _units(source, unit, format, columns)
    asked = Asked(name, values, column, columns or {}, multilabel, votes, bins)
    file = as_source(source)
    path = file.path if file is not None and format in (None, "parquet") else None
    stored = None if path is None else stored_groups(path)
    if stored is not None:
        of_tables = {"column": column, "columns": asked.columns, "bins": bins}
        _refuse(name, of_labels | of_tables, f"{path} has shares")
        found = _of_derived(stored, asked, ordinal, target, str(path))
        return found if owners is None else replace(found, unit=owners)
    table, values = _table(source, file, format, asked)
    entries = table_entries(table, replace(asked, values=values))
    named = values is not None or entries.lists
    evenly, ignored = even_labels(even), even_labels(ignore)
    if entries.shares is not None:
        _refuse(name, {"even": even, "ignore": ignore}, f"{table.name} has shares")
    elif not named:
        refuse_quantities(entries.names, name, table.name)
    if ignored:
        entries = _without(entries, ignored, name)
    if votes:
        entries = shares_of_votes(entries)
    if entries.lists:
        values = values or entries.names
    if unlabelled == OWN:
        entries, values = _with_own(entries, values)
    if not len(entries.rows):
        raise DataError(f"{table.name}: no groups (no document has a value of {name!r})")
    labels = [label for label in entries.names if label not in evenly]
    if values is None:
        _check_there(evenly, entries.names, name, "even")
        if len(labels) == 1:
            raise ParameterError(
                f"{table.name}: attribute {name!r}: a share needs at least two values, and {labels[0]!r} is "
                "the only one: take a file or a column (column=) in which documents differ, or, to measure "
                "shares, name also the values that no document has (values=A,B)"
            )
    attribute = attribute_of(name, labels, values=values, ordinal=ordinal, target=target)
    built = _built(entries, attribute, evenly, multilabel, split, None if file is None else file.name)
    return replace(built, own=unlabelled == OWN, named=named, unit=owners)


def _refuse(name: str, options: Mapping[str, Any], why: str) -> None:
    """Refuse options that are for labels."""
    if given := [option for option, value in options.items() if value]:
        raise ParameterError(f"attribute {name!r}: {why}, and {given[0]}= is for labels")


def _check_there(labels: frozenset[str], found: Sequence[str], name: str, option: str) -> None:
    if absent := sorted(labels - set(found)):
        raise ParameterError(
            f"attribute {name!r}: no document has the label {absent[0]!r} of {option}=; "
            f"found are {listed(found)}"
        )


def _units(
    source: object, unit: str | Mapping[str, str], format: str | None, columns: Mapping[str, str] | None
) -> Membership:
    """Which unit each document belongs to, as an attribute with a value for each unit."""
    if isinstance(unit, Mapping):
        return read_groups(unit, "unit")
    file = as_source(source)
    if file is not None and file.path is None:
        raise ParameterError(f"{file.name}: unit= reads a file twice: give the path of a file")
    try:
        with warnings.catch_warnings():  # that numbers may be quantities: sellers have numbers, too
            warnings.simplefilter("ignore", EvenrankWarning)
            return read_groups(source, unit, column=unit, format=format, columns=columns)
    except DataError as error:
        raise DataError(str(error).replace("for the value", f"for unit={unit}")) from None


def _of_derived(stored: StoredGroups, asked: Asked, ordinal: bool, target: Any, source: str) -> Membership:
    values = tuple(asked.values or stored.groups)
    if sorted(values) != sorted(stored.groups):
        raise ParameterError(
            f"attribute {asked.name!r}: values must be the groups that were derived, "
            f"{listed(stored.groups)}, in any order; got {listed(values)}"
        )
    order = [stored.groups.index(value) for value in values]
    aim = tuple(stored.target[place] for place in order) if target is None else target
    ids, shares = stored.documents
    return Membership(
        Attribute(asked.name, values, ordinal, aim), ids, None, np.zeros(len(ids), np.int64),
        Sparse.of_dense(shares[:, order]), asked.multilabel, source=source,
    )  # fmt: skip


def _table(
    source: object, file: Source | None, format: str | None, asked: Asked
) -> tuple[NamedTable, Sequence[str] | None]:
    """Any source as a table; and the values, as far as they are known."""
    if is_several_tables(source, format):
        needed = {asked.name, asked.column, *asked.columns.values(), *(asked.values or ())}
        return table_of_folder(source, format, needed), asked.values
    if file is not None:
        format = format or guess_format(file.path or file.name, GROUP_SUFFIXES) or "trec"
        if format in LINES:
            file.check()
            _refuse_columns(asked, file.name, f"a {format} file")
            return table_of_lines(file, format, asked.values, asked.multilabel)
    given = source if file is None else file
    table = the_table(given, "groups", name=asked.name, format=format, mapping=ROLES)
    if table.roles is None:
        return table, asked.values
    cells = table.column("value")
    _refuse_columns(replace(asked, bins=None), table.name, type(source).__name__)
    if "query" not in table.names:
        table.report.at = lambda _: table.name  # documents are named anyway
        return table, asked.values
    if asked.bins is None and any(isinstance(cell, float) and cell == cell for cell in cells):
        raise InputTypeError(
            f"{asked.name}: {{query: {{document: value}}}} has labels, and numbers with a point are none: "
            "shares of values are a table with one column for each value, or rows for Membership.build"
        )
    queries = table.column("query")
    table.report.at = lambda row: f"{table.name}: query {queries[row]!r}"
    return table, asked.values


def _refuse_columns(asked: Asked, name: str, kind: str) -> None:
    options = {"votes": asked.votes, "bins": asked.bins, "columns": asked.column or asked.columns}
    if given := [option for option, value in options.items() if value]:
        raise ParameterError(f"{name}: {given[0]}= applies only to tables: {kind} has no named columns")


def _without(entries: Entries, ignore: frozenset[str], name: str) -> Entries:
    """The entries without those of the labels to ignore: their documents then have no label."""
    _check_there(ignore, entries.names, name, "ignore")
    stays = np.array([label not in ignore for label in entries.names], bool)  # (L,)
    kept = np.flatnonzero(stays[entries.codes])
    codes = (np.cumsum(stays) - 1)[entries.codes[kept]]
    names = tuple(label for label in entries.names if label not in ignore)
    return entries._replace(rows=entries.rows[kept], codes=codes, names=names)


def _with_own(entries: Entries, values: Sequence[str] | None) -> tuple[Entries, Sequence[str] | None]:
    """Each document without a value as a value of its own."""
    bare = np.setdiff1d(np.arange(len(entries.documents)), entries.rows)
    own = take(entries.documents, bare).to_pylist()
    place = {label: code for code, label in enumerate(dict.fromkeys((*entries.names, *own)))}
    rows = np.concatenate([entries.rows, bare])
    codes = np.concatenate([entries.codes, np.array([place[label] for label in own], np.int64)])
    shares = None if entries.shares is None else np.concatenate([entries.shares, np.ones(len(bare))])
    found = entries._replace(rows=rows, codes=codes, names=tuple(place), shares=shares)
    return found, None if values is None else list(dict.fromkeys((*values, *own)))


def _built(
    entries: Entries,
    attribute: Attribute,
    even: frozenset[str],
    multilabel: bool,
    split: str,
    source: str | None,
) -> Membership:
    codes = pa.DictionaryArray.from_arrays(integers(entries.codes), as_strings(entries.names))
    places, values, shares = spread_evenly(attribute, codes, even)
    rows = entries.rows[places]
    queries = None if entries.queries is None else take(entries.queries, rows)
    try:
        return Membership.build(
            attribute, take(entries.documents, rows), values, entries.shares if shares is None else shares,
            queries=queries, multilabel=multilabel, split=split, source=source,
        )  # fmt: skip
    except DataError as error:  # it counts entries; the user knows lines, rows or documents
        problems = [Problem(int(rows[line - 1]) + 1, what) for line, what in error.problems]
        unknown = next((place for place, one in enumerate(problems) if _NO_VALUE in one.what), None)
        if unknown is not None:
            problems[unknown] = problems[unknown]._replace(what=problems[unknown].what + _OTHER_LABELS)
        moved = DataError.listing(entries.report.source, problems, more=error.more)
        raise entries.report.relocated(moved if problems else error) from None
