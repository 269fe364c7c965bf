"""Runs and judgements written: as TREC files, or as tables."""

from __future__ import annotations

import csv
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import PROBLEMS_SHOWN, DataError, EvenrankWarning, InputTypeError, ParameterError
from evenrank.ids import as_strings
from evenrank.io.atomic import atomic_write
from evenrank.io.cells import checked_ids, quoted
from evenrank.io.row_problems import RowProblems
from evenrank.io.run_record import READS_JUDGEMENTS, write_record
from evenrank.io.source import check_format, guess_format

WRITTEN = ("trec", "parquet")
RUN_WRITTEN = (*WRITTEN, "csv", "tsv", "jsonl")
TIES_KEY = "evenrank.ties"

_ROWS_AT_ONCE = 1 << 16
_SMALLEST = float(np.finfo(np.float32).tiny)  # what is nearer to 0 is 0 for some readers
_SEPARATING = r"[\x00-\x20]"


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
        table = run.to_arrow().replace_schema_metadata({TIES_KEY: run.ties})
        lines = _table_lines(table, format)
    else:
        last_field = one_word(run.name, "run") if tag is None else tag
        if not isinstance(last_field, str) or one_word(last_field, "") != last_field or not last_field:
            raise ParameterError(f"tag must be one word without blanks, got {tag!r}")
        check_ids(run.name, {"query": run.query_ids, "document": run.doc_ids})
        lines = run_lines(run, last_field)
    with atomic_write(path) as file:
        if format == "parquet":
            pa.parquet.write_table(table, file)
        else:
            for piece in lines:
                file.write(piece)
    if run.reads_judgements:
        write_record(path, {"system": run.name, READS_JUDGEMENTS: True})


def _table_lines(table: pa.Table, format: str) -> Iterator[bytes]:
    """The rows of a run as text, some at a time; rows are in rank order, and the ranks say so.

    TSV has no quotes: no id holds a tab or the end of a line.
    """
    how: dict[str, Any] = {"lineterminator": "\n"}
    if format == "tsv":
        how |= {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
    for number, batch in enumerate(table.to_batches(max_chunksize=_ROWS_AT_ONCE)):
        rows, text = batch.to_pylist(), StringIO()
        if format == "jsonl":
            text.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        else:
            writer = csv.writer(text, **how)
            writer.writerows([table.column_names] if number == 0 else [])
            writer.writerows(row.values() for row in rows)
        yield text.getvalue().encode()


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
    if isinstance(qrels, Qrels):
        rows = [(q, "0", d, grade) for q, own in qrels.to_dict().items() for d, grade in own.items()]
    else:
        _warn_of_probabilities(qrels)
        rows = [
            (q, intent, d, grade)
            for q, intents in qrels.to_dict().items()
            for intent, own in intents.items()
            for d, grade in own.items()
        ]
    columns = dict(zip(("query", "intent", "document", "grade"), zip(*rows, strict=True), strict=True))
    if isinstance(qrels, Qrels):
        del columns["intent"]
    if format == "parquet":
        ids = {role: as_strings(list(column)) for role, column in columns.items() if role != "grade"}
        table = pa.table({**ids, "grade": pa.array(columns["grade"], pa.int64())})
        with atomic_write(path) as file:
            pa.parquet.write_table(table, file)
        return
    check_ids("qrels", {role: list(column) for role, column in columns.items() if role != "grade"})
    with atomic_write(path) as file:
        file.write("".join(f"{' '.join(map(str, row))}\n" for row in rows).encode())


def _warn_of_probabilities(qrels: DiversityQrels) -> None:
    counts = np.array([len(names) for names in qrels.intent_ids])
    uniform = 1 / counts[:, None] * (np.arange(qrels.probabilities.shape[1]) < counts[:, None])
    if not np.allclose(qrels.probabilities, uniform):
        warnings.warn(
            "the probabilities of intents are not written: the file has no place for them",
            EvenrankWarning,
            stacklevel=3,
        )


def checked_format(
    path: str | os.PathLike[str], format: str | None, written: tuple[str, ...] = WRITTEN
) -> str:
    """The format to write: the one given, else what the name tells, else TREC."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"a path to write to is a str or a Path, got {type(path).__name__}")
    check_format(format, written)
    guessed = format or guess_format(path) or "trec"
    if guessed not in written:
        raise ParameterError(
            f"{os.fspath(path)}: {guessed} is read but not written here: "
            f"name the file .{', .'.join(written)}, or pass format='trec'"
        )
    return guessed


def check_ids(name: str, columns: Mapping[str, Any]) -> None:
    """Raise for ids that would be read back as something else from a file of fields between blanks."""
    problems: list[str] = []
    for role, values in columns.items():
        ids = as_strings(values)
        pattern = rf"{_SEPARATING}|^$" + (r"|^[#\x{FEFF}]" if role == "query" else "")
        bad = np.flatnonzero(pc.match_substring_regex(ids, pattern).to_numpy(zero_copy_only=False))
        problems += [f"{role} {quoted(ids[row].as_py())}" for row in bad[: PROBLEMS_SHOWN + 1].tolist()]
    if problems:
        shown = list(dict.fromkeys(problems))[:PROBLEMS_SHOWN]
        raise DataError(
            "\n".join(
                f"{name}: {what} cannot stand in a TREC file "
                "(empty, a blank or control character inside, or a leading '#'): write Parquet, or rename it"
                for what in shown
            )
        )


def one_word(text: str, default: str) -> str:
    """The text with everything that separates fields replaced.

    >>> one_word("my run", "run")
    'my_run'
    """
    return re.sub(_SEPARATING, "_", text).encode("utf-8", "replace").decode() or default
