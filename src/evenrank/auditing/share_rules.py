"""Rules on shares of groups: their bounds and their words are those of the verdict on the same share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenrank.attention import Attention
    from evenrank.comparison.gate import Gate, GateRule
    from evenrank.inputs import Inputs
    from evenrank.measures import Measure
    from evenrank.verdict import Verdict


@dataclass(frozen=True)
class ShareRules:
    """What the rules of a gate that have a floor or a ceiling need to know of a run."""

    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # by the name of the rule
    lines: tuple[str, ...] = ()  # what the shares are about, a sentence for each attribute


def share_rules(
    gate: Gate,
    inputs: Inputs,
    system: str,
    *,
    options: Mapping[str, Any] | None = None,
    queries: Iterable[str] | None = None,
    missing: str | None = None,
) -> ShareRules:
    """The intervals of the gate's rules on shares for one run, and the verdicts in words.

    Verdicts are made as an audit makes them: on all attributes together, with its ``options``, as target and
    depth. A rule's alpha is one less the level of its verdict.
    """
    from evenrank.measures.group_share import GroupShare
    from evenrank.measures.missing import with_missing
    from evenrank.verdict import describe, without_verdict
    from evenrank.verdict.lists import ATTENTION
    from evenrank.verdict.targets import without_judgements

    limited = [rule for rule in gate.rules if rule.bounded and hasattr(rule.measure, "attr")]
    if not limited:
        return ShareRules()
    alone = replace(without_judgements(inputs), runs={system: inputs.runs[system]})
    if queries is not None:
        alone = replace(alone, queries=tuple(dict.fromkeys(queries)))
    made: dict[tuple[Any, ...], dict[str, Verdict]] = {}
    intervals, lines = {}, []
    for rule in limited:
        attention = _attention(rule.measure if missing is None else with_missing(rule.measure, missing))
        if attention is None and isinstance(rule.measure, GroupShare):
            continue  # a sentence would name another share than the rule holds
        how = _cutoff(rule, alone), attention or ATTENTION, rule.alpha
        if how not in made:
            made[how] = _verdicts(alone, how, options or {})
        found = made[how]
        attribute = getattr(rule.measure, "attr", None)
        names = list(found) if attribute is None else [attribute]
        verdicts = [found[name] for name in names if name in found]
        lines += [describe(verdict) for verdict in verdicts]
        if len(verdicts) == 1 and attention is not None:
            intervals.update(_interval(rule, verdicts[0]))
    several = f"{system}, " if len(inputs.runs) > 1 else ""
    said = [several + line for line in dict.fromkeys(lines)]
    return ShareRules(intervals, (*said, *without_verdict(alone)))


def _attention(measure: Measure) -> Attention | None:
    """How places count for a rule on the share of a group; None where a verdict cannot count them so.

    Where documents without a label are dropped, others stand at their places: a rule on such a share has
    bounds of its own.
    """
    from evenrank.measures.group_share import LIST, GroupShare

    if not isinstance(measure, GroupShare) or measure.of != LIST or measure.missing == "drop":
        return None
    return None if measure.attention.needs else measure.attention


def _cutoff(rule: GateRule, inputs: Inputs) -> int:
    """The cut-off that a rule asks for: without one, the longest list."""
    from evenrank.data.run import Run

    if rule.measure.cutoff is not None:
        return rule.measure.cutoff
    lengths = [run.lengths.max(initial=1) for run in inputs.runs.values() if isinstance(run, Run)]
    return int(max(lengths, default=1))


def _verdicts(inputs: Inputs, how: tuple[Any, ...], options: Mapping[str, Any]) -> dict[str, Verdict]:
    from evenrank.verdict import verdicts

    cutoff, attention, alpha = how
    found = verdicts(inputs, cutoff=cutoff, attention=attention, level=1 - alpha, **options)
    return {verdict.attribute: verdict for verdict in found}


def _interval(rule: GateRule, verdict: Verdict) -> dict[str, tuple[float, float]]:
    """The interval of the verdict on the share, by the rule's name; NaN where there is too little for one."""
    from evenrank.verdict.value import TOO_FEW

    for group in verdict.groups:
        if group.value == rule.column:
            few = group.decision == TOO_FEW
            return {rule.name: (math.nan, math.nan) if few else (group.share_low, group.share_high)}
    return {}  # the gate says which columns there are
