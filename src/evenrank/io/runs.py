"""Runs in and out."""

from __future__ import annotations

import csv
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from evenrank.data.run import Run, Ties, check_ties
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, counted
from evenrank.ids import as_strings
from evenrank.io.atomic import atomic_write
from evenrank.io.cells import checked_ids
from evenrank.io.layout import RUN, Columns, contradictions
from evenrank.io.rankings import Provenance, load, order_by_rank
from evenrank.io.row_problems import RowProblems
from evenrank.io.run_record import READS_JUDGEMENTS, read_record, write_record
from evenrank.io.trec.writable import RUN_WRITTEN, check_ids, checked_format, one_word

_TIES_KEY = "evenrank.ties"
_ROWS_AT_ONCE = 1 << 16
_SMALLEST = float(np.finfo(np.float32).tiny)  # what is nearer to 0 is 0 for some readers


def read_run(
    source: object,
    *,
    name: str | None = None,
    ties: Ties | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Run:
    """A run from a file, a mapping or a table.

    ``source`` is a path (``-`` is standard input), an open file, a dict ``{query: {document: score}}``,
    a pandas, polars or Arrow table, or an object of another library whose ``to_dict()`` gives such a
    dict. ``format`` is ``trec``, ``csv``, ``tsv``, ``jsonl`` or ``parquet``; without it the file's name
    tells, and TREC is assumed. ``.gz`` and ``.zst`` are recognised by their content. ``columns`` says
    how a table calls its columns: ``{"query": "qid", "document": "docno", "score": "sim"}``.

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

    def build(found: Columns, origin: Provenance) -> Run:
        called = name or origin.name or "run"
        written = (origin.metadata or {}).get(_TIES_KEY)
        rule = ties or ("trec" if written == "trec" else None)
        by_rank = None if rule == "trec" else order_by_rank(found)
        if by_rank is not None:
            try:
                return Run.build(
                    by_rank.queries,
                    by_rank.documents,
                    by_rank.values,
                    name=called,
                    ties="file",
                    source=origin.source,
                )
            except DataError:
                pass  # said below, with the rows as they stand in the table
        against = found.contradicting
        if found.ranks is not None:
            codes = found.queries.indices.to_numpy(zero_copy_only=False)
            against = contradictions(codes, found.ranks, found.values)
        if against:
            warnings.warn(
                f"{origin.name or called}: in {counted(against, 'place', 'places')} the next rank has a "
                "larger score: documents are ordered by score, as everywhere. If the ranks are meant, write "
                "them as scores, n - rank",
                EvenrankWarning,
                stacklevel=2,
            )
        rule = rule or ("file" if written == "file" else "trec")
        return Run.build(
            found.queries, found.documents, found.values, name=called, ties=rule, source=origin.source
        )

    run = load(source, RUN, build, kind="run", format=format, columns=columns)
    if isinstance(source, (str, os.PathLike)):
        record, changed = read_record(os.fspath(source))
        run = replace(run, reads_judgements=record.get(READS_JUDGEMENTS) is True and not changed)
    return run


def write_run(
    run: Run, path: str | os.PathLike[str], *, tag: str | None = None, format: str | None = None
) -> None:
    """Write a run as TREC or, where ``path`` ends so, as ``.parquet``, ``.csv``, ``.tsv`` or ``.jsonl``.

    The file is whole or not there. Names that end in ``.gz`` or ``.zst`` are compressed.

    In a TREC file the scores of a query fall strictly, also as 32-bit floats, so that every tool reads
    the same order: of equal scores each is lowered to the next smaller 32-bit float. A query whose scores
    are all equal gets ``n - rank + 1`` (n documents). Tables keep the scores as they are, and the ranks
    beside them.
    ``tag`` is the last field, by default the run's name with blanks replaced. Beside a run whose order was
    made with judgements stands ``PATH.system.json``, by which ``read_run`` knows it again.
    """
    if not isinstance(run, Run):
        raise InputTypeError(f"write_run takes a Run, got {type(run).__name__}: read_run makes one")
    format = checked_format(path, format, RUN_WRITTEN)
    if len(run.doc_ids) == 0:
        raise DataError(f"run {run.name!r} has no ranked documents: there is nothing to write")
    if format != "trec":
        if tag is not None:
            raise ParameterError("tag= applies only to TREC files: a table has none")
        report = RowProblems(run.name)  # what is written must be read back
        checked_ids(as_strings(run.query_ids), "query", report)
        checked_ids(run.doc_ids, "document", report)
        report.check()
        table = run.to_arrow().replace_schema_metadata({_TIES_KEY: run.ties})
        with atomic_write(path) as file:
            if format == "parquet":
                pa.parquet.write_table(table, file)
            else:
                for piece in _table_lines(table, format):
                    file.write(piece)
    else:
        last_field = one_word(run.name, "run") if tag is None else _checked_tag(tag)
        check_ids(run.name, {"query": run.query_ids, "document": run.doc_ids})
        with atomic_write(path) as file:
            for piece in run_lines(run, last_field):
                file.write(piece)
    if run.reads_judgements:
        write_record(path, {"system": run.name, READS_JUDGEMENTS: True})


def _table_lines(table: pa.Table, format: str) -> Iterator[bytes]:
    """The rows of a run as text, some at a time; rows are in rank order, and the ranks say so.

    TSV has no quotes: no id holds a tab or the end of a line.
    """
    if format != "jsonl":
        yield _rows([table.column_names], format)
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        rows = batch.to_pylist()
        if format == "jsonl":
            yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        else:
            yield _rows([list(row.values()) for row in rows], format)


def _rows(rows: list[list[Any]], format: str) -> bytes:
    if format == "tsv":
        return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def run_lines(run: Run, tag: str) -> Iterator[bytes]:
    """The lines of a TREC file, those of one query at a time."""
    ids = run.doc_ids
    for position, query in enumerate(run.query_ids):
        begin, end = int(run.offsets[position]), int(run.offsets[position + 1])
        scores = writable_scores(run.scores[begin:end])
        documents = ids.slice(begin, end - begin).to_pylist()
        lines = [
            f"{query} Q0 {document} {rank} {score!r} {tag}\n"
            for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1)
        ]
        yield "".join(lines).encode()


def writable_scores(scores: np.typing.NDArray[np.float64]) -> list[float] | list[int]:
    """Scores that fall strictly, as 32-bit floats too: of equal ones, each is the next smaller float.

    Ranks, n, n - 1, ..., 1, where no two scores differ or some readers take the next smaller ones for 0.

    >>> writable_scores(np.array([2.5, 1.0]))
    [2.5, 1.0]
    >>> writable_scores(np.array([2.5, 1.0, 1.0]))
    [2.5, 1.0, 0.9999999403953552]
    >>> writable_scores(np.array([1.0, 1.0]))
    [2, 1]
    """
    ranks = list(range(len(scores), 0, -1))
    with np.errstate(over="ignore"):
        narrow = scores.astype(np.float32)
    if not np.isfinite(narrow).all() or (len(scores) > 1 and narrow[0] == narrow[-1]):
        return ranks
    bits = narrow.view(np.int32).astype(np.int64)
    keys = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)  # whole numbers in the order of the floats
    places = np.arange(len(keys))
    lowered = np.minimum.accumulate(keys + places) - places  # each below the one before it
    size = np.abs(lowered).astype(np.int32).view(np.float32).astype(np.float64)
    moved = lowered != keys
    if not np.isfinite(size).all() or (size[moved] < _SMALLEST).any():
        return ranks
    kept: list[float] = np.where(moved, np.copysign(size, lowered), scores).tolist()
    return kept


def _checked_tag(tag: str) -> str:
    if not isinstance(tag, str) or one_word(tag, "") != tag or not tag:
        raise ParameterError(f"tag must be one word without blanks, got {tag!r}")
    return tag
