"""A comparison as a table for people and as rows for programs.

Tables for papers have a row a system and a column a measure. The best value of a column is marked; a
letter above a value names a baseline that it beats, a letter below one that it loses to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenrank.scores.render import LATEX_ARROWS, arrow, escape_latex, escape_markdown, printable
from evenrank.scores.rows import as_cell, delimited, json_line, json_number

if TYPE_CHECKING:
    from evenrank.comparison import Comparison
    from evenrank.comparison.pairs import Pair
    from evenrank.comparison.table import Table

FIELDS = (
    "measure", "system", "baseline", "difference", "low", "high", "test", "p", "correction", "corrected_p",
    "effect_size", "wins", "ties", "losses", "queries", "dropped", "why_dropped", "verdict", "reason",
)  # fmt: skip


def as_text(comparison: Comparison) -> str:
    """For each measure its systems, best first, and what is shown against the baselines."""
    lines: list[str] = []
    for table in comparison.tables:
        lines.append(f"{printable(table.name)} {arrow(table.measure.direction.value)}".rstrip())
        rows = [row for row in comparison.scores.summary() if _is(row, table)]
        rows.sort(key=lambda row: _order(row.value, table))
        pairs = {(p.system, p.baseline): p for p in comparison.pairs if p.measure == table.name}
        width = max(len(printable(row.run)) for row in rows)
        for row in rows:
            told = [_told(pair) for (system, _), pair in pairs.items() if system == row.run]
            mark = " (baseline)" if row.run in comparison.baselines else ""
            interval = f"[{row.low:.4f}, {row.high:.4f}]" if math.isfinite(row.low) else ""
            count = f"{row.defined}" if row.defined == row.queries else f"{row.defined}/{row.queries}"
            value = "undefined" if math.isnan(row.value) else f"{row.value:.4f}"
            numbers = f"{value:>9}  {interval:<18} {count:>6}"
            lines.append(f"  {printable(row.run):<{width}}  {numbers}  {'; '.join(told)}{mark}".rstrip())
    lines.append(_how(comparison))
    return "\n".join(lines)


def _how(comparison: Comparison) -> str:
    return (
        f"test: paired {comparison.test}, corrected by {comparison.correction} within a measure, "
        f"alpha {comparison.alpha:g}"
    )


def _is(row: object, table: Table) -> bool:
    return bool(
        getattr(row, "measure", "") == repr(table.measure) and getattr(row, "column", "") == table.column
    )


def _order(value: float, table: Table) -> float:
    """Small is good. Of values without a better one, the one nearest to 0 is."""
    if math.isnan(value):
        return math.inf
    if not table.has_better:
        return abs(value)
    return value if table.lower_is_better else -value


def left_out(pair: Pair) -> str:
    """Why queries do not count, as "no relevant document (3)"."""
    return ", ".join(f"{reason} ({count:,})" for reason, count in pair.left_out.items())


def _told(pair: Pair) -> str:
    if pair.reason is not None:
        return f"against {printable(pair.baseline)}: {pair.reason}"
    dropped = (
        f", {pair.dropped + pair.infinite} left out: {printable(left_out(pair))}" if pair.left_out else ""
    )
    verdict = pair.verdict or "no difference shown"
    against = f"{pair.difference:+.4f} against {printable(pair.baseline)}"
    p = "p < 0.0001" if pair.corrected < 0.0001 else f"p {pair.corrected:.4f}"
    return f"{against}, {p}: {verdict}{dropped}"


def letters(number: int) -> str:
    """a, b, .. z, aa, ab: as many as there are systems.

    >>> [letters(number) for number in (0, 25, 26, 27, 702)]
    ['a', 'z', 'aa', 'ab', 'aaa']
    """
    named = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        named = chr(ord("a") + rest) + named
    return named


@dataclass(frozen=True)
class _Style:
    """What differs between a table in LaTeX and one in Markdown."""

    escape: Callable[[str], str]
    best: str  # a template of the best value
    beats: str  # of the letters of baselines that a system beats
    loses: str  # and of those that it loses to
    minus: str = "-"

    def number(self, value: float) -> str:
        text = "--" if math.isnan(value) else "infinite" if math.isinf(value) else f"{abs(value):.4f}"
        return self.minus + text if value < 0 else text


_LATEX = _Style(escape_latex, r"\textbf{%s}", r"\textsuperscript{%s}", r"\textsubscript{%s}", "$-$")
_MARKDOWN = _Style(escape_markdown, "**%s**", "<sup>%s</sup>", "<sub>%s</sub>")


def _grid(comparison: Comparison, style: _Style, arrows: dict[str, str]) -> list[list[str]]:
    """The heading, and a row a system in the order given."""
    letter = {name: letters(place) for place, name in enumerate(comparison.baselines)}
    rows = [
        [style.escape(system) + (style.beats % letter[system] if system in letter else "")]
        for system in comparison.scores.runs
    ]
    head = ["system"]
    summary = comparison.scores.summary()
    for table in comparison.tables:
        sign = arrow(table.measure.direction.value)
        head.append(f"{style.escape(table.name)} {arrows.get(sign, sign)}".rstrip())
        values = {row.run: row.value for row in summary if _is(row, table)}
        goods = [_order(value, table) for value in values.values()]
        best = min(goods) if table.has_better and goods and min(goods) < math.inf else None
        for system, row in zip(comparison.scores.runs, rows, strict=True):
            value = values.get(system, math.nan)
            text = style.number(value)
            if best is not None and _order(value, table) == best:
                text = style.best % text
            row.append(text + _marks(comparison, table, system, letter, style))
    return [head, *rows]


def _marks(comparison: Comparison, table: Table, system: str, letter: dict[str, str], style: _Style) -> str:
    own = [pair for pair in comparison.pairs if pair.measure == table.name and pair.system == system]
    beats = ",".join(letter[pair.baseline] for pair in own if pair.verdict == "better")
    loses = ",".join(letter[pair.baseline] for pair in own if pair.verdict == "worse")
    return (style.beats % beats if beats else "") + (style.loses % loses if loses else "")


def _legend(comparison: Comparison) -> list[str]:
    named = ", ".join(f"{letters(place)} is {name}" for place, name in enumerate(comparison.baselines))
    return [f"raised letter: better than, lowered letter: worse than; {named}", _how(comparison)]


def as_markdown(comparison: Comparison) -> str:
    head, *rows = _grid(comparison, _MARKDOWN, {})
    rule = [":---", *["---:"] * (len(head) - 1)]
    lines = [f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows)]
    return "".join(lines) + "\n" + "".join(f"- {escape_markdown(line)}\n" for line in _legend(comparison))


def as_latex(comparison: Comparison) -> str:
    r"""A whole tabular in the style of booktabs; how to read it stands in comments above."""
    head, *rows = (f"{' & '.join(cells)} \\\\\n" for cells in _grid(comparison, _LATEX, LATEX_ARROWS))
    said = "".join(f"% {printable(line)}\n" for line in _legend(comparison))
    return (
        f"% needs \\usepackage{{booktabs}}\n{said}"
        f"\\begin{{tabular}}{{l{'r' * len(comparison.tables)}}}\n\\toprule\n{head}\\midrule\n{''.join(rows)}"
        "\\bottomrule\n\\end{tabular}\n"
    )


def cells_of(pair: Pair) -> tuple[str | float | int, ...]:
    """The cells of ``FIELDS``. Where no value is better than another, no query is won or lost."""
    outcomes = pair.outcomes if pair.has_better else (math.nan,) * len(pair.outcomes)
    return (
        pair.measure, pair.system, pair.baseline, pair.difference, pair.low, pair.high, pair.test,
        pair.p_value, pair.correction, pair.corrected, pair.effects.cohen_dz, *outcomes, pair.queries,
        pair.dropped + pair.infinite, left_out(pair), pair.verdict, pair.reason or "",
    )  # fmt: skip


def _rows(comparison: Comparison, delimiter: str, said: Callable[[str], str]) -> str:
    def text(cell: object) -> str:
        if isinstance(cell, str):
            return said(cell)
        return "" if isinstance(cell, float) and math.isnan(cell) else str(cell)

    return delimited(FIELDS, (tuple(map(text, cells_of(pair))) for pair in comparison.pairs), delimiter)


def as_tsv(comparison: Comparison) -> str:
    return _rows(comparison, "\t", str)


def as_csv(comparison: Comparison) -> str:
    """For spreadsheets: names that would be taken for formulas have an apostrophe before them."""
    return _rows(comparison, ",", as_cell)


def as_jsonl(comparison: Comparison) -> str:
    return "".join(
        json_line(
            {
                name: json_number(cell) if isinstance(cell, float) else cell
                for name, cell in zip(FIELDS, cells_of(pair), strict=True)
            }
        )
        for pair in comparison.pairs
    )
