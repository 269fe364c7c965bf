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
from evenrank.data.membership import SPLITS, Membership
from evenrank.data.membership_rows import OWN, even_labels, spread_evenly
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, Problem
from evenrank.ids import as_strings, take
from evenrank.io.by_need import MembershipByNeed
from evenrank.io.column_names import listed
from evenrank.io.counts import ID
from evenrank.io.derived_groups import StoredGroups, stored_groups
from evenrank.io.groups.bins import checked_bins, refuse_quantities
from evenrank.io.groups.entries import Asked, Entries, shares_of_votes, table_entries
from evenrank.io.groups.folders import RowsOfFiles, is_several_tables, table_of_folder
from evenrank.io.groups.hints import NO_HEADER
from evenrank.io.groups.lines import LINES, ROLES, table_of_lines
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source, check_format, format_names, guess_format
from evenrank.io.table_files import NamedTable, open_table
from evenrank.io.tables import as_table

LOADED = 1 << 17  # rows of derived groups: so many take 54 MB, and all of them are at hand
GROUP_SUFFIXES = {".gmemb": "gmemb"}

_NO_VALUE = "is not a value of"
_OTHER_LABELS = "; add it to values=, even= (equally of all values) or ignore= (no label)"
_ACCEPTED = (
    "a path (str or Path, '-' is standard input), a folder or a pattern of tables, an open file, "
    "a pandas, polars or Arrow table, a dict {document: value} or {query: {document: value}}"
)


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
    """Which values of the attribute ``name`` documents have.

    ``source`` is a path, a folder or a pattern of tables (``shards/*.jsonl.gz``), an open file, a pandas,
    polars or Arrow table, or a dict ``{document: value}`` or ``{query: {document: value}}``. A table (CSV,
    TSV, JSONL, Parquet; ``.gz`` and ``.zst`` too) has a column of documents; one of queries makes the groups
    depend on the query. The rest is one of

    - a column of labels called like the attribute, or named by ``column=``. An empty cell is a document
      without a label. A cell of JSONL or Parquet may be a list, or a mapping of values to shares;
    - rows of ``document, value`` and, if there are shares, ``share`` or ``prob``: a row for each value;
    - one column of shares for each value. ``values=`` names them where there are other columns too.

    Without named columns (``format=`` says so where the file's name does not):

    - ``gmemb`` (NTCIR FairWeb): ``query document share share ..``. The values are called 1, 2, ..
      unless ``values=`` names them;
    - ``trec``, as ``.qrels``: ``query iteration document label``;
    - ``trec-fair`` (TREC Fair 2019 and 2020): ``document,label,label,..``, a label for each author. A
      document has the values by the shares of its authors.

    ``values`` are the values in their order, by default those found; an ``ordinal`` attribute needs it
    unless they are numbers. ``target`` is that of ``Attribute``, by default uniform. With ``multilabel`` a
    document has each of several values, and ``split="full"`` counts it for each. A label in ``even`` belongs
    equally to all values; one in ``ignore`` counts as no label. ``unlabelled="own"`` makes each document that
    is listed without a label a value of its own; a ranked document that is not listed is then an error.

    With ``votes`` a table has a row for each vote: document, rater and label, and the query if labels depend
    on it. A document has each value by its share of the votes, which are then the probabilities of its
    values; votes for a label in ``ignore`` do not count. A rater who votes twice on a document is an error.

    ``unit`` is the column of what labels belong to, as the seller whose size is the label of all its
    products, or a dict ``{document: unit}``. Verdicts count such labels once for each unit.

    With ``bins`` the column has numbers, as prices, which become groups in their order: ``bins=4`` makes four
    of about the same size, in which equal numbers stay together, and ``bins=[10, 50]`` those below 10, from
    10 to below 50, and from 50. A document without a number has no group.

    A Parquet file or folder of groups that were derived from words (``evenrank scan --field groups``) has the
    target of its lexicon unless another is named. ``values`` are then its groups in another order, and
    options that are for labels are refused. Of more than 131,072 documents only those are read that a run
    lists.

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
        bins = checked_bins(name, bins)
        ordinal = True
        _refuse(name, of_labels | {"values": values, "multilabel": multilabel}, "bins= is for numbers")
    if votes and (multilabel or unlabelled is not None):
        raise ParameterError(f"attribute {name!r}: votes are for one value, so not multilabel or own values")
    owners = None if unit is None else _units(source, unit, format, columns)
    asked = Asked(name, values, column, columns or {}, multilabel, votes, bins)
    file = as_source(source)
    stored = None if file is None or file.path is None else stored_groups(file.path)
    if stored is not None:
        _refuse(name, of_labels | {"column": column, "bins": bins}, f"{stored.path} has shares")
        found = _of_derived(stored, format, asked, ordinal, target, split)
        return found if owners is None else replace(found, unit=owners)
    table, roles, values = _table(source, file, format, asked)
    entries = table_entries(table, replace(asked, values=values), roles)
    if isinstance(entries.report, RowsOfFiles) and entries.queries is None and not votes:
        entries.report.check_in_one_file(entries.documents)
    named = values is not None or entries.lists
    if not named and entries.shares is None:
        refuse_quantities(entries.names, name, table.name)
    if ignore:
        entries = _without(entries, even_labels(ignore), name)
    if votes:
        entries = shares_of_votes(entries)
    if entries.lists:
        values = values or entries.names
    if unlabelled == OWN:
        entries, values = _with_own(entries, values)
    if not len(entries.rows):
        raise DataError(f"{table.name}: no groups (no document has a value of {name!r})")
    evenly = even_labels(even)
    if evenly and entries.shares is not None:
        raise ParameterError(f"attribute {name!r}: even= is for labels, and {table.name} has shares")
    if values is None:
        _check_labels(entries.names, evenly, name, table.name)
    labels = [label for label in entries.names if label not in evenly]
    attribute = attribute_of(name, labels, values=values, ordinal=ordinal, target=target)
    built = _built(entries, attribute, evenly, multilabel, split, None if file is None else file.name)
    return replace(built, own=unlabelled == OWN, named=named, unit=owners)


def _refuse(name: str, options: Mapping[str, Any], why: str) -> None:
    """Refuse options that are for labels."""
    if given := [option for option, value in options.items() if value]:
        raise ParameterError(f"attribute {name!r}: {why}, and {given[0]}= is for labels")


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


def _of_derived(
    stored: StoredGroups, format: str | None, asked: Asked, ordinal: bool, target: Any, split: str
) -> Membership:
    name = stored.path
    if format not in (None, "parquet"):
        raise ParameterError(f"{name}: is Parquet that evenrank scan wrote, not {format}: leave format= out")
    for role, column in asked.own_columns.items():
        if role not in ("document", "id") or column != ID:
            raise ParameterError(
                f"{name}: no column {column!r} for the {role}; the columns found are "
                f"{listed([ID, *stored.groups])}: leave columns= out"
            )
    if asked.values is not None and sorted(asked.values) != sorted(stored.groups):
        raise ParameterError(
            f"attribute {asked.name!r}: values must be the groups that were derived, "
            f"{listed(stored.groups)}, in any order; got {listed(asked.values)}"
        )
    stored = stored.in_order(asked.values or stored.groups)
    attribute = Attribute(asked.name, stored.groups, ordinal, stored.target if target is None else target)
    if stored.rows > LOADED:
        return MembershipByNeed.of(stored, attribute, asked.multilabel)
    found = stored.known(None)
    return Membership.from_matrix(
        attribute, found.ids, found.shares, multilabel=asked.multilabel, split=split, source=str(name)
    )


def _table(
    source: object, file: Source | None, format: str | None, asked: Asked
) -> tuple[NamedTable, dict[str, str] | None, Sequence[str] | None]:
    """Any source as a table; what its columns are, where that need not be found out; and the values."""
    if is_several_tables(source, format):
        needed = {asked.name, asked.column, *asked.columns.values(), *(asked.values or ())}
        return table_of_folder(source, format, needed), None, asked.values
    values = asked.values
    if file is not None:
        file.check()
        format = format or guess_format(file.path or file.name, GROUP_SUFFIXES) or "trec"
        if format not in LINES:
            return _opened(file, format), None, values
        if asked.bins is not None:
            raise ParameterError(
                f"{file.name}: bins= is for a column of a table, and a {format} file has none"
            )
        if asked.votes:
            raise ParameterError(f"{file.name}: votes are read from a table of document, rater and label")
        table, values = table_of_lines(file, format, values, asked.multilabel)
        kind = f"a {format} file"
    elif format is not None:
        raise ParameterError(f"format= applies only to files, got {type(source).__name__}")
    elif (found := as_table(source, asked.name)) is not None:
        return found, None, values
    else:
        kind = type(source).__name__
        table = _table_of_mapping(source, asked)
    if asked.votes:
        raise ParameterError(f"{table.name}: votes are read from a table of document, rater and label")
    if asked.column is not None or asked.own_columns:
        raise ParameterError(f"{table.name}: columns= applies only to tables: {kind} has no named columns")
    roles = {role: name for role, name in ROLES.items() if name in table.names}
    return table, roles, values


def _opened(file: Source, format: str) -> NamedTable:
    """The table in a file; lines of several lengths may be those of authors."""
    table = open_table(file, format, "groups")
    if table.report.found:
        error = table.report.error()
        if error.problems and all(", but the header has" in what for _, what in error.problems):
            raise DataError(f"{error}\n{NO_HEADER}")
    return table


def _table_of_mapping(source: Any, asked: Asked) -> NamedTable:
    """The columns document and value; and query, of ``{query: {document: value}}``."""
    to_dict = getattr(source, "to_dict", None)
    if not isinstance(source, Mapping) and callable(to_dict) and not isinstance(source, type):
        source = to_dict()  # as a Series of pandas
    if not isinstance(source, Mapping):
        raise InputTypeError(f"groups are read from {_ACCEPTED}; got {type(source).__name__}")
    nested = [isinstance(inner, Mapping) for inner in source.values()]
    if any(nested) and not all(nested):
        raise InputTypeError(
            f"{asked.name}: groups are {{document: value}} or {{query: {{document: value}}}}, not a mix"
        )
    by_query = any(nested)
    rows = [
        (query, document, cell)
        for query, inner in (source.items() if by_query else [("", source)])
        for document, cell in inner.items()
    ]
    if not rows:
        raise DataError(f"{asked.name}: no groups (the mapping is empty)")
    floats = (float, np.floating)
    if by_query and asked.bins is None and any(isinstance(c, floats) and c == c for *_, c in rows):
        raise InputTypeError(
            f"{asked.name}: {{query: {{document: value}}}} has labels, and numbers with a point are none: "
            "shares of values are a table with one column for each value, or rows for Membership.build"
        )
    names = [ROLES["query"], ROLES["document"], ROLES["value"]]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    report = RowProblems(asked.name, place=lambda row: f"query {rows[row][0]!r}" if by_query else "")
    return NamedTable(names[not by_query :], columns.__getitem__, report=report, by_keys=True)


def _without(entries: Entries, ignore: frozenset[str], name: str) -> Entries:
    """The entries without those of the labels to ignore: their documents then have no label."""
    if entries.shares is not None:
        raise ParameterError(f"attribute {name!r}: ignore= is for labels, and these are shares")
    if absent := sorted(ignore - set(entries.names)):
        raise ParameterError(
            f"attribute {name!r}: no document has the label {absent[0]!r} of ignore=; "
            f"found are {listed(entries.names)}"
        )
    stays = np.array([label not in ignore for label in entries.names], bool)  # (L,)
    kept = np.flatnonzero(stays[entries.codes])
    codes = (np.cumsum(stays) - 1)[entries.codes[kept]]
    names = tuple(label for label in entries.names if label not in ignore)
    return entries._replace(rows=entries.rows[kept], codes=codes, names=names)


def _with_own(entries: Entries, values: Sequence[str] | None) -> tuple[Entries, Sequence[str] | None]:
    """Each document without a value as a value of its own."""
    bare = np.setdiff1d(np.arange(len(entries.documents)), entries.rows)
    own = take(entries.documents, bare).to_pylist()
    names = tuple(dict.fromkeys((*entries.names, *own)))
    place = {label: code for code, label in enumerate(names)}
    codes = np.array([place[label] for label in own], np.int64)
    shares = None if entries.shares is None else np.concatenate([entries.shares, np.ones(len(bare))])
    found = entries._replace(
        rows=np.concatenate([entries.rows, bare]), codes=np.concatenate([entries.codes, codes]),
        names=names, shares=shares,
    )  # fmt: skip
    return found, None if values is None else list(dict.fromkeys((*values, *own)))


def _check_labels(found: Sequence[str], even: frozenset[str], name: str, source: str) -> None:
    """Refuse labels that are no two groups, and labels of ``even`` that nobody has."""
    if absent := sorted(even - set(found)):
        raise ParameterError(
            f"attribute {name!r}: no document has the label {absent[0]!r} of even=; found are {listed(found)}"
        )
    labels = [label for label in found if label not in even]
    if len(labels) == 1:
        raise ParameterError(
            f"{source}: attribute {name!r}: a share needs at least two values, and {labels[0]!r} is the only "
            "one: take a file or a column (column=) in which documents differ, or, to measure shares, name "
            "also the values that no document has (values=A,B)"
        )


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
        unknown = [line for line, what in error.problems if _NO_VALUE in what][:1]
        problems = [
            Problem(int(rows[line - 1]) + 1, what + (_OTHER_LABELS if line in unknown else ""))
            for line, what in error.problems
        ]
        moved = DataError.listing(entries.report.source, problems, more=error.more)
        raise entries.report.relocated(moved if error.problems else error) from None
