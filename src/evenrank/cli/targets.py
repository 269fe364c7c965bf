"""The targets of groups: which a command took where none was named, and which verdicts are asked to take."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from evenrank.cli.streams import say

if TYPE_CHECKING:
    from evenrank.data.membership import Membership
    from evenrank.inputs.description import Description
    from evenrank.inputs.project import Project


_SHOWN = 6  # values of a target


def say_target(membership: Membership, *, named: bool) -> None:
    """Say the target of an attribute, and how to name another one. ``named``: somebody gave it."""
    from evenrank.data.attribute import target_name

    attribute = membership.attribute
    target = target_name(attribute.target)
    if isinstance(attribute.target, tuple) and not named:  # as those of a lexicon
        shares = list(zip(attribute.values, attribute.target, strict=True))
        target = ", ".join(f"{value} {share:.4g}" for value, share in shares[:_SHOWN])
        target += f" and {len(shares) - _SHOWN:,} more" if len(shares) > _SHOWN else ""
        target += ", which came with the groups"
    say(f"target of {attribute.name}: {target} (--target {shlex.quote(f'{attribute.name}=..')})")


def asked_options(known: Description, project: Project | None) -> dict[str, Any]:
    """The targets and the depth of the project's audits, so that what judges the same says the same."""
    settings = {} if project is None else project.table("audit")
    depth = {"depth": settings["depth"]} if "depth" in settings else {}
    return {"target": asked_targets(known, settings.get("target")), **depth}


def asked_targets(known: Description, others: str | None = None) -> dict[str, str | None]:
    """The target of each attribute that one was named for, and ``others``, which is for all that have none.

    A uniform one is named, since an attribute without a target has it too; others are the attributes' own.
    """
    from evenrank.data.attribute import EQUAL
    from evenrank.verdict.targets import OTHERS

    named = {
        option.name: EQUAL if option.target == "uniform" and not option.averaged else None
        for option in known.target
    }
    return named if others is None else {OTHERS: others, **named}
