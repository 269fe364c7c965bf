"""The parameter ``missing``: what a measure does with documents that have no evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from evenrank.grammar import REFUSED, ParameterRule, choice, parameter
from evenrank.measures.base import Measure
from evenrank.measures.combined import CombinedMeasure

NONE, UNIFORM, UNDEFINED = "none", "uniform", "undefined"
MEANS = {
    NONE: "keep their place and count for no group",
    UNIFORM: "belong equally to all groups",
    UNDEFINED: "count as with {otherwise}, but a list of such documents alone is undefined",
    "neutral": "count as without group words",
    "drop": "are left out, so that lower ones move up",
    "error": "are an error",
}


def missing_parameter(default: str, *others: str, what: str = "a group") -> Any:
    """The parameter ``missing`` of a measure that takes these rules; ``what`` documents may lack."""
    rules = (default, *others)
    otherwise = NONE if default == NONE else UNIFORM
    meant = ", ".join(f"{MEANS[rule].format(otherwise=otherwise)} ({rule})" for rule in rules)
    return parameter(default, choice(*rules), f"documents without {what} {meant}")


def counted_as(measure: Measure) -> str:
    """The rule for documents without evidence beside those that have some."""
    rule: str = getattr(measure, "missing", "error")
    if rule != UNDEFINED:
        return rule
    return NONE if getattr(type(measure), "missing", "") == NONE else UNIFORM


def missing_rule(measure: Measure) -> ParameterRule | None:
    """What the measure's ``missing`` may be; None where it has no such parameter."""
    return next((field.metadata["rule"] for field in measure.parameters() if field.name == "missing"), None)


def takes_missing(measure: Measure, missing: str) -> bool:
    rule = missing_rule(measure)
    return rule is not None and rule.accept(missing) is not REFUSED


def with_nested(measure: Measure) -> Iterator[Measure]:
    """The measure and all that are in it: the terms of a sum, parameters that are measures."""
    yield measure
    inner = measure.measures if isinstance(measure, CombinedMeasure) else _parameters(measure).values()
    for one in inner:
        yield from with_nested(one)


def with_missing(measure: Measure, missing: str) -> Measure:
    """The measure, and those in it, with this rule wherever it is one of their own.

    >>> from evenrank.measures import parse_measure
    >>> with_missing(parse_measure("0.5*RandomOrder(measure=TExFAIR)@10 + 0.5*RandomOrder@5"), "drop")
    0.5*RandomOrder(measure=TExFAIR(missing='drop'))@10 + 0.5*RandomOrder(measure=FaiRR(missing='drop'))@5
    """
    changed = _rebuilt(measure, lambda inner: with_missing(inner, missing))
    return replace(changed, missing=missing) if takes_missing(changed, missing) else changed  # type: ignore[call-arg]


def without_missing(measure: Measure) -> Measure:
    """The measure, and those in it, with the rule they have when none is given."""
    changed = _rebuilt(measure, without_missing)
    default = next((field.default for field in changed.parameters() if field.name == "missing"), None)
    return changed if default is None else replace(changed, missing=default)  # type: ignore[call-arg]


def _parameters(measure: Measure) -> dict[str, Measure]:
    """The parameters of a measure that are measures."""
    values = {field.name: getattr(measure, field.name) for field in measure.parameters()}
    return {name: value for name, value in values.items() if isinstance(value, Measure)}


def _rebuilt(measure: Measure, change: Callable[[Measure], Measure]) -> Measure:
    """The measure with those that are right inside it changed."""
    if isinstance(measure, CombinedMeasure):
        return measure.rebuilt(tuple(map(change, measure.measures)))
    inside = {name: change(inner) for name, inner in _parameters(measure).items()}
    return replace(measure, **inside) if inside else measure  # type: ignore[arg-type]
