"""Data sets of ir_datasets by name, ``ir_datasets:ID``: their queries, judgements and runs as tables."""

from __future__ import annotations

import re
import warnings
from typing import Any

from evenrank.errors import DataError, EvenrankWarning, MissingExtraError
from evenrank.io.row_problems import RowProblems
from evenrank.io.table_files import NamedTable

PREFIX = "ir_datasets:"
_LEVEL = re.compile(r"rel=(\d+)")


def is_dataset(source: object) -> bool:
    return isinstance(source, str) and source.startswith(PREFIX)


def open_dataset(source: str) -> Any:
    name = source.removeprefix(PREFIX)
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError.for_job(f"reading {source}", "ir_datasets", "datasets") from error
    try:
        return ir_datasets.load(name)
    except KeyError as error:
        raise DataError(f"{source}: ir_datasets knows no dataset {name!r}") from error


def dataset_table(source: str, part: str) -> NamedTable:
    """The ``queries``, ``qrels`` or ``scoreddocs`` of a data set. A warning says from which grade on its own
    measures call a document relevant, where that is not 1."""
    dataset = open_dataset(source)
    if not getattr(dataset, f"has_{part}")():
        raise DataError(f"{source}: the dataset has no {part}")
    try:
        rows = list(getattr(dataset, f"{part}_iter")())
    except Exception as error:  # of any kind: a download that fails, a file that is broken
        raise DataError(f"{source}: ir_datasets cannot give the {part}: {error}") from error
    if part == "qrels":
        _say_level(dataset, source)
    fields = getattr(dataset, f"{part}_cls")()._fields
    return NamedTable(
        list(fields), lambda column: [getattr(row, column) for row in rows], report=RowProblems(source)
    )


def _say_level(dataset: Any, source: str) -> None:
    described = dataset.documentation() if hasattr(dataset, "documentation") else {}
    measures = [str(one) for one in (described or {}).get("official_measures") or ()]
    levels = {int(level) for measure in measures for level in _LEVEL.findall(measure)}
    if levels - {1}:
        warnings.warn(
            f"{source}: its own measures are {', '.join(measures)}: documents are relevant from grade "
            f"{max(levels)} on there, so write rel={max(levels)} in measures of relevance without grades",
            EvenrankWarning,
            stacklevel=2,
        )
