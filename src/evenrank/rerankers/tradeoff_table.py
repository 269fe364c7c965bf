"""A trade-off as a table: the original first, one row a method, those that no other one beats marked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from typing import Any

from evenrank.rerankers.sweep import Tradeoff
from evenrank.scores.render import arrow, display_width, escape_markdown, label, printable, remarks
from evenrank.scores.rows import json_line, json_number
from evenrank.scores.scores import SummaryRow

MARK = "*"
COLUMNS = (
    "method", "front", "draws", "measure", "column", "value", "low", "high", "draws_low", "draws_high",
    "queries", "defined", "infinite", "direction",
)  # fmt: skip


def rows(found: Tradeoff) -> Iterator[dict[str, Any]]:
    """One row for each method, measure and column, for programs."""
    front = found.front()
    measures = {repr(measure): measure for measure in found.measures}
    for row in found.scores.summary():
        spread = found.draws(measures[row.measure], row.run)
        count, low, high = spread if spread is not None else (1, math.nan, math.nan)
        yield dict(
            zip(
                COLUMNS,
                (
                    row.run, row.run in front, count, row.measure, row.column, row.value, row.low, row.high,
                    low, high, row.queries, row.defined, row.infinite, row.direction,
                ),
                strict=True,
            )
        )  # fmt: skip


def as_jsonl(found: Tradeoff) -> str:
    def plain(value: Any) -> Any:
        return json_number(value) if isinstance(value, float) else value

    return "".join(json_line({key: plain(value) for key, value in row.items()}) for row in rows(found))


def as_tsv(found: Tradeoff) -> str:
    def cell(value: Any) -> str:
        if isinstance(value, bool):
            return str(int(value))
        return repr(value) if isinstance(value, float) else printable(str(value))

    lines = ["\t".join(COLUMNS), *("\t".join(map(cell, row.values())) for row in rows(found))]
    return "\n".join(lines) + "\n"


def as_text(found: Tradeoff, width: int | None = None) -> str:
    """A table for a terminal of ``width`` columns, where they are too few without intervals."""
    for intervals in (True, False):
        head, body = _cells(found, intervals=intervals)
        widths = [max(map(display_width, column)) for column in zip(head, *body, strict=True)]
        if width is None or sum(widths) + 2 * (len(widths) - 1) <= width:
            break
    lines = []
    for cells in (head, *body):
        first, mark, *numbers = (
            " " * (size - display_width(cell)) + cell
            if place > 1
            else cell + " " * (size - display_width(cell))
            for place, (cell, size) in enumerate(zip(cells, widths, strict=True))
        )
        lines.append("  ".join([first, mark, *numbers]).rstrip())
    said = [] if intervals else ["intervals: a wider terminal, or --format tsv"]
    for line in [*said, *notes(found)]:
        lines += textwrap.wrap(
            printable(line), max(width or 100, 40), subsequent_indent="  ", break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"


def as_markdown(found: Tradeoff) -> str:
    head, body = _cells(found, intervals=True)
    rule = [":---", ":---:", *["---:"] * (len(head) - 2)]
    lines = [f"| {' | '.join(map(escape_markdown, cells))} |\n" for cells in (head, *body)]
    lines.insert(1, f"| {' | '.join(rule)} |\n")
    return "".join(lines) + "\n" + "".join(f"- {escape_markdown(line)}\n" for line in notes(found))


def _cells(found: Tradeoff, *, intervals: bool) -> tuple[list[str], list[list[str]]]:
    headings: dict[str, None] = {}
    cells: dict[str, dict[str, str]] = {variant.name: {} for variant in found.variants}
    for row in found.scores.summary():
        heading = f"{label(row.measure, row.column)} {arrow(row.direction)}".rstrip()
        headings.setdefault(heading)
        cells[row.run][heading] = _value(row, intervals=intervals)
    front = found.front()
    body = [
        [printable(name), MARK if name in front else "", *(values[heading] for heading in headings)]
        for name, values in cells.items()
    ]
    return ["method", "front", *headings], body


def _value(row: SummaryRow, *, intervals: bool) -> str:
    if not math.isfinite(row.value):
        return "undefined"
    known = intervals and math.isfinite(row.low) and math.isfinite(row.high)
    return f"{row.value:.4f}" + (f" [{row.low:.4f}, {row.high:.4f}]" if known else "")


def notes(found: Tradeoff) -> list[str]:
    """What must be known to read the table."""
    ordered = found.ordered()
    lines = []
    if ordered:
        names = ", ".join(map(repr, ordered))
        lines.append(f"{MARK} no other row is at least as good in each of {names} and better in one")
    for measure in ordered:
        compared = found.compared(measure)
        if compared.queries < compared.of:
            lines.append(
                f"{MARK} {measure!r} compared over the {compared.queries} of {compared.of} queries for which "
                "all rows have a value"
            )
    left = [repr(measure) for measure in found.measures if measure not in ordered]
    if left:
        lines.append(
            "not looked at for the front, having several columns, no better side, or values of all rows for "
            f"fewer than half of the queries: {', '.join(left)}"
        )
    queries = {row.queries for row in found.scores.summary()}
    lines.append(f"brackets: 95% interval over the {'/'.join(map(str, sorted(queries)))} queries")
    for variant in found.variants:
        spreads = {measure: found.draws(measure, variant.name) for measure in found.measures}
        known = {measure: spread for measure, spread in spreads.items() if spread is not None}
        if known:
            count = next(iter(known.values()))[0]
            within = ", ".join(f"{m!r} [{low:.4f}, {high:.4f}]" for m, (_, low, high) in known.items())
            lines.append(f"{variant.name}: mean over {count:,} draws, 95% of which lie within {within}")
        elif variant.method is not None and any(step.stochastic for step in variant.method.steps()):
            lines.append(f"{variant.name}: one draw of many; repeat= (--repeat 1000) gives the mean")
    return lines + remarks(found.scores, notes=False)
