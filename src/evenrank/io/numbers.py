"""Numbers by document, or by query and document: ratings, lengths, dates of any kind, to sort by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenrank.data.tables import DocumentTable
from evenrank.errors import DataError, InputTypeError
from evenrank.io.cells import id_cells, is_missing, one_array
from evenrank.io.frames import as_frame
from evenrank.io.names import ACCEPTED
from evenrank.io.report import Report
from evenrank.io.source import as_source, guess_format
from evenrank.io.tables import open_table


def read_numbers(source: object, name: str, *, format: str | None = None) -> DocumentTable:
    """The columns of numbers of a table with a column of documents, and one of queries if it has one.

    An empty cell is not a number. A column with anything else but numbers is left out.
    """
    file, report, where = as_source(source), Report(name), name
    if file is not None:
        file.check()
        form = format or guess_format(file.path or file.name) or "csv"
        table = open_table(file, form, lambda name, why: DataError(f"{name}: no numbers ({why})"))
        frame, report, where = table.frame, table.report, file.name
    else:
        found = as_frame(source)
        if found is None:
            raise InputTypeError(f"numbers are read from a path or a table, got {type(source).__name__}")
        frame = found
    document, query = (
        next((column for column in ACCEPTED[role] if column in frame.names), None)
        for role in ("document", "query")
    )
    if document is None:
        raise DataError(
            f"{where}: no column for the document (accepted: {', '.join(ACCEPTED['document'])}); "
            f"the columns are {', '.join(map(repr, frame.names))}"
        )
    documents = id_cells(frame.column(document), "document", report)
    queries = None if query is None else id_cells(frame.column(query), "query", report)
    report.check()
    columns = {
        column: values
        for column in frame.names
        if column not in (document, query) and (values := _numbers(frame.column(column))) is not None
    }
    if not columns:
        raise DataError(f"{where}: none of the columns {', '.join(map(repr, frame.names))} holds numbers")
    return DocumentTable.build(name, documents, columns, queries=queries)


def _numbers(values: Any) -> npt.NDArray[np.float64] | None:
    """The cells as numbers, NaN where one is empty; None if they are something else."""
    values = one_array(values)
    cells = values.to_pylist() if isinstance(values, pa.Array) else list(values)
    found: npt.NDArray[np.float64] = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if is_missing(cell) or (isinstance(cell, str) and not cell.strip()):
            continue
        try:
            found[row] = float(cell)
        except (TypeError, ValueError):
            return None
        if not math.isfinite(found[row]):
            return None
    return found if np.isfinite(found).any() else None
