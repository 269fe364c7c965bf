"""Groups in lines without named columns, as tables: NTCIR's, those with fields of judgements, TREC Fair's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evenrank.errors import PROBLEMS_SHOWN, DataError, Problem, counted
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
_OTHER_KINDS = (
    f" (in the shell, FILE:format=csv is for a table with a header, "
    f"{', '.join(f'FILE:format={format} for lines {line}' for format, line in LINES.items())})"
)


def table_of_lines(
    source: Source, format: str, values: Sequence[str] | None, multilabel: bool
) -> tuple[NamedTable, Sequence[str] | None]:
    """The columns document and value, and query or share where there are any; and the values in their order.

    The values of ``gmemb`` are called 1, 2, .. unless they are named. In ``trec-fair`` a document has the
    values by the shares of its authors, or, with ``multilabel``, each of them.
    """
    rows, numbers, broken = list[Any](), list[int](), list[Problem]()
    width = 0 if values is None else len(values)
    for number, line, flaw in numbered_lines(source.content().without_bom(source.name)):
        if flaw is None and (not line.strip() or line.lstrip().startswith(b"#")):
            continue
        try:
            if flaw is not None:
                raise BadValue(flaw)
            fields = [one.strip().decode() for one in line.split(b"," if format == "trec-fair" else None)]
            row = _row(fields, format, width, first=not rows)
        except BadValue as error:
            other = "" if rows or broken or flaw else _OTHER_KINDS
            broken.append(Problem(number, f"{error}{other}"))
            if len(broken) > PROBLEMS_SHOWN:
                break
            continue
        width = width or len(row[1])
        rows.append(row)
        numbers.append(number)
    if not rows and not broken:
        raise DataError(f"{source.name}: no groups (there is no line with fields)")
    documents = [row[0] for row in rows]
    if format == "trec-fair":
        shares = [{label: count / found.total() for label, count in found.items()} for _, found in rows]
        columns = {"document": documents, "value": [list(one) for one in shares] if multilabel else shares}
    elif format == "gmemb":
        names = values = values or tuple(str(place + 1) for place in range(width))
        cells = [dict(zip(names, shares, strict=True)) for _, shares, _ in rows]
        columns = {"document": documents, "value": cells, "query": [query for *_, query in rows]}
    else:
        _, labels, queries, seconds = ([row[at] for row in rows] for at in range(4))
        if values is None:
            _check_not_intents(source.name, labels, queries, seconds)
        columns = {"document": documents, "value": labels, "query": queries}
    report = RowProblems(source.name, lines=numbers, broken=broken)
    return NamedTable(list(columns), columns.__getitem__, report=report), values


def _row(fields: list[str], format: str, width: int, *, first: bool) -> tuple[Any, ...]:
    """What a line says; the error says what is wrong with it."""
    if format == "trec-fair":
        document, *authors = fields
        if first and authors and document in {*ACCEPTED["document"], *ACCEPTED["query"]}:
            raise BadValue("this is the header of a table, and trec-fair has none")
        if not document:
            raise BadValue(f"the document is empty: a line is {LINES[format]}")
        return document, Counter(label for label in authors if label)
    needed = "4" if format == "trec" else "4 or more"
    if len(fields) < 4 or (format == "trec" and len(fields) > 4):
        found = counted(len(fields), "field", "fields")
        raise BadValue(f"{found}, but {needed} are needed: {LINES[format]}")
    if format == "trec":
        query, second, document, label = fields
        return document, label, query, second
    query, document, *shares = fields
    if len(shares) != (width or len(shares)):
        raise BadValue(f"document {quoted(document)}: {len(shares)} shares, but {width} are needed")
    try:
        return document, [parse_score(share.encode(), "share") for share in shares], query
    except BadValue as error:
        raise BadValue(f"document {quoted(document)}: {error}") from None


def _check_not_intents(
    name: str, labels: Sequence[str], queries: Sequence[str], seconds: Sequence[str]
) -> None:
    by_intent = len(set(zip(queries, seconds, strict=True))) > len(set(queries))
    if by_intent and all(is_whole(label.encode()) for label in set(labels)):
        raise DataError(
            f"{name}: is not read as groups: the second field differs within a query and every label is a "
            "whole number, as in judgements by intent, whose fourth field is a grade. For those use "
            "read_qrels(FILE, diversity=True) and Membership.from_intents (in the shell --qrels "
            "FILE:intents); if the numbers are labels, name them: values=['0', '1'] (in the shell "
            "FILE:format=trec:values=0,1)"
        )
