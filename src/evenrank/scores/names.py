"""What measures are called where people read them: short names, and names that somebody gives them.

A short name leaves out the rule for documents without evidence, unless two measures differ in nothing else.
Programs always get the real name, which ``parse_measure`` understands.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenrank.errors import EvenrankError, InputTypeError, ParameterError, UnknownNameError
from evenrank.measures import Measure, parse_measure
from evenrank.measures.missing import without_missing

if TYPE_CHECKING:
    from evenrank.scores.scores import ScoresBlock

_RULE = re.compile(r"missing='\w+'")
_ARROWS = {"higher": "↑", "lower": "↓", "signed": "±", "a distance": "↔"}


def arrow(direction: str) -> str:
    return next((arrow for word, arrow in _ARROWS.items() if direction.startswith(word)), "")


def full_name(measure: str, column: str) -> str:
    """
    >>> full_name("GroupShare@10", "female")
    'GroupShare@10[female]'
    """
    return measure + (f"[{column}]" if column else "")


@dataclass(frozen=True)
class MeasureNames:
    """What each measure is called: ``labels`` where somebody named it, ``short`` otherwise."""

    short: Mapping[str, str]  # by real name
    labels: Mapping[str, str]  # by real name, or by that of one column

    def of(self, measure: str, column: str = "") -> str:
        own = self.labels.get(measure) or self.short.get(measure, measure)
        return self.labels.get(full_name(measure, column)) or full_name(own, column)

    def heading(self, measure: str, column: str, direction: str) -> str:
        return f"{self.of(measure, column)} {arrow(direction)}".rstrip()

    def notes(self) -> list[str]:
        """What the names leave out: rules for documents without evidence, and the real names of labels."""
        by_rule: dict[str, list[str]] = {}
        pairs = [f"{label} stands for {real}" for real, label in self.labels.items()]
        for real, shown in self.short.items():
            rules = _RULE.findall(real)
            if shown != real and real not in self.labels:
                if len(rules) == 1:
                    by_rule.setdefault(rules[0], []).append(shown)
                else:
                    pairs.append(f"{shown} stands for {real}")
        lines = [f"{', '.join(names)}: computed with {rule}" for rule, names in by_rule.items()]
        return lines + (["; ".join(pairs)] if pairs else [])


def measure_names(measures: Iterable[Measure], labels: Mapping[str, str]) -> MeasureNames:
    """
    >>> names = measure_names([parse_measure("NFaiRR(missing='drop')@10")], {})
    >>> names.of("NFaiRR(missing='drop')@10"), names.notes()
    ('NFaiRR@10', ["NFaiRR@10: computed with missing='drop'"])
    """
    short = {repr(measure): repr(without_missing(measure)) for measure in measures}
    times = Counter(short.values())
    return MeasureNames({real: name if times[name] == 1 else real for real, name in short.items()}, labels)


def checked_labels(blocks: Iterable[ScoresBlock], given: Mapping[str, str]) -> dict[str, str]:
    """The labels by the real names of what they rename; a key that renames nothing is an error.

    A key is a measure, with or without its rule for documents without evidence, or ``measure[column]``. A
    measure without its cut-off is that measure at every cut-off, and the label gets the cut-off.
    """
    if not isinstance(given, Mapping) or not all(isinstance(label, str) for label in given.values()):
        raise InputTypeError("labels are a mapping {measure: label}, as {'NFaiRR@10': 'Neutrality'}")
    columns = {block.measure: block.columns for block in blocks}
    found: dict[str, str] = {}
    for key, label in given.items():
        if not label.strip():
            raise ParameterError(f"labels: the label of {key!r} is empty")
        found |= _renamed(columns, str(key), label)
    twice = [label for label, times in Counter(found.values()).items() if times > 1]
    if twice:
        raise ParameterError(f"labels: {twice[0]!r} is given to two measures, which nobody could tell apart")
    return found


def known_labels(
    measures: Iterable[Measure], given: Mapping[str, str], *, strict: bool = False
) -> dict[str, str]:
    """Those of the labels that rename one of these measures: a project file may have labels of others.

    With ``strict`` a label of any other measure is an error.
    """
    columns: dict[Measure, tuple[str, ...]] = dict.fromkeys(measures, ())

    def renames(key: str, label: str) -> bool:
        try:
            return bool(_renamed(columns, key.partition("[")[0], label))
        except UnknownNameError:
            if strict:
                raise
            return False

    return {key: label for key, label in given.items() if renames(key, label)}


def _renamed(columns: Mapping[Measure, tuple[str, ...]], key: str, label: str) -> dict[str, str]:
    names: dict[str, str] = {}  # every name that would do, and the real one
    for measure, own in columns.items():
        for name in (repr(without_missing(measure)), repr(measure)):
            names |= {full_name(name, column): full_name(repr(measure), column) for column in ("", *own)}
    if key in names:
        return {names[key]: label}
    try:
        wanted = parse_measure(key, check=False)
    except EvenrankError:
        wanted = None
    if wanted is not None and repr(wanted) in names:
        return {names[repr(wanted)]: label}
    at_cutoffs = {
        repr(measure): f"{label}@{measure.cutoff}"
        for measure in columns
        if measure.cutoff is not None
        and wanted in (bare := replace(measure, cutoff=None), without_missing(bare))
    }
    if wanted is None or not at_cutoffs:
        known = list(dict.fromkeys(names.values()))
        close = difflib.get_close_matches(key, known, 3, 0.5) or known[:5]
        raise UnknownNameError(f"labels: no measure here is called {key!r}; did you mean {', '.join(close)}?")
    return at_cutoffs
