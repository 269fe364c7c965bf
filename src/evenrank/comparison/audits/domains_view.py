"""One measure by domain: a column for each corpus of each domain (pair-duo-2024, Table 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenrank.comparison.audits.audited import FEWEST, Audited
from evenrank.comparison.audits.declared import declare_view
from evenrank.comparison.audits.marked import MARKS, Footnotes, marked_column, system_cells, system_heads
from evenrank.scores.names import arrow
from evenrank.tables import Column, Table

COLUMNS_AT_ONCE = 4


@declare_view("domains", "one measure by domain of queries (pair-duo-2024, Table 5)", "")
def domains_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """Domains of one query are left out and named; those of fewer than five have no interval."""
    audited.need_domains("domains")
    measure = audited.measure(settings.get(""))
    kind = audited.direction(measure)
    footnotes = Footnotes()
    columns: list[tuple[Column, Sequence[Any]]] = []
    records: list[dict[str, Any]] = []
    single: list[str] = []
    small: list[str] = []
    for domain, queries in audited.queries_by_domain.items():
        counts = {}
        for corpus in audited.corpora:
            found = [audited.estimate(corpus, measure, one.system, queries) for one in audited.systems]
            counts[corpus] = max((each.queries for each in found), default=0)
            if counts[corpus] < 2:
                continue
            cells = marked_column(kind, found, footnotes)
            named = " ".join(filter(None, (domain, corpus)))
            columns.append((Column(f"{named} (n={counts[corpus]})"), cells))
            records += [
                {"domain": domain, "corpus": corpus, "class": one.system_class, "system": one.system,
                 "measure": measure, **each._asdict()}
                for one, each in zip(audited.systems, found, strict=True)
            ]  # fmt: skip
        if max(counts.values(), default=0) < 2:
            single.append(domain)
        elif max(counts.values()) < FEWEST:
            small.append(domain)
    notes = [MARKS, "a query may be in several domains"]
    if single:
        notes.append(f"left out, with one query or none: {', '.join(single)}")
    if small:
        notes.append(f"without intervals, with fewer than {FEWEST} queries: {', '.join(small)}")
    return _in_parts(audited, f"{audited.shown(measure)} {arrow(kind.direction.value)}".rstrip(), columns,
                     [*notes, *footnotes.notes()], records)  # fmt: skip


def _in_parts(
    audited: Audited,
    title: str,
    columns: list[tuple[Column, Sequence[Any]]],
    notes: list[str],
    records: list[dict[str, Any]],
) -> tuple[Table, ...]:
    """Several tables of a few columns, as a page holds them; the first has the rows for programs."""
    first = system_cells(audited)
    heads = system_heads(audited)
    tables = []
    for begin in range(0, max(len(columns), 1), COLUMNS_AT_ONCE):
        part = columns[begin : begin + COLUMNS_AT_ONCE]
        rows = [[*row, *(cells[place] for _, cells in part)] for place, row in enumerate(first)]
        last = begin + COLUMNS_AT_ONCE >= len(columns)
        own = [one for one in records if any(one["domain"] in head.head for head, _ in part)]
        tables.append(
            Table.of([*heads, *(head for head, _ in part)], rows, words=len(heads), title=title,
                     notes=notes if last else (), records=own, meaning=(
                         "Compare systems within a column; queries of some domains are harder than "
                         "those of others."
                     ))
        )  # fmt: skip
    return tuple(tables)
