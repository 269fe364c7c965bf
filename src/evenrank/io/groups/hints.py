"""What a file of groups probably is, where it cannot be read as what it was taken for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenrank.data.attribute import SHARE_TOLERANCE
from evenrank.errors import DataError
from evenrank.io.cells import BadValue, one_array, parse_score
from evenrank.io.column_names import ACCEPTED
from evenrank.io.groups.entries import holds_numbers
from evenrank.io.table_files import NamedTable

_HEADERS = frozenset(name for names in ACCEPTED.values() for name in names) | {"id", "_id"}
NO_HEADER = (
    "if the first line is not a header and every line is document,label,label,.. then say format='trec-fair' "
    "(in the shell FILE:format=trec-fair)"
)
_MANY = 1000  # cells that are looked at before a table is called by another name


def no_header(names: Sequence[str], *own: str) -> str:
    """For a table without any column that has a known name: the first line may be no header."""
    if len(names) < 2 or _HEADERS.intersection(names) or set(own).intersection(names):
        return ""
    return f"; {NO_HEADER}"


def uneven_rows(error: DataError) -> DataError:
    """For a table whose rows differ in length, as those of documents with several labels do."""
    if not error.problems or not all(", but the header has" in what for _, what in error.problems):
        return error
    told = DataError(f"{error}\n{NO_HEADER}")
    told.problems, told.more = error.problems, error.more
    return told


def has_header(fields: Sequence[str]) -> str:
    """For the first line of a file that should have no header, and begins like a table."""
    if len(fields) < 2 or fields[0] not in {*ACCEPTED["document"], *ACCEPTED["query"]}:
        return ""
    return (
        "this is the header of a table, and trec-fair has none: say format='csv' (in the shell "
        "FILE:format=csv), or nothing where the file is called .csv"
    )


def other_lines(fields: Sequence[str], wanted: str) -> str:
    """For a line with the wrong fields: which format has such lines."""
    if len(fields) == 1 and "," in fields[0]:
        parts = fields[0].split(",")
        if _HEADERS.intersection(parts):
            return _other_format_hint("csv", "a table")
        return _other_format_hint("trec-fair", "document,label,label,..")
    if wanted == "trec" and len(fields) > 3 and all(map(_is_number, fields[2:])):
        return _other_format_hint("gmemb", "query document share share ..")
    if wanted == "gmemb" and len(fields) == 4 and not _is_number(fields[3]):
        return _other_format_hint("trec", "query iteration document label")
    return ""


def _other_format_hint(format: str, lines: str) -> str:
    return f" (for {lines} say format={format!r}, in the shell FILE:format={format})"


def _is_number(text: str) -> bool:
    try:
        parse_score(text.strip().encode())
    except BadValue:
        return False
    return True


def wide_not_labels(frame: NamedTable, chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of shares, where the one taken for labels is one of them: they sum to 1 in every row."""
    names = [name for name in frame.names if name not in (chosen["document"], chosen.get("query"))]
    if len(names) < 2 or not all(holds_numbers(frame, name) for name in names):
        return ()
    table = np.array([_numbers(frame, name) for name in names])  # (L, R)
    shares = ((table >= 0) & (table <= 1)).all() and (np.abs(table.sum(axis=0) - 1) <= SHARE_TOLERANCE).all()
    return tuple(names) if shares and (table % 1 != 0).any() else ()


def long_not_wide(
    frame: NamedTable, chosen: Mapping[str, str], rest: Sequence[str], values: Sequence[str] | None
) -> str:
    """Where there are no columns of shares: the one column that holds labels, and the shares beside it."""
    labels = [name for name in rest if not holds_numbers(frame, name)]
    if len(labels) != 1 or (values is not None and set(values).isdisjoint(_texts(frame, labels[0]))):
        return ""
    share = _share_column(frame, {**chosen, "value": labels[0]})
    named = f", columns={{'share': {share!r}}}" if share else ""
    return (
        f"; {labels[0]!r} may be the labels: column={labels[0]!r}{named} "
        f"(in the shell FILE:column={labels[0]}{f':share={share}' if share else ''})"
    )


def unused_shares(frame: NamedTable, chosen: Mapping[str, str]) -> str:
    """Where documents have several labels and no shares: the column that may hold them."""
    share = _share_column(frame, chosen)
    if share is None:
        return ""
    return f" ({share!r} may be the shares: columns={{'share': {share!r}}}, in the shell FILE:share={share})"


def _share_column(frame: NamedTable, chosen: Mapping[str, str]) -> str | None:
    """The one further column of numbers, where they are from 0 to 1 and documents are there repeatedly."""
    rest = [name for name in frame.names if name not in chosen.values() and holds_numbers(frame, name)]
    documents = _texts(frame, chosen["document"])
    if len(rest) != 1 or len(set(documents)) == len(documents):
        return None
    numbers = np.array(_numbers(frame, rest[0]))
    return rest[0] if ((numbers >= 0) & (numbers <= 1)).all() else None


def _cells(frame: NamedTable, name: str) -> list[object]:
    cells = one_array(frame.column(name)[:_MANY])
    return [cell.as_py() if hasattr(cell, "as_py") else cell for cell in cells]


def _texts(frame: NamedTable, name: str) -> list[str]:
    return [str(cell).strip() for cell in _cells(frame, name)]


def _numbers(frame: NamedTable, name: str) -> list[float]:
    return [float(text) if _is_number(text) else float("nan") for text in _texts(frame, name)]
