"""Which measures to take where none is named: those that the evidence allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evenrank.errors import ParameterError
from evenrank.inputs.coerce import background_option, needs_background, own_background
from evenrank.inputs.inputs import Inputs
from evenrank.measures import parse_measure

DEPTH = 10
JUDGEMENTS, INTENTS, GROUPS, WORDS, POLARITY = (
    "judgements", "judgements by intent", "groups", "word counts", "polarity"
)  # fmt: skip
DEFAULTS = {  # the stars in docs/choosing.md
    JUDGEMENTS: ("nDCG",),
    INTENTS: ("alpha_nDCG",),
    GROUPS: ("GF",),
    WORDS: ("NFaiRR", "TExFAIR"),
    POLARITY: ("DUO",),
}


class DefaultMeasure(NamedTuple):
    name: str
    because: str  # the evidence that allows it
    fairness: bool


def default_measures(inputs: Inputs, depth: int = DEPTH) -> list[DefaultMeasure]:
    """Relevance first, then what is known of groups, words and viewpoints.

    Measures that need a common background which several runs do not have are left out, unless there would
    be no other.

    >>> known = Inputs.of({"q": {"a": 2.0, "b": 1.0}}, qrels={"q": {"b": 1}})
    >>> [measure.name for measure in default_measures(known)]
    ['nDCG@10']
    """
    found = _allowed_measures(inputs, depth)
    return [one for one in found if not _lacks_background(one, inputs)] or found


def describe_left_out(inputs: Inputs) -> str:
    """The measures that would be chosen too if there were a common background, and how to give one."""
    chosen = default_measures(inputs)
    names = [one.name for one in _allowed_measures(inputs, DEPTH) if one not in chosen]
    if not names:
        return ""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return (
        f"{' and '.join(names)} {verb} left out, because several runs need one common background for {them}: "
        f"add {background_option(inputs.runs)}"
    )


def _lacks_background(measure: DefaultMeasure, inputs: Inputs) -> bool:
    missing = inputs.background is None and own_background(inputs.runs) is None
    return missing and needs_background(parse_measure(measure.name), inputs.named)


def _allowed_measures(inputs: Inputs, depth: int) -> list[DefaultMeasure]:
    found: list[DefaultMeasure] = []
    if inputs.qrels is not None:
        found += _chosen(JUDGEMENTS, depth, fairness=False)
    if inputs.intents is not None:
        found += _chosen(INTENTS, depth, fairness=False)
    for membership in inputs.groups:
        name = membership.attribute.name
        found += [
            DefaultMeasure(f"{measure}(attr={name!r})@{depth}", f"{GROUPS} {name!r}", True)
            for measure in DEFAULTS[GROUPS]
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
    return [DefaultMeasure(f"{measure}@{depth}", evidence, fairness) for measure in DEFAULTS[evidence]]


def describe_choice(chosen: Sequence[DefaultMeasure], left_out: str = "") -> str:
    """One line that says which measures were chosen and why, and which were left out."""
    reasons: dict[str, list[str]] = {}
    for measure in chosen:
        reasons.setdefault(measure.because, []).append(measure.name)
    parts = [f"{' and '.join(names)} ({because})" for because, names in reasons.items()]
    text = f"no measures were named, so these were chosen by what is known: {', '.join(parts)}"
    return f"{text}; {left_out}" if left_out else text
