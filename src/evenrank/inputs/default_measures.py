"""Which measures to take where none is named: those that the evidence allows."""

from __future__ import annotations

from typing import NamedTuple

from evenrank.errors import ParameterError
from evenrank.inputs.inputs import Inputs
from evenrank.measures.choosing import GROUPS, INTENTS, JUDGEMENTS, POLARITY, WORDS, default_choices

DEPTH = 10


class DefaultMeasure(NamedTuple):
    name: str
    because: str  # the evidence that allows it
    fairness: bool


def default_measures(inputs: Inputs, depth: int = DEPTH) -> list[DefaultMeasure]:
    """Relevance first, then what is known of groups, words and viewpoints.

    >>> known = Inputs.of({"q": {"a": 2.0, "b": 1.0}}, qrels={"q": {"b": 1}})
    >>> [measure.name for measure in default_measures(known)]
    ['nDCG@10']
    """
    found: list[DefaultMeasure] = []
    if inputs.qrels is not None:
        found += _chosen(JUDGEMENTS, depth, fairness=False)
    if inputs.intents is not None:
        found += _chosen(INTENTS, depth, fairness=False)
    for membership in inputs.groups:
        name = membership.attribute.name
        found += [
            DefaultMeasure(f"{choice.measure}(attr={name!r})@{depth}", f"{GROUPS} {name!r}", True)
            for choice in default_choices(GROUPS)
        ]
    if inputs.words is not None:
        found += _chosen(WORDS, depth, fairness=True)
    if inputs.polarity is not None:
        found += _chosen(POLARITY, depth, fairness=True)
    if not found:
        raise ParameterError(
            "nothing is known about the documents, so no measure can be chosen: pass qrels= (--qrels), "
            "groups= (--groups), words= (--words) or polarity= (--polarity)"
        )
    return found


def _chosen(evidence: str, depth: int, *, fairness: bool) -> list[DefaultMeasure]:
    """The stars of the page on choosing a measure."""
    return [
        DefaultMeasure(f"{choice.measure}@{depth}", evidence, fairness)
        for choice in default_choices(evidence)
    ]


def describe_choice(chosen: list[DefaultMeasure]) -> str:
    """One line that says which measures were chosen, and why."""
    reasons: dict[str, list[str]] = {}
    for measure in chosen:
        reasons.setdefault(measure.because, []).append(measure.name)
    parts = [f"{' and '.join(names)} ({because})" for because, names in reasons.items()]
    return f"no measures were named, so these were chosen by what is known: {', '.join(parts)}"
