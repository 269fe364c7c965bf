"""Groups in lines without named columns, as tables: NTCIR's, those with fields of judgements, TREC Fair's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem, counted
from evenrank.ids import as_strings
from evenrank.io.cells import is_number, is_whole, quoted
from evenrank.io.column_names import ACCEPTED
from evenrank.io.row_problems import RowProblems
from evenrank.io.source import Source
from evenrank.io.table_files import NamedTable
from evenrank.io.trec import numbered_lines

LINES = {
    "gmemb": "query document share share ..",
    "trec": "query iteration document label",
    "trec-fair": "document,label,label,..",
}
ROLES = ("query", "document", "value")


def table_of_lines(
    source: Source, format: str, values: Sequence[str] | None, multilabel: bool
) -> tuple[NamedTable, Sequence[str] | None]:
    """A table whose columns have ``ROLES``, or are a share for each value; and the values, where known.

    The values of ``gmemb`` are called 1, 2, .. unless they are named. In ``trec-fair`` a document has the
    values by the shares of its authors, or, with ``multilabel``, each of them.
    """
    rows, numbers, broken = list[list[str]](), list[int](), list[Problem]()
    width = 0 if values is None else 2 + len(values)
    for number, line, flaw in numbered_lines(source.content()):
        if flaw is None and (not line.strip() or line.lstrip().startswith(b"#")):
            continue
        fields = [] if flaw else line.split(b"," if format == "trec-fair" else None)
        row = [field.decode().strip() for field in fields]
        what = flaw or _misfit(row, format, width or len(rows and rows[0]))
        if not what:
            rows.append(row)
            numbers.append(number)
        elif len(broken) <= PROBLEMS_SHOWN:
            other = "" if rows or broken or flaw else _other_kinds(format)
            broken.append(Problem(number, what + other))
    if not rows:
        nothing = DataError(f"{source.name}: no groups (there is no line with fields)")
        raise DataError.listing(source.name, broken) if broken else nothing
    place = 0 if format == "trec-fair" else list(LINES[format].split()).index("document")
    columns: dict[str, Any] = {_name("document"): as_strings([row[place] for row in rows])}
    if format == "trec-fair":
        cells = [Counter(filter(None, row[1:])) for row in rows]
        shares = [{label: count / found.total() for label, count in found.items()} for found in cells]
        columns[_name("value")] = list(map(list, cells)) if multilabel else shares
    else:
        columns[_name("query")] = as_strings([row[0] for row in rows])
    if format == "gmemb":
        values = values or tuple(str(place) for place in range(1, len(rows[0]) - 1))
        columns |= {value: as_strings([row[at] for row in rows]) for at, value in enumerate(values, 2)}
    elif format == "trec":
        columns[_name("value")] = as_strings([row[3] for row in rows])
        if values is None:
            _check_not_intents(source.name, rows)
    report = RowProblems(source.name, lines=numbers, broken=broken)
    roles = {role: _name(role) for role in ROLES if _name(role) in columns}
    return NamedTable(list(columns), columns.__getitem__, text=True, report=report, roles=roles), values


def _name(role: str) -> str:
    return f" {role}"  # no value is called so


def _other_kinds(format: str) -> str:
    others = [f"{other} for {line}" for other, line in LINES.items() if other != format]
    return (
        " (for a file of another kind say format=, in Python or in the project file: csv for a table with a "
        "header, "
        f"{', '.join(others)})"
    )


def _misfit(fields: Sequence[str], format: str, width: int) -> str:
    """What is wrong with the fields of a line, of which others have ``width``; nothing where they fit."""
    if format == "trec-fair":
        if not width and len(fields) > 1 and fields[0] in {*ACCEPTED["document"], *ACCEPTED["query"]}:
            return "this is the header of a table, and trec-fair has none"
        return "" if fields[0] else f"the document is empty: a line is {LINES[format]}"
    if len(fields) < 4 or (format == "trec" and len(fields) > 4):
        needed = f"{'4' if format == 'trec' else '4 or more'} are needed: {LINES[format]}"
        return f"{counted(len(fields), 'field', 'fields')}, but {needed}"
    if format == "gmemb" and len(fields) != (width or len(fields)):
        return f"document {quoted(fields[1])}: {len(fields) - 2} shares, but {width - 2} are needed"
    if format == "gmemb" and (wrong := [share for share in fields[2:] if not is_number(share)]):
        return f"document {quoted(fields[1])}: share {quoted(wrong[0])} is not a number"
    return ""


def _check_not_intents(name: str, rows: Sequence[Sequence[str]]) -> None:
    by_intent = len({(query, second) for query, second, *_ in rows}) > len({row[0] for row in rows})
    if by_intent and all(is_whole(label.encode()) for label in {row[3] for row in rows}):
        raise DataError(
            f"{name}: is not read as groups: the second field differs within a query and every label is a "
            "whole number, as in judgements by intent, whose fourth field is a grade. For those use "
            "read_qrels(FILE, diversity=True) and Membership.from_intents (in the shell --intents "
            "FILE, and for groups intents = true in the table [groups.NAME] of the project file); if the "
            "numbers are labels, name them: values=['0', '1'] (in the shell FILE:values=0,1)"
        )
