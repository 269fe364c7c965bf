"""Numbers by document, or by query and document: ratings, lengths, dates of any kind, to sort by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.data.tables import DocumentTable
from evenrank.errors import DataError
from evenrank.io.cells import is_missing, listed_cells, one_array
from evenrank.io.column_names import ACCEPTED, listed
from evenrank.io.tables import Role, column_of_roles, read_roles, the_table


def read_numbers(
    source: object, name: str, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> DocumentTable:
    """The columns of numbers of a table with a column of documents, and one of queries if it has one.

    ``columns`` names them where they are called otherwise, as ``{"document": "sku"}``. An empty cell is not
    a number. A column with anything else but numbers is left out.
    """
    table = the_table(source, "numbers", name=name, format=format)
    by_query = "query" in (columns or {}) or any(name in ACCEPTED["query"] for name in table.names)
    roles = [Role("document"), *([Role("query", "query")] if by_query else [])]
    chosen = column_of_roles(table, roles, columns)
    found = read_roles(table, roles, chosen)
    numbers = {
        column: values
        for column in table.names
        if column not in chosen.values() and (values := _numbers(table.column(column))) is not None
    }
    if not numbers:
        raise DataError(f"{table.name}: none of the columns {listed(table.names)} holds numbers")
    try:
        return DocumentTable.build(name, found["document"], numbers, queries=found.get("query"))
    except DataError as error:
        raise table.report.relocated(error) from None


def _numbers(values: Any) -> npt.NDArray[np.float64] | None:
    """The cells as numbers, NaN where one is empty; None if they are something else."""
    cells = listed_cells(one_array(values))
    try:
        found = np.array(
            [math.nan if is_missing(one) or not str(one).strip() else float(one) for one in cells]
        )
    except (TypeError, ValueError):
        return None
    return None if np.isinf(found).any() or not np.isfinite(found).any() else found
