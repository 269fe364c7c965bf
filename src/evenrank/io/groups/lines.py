"""Groups in lines without named columns, as tables: NTCIR's, those with fields of judgements, TREC Fair's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenrank.arrays import numbers as numbers_of
from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem, counted
from evenrank.ids import as_strings
from evenrank.io.cells import BadValue, is_whole, parse_score, quoted
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
    rows, numbers, broken = list[Any](), list[int](), list[Problem]()
    width = 0 if values is None else len(values)
    for number, line, flaw in numbered_lines(source.content()):
        if flaw is None and (not line.strip() or line.lstrip().startswith(b"#")):
            continue
        try:
            if flaw is not None:
                raise BadValue(flaw)
            fields = [field.decode() for field in line.split(b"," if format == "trec-fair" else None)]
            row = _row(fields, format, width, first=not rows)
        except BadValue as error:
            other = "" if rows or broken or flaw else _other_kinds(format)
            broken.append(Problem(number, f"{error}{other}"))
            if len(broken) > PROBLEMS_SHOWN:
                break
            continue
        width = width or len(row[1])
        rows.append(row)
        numbers.append(number)
    if not rows:
        nothing = DataError(f"{source.name}: no groups (there is no line with fields)")
        raise DataError.listing(source.name, broken) if broken else nothing
    columns: dict[str, Any] = {_name("document"): as_strings([row[0] for row in rows])}
    if format != "trec-fair":
        columns[_name("query")] = as_strings([row[2] for row in rows])
    if format == "gmemb":
        values = values or tuple(str(place + 1) for place in range(width))
        shares = np.array([row[1] for row in rows]).reshape(len(rows), width)
        columns |= {value: numbers_of(shares[:, place]) for place, value in enumerate(values)}
    elif format == "trec":
        columns[_name("value")] = as_strings([row[1] for row in rows])
        if values is None:
            _check_not_intents(source.name, rows)
    else:
        cells = [{label: count / found.total() for label, count in found.items()} for _, found in rows]
        columns[_name("value")] = [list(one) for one in cells] if multilabel else cells
    report = RowProblems(source.name, lines=numbers, broken=broken)
    roles = {role: _name(role) for role in ROLES if _name(role) in columns}
    return NamedTable(list(columns), columns.__getitem__, report=report, roles=roles), values


def _name(role: str) -> str:
    return f" {role}"  # no value is called so


def _other_kinds(format: str) -> str:
    others = [f"FILE:format={other} for {line}" for other, line in LINES.items() if other != format]
    return (
        " (for a file of another kind say format=, in the shell FILE:format=csv for a table with a header, "
        f"{', '.join(others)})"
    )


def _row(fields: list[str], format: str, width: int, *, first: bool) -> tuple[Any, ...]:
    """What a line says; the error says what is wrong with it."""
    if format == "trec" and len(fields) == 4:
        query, second, document, label = fields
        return document, label, query, second
    if format == "trec-fair":
        document, *authors = (field.strip() for field in fields)
        if first and authors and document in {*ACCEPTED["document"], *ACCEPTED["query"]}:
            raise BadValue("this is the header of a table, and trec-fair has none")
        if not document:
            raise BadValue(f"the document is empty: a line is {LINES[format]}")
        return document, Counter(label for label in authors if label)
    if format == "trec" or len(fields) < 4:
        found, needed = counted(len(fields), "field", "fields"), "4" if format == "trec" else "4 or more"
        raise BadValue(f"{found}, but {needed} are needed: {LINES[format]}")
    query, document, *shares = fields
    if len(shares) != (width or len(shares)):
        raise BadValue(f"document {quoted(document)}: {len(shares)} shares, but {width} are needed")
    try:
        return document, [parse_score(share.encode(), "share") for share in shares], query
    except BadValue as error:
        raise BadValue(f"document {quoted(document)}: {error}") from None


def _check_not_intents(name: str, rows: Sequence[Any]) -> None:
    by_intent = len({(query, second) for *_, query, second in rows}) > len({query for *_, query, _ in rows})
    if by_intent and all(is_whole(label.encode()) for label in {row[1] for row in rows}):
        raise DataError(
            f"{name}: is not read as groups: the second field differs within a query and every label is a "
            "whole number, as in judgements by intent, whose fourth field is a grade. For those use "
            "read_qrels(FILE, diversity=True) and Membership.from_intents (in the shell --qrels "
            "FILE:intents); if the numbers are labels, name them: values=['0', '1'] (in the shell "
            "FILE:format=trec:values=0,1)"
        )
