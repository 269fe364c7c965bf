"""The attributes that a verdict is possible on, and why there is none on others."""

from __future__ import annotations

from dataclasses import replace

from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.inputs import Inputs
from evenrank.verdict.targets import WhichTarget, chosen_target, with_chosen_target
from evenrank.verdict.words import words_attribute

MOST_VALUES = 64  # an attribute of more values is not one of groups


def group_attributes(inputs: Inputs) -> tuple[Membership, ...]:
    """The attributes that a verdict is possible on: few values that are the same for all queries."""
    given = [one for one in inputs.groups if not _why_not(one)]
    return (*given, *(one for one in _of_words(inputs) if one.attribute.name not in _names(inputs)))


def with_verdict_targets(
    inputs: Inputs, target: WhichTarget, depth: int, *, catalogue: bool | None = None
) -> Inputs:
    """The same with the targets that verdicts hold groups against, for the measures that stand beside them.

    Documents found for a query are a target of one system alone: groups of several systems, and those beside
    a background of their own, keep their own target there.
    """
    whole = inputs.documents is not None if catalogue is None else catalogue
    (first, *others) = inputs.runs.values()
    alone = first if isinstance(first, Run) and not others and inputs.background is None else None
    groups = []
    for one in inputs.groups:
        judged = not _why_not(one)
        aimed = with_chosen_target(one, chosen_target(one, target, catalogue=whole)) if judged else one
        groups.append(one if aimed.needs_pool and alone is None else aimed)
    found = replace(inputs, groups=tuple(groups))
    if alone is not None and any(one.needs_pool for one in groups):
        found = replace(found, background=alone.head(depth), background_depth=depth)
    return found


def without_verdict(inputs: Inputs) -> list[str]:
    """A sentence for each system and each attribute that gets no verdict whatever its lists hold."""
    systems = [
        f"{name}: no verdict: it has several lists for a query, and a verdict is on one"
        for name, run in inputs.runs.items()
        if not isinstance(run, Run)
    ]
    reasons = {one.attribute.name: _why_not(one) for one in inputs.groups}
    taken = [one.attribute.name for one in _of_words(inputs) if one.attribute.name in _names(inputs)]
    return [
        *systems,
        *(f"{name}: no verdict: {reason}" for name, reason in reasons.items() if reason),
        *(f"{name}: no verdict on the words: an attribute of --groups has the same name" for name in taken),
    ]


def _why_not(membership: Membership) -> str:
    """Why there is no verdict on an attribute; empty where one is possible."""
    if membership.exists is not None:
        return "its groups are intents, which differ from query to query"
    if membership.own:
        return "every document without a label is a group of its own"
    count = len(membership.attribute.values)
    return (
        f"it has {count:,} groups, and a verdict takes at most {MOST_VALUES}" if count > MOST_VALUES else ""
    )


def _of_words(inputs: Inputs) -> tuple[Membership, ...]:
    return () if inputs.words is None else (words_attribute(inputs.words),)


def _names(inputs: Inputs) -> set[str]:
    return {one.attribute.name for one in inputs.groups if not _why_not(one)}
