"""Which target groups were held against, since commands take different ones where none is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from evenrank.cli.streams import say

if TYPE_CHECKING:
    from evenrank.data.membership import Membership
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.measures import Measure


def say_target(membership: Membership) -> None:
    """Say the target of an attribute, and how to name another one."""
    from evenrank.verdict.targets import target_name

    attribute = membership.attribute
    say(f"target of {attribute.name}: {target_name(attribute.target)} (--target {attribute.name}=..)")


def say_targets(measures: Iterable[Measure], inputs: Inputs, known: Description) -> None:
    """Say the targets that measures compare with, where nobody named one."""
    from evenrank.measures.group_share import LIST, GroupShare
    from evenrank.measures.groups import NO_TARGET, GroupMeasure

    settled, _, _ = inputs.settle(tuple(measures))
    used = {
        part.attr
        for measure in settled
        for part in measure.parts()
        if isinstance(part, GroupMeasure)
        and NO_TARGET in part.undefined_when
        and part.own_target is None
        and not (isinstance(part, GroupShare) and part.of == LIST)
    }
    named = {option.name for option in known.targets}
    for one in inputs.groups:
        if one.attribute.name in used - named:
            say_target(one)
