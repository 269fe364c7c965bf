"""The rules of a gate, as the table ``[gate]`` of a project file holds them.

[gate]
alpha = 0.05                    # for all measures; so are all keys of a measure but limit

limits = ["GroupShare(attr='size', attention=log2)@10[small] >= 0.3"]     # no baseline needed

[gate.measures."nDCG@10"]
allowed = 0.01
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from evenrank.comparison.gate.rules import Gate, GateRule
from evenrank.errors import EvenrankError, ParameterError
from evenrank.measures import Measure, parse_measure

T = TypeVar("T")

_ALLOWANCES = {"allowed", "allowed_share", "limit", "floor", "ceiling"}
_LIMIT = re.compile(r"(.*\S)\s*(>=|<=)\s*([0-9.eE+-]+)", re.DOTALL)
_COLUMN = re.compile(r"(.*\S)\s*\[([^\[\]]+)\]", re.DOTALL)


@dataclass(frozen=True)
class GateConfig:
    """A gate and the name of the file that it stands in, for messages."""

    gate: Gate
    name: str

    @property
    def measures(self) -> list[Measure]:
        return list(dict.fromkeys(rule.measure for rule in self.gate.rules))


def gate_of(content: Mapping[str, Any], name: str) -> GateConfig:
    """The gate that a table describes. What is wrong with it is reported with the file and the key."""
    from evenrank.inputs.schema import GateTable, SharedRule
    from evenrank.io.settings import checked

    name = f"{name}: [gate]"
    table = checked(GateTable, content, name, ParameterError)
    given = table.model_dump(exclude_unset=True)
    measures = given.get("measures", {})
    for written, limits in _limits(name, table.limits).items():
        if written in measures:
            raise ParameterError(f'{name}: limits and measures both have "{written}"; one is enough')
        measures[written] = limits
    if not measures:
        raise ParameterError(f'{name}: names no measure; one is written [gate.measures."nDCG@10"]')
    shared = {key: given[key] for key in SharedRule.model_fields if key in given}
    rules = tuple(_rule(name, written, own, shared) for written, own in measures.items())
    options = {key: given[key] for key in ("correction", "resamples", "seed") if key in given}
    return GateConfig(_with_place(name, lambda: Gate(rules, **options)), name)


def _limits(name: str, written: Iterable[str]) -> dict[str, dict[str, float]]:
    """The rules of ``limits``: a floor, a ceiling or both for each measure."""
    example = "\"GroupShare(attr='size')@10[small] >= 0.3\""
    found: dict[str, dict[str, float]] = {}
    for text in written:
        parts = _LIMIT.fullmatch(text.strip())
        try:
            measure, sign, number = parts.groups()  # type: ignore[union-attr]
            value = float(number)
        except (AttributeError, ValueError):
            raise ParameterError(
                f"{name}: limits: write a measure, >= or <=, and a number, as {example}; got {text!r}"
            ) from None
        key = "floor" if sign == ">=" else "ceiling"
        if key in found.setdefault(measure, {}):
            raise ParameterError(f"{name}: limits: {measure!r} has two values for {sign}; one is enough")
        found[measure][key] = value
    return found


def _rule(name: str, written: str, given: Mapping[str, Any], shared: Mapping[str, Any]) -> GateRule:
    where = f'{name}: measures."{written}"'
    with_column = _COLUMN.fullmatch(written.strip())
    text, column = with_column.groups() if with_column else (written, "")
    measure = _with_place(where, lambda: parse_measure(text))
    # what a measure says of itself takes the place of what all are allowed
    own = not _ALLOWANCES.isdisjoint(given)
    common = {key: value for key, value in shared.items() if not (own and key in _ALLOWANCES)}
    return _with_place(name, lambda: GateRule(measure, column, **{**common, **given}))


def _with_place(where: str, made: Callable[[], T]) -> T:
    try:
        return made()
    except EvenrankError as error:
        raise ParameterError(f"{where}: {error}") from None
