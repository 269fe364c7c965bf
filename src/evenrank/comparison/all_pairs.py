"""What a comparison says of all pairs of systems and of its measures.

Randomised Tukey HSD over all pairs; how many pairs each measure tells apart; how measures agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenrank.stats.corrections import discriminative_power
from evenrank.stats.tukey import TRIALS, conclusions
from evenrank.tables import Interval, Record, Table, number, p_value

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.measure_table import MeasureTable
    from evenrank.stats.correlation import CorrelationMatrix
    from evenrank.stats.tukey import TukeyHSD

NONE_DIFFER = "no two systems are shown to differ"


def tukey_tables(comparison: Comparison, *, trials: int = TRIALS) -> tuple[Table, ...]:
    """For each measure which systems beat which others; all pairs are in the records."""
    tables = []
    for table in comparison.tables:
        found = comparison.tukey(table.name, trials=trials)
        beaten = _beaten(comparison, table, found)
        notes = [f"randomised Tukey HSD, {trials:,} trials, alpha {comparison.alpha:g} over all pairs"]
        if found.reason is not None or not beaten:
            notes.insert(0, found.reason or NONE_DIFFER)
        if found.dropped:
            notes.append(f"{found.dropped} queries that some system lacks a value for are left out")
        rows = ((system, ", ".join(others)) for system, others in beaten)
        head = ["system", "beats" if table.has_better else "differs from"]
        pairs = _pairs(table, found)
        title = f"{table.heading}, n = {found.queries}"
        tables.append(
            Table.of(
                head,
                rows,
                words=2,
                title=title,
                notes=notes,
                records=pairs,
                meaning="Pairs of systems that are not listed are not shown to differ.",
            )
        )
    return tuple(tables)


def _beaten(
    comparison: Comparison, table: MeasureTable, found: TukeyHSD
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Who beats whom; where neither high nor low is better, who differs from whom."""
    names = table.systems
    if table.has_better:
        said = conclusions(found, alpha=comparison.alpha, lower_is_better=table.lower_is_better)
        return tuple((names[one.system], tuple(names[other] for other in one.beaten)) for one in said)
    rows = [
        (name, tuple(names[other] for other in np.flatnonzero(found.p_values[place] < comparison.alpha)))
        for place, name in enumerate(names)
    ]
    return tuple((name, others) for name, others in rows if others)


def _pairs(table: MeasureTable, found: TukeyHSD) -> tuple[Record, ...]:
    """Every pair of systems once, the better one first."""
    records = []
    for one in range(len(table.systems)):
        for other in range(one + 1, len(table.systems)):
            ahead = found.differences[one, other] * (-1 if table.lower_is_better else 1)
            first, second = (other, one) if ahead < 0 else (one, other)
            records.append(
                {
                    "measure": table.name,
                    "system": table.systems[first],
                    "other": table.systems[second],
                    "difference": float(found.differences[first, second]),
                    "p": float(found.p_values[first, second]),
                    "effect_size": float(found.effect_sizes[first, second]),
                    "queries": found.queries,
                    "dropped": found.dropped,
                    "reason": found.reason,
                }
            )
    return tuple(records)


def power_table(comparison: Comparison, *, trials: int = TRIALS) -> Table:
    """How many pairs of systems each measure tells apart, the most telling measure first."""
    powers = []
    for table in comparison.tables:
        found = comparison.tukey(table.name, trials=trials)
        powers.append((table, found.queries, discriminative_power(found.p_values, alpha=comparison.alpha)))
    powers.sort(key=lambda item: -item[2].significant)
    return Table.of(
        ["measure", "differ", "pairs", "share", "n"],
        ((table.shown, p.significant, p.pairs, p.share, n) for table, n, p in powers),
        notes=(f"pairs of systems with p < {comparison.alpha:g} by randomised Tukey HSD, {trials:,} trials",),
        records=(
            {"measure": table.name, "differ": p.significant, "pairs": p.pairs, "share": p.share}
            for table, _, p in powers
        ),
        meaning="The larger the share, the more pairs of systems the measure tells apart.",
    )


P_METHODS = {
    "exact": "p: exact, from all orders of the points",
    "t": "p: by Student's t, as an approximation",
    "normal": "p: by the normal distribution, as an approximation",
}


def _about_p(records: Sequence[Mapping[str, Any]], alpha: float, what: str) -> list[str]:
    """Where p comes from, and which correlations no values could make significant."""
    known = [r for r in records if not math.isnan(r["value"])]
    notes = [P_METHODS[method] for method in dict.fromkeys(r["p_method"] for r in known)]
    barred: dict[str, list[str]] = {}
    for r in known:
        if r["least_p"] >= alpha:
            least = f"with {r['n']} points p is at least {number(r['least_p'])}"
            why = f"cannot be significant at alpha {alpha:g}: {least}"
            barred.setdefault(why, []).append(f"{r[what]} and {r['other']}")
    for why, pairs in barred.items():
        notes.append(why if len(pairs) == len(records) else f"{', '.join(pairs)}: {why}")
    return notes


def correlation_table(
    comparison: Comparison, method: str = "kendall", *, over: str = "systems", system: str | None = None
) -> Table:
    """How measures agree over systems, over the queries of one system, or over its cut-offs."""
    matrix, names, said = comparison.correlations(method, over=over, system=system)
    shown = {table.name: table.shown for table in comparison.tables}
    over_what = over if system is None else f"{over} of {system}"
    return agreement_table(
        matrix, names, method, over=over_what, alpha=comparison.alpha, said=said, shown=shown
    )


def agreement_table(
    matrix: CorrelationMatrix,
    names: Sequence[str],
    method: str,
    *,
    over: str,
    alpha: float,
    said: Sequence[str] = (),
    shown: Mapping[str, str] | None = None,
    what: str = "measure",
) -> Table:
    """Every pair of columns of a matrix of correlations as a row."""
    records: list[dict[str, Any]] = []
    for one in range(len(names)):
        for other in range(one + 1, len(names)):
            records.append(
                {
                    what: names[one],
                    "other": names[other],
                    "value": float(matrix.values[one, other]),
                    "low": float(matrix.low[one, other]),
                    "high": float(matrix.high[one, other]),
                    "p": float(matrix.p_values[one, other]),
                    "n": int(matrix.counts[one, other]),
                    "p_method": matrix.p_methods[one][other],
                    "least_p": float(matrix.least_p[one, other]),
                    "reason": matrix.reasons[one][other],
                }
            )
    rows = (
        (
            *((shown or {}).get(r[key], r[key]) for key in (what, "other")),
            r["value"],
            Interval(r["low"], r["high"]),
            p_value(r["p"]),
            r["n"],
        )
        for r in records
    )
    reasons = tuple(dict.fromkeys(f"undefined: {r['reason']}" for r in records if math.isnan(r["value"])))
    return Table.of(
        [what, "other", method, "95% interval", "p", "n"],
        rows,
        words=2,
        notes=(f"over {over}", *_about_p(records, alpha, what), *reasons, *said),
        records=records,
        meaning=(
            f"Close to 1: the two {what}s agree; 0: no relation; close to -1: one rises where the "
            f"other falls."
        ),
    )
