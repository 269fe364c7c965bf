"""A table comes in, from a file or from memory: the columns of declared roles, every cell checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from itertools import chain, repeat
from typing import Any

import pyarrow as pa

from evenrank.errors import DataError, InputTypeError, ParameterError
from evenrank.io.cells import grade_cells, id_cells, query_cells, score_cells
from evenrank.io.column_names import Role as Role
from evenrank.io.column_names import candidates, resolve
from evenrank.io.datasets import dataset_table, is_dataset
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import as_source, guess_format
from evenrank.io.table_files import TABLES, NamedTable, open_table

_ACCEPTED = (
    "a path (str or Path, '-' is standard input), an open file, a pandas, polars or Arrow table, a list of "
    "named tuples, a dictionary, or an object whose to_dict() gives one"
)


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
    part: str = "",
) -> NamedTable:
    """The table in a file or in memory; in a dictionary of columns, or in one whose keys and values are those
    of the columns ``mapping``, as ``{query: {document: value}}``.

    ``what`` is what an empty table has none of, ``name`` what to call one in memory, ``usual`` the format of
    a file whose suffix does not tell it, and ``part`` what is taken of a data set of ``ir_datasets``.
    """
    name = name or what
    if isinstance(source, NamedTable):
        return source
    if part and is_dataset(source):
        return dataset_table(str(source), part)
    file = as_source(source)
    if file is not None:
        file.check()
        form = format or guess_format(file.path or file.name) or usual
        if form not in TABLES:
            raise DataError(
                f"{file.name}: {what} are read from a table ({', '.join(TABLES)}), and its name is that of "
                f"{form}: if it is a table, say format='csv' (in the project file too)"
            )
        return open_table(file, form, what)
    if format is not None:
        raise ParameterError(f"format= applies only to files, got {type(source).__name__}")
    table = as_table(source, name)
    if table is not None:
        return table
    to_dict = getattr(source, "to_dict", None)
    if mapping and not isinstance(source, (Mapping, type)) and callable(to_dict):
        source = to_dict()  # as a Series of pandas, or a run of ranx
    if not mapping or not isinstance(source, Mapping):
        raise InputTypeError(f"{what} are read from {_ACCEPTED}; got {type(source).__name__}")
    names = [key for key in source if isinstance(key, str)]
    sized = all(isinstance(one, Sized) and not isinstance(one, (str, Mapping)) for one in source.values())
    if sized and any(candidates(names, role) for role in mapping[:-1]):
        return NamedTable(names, pa.table(dict(source)).column, report=RowProblems(name))
    return mapping_table(source, mapping, name)


def mapping_table(mapping: Mapping[Any, Any], names: Sequence[str], name: str) -> NamedTable:
    """A row for each entry of a dictionary, or of the dictionaries in it; of two names, for each in the lists
    in it. The columns are called by the last of the names where there are fewer."""
    keys, values = [list(mapping)], list(mapping.values())
    lists = (list, tuple, set, Mapping)
    if len(names) == 2 and any(isinstance(inner, lists) for inner in values):
        values = [inner if isinstance(inner, lists) else [inner] for inner in values]
        keys = [list(chain.from_iterable(map(repeat, mapping, map(len, values))))]
        values = list(chain.from_iterable(values))
    while len(keys) + 1 < len(names) and any(isinstance(inner, Mapping) for inner in values):
        if not all(isinstance(inner, Mapping) for inner in values):
            raise InputTypeError(f"{name}: a mix of values that are dictionaries and of others")
        keys = [list(chain.from_iterable(map(repeat, column, map(len, values)))) for column in keys] + [
            list(chain.from_iterable(values))
        ]
        values = [cell for inner in values for cell in inner.values()]
    used = list(names[-len(keys) - 1 :]) if mapping else list(names)
    columns = dict(zip(used, [*keys, values] if mapping else [[]] * len(used), strict=True))
    report = RowProblems(
        name, at=lambda row: f"{name}: " + ", ".join(f"{key} {columns[key][row]!r}" for key in used[:-1])
    )
    return NamedTable(used, columns.__getitem__, report=report, roles={role: role for role in used})


def column_of_roles(
    table: NamedTable, roles: Sequence[Role], columns: Mapping[str, str] | None
) -> dict[str, str]:
    """The name of the column of each role that the table has. Lines that are no rows are told first: they may
    be why there is no such column."""
    try:
        return resolve(table.names, roles, columns, table.name)
    except DataError:
        table.report.check()
        raise


def read_roles(table: NamedTable, roles: Sequence[Role], columns: Mapping[str, str] | None) -> dict[str, Any]:
    """The checked cells of each role that the table has; everything that is wrong with them is one error."""
    chosen = column_of_roles(table, roles, columns)
    found = {role.name: _checked(table, chosen[role.name], role) for role in roles if role.name in chosen}
    table.report.check()
    return found


def _checked(table: NamedTable, column: str, role: Role) -> Any:
    if role.cells == "query":
        return query_column(table, column)
    cells, called = table.column(column), role.called or role.name
    if role.cells == "number":
        return score_cells(cells, table.report, called, text=table.text)
    if role.cells == "grade":
        return grade_cells(cells, table.report, text=table.text)
    return id_cells(cells, called, table.report)


def query_column(table: NamedTable, column: str) -> pa.DictionaryArray:
    """The ids of queries, made from words where cells hold such; keys of a dictionary stay as they are."""
    if table.roles is not None:
        return id_cells(table.column(column), "query", table.report).dictionary_encode()
    return query_cells(table.column(column), table.report)
