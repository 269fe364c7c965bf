"""Effectiveness and fairness of methods by class, sets of queries side by side (texfair-2024, Table 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evenrank.comparison.audits.audited import Audited
from evenrank.comparison.audits.declared import declare_view
from evenrank.comparison.audits.marked import Footnotes, seed_note, system_cells, system_heads
from evenrank.errors import ParameterError
from evenrank.stats.correlation import pearson
from evenrank.tables import Column, Table, Value, number

CORRELATED, IMPROVED = "†", "‡"
DECIMALS = 4


@declare_view(
    "methods", "measures by method and set of queries, with r of two (Abolghasemi et al. 2024, Table 1)", "",
    test="t,bonferroni,0.05",
)  # fmt: skip
def methods_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """r is Pearson's correlation over queries of two measures of a run; a system may stand alone."""
    one, two = _correlated(audited, settings.get(""))
    baseline = _baseline(audited)
    footnotes = Footnotes()
    heads: list[Column] = system_heads(audited)
    columns: list[list[Any]] = []
    records: list[dict[str, Any]] = []
    for corpus in audited.corpora:
        named = f"{corpus}: " if corpus else ""
        for measure in audited.measures:
            pairs = audited.pairs(corpus, measure, baseline) if baseline is not None else {}
            column: list[Any] = []
            for each in audited.systems:
                found = audited.estimate(corpus, measure, each.system)
                pair = pairs.get(each.system)
                better = pair is not None and pair.verdict == "better"
                shown = Value(found.value, raised=IMPROVED if better else "")
                column.append(footnotes.cell(found.reason) if found.reason else shown)
                records.append(
                    {"set": corpus, "class": each.system_class, "system": each.system, "measure": measure,
                     "value": found.value, "queries": found.queries, "reason": found.reason,
                     "corrected_p": math.nan if pair is None else pair.corrected,
                     "verdict": "" if pair is None else pair.verdict}
                )  # fmt: skip
            columns.append(column)
            heads.append(Column(f"{named}{audited.shown(measure)}"))
        if one is not None and two is not None:
            columns.append([_correlation(audited, corpus, one, two, each.system, footnotes)
                            for each in audited.systems])  # fmt: skip
            heads.append(Column(f"{named}r"))
    rows = [
        [*first, *(column[place] for column in columns)] for place, first in enumerate(system_cells(audited))
    ]
    notes = []
    if one is not None and two is not None:
        both = f"{audited.shown(one)} and {audited.shown(two)}"
        notes.append(f"r: Pearson's correlation of {both} over queries; {CORRELATED}: p < {audited.alpha:g}")
    if baseline is not None:
        others = len(audited.systems) - 1
        notes.append(
            f"{IMPROVED}: significantly better than {baseline} (paired {audited.test}, p < "
            f"{audited.alpha:g}), corrected by {audited.correction}; the family is the "
            f"{number_of(others, 'other system')} on one measure in one set of queries"
        )
    notes += [*seed_note(audited, spread=False), *footnotes.notes(), *audited.name_notes()]
    return (
        Table.of(
            heads,
            rows,
            words=len(system_heads(audited)),
            notes=notes,
            records=records,
            meaning="Each row is one system; a mark stands where it is significantly better.",
        ),
    )


def number_of(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _baseline(audited: Audited) -> str | None:
    """The system that others are tested against: the one that was named, BM25, or the first."""
    names = [one.system for one in audited.systems]
    if audited.baseline is not None:
        named = audited.label(audited.baseline).system
        if named not in names:
            raise ParameterError(
                f"--baseline {audited.baseline}: no such system; there are {', '.join(names)}"
            )
        return named
    if len(names) < 2:
        return None
    return next((name for name in names if name.lower() == "bm25"), names[0])


def _correlated(audited: Audited, given: str | None) -> tuple[str | None, str | None]:
    """The two measures of r: those named as A,B, or NFaiRR and TExFAIR where there is one of each."""
    if given is not None:
        names = [name.strip() for name in given.split(",")]
        if len(names) != 2:
            raise ParameterError(f"r is of two measures, as methods:NFaiRR@10,TExFAIR@10; got {given!r}")
        return audited.measure(names[0]), audited.measure(names[1])
    found = [[one for one in audited.measures if one.startswith(stem)] for stem in ("NFaiRR", "TExFAIR")]
    if all(len(each) == 1 for each in found):
        return found[0][0], found[1][0]
    return None, None


def _correlation(
    audited: Audited, corpus: str, one: str, two: str, system: str, footnotes: Footnotes
) -> Value:
    tables = [audited.table(corpus, name) for name in (one, two)]
    values = []
    for table in tables:
        if table is None or system not in table.systems:
            return footnotes.cell("the system has no such scores there")
        values.append(dict(zip(table.query_ids, table.values[:, table.place(system)].tolist(), strict=True)))
    queries = [query for query in values[0] if query in values[1]]
    found = pearson([values[0][query] for query in queries], [values[1][query] for query in queries])
    if found.reason is not None:
        return footnotes.cell(found.reason)
    shown = number(found.value)
    return Value(shown, raised=CORRELATED if found.p_value < audited.alpha else "")
