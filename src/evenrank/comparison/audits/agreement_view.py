"""Do measures agree about systems, and do corpora? (pair-duo-2024, section 6.2)"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from evenrank.comparison.audits.audited import Audited
from evenrank.comparison.audits.declared import declare_view
from evenrank.errors import ParameterError
from evenrank.stats.correlation import kendall, pearson, spearman
from evenrank.tables import Column, Table, Value, p_value

METHODS = {"spearman": spearman, "kendall": kendall, "pearson": pearson}


@declare_view("agreement", "how measures, and corpora, agree over systems, with exact p", "")
def agreement_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """Over the systems that have a value on both sides; p is exact up to eight systems, of Spearman's
    coefficient up to twelve."""
    method = settings.get("") or "spearman"
    if method not in METHODS:
        raise ParameterError(f"the correlation must be one of {', '.join(METHODS)}, got {method!r}")
    rows: list[list[Any]] = []
    records = []
    for of, first, second in _compared(audited):
        one, two = (
            [audited.estimate(corpus, measure, each.system).value for each in audited.systems]
            for corpus, measure in (first, second)
        )
        found = METHODS[method](one, two)
        names = [
            " ".join(filter(None, (audited.shown(measure), corpus))) for corpus, measure in (first, second)
        ]
        p = f"{p_value(found.p_value)} ({found.p_method})" if found.reason is None else ""
        remark = found.reason or (
            "cannot be significant with so few systems" if found.cannot_be_significant(audited.alpha) else ""
        )
        shown = Value(found.value, found.interval.low, found.interval.high)
        rows.append([*names, shown, p, found.n, remark])
        records.append(
            {"of": of, "first": names[0], "second": names[1], "method": method, "value": found.value,
             "low": found.interval.low, "high": found.interval.high, "p": found.p_value,
             "p_method": found.p_method, "systems": found.n, "reason": remark}
        )  # fmt: skip
    if not rows:
        raise ParameterError("--view agreement needs two measures, or one measure on two corpora (--scores)")
    heads = [Column("first", right=False, wraps=True), Column("second", right=False, wraps=True),
             Column(method), Column("p", right=False), Column("n"), Column("", right=False)]  # fmt: skip
    notes = ["the points are systems, n of them; p is not corrected for the number of rows"]
    return (
        Table.of(
            heads,
            rows,
            notes=notes,
            records=records,
            meaning=(
                "Close to 1: both order the systems alike; 0: no relation; close to -1: one order is"
                " the other in reverse."
            ),
        ),
    )


def _compared(audited: Audited) -> list[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Measures of one corpus with each other, then one measure on two corpora."""
    found = []
    for corpus in audited.corpora:
        known = [measure for measure in audited.measures if audited.table(corpus, measure) is not None]
        found += [("measures", (corpus, one), (corpus, two)) for one, two in itertools.combinations(known, 2)]
    for measure in audited.measures:
        known = [corpus for corpus in audited.corpora if audited.table(corpus, measure) is not None]
        found += [
            ("corpora", (one, measure), (two, measure)) for one, two in itertools.combinations(known, 2)
        ]
    return found
