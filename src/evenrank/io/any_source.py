"""The one place where runs and judgements are told apart by what they come in: files, mappings, tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io import tables, trec
from evenrank.io.frames import as_frame, frame_columns, mapping_columns
from evenrank.io.layout import Columns, Layout
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source, as_source, check_format

ACCEPTED = (
    "a path (str or Path, '-' is standard input), an open file, a dict {query: {document: value}}, "
    "a pandas, polars or Arrow table, or an object whose to_dict() gives such a dict"
)

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
    source = as_source(value)
    if source is not None:
        return _load_file(source, layout, build, format, columns)
    if format is not None:
        raise ParameterError(f"format= applies only to files, got {type(value).__name__}")
    frame = as_frame(value)
    if frame is not None:
        report = RowProblems(kind)
        found = frame_columns(frame, layout, columns, kind, report=report)
        return _built(build, found, Provenance(), report)
    if columns is not None:
        raise ParameterError(f"columns= applies only to tables, got {type(value).__name__}")
    name = None
    if not isinstance(value, Mapping):
        name = getattr(value, "name", None)
        value = _dictionary(value, kind)
    found, report = mapping_columns(value, layout, kind)
    return _built(build, found, Provenance(name=name if isinstance(name, str) and name else None), report)


def _load_file(
    source: Source,
    layout: Layout,
    build: Callable[[Columns, Provenance], Built],
    format: str | None,
    columns: Mapping[str, str] | None,
) -> Built:
    source.check()
    format = format or source.guessed_format or "trec"
    origin = Provenance(source.name, source.stem)
    if format == "trec":
        if columns is not None:
            raise ParameterError("columns= applies only to tables: a TREC file has no named columns")
        return trec.read(source, layout, lambda found: build(found, origin))
    table = tables.read(source, layout, format, columns)
    return _built(build, table.columns, Provenance(source.name, source.stem, table.metadata), table.report)


def _built(
    build: Callable[[Columns, Provenance], Built], columns: Columns, origin: Provenance, report: RowProblems
) -> Built:
    try:
        return build(columns, origin)
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
    raise InputTypeError(f"a {kind} is read from {ACCEPTED}; got {type(value).__name__}")
