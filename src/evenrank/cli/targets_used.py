"""Which target groups were held against, since commands take different ones where none is named."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evenrank.cli.streams import say

if TYPE_CHECKING:
    from evenrank.data.membership import Membership
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.measures import Measure


_SHOWN = 6  # values of a target


def say_target(membership: Membership, *, named: bool) -> None:
    """Say the target of an attribute, and how to name another one. ``named``: somebody gave it."""
    from evenrank.verdict.targets import target_name

    attribute = membership.attribute
    target = target_name(attribute.target)
    if isinstance(attribute.target, tuple) and not named:  # as those of a lexicon
        shares = list(zip(attribute.values, attribute.target, strict=True))
        target = ", ".join(f"{value} {share:.4g}" for value, share in shares[:_SHOWN])
        target += f" and {len(shares) - _SHOWN:,} more" if len(shares) > _SHOWN else ""
        target += ", which came with the groups"
    say(f"target of {attribute.name}: {target} (--target {shlex.quote(f'{attribute.name}=..')})")


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
            say_target(one, named=False)
