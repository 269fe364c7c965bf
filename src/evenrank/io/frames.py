"""Tables in memory: pandas, polars, Arrow. And mappings ``{query: {document: value}}``."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.errors import EvenrankWarning, shortened
from evenrank.io.cells import grade_cells, id_cells, score_cells
from evenrank.io.column_names import ACCEPTED, PRODUCTS, SEARCHES, resolve, score_role, spelled
from evenrank.io.layout import Columns, Layout
from evenrank.io.row_problems import RowProblems

_IDS = {*map(spelled, (*ACCEPTED["query"], *ACCEPTED["document"])), *SEARCHES, *PRODUCTS}
_OTHERWISE = ("grade", "intent", "value", "share")  # roles of columns that runs do not have
_LOOKED_AT = 1000  # rows in which numbers are looked for
BY_INTENT = " (judgements by intent? read them with diversity=True, --qrels FILE:intents)"


class Frame(NamedTuple):
    """A table: the names of its columns, and a way to get one of them."""

    names: list[str]
    column: Callable[[str], Any]
    text: bool = False  # all cells are text, numbers too


def as_frame(value: object) -> Frame | None:
    """A view on a pandas, polars or Arrow table, or None for anything else."""
    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    if isinstance(value, pa.RecordBatchReader):
        value = value.read_all()
    if isinstance(value, pa.Table):
        return Frame(list(value.column_names), value.column)
    # by name: neither library is imported for someone who does not use it
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    table: Any = value
    if library == "polars" and kind == "LazyFrame":
        table, kind = table.collect(), "DataFrame"
    if library == "polars" and kind == "DataFrame":
        return Frame(list(table.columns), lambda name: _polars_column(table, name))
    if library == "pandas" and kind == "DataFrame":
        return Frame([str(name) for name in table.columns], lambda name: _pandas_column(table, name))
    return None


def _pandas_column(table: Any, name: str) -> Any:
    series = table.iloc[:, [str(column) for column in table.columns].index(name)]
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):  # a column of mixed objects
        return series.tolist()


def _polars_column(table: Any, name: str) -> Any:
    series = table.get_column(name)
    # Arrow would get the addresses of Python objects, not the objects
    return series.to_list() if str(series.dtype) == "Object" else series.to_arrow()


def frame_columns(
    frame: Frame,
    layout: Layout,
    columns: Mapping[str, str] | None,
    source: str,
    *,
    report: RowProblems | None = None,
    advice: str = "",
) -> Columns:
    """The columns of a table, every cell checked.

    With both a score and a rank, the score orders and the rank only breaks ties; with a rank alone,
    the score is ``-rank``. Where there is neither, and nothing that may be one, the rows are in rank order.
    """
    order = score_role(frame.names, columns) if layout.value_name == "score" else ["grade"]
    in_order = not order and not _perhaps_scores(frame, columns)
    if not order and not in_order:
        order = ["score"]
    roles = ["query", *(["intent"] if layout.intent else []), "document", *order]
    chosen = resolve(frame.names, roles, columns, source, advice=advice)
    report = RowProblems(source) if report is None else report
    queries = id_cells(frame.column(chosen["query"]), "query", report)
    documents = id_cells(frame.column(chosen["document"]), "document", report)
    intents = id_cells(frame.column(chosen["intent"]), "intent", report) if layout.intent else None
    ranks = None
    values: Any
    if "rank" in chosen:
        ranks = score_cells(frame.column(chosen["rank"]), report, "rank", text=frame.text)
        values = -ranks
    if "score" in chosen:
        values = score_cells(frame.column(chosen["score"]), report, text=frame.text)
    if "grade" in chosen:
        values = grade_cells(frame.column(chosen["grade"]), report, text=frame.text)
    report.check()
    if len(documents) == 0:
        raise layout.nothing(source, "the table has no rows")
    if in_order:
        ranks = _ranks_by_row(queries)
        values = -ranks
        warnings.warn(
            f"{source}: no column for a score or a rank: the documents of a query are taken in the order of "
            "the rows",
            EvenrankWarning,
            stacklevel=2,
        )
    spare = [name for name in frame.names if name in ACCEPTED["intent"]]
    if "grade" in chosen and not layout.intent and spare:
        report.hint = _by_intent(queries, documents, frame.column(spare[0]))
    return Columns(queries, documents, values, intents, ranks)


def _perhaps_scores(frame: Frame, columns: Mapping[str, str] | None) -> bool:
    """Whether a column may hold scores or grades under a name that nobody knows: numbers in its first rows,
    or the name of something else that documents of queries have."""
    named = set((columns or {}).values())
    others = [name for name in frame.names if name not in named and spelled(name) not in _IDS]
    if any(name in ACCEPTED[role] for name in others for role in _OTHERWISE):
        return True
    return any(_numeric(frame.column(name)[:_LOOKED_AT], text=frame.text) for name in others)


def _numeric(cells: Any, *, text: bool) -> bool:
    """Whether most of the cells that hold something are numbers."""
    values = cells.to_pylist() if isinstance(cells, (pa.Array, pa.ChunkedArray)) else list(cells)
    held = [value for value in values if value is not None and value != ""]
    if text:
        return 2 * sum(map(_is_number, held)) > len(held)
    return 2 * sum(isinstance(one, numbers.Real) and not isinstance(one, bool) for one in held) > len(held)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _ranks_by_row(queries: pa.Array) -> npt.NDArray[np.float64]:
    """1, 2, ... for the rows of each query, in their order."""
    codes = queries.dictionary_encode().indices.to_numpy(zero_copy_only=False)
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
            column = intents.to_pylist() if isinstance(intents, (pa.Array, pa.ChunkedArray)) else intents
            for query, document, intent in zip(
                queries.to_pylist(), documents.to_pylist(), column, strict=True
            ):
                found.setdefault((query, document), set()).add(str(intent))
        several = len(found[queries[row].as_py(), documents[row].as_py()]) > 1
        return BY_INTENT if several else ""

    return hint


def mapping_columns(mapping: Mapping[Any, Any], layout: Layout, source: str) -> tuple[Columns, RowProblems]:
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
    query_ids, doc_ids = id_cells(queries, "query", report), id_cells(documents, "document", report)
    intent_ids = id_cells(intents, "intent", report) if layout.intent else None
    numeric = score_cells(values, report) if layout.value_name == "score" else grade_cells(values, report)
    report.check()
    return Columns(query_ids, doc_ids, numeric, intent_ids), report


def order_by_rank(columns: Columns) -> Columns | None:
    """The rows by rank within each query, if the ranks agree with the scores and never repeat; else None."""
    if columns.ranks is None:
        return None
    codes = columns.queries.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.lexsort((columns.ranks, codes))
    inside = np.diff(codes[order]) == 0
    falling = columns.values[order][1:] <= columns.values[order][:-1]
    distinct = np.diff(columns.ranks[order]) > 0
    if not (falling & distinct)[inside].all():
        return None
    rows = pa.array(order)
    return Columns(columns.queries.take(rows), columns.documents.take(rows), columns.values[order])
