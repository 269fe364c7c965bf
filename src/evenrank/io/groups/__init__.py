"""Groups in: which values of an attribute documents have."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenrank.data.attribute import Attribute, attribute_of
from evenrank.data.membership import SPLITS, Membership
from evenrank.data.membership_rows import OWN, even_labels, spread_evenly
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, Problem
from evenrank.ids import as_strings, distinct, encode_first_seen, take
from evenrank.io.column_names import SharedColumns, listed
from evenrank.io.derived_groups import ID, StoredGroups, stored_groups
from evenrank.io.groups.bins import checked_bins, refuse_quantities
from evenrank.io.groups.entries import Entries
from evenrank.io.groups.line_files import READERS, nothing
from evenrank.io.groups.shards import entries_of_files, is_several_tables
from evenrank.io.groups.tables import Asked, mapping_entries, opened, table_entries
from evenrank.io.groups.votes import shares_of_votes
from evenrank.io.groups_by_need import MembershipByNeed, StoredRows
from evenrank.io.source import Source, as_source, check_format, format_names, guess_format
from evenrank.io.tables import as_table

_NO_VALUE = "is not a value of"
_OTHER_LABELS = "; add it to values=, even= (equally of all values) or ignore= (no label)"
LOADED = 1 << 17  # rows of derived groups: so many take 54 MB, and all of them are at hand
GROUP_SUFFIXES = {".gmemb": "gmemb"}

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
    file = as_source(source)
    if bins is not None:
        bins = checked_bins(name, bins)
        of_labels = {
            "values": values, "multilabel": multilabel, "even": even, "ignore": ignore,
            "unlabelled": unlabelled, "votes": votes,
        }  # fmt: skip
        if given := [option for option, value in of_labels.items() if value]:
            raise ParameterError(f"attribute {name!r}: bins= is for numbers, and {given[0]}= is for labels")
        ordinal = True
    if unit is not None:
        owners = _units(source, unit, format, columns)
        found = read_groups(
            source, name, values=values, ordinal=ordinal, target=target, multilabel=multilabel, split=split,
            even=even, ignore=ignore, unlabelled=unlabelled, votes=votes, column=column, bins=bins,
            format=format, columns=columns,
        )  # fmt: skip
        return replace(found, unit=owners)
    if votes and (multilabel or unlabelled is not None):
        raise ParameterError(f"attribute {name!r}: votes are for one value, so not multilabel or own values")
    asked = Asked(name, values, multilabel, column, columns or {}, votes, bins)
    derived = None if file is None or file.path is None else stored_groups(file.path)
    if derived is not None:
        labels: dict[str, Any] = {
            "ignore": ignore, "even": even, "unlabelled": unlabelled, "column": column, "votes": votes,
            "bins": bins,
        }  # fmt: skip
        _check_derived(derived, [option for option, given in labels.items() if given], format, asked)
        return _of_derived(derived, asked, ordinal, target, split)
    if is_several_tables(source, format):
        entries = entries_of_files(cast("str | os.PathLike[str]", source), format, asked)
    elif file is not None:
        entries = _of_file(file, format, asked)
    elif format is not None:
        raise ParameterError(f"format= applies only to files, got {type(source).__name__}")
    else:
        entries = _of_object(source, asked)
    named = values is not None or entries.order is not None
    if not named and entries.shares is None:
        refuse_quantities(distinct(entries.values), name, name if file is None else file.name)
    entries = _without_labels(entries, even_labels(ignore), name)
    if votes:
        entries = shares_of_votes(entries)
    if unlabelled == OWN:
        entries, values = _with_own(entries, values)
    built = _built(
        entries, name, values, even_labels(even), None if file is None else file.name,
        ordinal=ordinal, target=target, multilabel=multilabel, split=split,
    )  # fmt: skip
    return replace(built, own=unlabelled == OWN, named=named)


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


def _check_derived(derived: StoredGroups, labels: Sequence[str], format: str | None, asked: Asked) -> None:
    """Refuse what is said of files of other kinds."""
    name = derived.path
    if labels:
        raise ParameterError(f"attribute {asked.name!r}: {labels[0]}= is for labels, and {name} has shares")
    if format not in (None, "parquet"):
        raise ParameterError(f"{name}: is Parquet that evenrank scan wrote, not {format}: leave format= out")
    columns = {} if isinstance(asked.columns, SharedColumns) else asked.columns
    for role, column in columns.items():
        if role not in ("document", "id"):
            raise ParameterError(f"{name}: has no column of the {role}: leave columns= out")
        if column != ID:
            raise ParameterError(
                f"{name}: no column {column!r} for the document; the columns found are "
                f"{listed([ID, *derived.groups])}"
            )
    if asked.values is not None and sorted(asked.values) != sorted(derived.groups):
        raise ParameterError(
            f"attribute {asked.name!r}: values must be the groups that were derived, "
            f"{listed(derived.groups)}, in any order; got {listed(asked.values)}"
        )


def _of_derived(derived: StoredGroups, asked: Asked, ordinal: bool, target: Any, split: str) -> Membership:
    if asked.values is not None:
        derived = derived.in_order(asked.values)
    attribute = Attribute(asked.name, derived.groups, ordinal, derived.target if target is None else target)
    if derived.rows > LOADED:
        return MembershipByNeed.of(StoredRows(derived), attribute, multilabel=asked.multilabel)
    found = derived.whole()
    return Membership.from_matrix(
        attribute, found.ids, found.shares,
        multilabel=asked.multilabel, split=split, source=str(derived.path),
    )  # fmt: skip


def _of_file(file: Source, format: str | None, asked: Asked) -> Entries:
    file.check()
    format = format or guess_format(file.path or file.name, GROUP_SUFFIXES) or "trec"
    if format not in READERS:
        return table_entries(opened(file, format), asked)
    if asked.votes:
        raise ParameterError(f"{file.name}: votes are read from a table of document, rater and label")
    if asked.bins is not None:
        raise ParameterError(f"{file.name}: bins= is for a column of a table, and a {format} file has none")
    if asked.column is not None or asked.own_columns:
        raise ParameterError(
            f"{file.name}: columns= applies only to tables: a {format} file has no named columns"
        )
    return READERS[format](file, asked.values, asked.multilabel)


def _of_object(value: object, asked: Asked) -> Entries:
    table = as_table(value, asked.name)
    if table is not None:
        return table_entries(table, asked)
    if asked.votes:
        raise ParameterError(f"votes are read from a table, got {type(value).__name__}")
    if asked.column is not None or asked.columns:
        raise ParameterError(f"columns= applies only to tables, got {type(value).__name__}")
    to_dict = getattr(value, "to_dict", None)
    if not isinstance(value, Mapping) and callable(to_dict) and not isinstance(value, type):
        value = to_dict()  # as a Series of pandas
    if not isinstance(value, Mapping):
        raise InputTypeError(f"groups are read from {_ACCEPTED}; got {type(value).__name__}")
    return mapping_entries(value, asked)


def _without_labels(entries: Entries, ignore: frozenset[str], name: str) -> Entries:
    """The entries without those of the labels to ignore: their documents then have no label."""
    if not ignore:
        return entries
    if entries.shares is not None:
        raise ParameterError(f"attribute {name!r}: ignore= is for labels, and these are shares")
    values = as_strings(entries.values)
    found = encode_first_seen(values)[1]
    absent = sorted(ignore - set(found))
    if absent:
        raise ParameterError(
            f"attribute {name!r}: no document has the label {absent[0]!r} of ignore=; "
            f"found are {listed(found)}"
        )
    kept = np.flatnonzero(
        ~pc.is_in(values, value_set=pa.array(sorted(ignore), pa.large_string())).to_numpy(
            zero_copy_only=False
        )
    )
    return replace(entries, rows=entries.rows[kept], values=take(values, kept))


def _with_own(entries: Entries, values: Sequence[str] | None) -> tuple[Entries, Sequence[str] | None]:
    """Each document without a value as a value of its own."""
    bare = np.setdiff1d(np.arange(len(entries.documents)), entries.rows)
    own = take(entries.documents, bare)
    shares = None if entries.shares is None else np.concatenate([entries.shares, np.ones(len(bare))])
    if values is not None or entries.order is not None:
        values = list(dict.fromkeys((*(values or entries.order or ()), *own.to_pylist())))
    rows, labels = np.concatenate([entries.rows, bare]), pa.concat_arrays([as_strings(entries.values), own])
    return replace(entries, rows=rows, values=labels, shares=shares), values


def _built(
    entries: Entries,
    name: str,
    values: Sequence[str] | None,
    even: frozenset[str],
    source: str | None,
    *,
    ordinal: bool,
    target: Any,
    multilabel: bool,
    split: str,
) -> Membership:
    if len(entries.rows) == 0:
        raise nothing(source or name, f"no document has a value of {name!r}")
    if even and entries.shares is not None:
        raise ParameterError(f"attribute {name!r}: even= is for labels, and {source or 'this'} has shares")
    found = distinct(entries.values)
    absent = sorted(even - set(found))
    if values is None and absent:
        raise ParameterError(
            f"attribute {name!r}: no document has the label {absent[0]!r} of even=; found are {listed(found)}"
        )
    labels = [label for label in found if label not in even]
    if values is None and entries.order is None and len(labels) == 1:
        where = f"attribute {name!r}" if source is None else f"{source}: attribute {name!r}"
        raise ParameterError(
            f"{where}: a share needs at least two values, and {labels[0]!r} is the only one: take a file or "
            "a column (column=) in which documents differ, or, to measure shares, name also the values that "
            "no document has (values=A,B)"
        )
    attribute = attribute_of(name, labels, values=values or entries.order, ordinal=ordinal, target=target)
    places, own, shares = spread_evenly(attribute, entries.values, even)
    rows = entries.rows[places]
    queries = None if entries.queries is None else take(entries.queries, rows)
    try:
        return Membership.build(
            attribute, take(entries.documents, rows), own, entries.shares if shares is None else shares,
            queries=queries, multilabel=multilabel, split=split, source=source,
        )  # fmt: skip
    except DataError as error:  # it counts entries; the user knows lines, rows or documents
        advice = {
            next((problem.line for problem in error.problems if _NO_VALUE in problem.what), 0): _OTHER_LABELS
        }
        moved = DataError.listing(
            source or name,
            [Problem(int(rows[line - 1]) + 1, what + advice.get(line, "")) for line, what in error.problems],
            more=error.more,
        )
        raise entries.report.relocated(moved if error.problems else error) from None
