"""Categories of queries: a table with a query and a category, several rows a query if it has several."""

from __future__ import annotations

from collections.abc import Mapping

from evenrank.io.tables import Role, read_roles, the_table

ROLES = (Role("query", "query"), Role("category"))


def read_categories(
    source: object, *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> dict[str, list[str]]:
    """``{query: [category, ..]}`` from a file or a table with the columns query and category."""
    table = the_table(source, "categories", format=format, mapping=("query", "category"))
    found = read_roles(table, ROLES, columns)
    out: dict[str, dict[str, None]] = {}
    for query, category in zip(found["query"].to_pylist(), found["category"].to_pylist(), strict=True):
        out.setdefault(query, {})[category] = None
    return {query: list(own) for query, own in out.items()}
