"""The rules of a gate, as the table ``[gate]`` of a project file holds them.

[gate]
alpha = 0.05                    # for all measures; so are all keys of a measure but limit

limits = ["GroupShare(attr='size', attention=log2)@10[small] >= 0.3"]     # no baseline needed

[gate.measures."nDCG@10"]
allowed = 0.01
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from evenrank.comparison.gate.rules import Gate, GateRule
from evenrank.errors import EvenrankError, ParameterError
from evenrank.measures import Measure, parse_measure

SHARED = ("alpha", "allowed", "allowed_share", "at_least", "allowed_lost", "unclear", "too_few")
OF_A_MEASURE = (*SHARED, "limit", "floor", "ceiling")
OF_THE_GATE = ("correction", "resamples", "seed")
TOP = (*SHARED, *OF_THE_GATE, "measures", "limits")

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
    name = f"{name}: [gate]"
    check_keys(name, content, TOP)
    measures = {**_table(name, content, "measures")}
    for written, given in _limits(name, content.get("limits", [])).items():
        if written in measures:
            raise ParameterError(f'{name}: limits and measures both have "{written}"; one is enough')
        measures[written] = given
    if not measures:
        raise ParameterError(f'{name}: names no measure; one is written [gate.measures."nDCG@10"]')
    shared = {key: content[key] for key in SHARED if key in content}
    rules = tuple(_rule(name, written, given, shared) for written, given in measures.items())
    options = {key: content[key] for key in OF_THE_GATE if key in content}
    return GateConfig(_with_place(name, lambda: Gate(rules, **options)), name)


def check_keys(where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse a key that is not known, and name the closest that are."""
    for key in given:
        if key not in known:
            close = difflib.get_close_matches(key.replace("-", "_"), known, 3, 0.5) or known
            raise ParameterError(f"{where}: no key is called {key!r}; did you mean {', '.join(close)}?")


def _table(name: str, content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key, {})
    if not isinstance(found, dict):
        raise ParameterError(f"{name}: {key} must be a table, as [{key}], got {found!r}")
    return found


def _limits(name: str, written: Any) -> dict[str, dict[str, float]]:
    """The rules of ``limits``: a floor, a ceiling or both for each measure."""
    example = "\"GroupShare(attr='size')@10[small] >= 0.3\""
    if not isinstance(written, list) or not all(isinstance(text, str) for text in written):
        raise ParameterError(f"{name}: limits must be a list of text, as [{example}], got {written!r}")
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


def _rule(name: str, written: str, given: Any, shared: Mapping[str, Any]) -> GateRule:
    where = f'{name}: measures."{written}"'
    if not isinstance(given, dict):
        raise ParameterError(f'{where}: must be a table, as [gate.measures."{written}"], got {given!r}')
    check_keys(where, given, OF_A_MEASURE)
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
