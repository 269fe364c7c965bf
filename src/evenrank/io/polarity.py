"""Polarity scores in and out: tables with a document, perhaps a query, and a score for each axis."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.arrays import numbers
from evenrank.data.polarity import Polarity, label_signs
from evenrank.errors import DataError, ParameterError
from evenrank.ids import as_strings, take
from evenrank.io.atomic import atomic_write
from evenrank.io.cells import score_cells
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import Role, read_roles, the_table

AXIS = "axis_"

_KEY = "evenrank.polarity"


def read_polarity(
    source: object, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> Polarity:
    """Polarity scores from what ``write_polarity`` wrote, from any table, or from ``{document: score}``.

    A table has a column of documents, one of queries if scores depend on the query, and ``polarity`` (or
    ``score``), or ``axis_1``, ``axis_2`` and so on.

    >>> read_polarity({"d1": 0.5, "d2": -1.0})
    <Polarity: 2 documents, 1 axis>
    """
    if isinstance(source, Polarity):
        return source
    mapping = ("query", "document", "score")
    table = the_table(source, "scores", name="polarity", format=format, mapping=mapping)
    return _of_table(table, columns, _about(table.metadata.get(_KEY), table.name))


def read_labelled_polarity(
    source: object,
    *,
    positive: str,
    negative: str | None = None,
    neutral: Sequence[str] = (),
    column: str | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Polarity:
    """Polarity from a file of labels that ``read_groups`` reads: ``positive`` is +1, the other label -1.

    >>> read_labelled_polarity({"d1": "PRO", "d2": "CON"}, positive="PRO").scores.ravel().tolist()
    [1.0, -1.0]
    """
    from evenrank.io.groups import read_groups

    labels = read_groups(source, "polarity", column=column, format=format, columns=columns).by_id()
    sign = label_signs(labels.attribute.values, positive, negative, neutral)  # (L,)
    shares = labels.shares
    rows = np.repeat(np.arange(len(labels)), np.diff(shares.offsets))
    scores = np.bincount(rows, weights=shares.values * sign[shares.places], minlength=len(labels))
    listed = np.flatnonzero(np.diff(shares.offsets))  # a document without a label has no score
    ids, codes = labels.query_ids, labels.query_codes[listed].tolist()
    queries = None if ids is None else [ids[code] for code in codes]
    return Polarity.build(take(labels.doc_ids, listed), scores[listed], queries=queries, oriented=True)


def _of_table(table: NamedTable, columns: Mapping[str, str] | None, about: Mapping[str, Any]) -> Polarity:
    axes = [] if "score" in (columns or {}) else [name for name in table.names if name.startswith(AXIS)]
    if table.roles is not None:
        table, axes = _axes_apart(table)
    single = [] if axes else [Role("score", "number", called="polarity")]
    roles = [Role("document"), Role("query", "query", optional=True), *single]
    found = read_roles(table, roles, columns)
    if not len(found["document"]):
        raise DataError(f"{table.name}: no scores")
    scores = [score_cells(table.column(axis), table.report, axis, text=table.text) for axis in axes]
    table.report.check()
    try:
        return Polarity.build(
            found["document"],
            np.stack(scores or [found["score"]], axis=1),
            queries=found.get("query"),
            axes=[axis.removeprefix(AXIS) for axis in axes] or ["1"],
            oriented=about.get("oriented"),
            without_axis=about.get("without_axis"),
            source=table.name,
        )
    except DataError as error:
        raise table.report.relocated(error) from None


def _axes_apart(table: NamedTable) -> tuple[NamedTable, list[str]]:
    """The columns of the axes, where the scores of a dictionary are lists of one for each."""
    cells = table.column("score")
    lengths = {len(cell) if isinstance(cell, (list, tuple, np.ndarray)) else 0 for cell in cells}
    if len(lengths) != 1 or lengths == {0}:
        return table, []
    axes = [f"{AXIS}{number}" for number in range(1, lengths.pop() + 1)]
    columns = dict(zip(axes, map(list, zip(*cells, strict=True)), strict=True))
    columns |= {name: table.column(name) for name in table.names if name != "score"}
    return replace(table, names=list(columns), column=columns.__getitem__), axes


def _about(text: str | None, name: str) -> dict[str, Any]:
    """What ``write_polarity`` keeps beside the scores; nothing for a table of another hand."""
    if text is None:
        return {}
    try:
        about = json.loads(text)
        return {"oriented": about["oriented"], "without_axis": dict(about["without_axis"])}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"{name}: its metadata {_KEY} is broken: write the scores again") from error


def check_name(path: str | PathLike[str]) -> None:
    if Path(path).suffix.lower() != ".parquet":
        raise ParameterError(f"{path}: polarity is written as Parquet, so the name must end in .parquet")


def write_polarity(polarity: Polarity, path: str | PathLike[str]) -> None:
    """As Parquet: ``query`` (if scores depend on it), ``document``, ``axis_1`` and so on; what is known of
    their direction is kept in the file."""
    check_name(path)
    columns: dict[str, Any] = {}
    if polarity.query_ids is not None:
        columns["query"] = as_strings([polarity.query_ids[code] for code in polarity.query_codes.tolist()])
    columns["document"] = polarity.doc_ids
    for place, axis in enumerate(polarity.axes):
        columns[AXIS + axis] = numbers(np.ascontiguousarray(polarity.scores[:, place]))
    about = {"oriented": polarity.oriented, "without_axis": dict(polarity.without_axis or {})}
    table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about)})
    with atomic_write(path) as file:
        pa.parquet.write_table(table, file)
