"""What a gate found, short enough for a pull request: the outcome, the measures, and who lost most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from evenrank.comparison.gate.rules import BONFERRONI, PASS
from evenrank.errors import counted
from evenrank.measures import Direction
from evenrank.scores.names import arrow
from evenrank.tables import Column, Interval, Table, Tone, Value, number

if TYPE_CHECKING:
    from evenrank.comparison.gate import GateResult, RuleResult

FORMATS = ("table", "jsonl", "markdown")
HEAD = ("measure", "baseline", "now", "difference", "bounds", "allowed", "queries")
ALONE = ("measure", "value", "bounds", "allowed", "queries")  # where there is no baseline

MEANING = "Each row is one rule: it fails where the run is worse than its baseline by more than is allowed."
ALONE_MEANING = "Each row is one rule: it fails where the value is beyond its limit."

_WORDS = {"too few": "too few queries", "": "limit"}  # others are said as they are


def gate_table(result: GateResult) -> Table:
    failed = [verdict.name for verdict in result.verdicts if verdict.failed]
    title = (
        f"gate failed: {', '.join(failed)}"
        if failed
        else f"gate passed: {counted(len(result.verdicts), 'measure', 'measures')}"
    )
    alone = not result.gate.compares
    return Table.of(
        [*(ALONE if alone else HEAD), Column("verdict", right=False)],
        ((_row_alone if alone else _row)(verdict) for verdict in result.verdicts),
        title=title,
        notes=_notes(result),
        records=map(_record, result.verdicts),
        meaning=ALONE_MEANING if alone else MEANING,
    )


def _row(verdict: RuleResult) -> tuple[Any, ...]:
    rule = verdict.rule
    outcome = f"{'FAIL' if verdict.failed else 'pass'}: {_WORDS.get(verdict.finding, verdict.finding)}"
    return (
        f"{verdict.name} {arrow(rule.measure.direction.value)}",
        verdict.baseline,
        verdict.now,
        Value(verdict.difference, signed=True),
        _bounds(verdict),
        _allowed(verdict),
        verdict.queries,
        Value(outcome, tone=Tone.BAD if verdict.failed else Tone.GOOD),
    )


def _row_alone(verdict: RuleResult) -> tuple[Any, ...]:
    name, _, _, _, bounds, allowed, queries, outcome = _row(verdict)
    return name, verdict.value, bounds, allowed, queries, outcome


def _bounds(verdict: RuleResult) -> Interval | None:
    if verdict.rule.compares:
        return Interval(verdict.low, verdict.high, signed=True)
    return Interval(verdict.low, verdict.high) if verdict.rule.bounded else None


def _allowed(verdict: RuleResult) -> str:
    """The difference that is allowed, and the limit, where there are such."""
    rule, said = verdict.rule, []
    if rule.compares:
        sign = "" if not verdict.allowed else "+" if rule.lower_is_better else "-"
        known = not math.isnan(verdict.allowed)  # a share of nothing is not
        said.append(f"{sign}{verdict.allowed:.4g}" if known else "undefined")
    if rule.limit is not None:
        signed = rule.measure.direction is Direction.SIGNED
        side = "within ±" if signed else "at most " if rule.lower_is_better else "at least "
        said.append(f"{side}{rule.limit:g}")
    said += [f"at least {rule.floor:g}"] if rule.floor is not None else []
    said += [f"at most {rule.ceiling:g}"] if rule.ceiling is not None else []
    return ", ".join(said)


def _notes(result: GateResult) -> list[str]:
    notes = [
        f"{verdict.name} fails: {problem}" for verdict in result.verdicts for problem in verdict.problems
    ]
    for verdict in result.verdicts:
        if verdict.losses:
            lost = ", ".join(f"{q} {number(old)} → {number(new)}" for q, old, new in verdict.losses)
            notes.append(f"{verdict.name} lost most on: {lost}")
    notes += filter(None, map(_left_out, result.verdicts))
    pairs = [
        f"{verdict.label} stands for {verdict.rule.name}" for verdict in result.verdicts if verdict.label
    ]
    return [*notes, *_legend(result), *(["; ".join(pairs)] if pairs else [])]


def _left_out(verdict: RuleResult) -> str:
    """Which queries did not count, where there are any: those without a value, or with an infinite one."""
    both = "some queries" if verdict.rule.bounded else "in both"
    counts = {"now": verdict.lost, "in the baseline": verdict.gained, both: verdict.neither}
    said = [f"{count:,} {where}" for where, count in counts.items() if count]
    return f"{verdict.name} has no finite value for: {', '.join(said)}; left out" if said else ""


def _legend(result: GateResult) -> list[str]:
    compared = [verdict for verdict in result.verdicts if verdict.rule.compares or verdict.rule.bounded]
    if not compared:
        return []
    shares = sorted({verdict.level for verdict in compared if not math.isnan(verdict.level)})
    alphas = sorted({verdict.alpha for verdict in compared if math.isnan(verdict.level)})
    shared = (
        f", alpha shared by {result.gate.family} measures"
        if result.gate.correction == BONFERRONI and result.gate.family > 1
        else ""
    )
    levels = ", ".join(f"{100 * (1 - alpha):.4g}%" for alpha in alphas)
    bad = dict.fromkeys("worse" if verdict.rule.compares else "beyond" for verdict in compared)
    kinds = [f"each one-sided, {levels}{shared}"] if alphas else []
    if shares:
        joint = ", ".join(f"{100 * level:.4g}%" for level in shares)
        kinds.append(f"{'of shares ' if alphas else ''}the {joint} interval of the verdict on the share")
    said = [f"bounds: {'; '.join(kinds)}; {' or '.join(bad)}: both beyond what is allowed; safe: both within"]
    if len(bad) > 1:
        said.append("bounds of a floor or a ceiling are those of the value, the others of the difference")
    if any(v.finding == "unclear" and v.rule.unclear == PASS for v in compared):
        said.append("unclear: neither is shown")
    return said


def _record(verdict: RuleResult) -> dict[str, Any]:
    rule = verdict.rule
    return {
        "measure": repr(rule.measure),
        "column": rule.column,
        "failed": verdict.failed,
        "finding": verdict.finding or None,
        "problems": list(verdict.problems),
        "baseline": verdict.baseline,
        "now": verdict.now,
        "difference": verdict.difference,
        "low": verdict.low,
        "high": verdict.high,
        "allowed": verdict.allowed,
        "limit": rule.limit,
        "floor": rule.floor,
        "ceiling": rule.ceiling,
        "value": verdict.value,
        "alpha": verdict.alpha,
        "queries": verdict.queries,
        "lost": verdict.lost,
        "gained": verdict.gained,
        "neither": verdict.neither,
        "direction": "signed" if rule.measure.direction is Direction.SIGNED else rule.measure.direction.value,
        "losses": [loss._asdict() for loss in verdict.losses],
    }
