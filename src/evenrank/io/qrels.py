"""Judgements in and out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Literal, overload

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError
from evenrank.ids import as_strings
from evenrank.io.atomic import atomic_write
from evenrank.io.layout import DIVERSITY, NTCIR_QRELS, QRELS, Columns
from evenrank.io.rankings import Provenance, load
from evenrank.io.source import check_format, format_names
from evenrank.io.trec.writable import check_ids, checked_format

NTCIR = "ntcir"


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


@overload
def read_qrels(
    source: object,
    *,
    diversity: bool,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Qrels | DiversityQrels: ...


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
    if diversity:
        return load(source, DIVERSITY, _build_diversity, kind="qrels", format=format, columns=columns)
    layout, format = (NTCIR_QRELS, "trec") if format == NTCIR else (QRELS, format)
    return load(source, layout, _build_graded, kind="qrels", format=format, columns=columns)


def _build_graded(found: Columns, origin: Provenance) -> Qrels:
    return Qrels.build(found.queries, found.documents, found.values, source=origin.source)


def _build_diversity(found: Columns, origin: Provenance) -> DiversityQrels:
    return DiversityQrels.build(
        found.queries, found.intents, found.documents, found.values, source=origin.source
    )


def write_qrels(
    qrels: Qrels | DiversityQrels, path: str | os.PathLike[str], *, format: str | None = None
) -> None:
    """Write judgements as TREC or, where ``path`` ends in ``.parquet``, as Parquet; see ``write_run``."""
    if not isinstance(qrels, Qrels | DiversityQrels):
        raise InputTypeError(f"write_qrels takes Qrels or DiversityQrels, got {type(qrels).__name__}")
    format = checked_format(path, format)
    if len(qrels.doc_ids) == 0:
        raise DataError("there are no judgements to write")
    if isinstance(qrels, Qrels) and not qrels.whole:
        raise DataError(
            "judgements are written with whole grades, and these have fractions: read the ratings in steps, "
            "read_ratings(FILE, step=0.5)"
        )
    table = _graded_table(qrels) if isinstance(qrels, Qrels) else _diversity_table(qrels)
    if format == "parquet":
        with atomic_write(path) as file:
            pa.parquet.write_table(table, file)
        return
    check_ids("qrels", {role: table.column(role) for role in table.column_names if role != "grade"})
    second = table.column("intent").to_pylist() if "intent" in table.column_names else ["0"] * len(table)
    rows = zip(
        table.column("query").to_pylist(),
        second,
        table.column("document").to_pylist(),
        table.column("grade").to_pylist(),
        strict=True,
    )
    with atomic_write(path) as file:
        file.write(
            "".join(
                f"{query} {field} {document} {grade}\n" for query, field, document, grade in rows
            ).encode()
        )


def _graded_table(qrels: Qrels) -> pa.Table:
    queries = as_strings(qrels.query_ids).take(
        pa.array(np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets)))
    )
    return pa.table({"query": queries, "document": qrels.doc_ids, "grade": qrels.grades})


def _diversity_table(qrels: DiversityQrels) -> pa.Table:
    """One row a judged (query, intent, document), the intents of a query in their order."""
    counts = np.array([len(names) for names in qrels.intent_ids])
    uniform = 1 / counts[:, None] * (np.arange(qrels.probabilities.shape[1]) < counts[:, None])
    if not np.allclose(qrels.probabilities, uniform):
        warnings.warn(
            "the probabilities of intents are not written: the file has no place for them",
            EvenrankWarning,
            stacklevel=3,
        )
    documents = np.repeat(np.arange(len(qrels.doc_ids)), np.diff(qrels.grades.offsets))  # (M,)
    queries = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))[documents]  # (M,)
    places = qrels.grades.places
    order = np.lexsort((documents, places, queries))
    intents = [
        qrels.intent_ids[q][p] for q, p in zip(queries[order].tolist(), places[order].tolist(), strict=True)
    ]
    return pa.table(
        {
            "query": as_strings(qrels.query_ids).take(pa.array(queries[order])),
            "intent": as_strings(intents),
            "document": qrels.doc_ids.take(pa.array(documents[order])),
            "grade": qrels.grades.values[order].astype(np.int64),
        }
    )
