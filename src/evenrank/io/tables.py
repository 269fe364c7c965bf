"""A table comes in, from a file or from memory: the columns of declared roles, every cell checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.errors import DataError, InputTypeError
from evenrank.io.cells import grade_cells, id_cells, query_cells, score_cells
from evenrank.io.column_names import candidates, resolve
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import as_source, guess_format
from evenrank.io.table_files import NamedTable, open_table


class Role(NamedTuple):
    """What a column is for, and what its cells must be: ``query``, ``id``, ``number`` or ``grade``.

    ``called`` is another name of the role, with other accepted names of columns."""

    name: str
    cells: str = "id"
    called: str = ""
    optional: bool = False


def as_table(value: object, name: str = "table") -> NamedTable | None:
    """A view on a table of pandas, polars or Arrow, or on a list of named tuples; None for anything else."""
    report = RowProblems(name)
    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    if isinstance(value, pa.RecordBatchReader):
        value = value.read_all()
    if isinstance(value, pa.Table):
        return NamedTable(list(value.column_names), value.column, report=report)
    # by name: neither library is imported for someone who does not use it
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    table: Any = value
    if library == "polars" and kind == "LazyFrame":
        table, kind = table.collect(), "DataFrame"
    if library == "polars" and kind == "DataFrame":
        return NamedTable(list(table.columns), lambda column: _polars_column(table, column), report=report)
    if library == "pandas" and kind == "DataFrame":
        names = [str(column) for column in table.columns]
        return NamedTable(names, lambda column: _pandas_column(table, names.index(column)), report=report)
    if isinstance(value, (list, tuple)) and value and all(hasattr(row, "_fields") for row in value):
        return NamedTable(
            list(value[0]._fields), lambda column: [getattr(row, column) for row in value], report=report
        )
    if library == "lenskit" and callable(getattr(value, "to_df", None)):  # lists of items
        return as_table(table.to_df(), name)
    return None


def _pandas_column(table: Any, place: int) -> Any:
    series = table.iloc[:, place]
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):  # a column of mixed objects
        return series.tolist()


def _polars_column(table: Any, name: str) -> Any:
    series = table.get_column(name)
    # Arrow would get the addresses of Python objects, not the objects
    return series.to_list() if str(series.dtype) == "Object" else series.to_arrow()


def the_table(
    source: object,
    what: str,
    *,
    name: str = "",
    format: str | None = None,
    usual: str = "csv",
    mapping: Sequence[str] = (),
) -> NamedTable:
    """The table in a file or in memory; in a dictionary of columns, or in one whose keys and values are those
    of the columns ``mapping``, as ``{query: {document: value}}``.

    ``what`` is what an empty table has none of, ``name`` what to call one in memory, ``usual`` the format of
    a file whose suffix does not tell it.
    """
    name = name or what
    if isinstance(source, NamedTable):
        return source
    if isinstance(source, Mapping) and mapping:
        listed = all(isinstance(inner, Sized) and not isinstance(inner, str) for inner in source.values())
        names = [key for key in source if isinstance(key, str)]
        if not listed or not candidates(names, mapping[0]) or _of_mappings(source):
            return mapping_table(source, mapping, name)
        source = pa.table(dict(source))
    table, file = as_table(source, name), as_source(source)
    if table is None and file is not None:
        file.check()
        table = open_table(file, format or guess_format(file.path or file.name) or usual, what)
    if table is None:
        accepted = "a path, a table or a dictionary" if mapping else "a path or a table"
        raise InputTypeError(f"{what} are read from {accepted}, got {type(source).__name__}")
    return table


def _of_mappings(source: Mapping[Any, Any]) -> bool:
    return any(isinstance(inner, Mapping) for inner in source.values())


def mapping_table(mapping: Mapping[Any, Any], names: Sequence[str], name: str) -> NamedTable:
    """A row for each entry of a dictionary, or of the dictionaries or lists in it. The columns are called by
    the last of the names where there are fewer."""
    rows: list[tuple[Any, ...]] = []
    for key, inner in mapping.items():
        if isinstance(inner, Mapping):
            rows += [(key, *entry) for entry in inner.items()]
        else:
            rows += [(key, one) for one in (inner if isinstance(inner, (list, tuple, set)) else [inner])]
    widths = {len(row) for row in rows} or {len(names)}
    if len(widths) > 1:
        raise InputTypeError(f"{name}: some of the values are dictionaries, and some are not")
    used = list(names[-widths.pop() :])

    def place(row: int) -> str:
        keys = zip(used[:-1], rows[row], strict=False)
        return ", ".join(f"{column} {key!r}" for column, key in keys)

    return NamedTable(
        used,
        lambda column: [row[used.index(column)] for row in rows],
        report=RowProblems(name, place=place),
        by_keys=True,
    )


def column_of_roles(
    table: NamedTable, roles: Sequence[Role], columns: Mapping[str, str] | None, *, advice: str = ""
) -> dict[str, str]:
    """The name of the column of each role that the table has. Lines that are no rows are told first: they may
    be why there is no such column."""
    try:
        return resolve(
            table.names,
            [role.name for role in roles],
            columns,
            table.name,
            names={role.name: role.called for role in roles if role.called},
            optional=[role.name for role in roles if role.optional],
            advice=advice,
        )
    except DataError:
        table.report.check()
        raise


def read_roles(
    table: NamedTable, roles: Sequence[Role], columns: Mapping[str, str] | None, *, advice: str = ""
) -> dict[str, Any]:
    """The checked cells of each role that the table has; everything that is wrong with them is one error."""
    chosen = column_of_roles(table, roles, columns, advice=advice)
    found = {role.name: _checked(table, chosen[role.name], role) for role in roles if role.name in chosen}
    table.report.check()
    return found


def _checked(table: NamedTable, column: str, role: Role) -> Any:
    cells, called = table.column(column), role.called or role.name
    if role.cells == "query" and not table.by_keys:
        return query_cells(cells, table.report)
    if role.cells == "number":
        return score_cells(cells, table.report, called, text=table.text)
    if role.cells == "grade":
        return grade_cells(cells, table.report, text=table.text)
    return id_cells(cells, called, table.report)
