"""Categories of queries: a table with a query and a category, several rows a query if it has several."""

from __future__ import annotations

from collections.abc import Mapping

from evenrank.errors import DataError, InputTypeError
from evenrank.io.cells import id_cells
from evenrank.io.column_names import ACCEPTED
from evenrank.io.tables import any_table

CATEGORY = ("category", "domain", "family", "group", "class")


def read_categories(
    source: object, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """``{query: [category, ..]}`` from a file or a table with the columns query and category."""
    table = any_table(source, "categories", "categories", format=format)
    if table is None:
        raise InputTypeError(f"categories are read from a path or a table, got {type(source).__name__}")
    frame, report, _, name = table
    chosen = {}
    for role, accepted in (("query", ACCEPTED["query"]), ("category", CATEGORY)):
        column = (columns or {}).get(role) or next((c for c in accepted if c in frame.names), None)
        if column is None or column not in frame.names:
            raise DataError(
                f"{name}: no column for the {role} (accepted: {', '.join(accepted)}); "
                f"the columns are {', '.join(map(repr, frame.names))}"
            )
        chosen[role] = column
    queries = id_cells(frame.column(chosen["query"]), "query", report)
    categories = id_cells(frame.column(chosen["category"]), "category", report)
    report.check()
    out: dict[str, list[str]] = {}
    for query, category in zip(queries.to_pylist(), categories.to_pylist(), strict=True):
        own = out.setdefault(query, [])
        if category not in own:
            own.append(category)
    return out
