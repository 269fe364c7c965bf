"""A comparison as a table for people and as rows for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenrank.scores.render import arrow, printable
from evenrank.scores.rows import delimited, json_line, json_number

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.pairs import Pair

FIELDS = (
    "measure", "system", "baseline", "difference", "low", "high", "test", "p", "correction", "corrected_p",
    "effect_size", "wins", "ties", "losses", "queries", "dropped", "verdict",
)  # fmt: skip


def as_text(comparison: Comparison) -> str:
    """For each measure its systems, best first, and what is shown against the baselines."""
    lines: list[str] = []
    for table in comparison.tables:
        lines.append(f"{printable(table.name)} {arrow(table.measure.direction.value)}".rstrip())
        rows = [row for row in comparison.scores.summary() if _is(row, table)]
        rows.sort(key=lambda row: _order(row.value, table.lower_is_better))
        pairs = {(p.system, p.baseline): p for p in comparison.pairs if p.measure == table.name}
        width = max(len(printable(row.run)) for row in rows)
        for row in rows:
            told = [_told(pair) for (system, _), pair in pairs.items() if system == row.run]
            mark = " (baseline)" if row.run in comparison.baselines else ""
            interval = f"[{row.low:.4f}, {row.high:.4f}]" if math.isfinite(row.low) else ""
            count = f"{row.defined}" if row.defined == row.queries else f"{row.defined}/{row.queries}"
            numbers = f"{row.value:8.4f}  {interval:<18} {count:>6}"
            lines.append(f"  {printable(row.run):<{width}}  {numbers}  {'; '.join(told)}{mark}".rstrip())
    lines.append(
        f"test: paired {comparison.test}, corrected by {comparison.correction} within a measure, "
        f"alpha {comparison.alpha:g}"
    )
    return "\n".join(lines)


def _is(row: object, table: object) -> bool:
    return bool(
        getattr(row, "measure", "") == repr(getattr(table, "measure", ""))
        and getattr(row, "column", "") == getattr(table, "column", "")
    )


def _order(value: float, lower: bool) -> float:
    return math.inf if math.isnan(value) else value if lower else -value


def _told(pair: Pair) -> str:
    if pair.reason is not None:
        return f"against {printable(pair.baseline)}: {pair.reason}"
    dropped = f", {pair.dropped + pair.infinite} left out" if pair.dropped + pair.infinite else ""
    verdict = pair.verdict or "no difference shown"
    against = f"{pair.difference:+.4f} against {printable(pair.baseline)}"
    p = "p < 0.0001" if pair.corrected < 0.0001 else f"p {pair.corrected:.4f}"
    return f"{against}, {p}: {verdict}{dropped}"


def _cells(pair: Pair) -> tuple[object, ...]:
    return (
        pair.measure, pair.system, pair.baseline, pair.difference, pair.low, pair.high, pair.test,
        pair.p_value, pair.correction, pair.corrected, pair.effects.cohen_dz, *pair.outcomes, pair.queries,
        pair.dropped + pair.infinite, pair.verdict,
    )  # fmt: skip


def as_tsv(comparison: Comparison) -> str:
    def text(cell: object) -> str:
        return "" if isinstance(cell, float) and math.isnan(cell) else str(cell)

    return delimited(FIELDS, (tuple(map(text, _cells(pair))) for pair in comparison.pairs), "\t")


def as_jsonl(comparison: Comparison) -> str:
    return "".join(
        json_line(
            {
                name: json_number(cell) if isinstance(cell, float) else cell
                for name, cell in zip(FIELDS, _cells(pair), strict=True)
            }
        )
        for pair in comparison.pairs
    )
