"""One measure by domain: a column for each corpus of each domain (pair-duo-2024, Table 5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from evenrank.comparison.audits.audited import FEWEST, Audited
from evenrank.comparison.audits.declared import declare_view
from evenrank.comparison.audits.marked import (
    MARKS,
    Footnotes,
    marked_column,
    seed_note,
    system_cells,
    system_heads,
)
from evenrank.scores.names import arrow
from evenrank.tables import Column, Table

COLUMNS_AT_ONCE = 4


class DomainColumn(NamedTuple):
    """One corpus of one domain: its heading, a cell for each system, and the same for programs."""

    head: Column
    cells: Sequence[Any]
    records: list[dict[str, Any]]


@declare_view("domains", "one measure by domain of queries (Ziems et al. 2024, Table 5)", "")
def domains_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """Domains of one query are left out and named; those of fewer than five have no interval."""
    audited.need_domains("domains")
    measure = audited.measure(settings.get(""))
    kind = audited.direction(measure)
    footnotes = Footnotes()
    columns: list[DomainColumn] = []
    single: list[str] = []
    small: list[str] = []
    fewer = False
    for domain, queries in audited.queries_by_domain.items():
        counts = {}
        for corpus in audited.corpora:
            found = [audited.estimate(corpus, measure, one.system, queries) for one in audited.systems]
            counts[corpus] = max((each.queries for each in found), default=0)
            named = " ".join(filter(None, (domain, corpus)))
            if counts[corpus] < 2:
                continue
            fewer |= any(not each.reason and each.queries < FEWEST <= counts[corpus] for each in found)
            cells = marked_column(kind, found, footnotes)
            own = [
                {"domain": domain, "corpus": corpus, "class": one.system_class, "system": one.system,
                 "measure": measure, **each._asdict()}
                for one, each in zip(audited.systems, found, strict=True)
            ]  # fmt: skip
            columns.append(DomainColumn(Column(f"{named} (n={counts[corpus]})"), cells, own))
        single += _named(domain, [corpus for corpus, count in counts.items() if count < 2], counts)
        small += _named(domain, [corpus for corpus, count in counts.items() if 2 <= count < FEWEST], counts)
    notes = [MARKS, "a query may be in several domains", *seed_note(audited)]
    if single:
        notes.append(f"left out, with one query or none: {', '.join(single)}")
    if any("," in name for name in single):
        notes.append("a query of several domains has a row for each of them; commas do not part domains")
    if small:
        notes.append(f"without intervals, with fewer than {FEWEST} queries: {', '.join(small)}")
    if fewer:
        notes.append(f"a value of fewer than {FEWEST} queries, as n= says, has no interval and no mark")
    return _in_parts(audited, f"{audited.shown(measure)} {arrow(kind.direction.value)}".rstrip(), columns,
                     [*notes, *footnotes.notes(), *audited.label_notes()])  # fmt: skip


def _named(domain: str, corpora: Sequence[str], every: Collection[str]) -> list[str]:
    """The domain alone where it holds for every corpus, else with each corpus."""
    if len(corpora) == len(every):
        return [domain]
    return [f"{domain} {corpus}" for corpus in corpora]


def _in_parts(
    audited: Audited,
    title: str,
    columns: list[DomainColumn],
    notes: list[str],
) -> tuple[Table, ...]:
    """Several tables of a few columns, as a page holds them; the first has the rows for programs."""
    first = system_cells(audited)
    heads = system_heads(audited)
    tables = []
    for begin in range(0, max(len(columns), 1), COLUMNS_AT_ONCE):
        part = columns[begin : begin + COLUMNS_AT_ONCE]
        rows = [[*row, *(column.cells[place] for column in part)] for place, row in enumerate(first)]
        last = begin + COLUMNS_AT_ONCE >= len(columns)
        own = [record for column in part for record in column.records]
        tables.append(
            Table.of([*heads, *(column.head for column in part)], rows, words=len(heads), title=title,
                     notes=notes if last else (), records=own, meaning=(
                         "Compare systems within a column; queries of some domains are harder than "
                         "those of others."
                     ))
        )  # fmt: skip
    return tuple(tables)
