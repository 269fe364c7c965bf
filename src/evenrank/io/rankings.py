"""Runs and judgements as columns, whatever they come in: files, tables, dictionaries, data sets of others."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, shortened
from evenrank.io import trec
from evenrank.io.cells import grade_cells, id_cells, is_number, score_cells
from evenrank.io.column_names import ACCEPTED, NAMES, score_role, spelled, spellings
from evenrank.io.datasets import dataset_table, is_dataset
from evenrank.io.layout import BY_INTENT, Columns, Layout
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import as_source, check_format
from evenrank.io.table_files import NamedTable, open_table
from evenrank.io.tables import Role, as_table, read_roles

_ACCEPTED = (
    "a path (str or Path, '-' is standard input), 'ir_datasets:ID', an open file, a pandas, polars or Arrow "
    "table, a list of named tuples, a dict {query: {document: value}}, or an object whose to_dict() gives one"
)
_IDS = spellings(*(name for role in ("query", "document") for names in NAMES[role] for name in names))
_OTHERWISE = ("grade", "intent", "value", "share")  # roles of columns that runs do not have
_LOOKED_AT = 1000  # rows in which numbers are looked for
_SHELL = " (in the shell: --columns ROLE=NAME)"
_NO_HEADER = "; if the file has no header line and TREC's fields, pass format='trec' (FILE:format=trec)"

Built = TypeVar("Built")


@dataclass(frozen=True)
class Provenance:
    """Where columns came from: for names, messages, and what the file said about itself."""

    source: str | None = None
    name: str | None = None
    metadata: Mapping[str, str] | None = None


def load(
    value: object,
    layout: Layout,
    build: Callable[[Columns, Provenance], Built],
    *,
    kind: str,
    format: str | None,
    columns: Mapping[str, str] | None,
) -> Built:
    """What ``build`` makes of the columns. ``kind`` is what to call an object without a name."""
    check_format(format)
    _refuse_other_kind(value, kind)
    table, origin, advice = None, Provenance(), ""
    if is_dataset(value):
        table = dataset_table(str(value), "scoreddocs" if kind == "run" else "qrels")
        origin = Provenance(str(value), str(value).rpartition(":")[2])
    file = None if table is not None else as_source(value)
    if file is not None:
        file.check()
        format = format or file.guessed_format or "trec"
        origin = Provenance(file.name, file.stem)
        if format == "trec":
            if columns is not None:
                raise ParameterError("columns= applies only to tables: a TREC file has no named columns")
            return trec.read(file, layout, lambda found: build(found, origin))
        table = open_table(file, format, layout.what)
        origin = Provenance(file.name, file.stem, table.metadata)
        advice = _SHELL + (_NO_HEADER if format in ("csv", "tsv") else "")
    elif format is not None:
        raise ParameterError(f"format= applies only to files, got {type(value).__name__}")
    table = as_table(value, kind) if table is None else table
    if table is not None:
        found, report = _of_table(table, layout, columns, advice), table.report
    elif columns is not None:
        raise ParameterError(f"columns= applies only to tables, got {type(value).__name__}")
    else:
        if not isinstance(value, Mapping):
            name = getattr(value, "name", None)
            origin = Provenance(name=name if isinstance(name, str) and name else None)
            value = _dictionary(value, kind)
        found, report = _of_mapping(value, layout, kind)
    try:
        return build(found, origin)
    except DataError as error:  # it counts rows of columns; the user knows lines, rows or queries
        raise report.relocated(error) from None


def _refuse_other_kind(value: object, kind: str) -> None:
    """Runs and judgements both turn into dictionaries: a run given for judgements must not pass for them."""
    other = isinstance(value, (Qrels, DiversityQrels)) if kind == "run" else isinstance(value, Run)
    if other:
        raise InputTypeError(
            f"{value!r} was given for {'a run' if kind == 'run' else 'judgements'}: are run and "
            "judgements swapped?"
        )


def _dictionary(value: object, kind: str) -> Mapping[object, object]:
    to_dict = getattr(value, "to_dict", None)
    if callable(to_dict) and not isinstance(value, type):
        found = to_dict()
        if isinstance(found, Mapping):
            return found
    raise InputTypeError(f"a {kind} is read from {_ACCEPTED}; got {type(value).__name__}")


def _of_table(table: NamedTable, layout: Layout, columns: Mapping[str, str] | None, advice: str) -> Columns:
    """With both a score and a rank, the score orders and the rank only breaks ties; with a rank alone,
    the score is ``-rank``. Where there is neither, and nothing that may be one, the rows are in rank order.
    """
    values = ["grade"] if layout.value_name == "grade" else score_role(table.names, columns)
    in_order = not values and not _perhaps_scores(table, columns)
    if not values and not in_order:
        values = ["score"]
    roles = [
        Role("query", "query"),
        *([Role("intent")] if layout.intent else []),
        Role("document"),
        *(Role(value, "grade" if value == "grade" else "number") for value in values),
    ]
    found = read_roles(table, roles, columns, advice=advice)
    queries, documents, ranks = found["query"], found["document"], found.get("rank")
    if len(documents) == 0:
        raise layout.nothing(table.name, "the table has no rows")
    if in_order:
        ranks = _ranks_by_row(queries)
        warnings.warn(
            f"{table.name}: no column for a score or a rank: the documents of a query are taken in the order "
            "of the rows",
            EvenrankWarning,
            stacklevel=2,
        )
    spare = [name for name in table.names if name in ACCEPTED["intent"]]
    if layout.value_name == "grade" and not layout.intent and spare:
        table.report.hint = _by_intent(queries, documents, table.column(spare[0]))
    value = found.get("grade", found.get("score"))
    if value is None and ranks is not None:
        value = -ranks
    return Columns(queries, documents, value, found.get("intent"), ranks)


def _perhaps_scores(table: NamedTable, columns: Mapping[str, str] | None) -> bool:
    """Whether a column may hold scores or grades under a name that nobody knows: numbers in its first rows,
    or the name of something else that documents of queries have."""
    named = set((columns or {}).values())
    others = [name for name in table.names if name not in named and spelled(name) not in _IDS]
    if any(name in ACCEPTED[role] for name in others for role in _OTHERWISE):
        return True
    return any(_numeric(table.column(name)[:_LOOKED_AT], text=table.text) for name in others)


def _numeric(cells: Any, *, text: bool) -> bool:
    """Whether most of the cells that hold something are numbers."""
    held = [value for value in _listed(cells) if value is not None and value != ""]
    if text:
        return 2 * sum(map(is_number, held)) > len(held)
    return 2 * sum(isinstance(one, numbers.Real) and not isinstance(one, bool) for one in held) > len(held)


def _listed(cells: Any) -> list[Any]:
    return cells.to_pylist() if isinstance(cells, (pa.Array, pa.ChunkedArray)) else list(cells)


def _ranks_by_row(queries: pa.DictionaryArray) -> npt.NDArray[np.float64]:
    """1, 2, ... for the rows of each query, in their order."""
    codes = queries.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    ranks = np.empty(len(codes))
    ranks[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
    return ranks


def _by_intent(queries: pa.Array, documents: pa.Array, intents: Any) -> Callable[[int], str]:
    """What to say of a document that is judged twice, where a column could tell its judgements apart."""
    found: dict[tuple[str, str], set[Any]] = {}

    def hint(row: int) -> str:
        if not found:  # only for an error, so that nobody else pays for it
            for query, document, intent in zip(
                queries.to_pylist(), documents.to_pylist(), _listed(intents), strict=True
            ):
                found.setdefault((query, document), set()).add(str(intent))
        several = len(found[queries[row].as_py(), documents[row].as_py()]) > 1
        return BY_INTENT if several else ""

    return hint


def _of_mapping(mapping: Mapping[Any, Any], layout: Layout, source: str) -> tuple[Columns, RowProblems]:
    """The columns of ``{query: {document: value}}``, or of ``{query: {intent: {document: grade}}}``."""
    queries, intents, documents, values = list[Any](), list[Any](), list[Any](), list[Any]()
    whole_query: set[int] = set()  # rows that stand for a query which is no mapping, or empty

    def place(row: int) -> str:
        if row in whole_query:
            return f"query {queries[row]!r}"
        intent = f", intent {intents[row]!r}" if layout.intent else ""
        return f"query {queries[row]!r}{intent}, document {documents[row]!r}"

    report = RowProblems(source, place=place)

    def wrong(query: Any, what: str) -> None:
        whole_query.add(len(queries))
        report.add(len(queries), what)
        for column, stand_in in ((queries, query), (intents, "?"), (documents, "?"), (values, 0)):
            column.append(stand_in)

    shape = "{intent: {document: grade}}" if layout.intent else f"{{document: {layout.value_name}}}"
    for query, inner in mapping.items():
        groups = inner if layout.intent else {"": inner}
        if not isinstance(groups, Mapping) or not all(
            isinstance(group, Mapping) for group in groups.values()
        ):
            wrong(
                query, f"expected a mapping {shape}, got {type(inner).__name__} {shortened(repr(inner), 60)}"
            )
            continue
        if not groups or not all(groups.values()):
            wrong(query, f"no {layout.what}: leave the query out")
            continue
        for intent, group in groups.items():
            queries.extend([query] * len(group))
            intents.extend([intent] * len(group))
            documents.extend(group)
            values.extend(group.values())
    if not mapping:
        raise layout.nothing(source, "the mapping is empty")
    query_ids = id_cells(queries, "query", report).dictionary_encode()  # keys stay as they are
    doc_ids = id_cells(documents, "document", report)
    intent_ids = id_cells(intents, "intent", report) if layout.intent else None
    numeric = score_cells(values, report) if layout.value_name == "score" else grade_cells(values, report)
    report.check()
    return Columns(query_ids, doc_ids, numeric, intent_ids), report


def order_by_rank(columns: Columns) -> Columns | None:
    """The rows by rank within each query, if the ranks agree with the scores and never repeat; else None."""
    if columns.ranks is None:
        return None
    codes = columns.queries.indices.to_numpy(zero_copy_only=False)
    order = np.lexsort((columns.ranks, codes))
    inside = np.diff(codes[order]) == 0
    falling = columns.values[order][1:] <= columns.values[order][:-1]
    distinct = np.diff(columns.ranks[order]) > 0
    if not (falling & distinct)[inside].all():
        return None
    rows = pa.array(order)
    return Columns(columns.queries.take(rows), columns.documents.take(rows), columns.values[order])
