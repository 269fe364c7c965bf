"""Where a system trails the best one, by domain (pair-duo-2024, section 6.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenrank.comparison.audits.audited import FEWEST, Audited, rows_of
from evenrank.comparison.audits.declared import declare_view
from evenrank.comparison.audits.marked import is_lower_better
from evenrank.comparison.pairs import TESTS
from evenrank.errors import ParameterError
from evenrank.stats.corrections import correct
from evenrank.stats.difference import mean_difference
from evenrank.tables import Column, Table, Value, p_value


@declare_view("gaps", "how far each system trails the best one in every domain", "", "corpus")
def gaps_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """Paired over the queries of the domain; p is corrected for the number of domains of the system."""
    audited.need_domains("gaps")
    measure = audited.measure(settings.get(""))
    lower = is_lower_better(audited.direction(measure))
    if lower is None:
        raise ParameterError(f"{measure}: no value is better than another, so no system trails")
    corpora = [settings["corpus"]] if "corpus" in settings else list(audited.corpora)
    unknown = [corpus for corpus in corpora if corpus not in audited.corpora]
    if unknown:
        names = ", ".join(filter(None, audited.corpora))
        there = f"there are {names}" if names else "corpora are named by --scores NAME=FILE"
        raise ParameterError(f"no corpus is called {unknown[0]!r}; {there}")
    return tuple(_one(audited, corpus, measure, lower) for corpus in corpora)


def _one(audited: Audited, corpus: str, measure: str, lower: bool) -> Table:
    table = audited.table(corpus, measure)
    found: list[dict[str, Any]] = []
    small: list[str] = []
    for domain, queries in audited.queries_by_domain.items():
        values = rows_of(table, queries) if table is not None else np.zeros((0, 0))
        values = values[np.isfinite(values).all(axis=1)]
        if table is None or len(values) < FEWEST:
            small.append(domain)
            continue
        means = values.mean(axis=0)
        best = int(np.argmin(means) if lower else np.argmax(means))
        for place, system in enumerate(table.systems):
            if place == best:
                continue
            bounds = table.range_of(values.ravel())
            gap = mean_difference(values[:, place], values[:, best], bounds)
            options = {"seed": audited.seed} if audited.test == "permutation" else {}
            tested = TESTS[audited.test](values[:, place] - values[:, best], **options)
            found.append(
                {"system": system, "domain": domain, "best": table.systems[best], "gap": gap.difference,
                 "low": gap.low, "high": gap.high, "queries": len(values), "p": tested.p_value}
            )  # fmt: skip
    for system in dict.fromkeys(one["system"] for one in found):  # the family: the domains of one system
        own = [one for one in found if one["system"] == system]
        for one, p in zip(own, correct([one["p"] for one in own], audited.correction), strict=True):
            one["corrected_p"] = float(p)
    found.sort(key=lambda one: -abs(one["gap"]))
    rows = [
        [one["system"], one["domain"], one["best"], Value(one["gap"], one["low"], one["high"], signed=True),
         one["queries"], p_value(one["corrected_p"]),
         "trails" if one["corrected_p"] < audited.alpha else ""]
        for one in found
    ]  # fmt: skip
    notes = [
        "gap: system less the best system of the domain, over the queries with a value for all systems; "
        f"paired {audited.test}, corrected by {audited.correction} over the domains of a system",
        f"trails: p < {audited.alpha:g}; where it is not said, no difference is shown",
        "the best system was chosen on the same queries, so that gaps are somewhat too large",
    ]
    if small:
        notes.append(f"left out, with fewer than {FEWEST} such queries: {', '.join(small)}")
    heads = [Column(name, right=False, wraps=name != "system") for name in ("system", "domain", "best")]
    heads += [Column("gap"), Column("n"), Column("p"), Column("", right=False)]
    title = " ".join(filter(None, (audited.shown(measure), corpus)))
    records = [{**one, "corpus": corpus, "measure": measure} for one in found]
    if not found:
        notes.insert(0, "no domain has enough queries")
    return Table.of(
        heads,
        rows,
        words=3,
        title=title,
        notes=notes,
        records=records,
        meaning="A system trails in a domain where it is significantly worse than the best system there.",
    )
