"""Systems by class, corpora side by side: relevance and bias of many systems (pair-duo-2024, Table 4)."""

from __future__ import annotations

from collections.abc import Mapping

from evenrank.comparison.audits.audited import Audited
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


@declare_view(
    "systems",
    "every measure of every system, by class and corpus (Ziems et al. 2024, Table 4)",
)
def systems_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """A column for each measure of each corpus; cells that do not apply say why."""
    footnotes = Footnotes()
    heads, columns, records = system_heads(audited), [], []
    for corpus in audited.corpora:
        asked = audited.query_count(corpus)
        for measure in audited.measures:
            if all(audited.table(other, measure) is None for other in audited.corpora):
                continue
            kind = audited.direction(measure)
            found = [audited.estimate(corpus, measure, one.system) for one in audited.systems]
            columns.append(marked_column(kind, found, footnotes))
            named = f"{corpus}: " if corpus else ""
            count = max((each.queries for each in found), default=0)
            fewer = f"(n={count} of {asked})" if 0 < count < asked else ""
            shown = (f"{named}{audited.shown(measure)}", arrow(kind.direction.value), fewer)
            heads.append(Column(" ".join(filter(None, shown))))
            records += [
                {"corpus": corpus, "class": one.system_class, "system": one.system, "measure": measure,
                 **each._asdict()}
                for one, each in zip(audited.systems, found, strict=True)
            ]  # fmt: skip
    rows = [
        [*first, *(column[place] for column in columns)] for place, first in enumerate(system_cells(audited))
    ]
    notes = [MARKS, *seed_note(audited), *footnotes.notes(), *audited.name_notes()]
    return (
        Table.of(
            heads,
            rows,
            words=len(system_heads(audited)),
            notes=notes,
            records=records,
            meaning=("Each row is one system; a footnote says why a value is missing."),
        ),
    )
