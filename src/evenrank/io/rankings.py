"""Runs and judgements in, whatever they come in: TREC files, tables, dictionaries, data sets of others."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run, Ties, check_ties
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, counted
from evenrank.io.cells import is_number, listed_cells, one_array
from evenrank.io.column_names import ACCEPTED, NAMES, score_role, spelled, spellings
from evenrank.io.datasets import is_dataset
from evenrank.io.run_record import READS_JUDGEMENTS, read_record
from evenrank.io.source import as_source, check_format, format_names
from evenrank.io.table_files import NamedTable
from evenrank.io.tables import Role, read_roles, the_table
from evenrank.io.trec import (
    BY_INTENT,
    DIVERSITY,
    NTCIR_QRELS,
    QRELS,
    RUN,
    Columns,
    Layout,
    contradictions,
    read_trec,
)
from evenrank.io.written import TIES_KEY

NTCIR = "ntcir"
_IDS = spellings(*(name for role in ("query", "document") for names in NAMES[role] for name in names))
_OTHERWISE = ("grade", "intent", "value", "share")  # roles of columns that runs do not have
_LOOKED_AT = 1000  # rows in which numbers are looked for

Built = TypeVar("Built")


def read_run(
    source: object,
    *,
    name: str | None = None,
    ties: Ties | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Run:
    """A run from a file, a mapping or a table.

    ``source`` is a path (``-`` is standard input), an open file, a dict ``{query: {document: score}}`` or
    one of columns, a pandas, polars or Arrow table, a list of named tuples, ``ir_datasets:ID``, or an object
    of another library whose ``to_dict()`` gives such a dict. ``format`` is ``trec``, ``csv``, ``tsv``,
    ``jsonl`` or ``parquet``; without it the file's name tells, and TREC is assumed. ``.gz`` and ``.zst`` are
    recognised by their content. ``columns`` says how a table calls its columns: ``{"query": "qid",
    "document": "docno", "score": "sim"}``.

    Order is by score; ``ties`` says how equal scores stand: by document id, descending (``"trec"``), or
    as the source has them (``"file"``), which are the ranks of a table with a ``rank`` beside the score
    if they agree with the scores, else its rows. Without ``ties``, a table with such ranks is read as
    ``"file"``, a Parquet file of ``write_run`` as it was written, and anything else as ``"trec"``. With a
    ``rank`` alone, the score is ``-rank``. A table with neither, and without a column of numbers that may be
    the score, is read in the order of its rows, with a warning. The rank of a TREC file is ignored, as
    everywhere, and so is the description of the system, ``<SYSDESC>..</SYSDESC>``, that a run of NTCIR
    begins with.

    >>> run = read_run({"q1": {"d1": 0.5, "d2": 0.9}})
    >>> run.documents("q1")
    ['d2', 'd1']
    """
    if ties is not None:
        check_ties(ties)
    if isinstance(source, Run):
        return source if name is None else source.renamed(name)

    def build(found: Columns) -> Run:
        return _run(found, name or found.name or "run", ties)

    run = _load(source, RUN, build, kind="run", format=format, columns=columns)
    if isinstance(source, (str, os.PathLike)):
        record, changed = read_record(os.fspath(source))
        run = replace(run, reads_judgements=record.get(READS_JUDGEMENTS) is True and not changed)
    return run


def _run(found: Columns, name: str, ties: Ties | None) -> Run:
    """Ranks that agree with the scores are the order, unless the file or the caller says otherwise."""
    rule = ties or ("trec" if found.ties == "trec" else None)
    order = None if rule == "trec" else _order_by_rank(found)
    if order is not None:
        rows = pa.array(order)
        columns = found.queries.take(rows), found.documents.take(rows), found.values[order]
        try:
            return Run.build(*columns, name=name, ties="file", source=found.source)
        except DataError:
            pass  # said below, with the rows as they stand in the table
    rule = rule or ("file" if found.ties == "file" else "trec")
    run = Run.build(found.queries, found.documents, found.values, name=name, ties=rule, source=found.source)
    if found.contradicting:
        warnings.warn(
            f"{found.name or name}: in {counted(found.contradicting, 'place', 'places')} the next rank has "
            "a larger score: documents are ordered by score, as everywhere. If the ranks are meant, write "
            "them as scores, n - rank",
            EvenrankWarning,
            stacklevel=2,
        )
    return run


def _order_by_rank(columns: Columns) -> npt.NDArray[np.int64] | None:
    """The rows by rank within each query, if the ranks agree with the scores and never repeat; else None."""
    if columns.ranks is None:
        return None
    codes = columns.queries.indices.to_numpy(zero_copy_only=False)
    order = np.lexsort((columns.ranks, codes))
    inside = np.diff(codes[order]) == 0
    falling = np.diff(columns.values[order]) <= 0
    distinct = np.diff(columns.ranks[order]) > 0
    return order if (falling & distinct)[inside].all() else None


@overload
def read_qrels(
    source: object,
    *,
    diversity: Literal[False] = False,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Qrels: ...


@overload
def read_qrels(
    source: object,
    *,
    diversity: Literal[True],
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> DiversityQrels: ...


def read_qrels(
    source: object,
    *,
    diversity: bool = False,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Qrels | DiversityQrels:
    """Judgements from a file, a mapping or a table; see ``read_run`` for what ``source`` can be.

    A TREC file has four fields, ``query iteration document grade``; with ``diversity=True`` they are
    ``query intent document grade``, and a mapping is ``{query: {intent: {document: grade}}}``. A query
    without a relevant document is accepted: measures say what it means for them. ``format="ntcir"`` is
    a file of three fields, ``query document L2``.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}}).max_grade
    2
    """
    if isinstance(source, Qrels | DiversityQrels):
        if isinstance(source, DiversityQrels) != diversity:
            raise InputTypeError(
                f"diversity={diversity}, but these are {type(source).__name__}"
                + (": their graded() gives judgements without intents" if not diversity else "")
            )
        return source
    check_format(format, (*format_names(), NTCIR))
    if diversity and format == NTCIR:
        raise ParameterError("judgements of NTCIR have no intents: leave out diversity, or the format")

    def build(found: Columns) -> Qrels | DiversityQrels:
        rest = found.documents, found.values
        if diversity:
            return DiversityQrels.build(found.queries, found.intents, *rest, source=found.source)
        return Qrels.build(found.queries, *rest, source=found.source)

    layout = DIVERSITY if diversity else NTCIR_QRELS if format == NTCIR else QRELS
    form = "trec" if format == NTCIR else format
    return _load(source, layout, build, kind="qrels", format=form, columns=columns)


def _load(
    value: object,
    layout: Layout,
    build: Callable[[Columns], Built],
    *,
    kind: str,
    format: str | None,
    columns: Mapping[str, str] | None,
) -> Built:
    """What ``build`` makes of the columns. ``kind`` is what to call an object without a name."""
    check_format(format)
    if isinstance(value, (Qrels, DiversityQrels) if layout.is_run else Run):  # both turn into dictionaries
        wanted = "a run" if layout.is_run else "judgements"
        raise InputTypeError(f"{value!r} was given for {wanted}: are run and judgements swapped?")
    name = getattr(value, "name", None)
    origin: dict[str, Any] = {"name": name if isinstance(name, str) and name else None}
    file = None if is_dataset(value) else as_source(value)
    if file is not None:
        origin = {"source": file.name, "name": file.stem}
        format = format or file.guessed_format or "trec"
        if format == "trec":
            if columns is not None:
                raise ParameterError("columns= applies only to tables: a TREC file has no named columns")
            file.check()
            return read_trec(file, layout, lambda found: build(replace(found, **origin)))
    elif is_dataset(value):
        origin = {"source": str(value), "name": str(value).rpartition(":")[2]}
    if isinstance(value, Mapping):
        for query, own in value.items():
            if isinstance(own, Mapping) and not own:
                raise layout.nothing(kind, f"query {query!r} has none: leave it out")
    keys = ("query", *(["intent"] if layout.intent else []), "document", layout.value)
    part = "scoreddocs" if layout.is_run else "qrels"
    source = value if file is None else file
    table = the_table(source, layout.what, name=kind, format=format, mapping=keys, part=part)
    if table.roles is not None and columns is not None:
        raise ParameterError(f"columns= applies only to tables, got {type(value).__name__}")
    if table.roles is not None and table.names != list(keys):
        key, cell = (table.column(name)[0] for name in table.names[:2])
        shape = "{intent: {document: grade}}" if layout.intent else f"{{document: {layout.value}}}"
        raise DataError(f"{kind}: query {key!r}: expected {shape}, got {type(cell).__name__} {cell!r:.60}")
    if format in ("csv", "tsv"):
        layout.check_header(table.names, table.name, format)
    found = _of_table(table, layout, columns)
    try:
        return build(replace(found, **origin, ties=table.metadata.get(TIES_KEY)))
    except DataError as error:  # it counts rows of columns; the user knows lines, rows or queries
        raise table.report.relocated(error) from None


def _of_table(table: NamedTable, layout: Layout, columns: Mapping[str, str] | None) -> Columns:
    """With both a score and a rank, the score orders and the rank only breaks ties; with a rank alone,
    the score is ``-rank``. Where there is neither, and nothing that may be one, the rows are in rank order.
    """
    values = score_role(table.names, columns) if layout.is_run else ["grade"]
    in_order = not values and not _perhaps_scores(table, columns)
    if not values and not in_order:
        values = ["score"]
    roles = [
        Role("query", "query"),
        *([Role("intent")] if layout.intent else []),
        Role("document"),
        *(Role(value, "grade" if value == "grade" else "number") for value in values),
    ]
    found = read_roles(table, roles, columns)
    queries, documents, ranks = found["query"], found["document"], found.get("rank")
    if len(documents) == 0:
        raise layout.nothing(table.name, "there are no rows")
    codes = queries.indices.to_numpy(zero_copy_only=False)
    if in_order:
        order, sizes = np.argsort(codes, kind="stable"), np.bincount(codes)
        ranks = np.empty(len(codes))  # 1, 2, .. for the rows of each query
        ranks[order] = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1
        warnings.warn(
            f"{table.name}: no column for a score or a rank: the documents of a query are taken in the order "
            "of the rows",
            EvenrankWarning,
            stacklevel=2,
        )
    if layout is QRELS and not {*ACCEPTED["intent"]}.isdisjoint(table.names):
        table.report.hint = BY_INTENT
    if ranks is None:
        return Columns(queries, documents, found[layout.value], found.get("intent"))
    scores = found.get("score", -ranks)
    against = contradictions(codes, ranks, scores)
    return Columns(queries, documents, scores, ranks=ranks, contradicting=against)


def _perhaps_scores(table: NamedTable, columns: Mapping[str, str] | None) -> bool:
    """Whether a column may hold scores or grades under a name that nobody knows: numbers in its first rows,
    or the name of something else that documents of queries have."""
    named = set((columns or {}).values())
    for name in table.names:
        if name in named or spelled(name) in _IDS:
            continue
        if any(name in ACCEPTED[role] for role in _OTHERWISE):
            return True
        cells = one_array(table.column(name)[:_LOOKED_AT])
        held = [cell for cell in listed_cells(cells) if cell or cell == 0]
        if held and all(is_number(str(cell)) for cell in held):
            return True
    return False
