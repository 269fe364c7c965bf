"""The order of systems in one line, for each encoder or corpus (pair-duo-2024, Table 8)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from evenrank.comparison.audits.audited import Audited
from evenrank.comparison.audits.declared import declare_view
from evenrank.comparison.audits.marked import is_lower_better
from evenrank.errors import ParameterError
from evenrank.stats.correlation import spearman
from evenrank.tables import Column, Table, p_value

BEFORE, NOT_AFTER = " ≻ ", " ≽ "


@declare_view("orders", "the order of systems in one line, for each corpus or encoder", "", "decimals")
def orders_view(audited: Audited, settings: Mapping[str, str]) -> tuple[Table, ...]:
    """A ≻ B: A is better also when both values are rounded; A ≽ B: rounded they are equal."""
    measure = audited.measure(settings.get(""))
    lower = is_lower_better(audited.direction(measure))
    if lower is None:
        raise ParameterError(f"{measure}: no value is better than another, so systems have no order")
    given = settings.get("decimals", "2")
    if given not in ("1", "2", "3", "4"):
        raise ParameterError(f"decimals must be 1, 2, 3 or 4, got {given!r}")
    decimals = int(given)
    rows, records = [], []
    without: list[str] = []
    first: list[float] | None = None
    for corpus in audited.corpora:
        values = {one.system: audited.estimate(corpus, measure, one.system).value for one in audited.systems}
        line = order_string(values, lower=lower, decimals=decimals)
        agrees, shown = "", ""
        if first is None:
            first = list(values.values())
        else:
            found = spearman(first, list(values.values()))
            agrees = found.value  # type: ignore[assignment]
            shown = found.reason or f"{p_value(found.p_value)} ({found.p_method})"
            if found.reason is None and found.n < len(values):
                shown += f", n={found.n}"
            if found.reason is None and found.cannot_be_significant(audited.alpha):
                shown += ": cannot be significant"
        lacking = [name for name, value in values.items() if not math.isfinite(value)]
        if lacking:
            without.append(f"{corpus or 'no value'}: no value of {', '.join(lacking)}")
        rows.append([corpus or "all", line, agrees, shown])
        records.append({"corpus": corpus, "measure": measure, "order": line})
    notes = [
        f"A ≻ B: A is better, also with values rounded to {decimals} decimals; A ≽ B: A is better or "
        "equal, and the rounded values are equal",
        *without,
        *audited.label_notes(),
    ]
    heads = [Column("corpus", right=False), Column("order, the best first", right=False, wraps=True)]
    if len(rows) > 1:
        heads += [Column("Spearman with the first row"), Column("p", right=False)]
    kept = [row[: len(heads)] for row in rows]
    return (
        Table.of(
            heads,
            kept,
            words=2,
            title=audited.shown(measure),
            notes=notes,
            records=records,
            meaning="The order of the systems by this measure, and whether it is the same on every corpus.",
        ),
    )


def order_string(values: Mapping[str, float], *, lower: bool, decimals: int = 2) -> str:
    """
    >>> order_string({"a": 0.581, "b": 0.604, "c": 0.579, "d": 0.6}, lower=True)
    'c ≽ a ≻ d ≽ b'
    """
    known = {name: value for name, value in values.items() if math.isfinite(value)}
    ranked = sorted(known, key=lambda name: known[name] if lower else -known[name])
    line = ranked[0] if ranked else "no system has a value"
    for before, name in itertools.pairwise(ranked):
        same = round(known[before], decimals) == round(known[name], decimals)
        line += (NOT_AFTER if same else BEFORE) + name
    return line
