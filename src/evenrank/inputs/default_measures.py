"""Which measures to take where none is named: those that the evidence allows."""

from __future__ import annotations

from typing import NamedTuple

from evenrank.errors import ParameterError
from evenrank.inputs.inputs import Inputs

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
        found.append(DefaultMeasure(f"nDCG@{depth}", "judgements", False))
    if inputs.intents is not None:
        found.append(DefaultMeasure(f"alpha_nDCG@{depth}", "judgements by intent", False))
    for membership in inputs.groups:
        name = membership.attribute.name
        found.append(DefaultMeasure(f"GF(attr={name!r})@{depth}", f"groups {name!r}", True))
    if inputs.words is not None:
        found += [DefaultMeasure(f"{name}@{depth}", "word counts", True) for name in ("NFaiRR", "TExFAIR")]
    if inputs.polarity is not None:
        found.append(DefaultMeasure(f"DUO@{depth}", "polarity", True))
    if not found:
        raise ParameterError(
            "nothing is known about the documents, so no measure can be chosen: pass qrels= (--qrels), "
            "groups= (--groups), words= (--words) or polarity= (--polarity)"
        )
    return found


def describe_choice(chosen: list[DefaultMeasure]) -> str:
    """One line that says which measures were chosen, and why."""
    reasons: dict[str, list[str]] = {}
    for measure in chosen:
        reasons.setdefault(measure.because, []).append(measure.name)
    parts = [f"{' and '.join(names)} ({because})" for because, names in reasons.items()]
    return f"no measures were named, so these were chosen by what is known: {', '.join(parts)}"
