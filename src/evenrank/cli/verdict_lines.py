"""The verdict under a table: one line for each attribute, the same sentence as in an audit."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.inputs.project import Project
    from evenrank.verdict import Verdict


def verdict_lines(inputs: Inputs, known: Description, system: str, project: Project | None) -> list[str]:
    """Who is favoured by one system, a line for each attribute.

    Words are judged as well, as an audit does: its intervals hold for all attributes together.
    """
    from evenrank.verdict import describe, verdicts, without_verdict
    from evenrank.verdict.targets import without_judgements

    if not inputs.groups:
        return []
    alone = replace(without_judgements(inputs), runs={system: inputs.runs[system]})
    named = {one.attribute.name for one in inputs.groups}
    judged = verdicts(alone, **asked_options(known, project))
    found = [verdict for verdict in judged if verdict.attribute in named]
    several = f"{system}, " if len(inputs.runs) > 1 else ""
    return [
        *(several + describe(verdict) for verdict in found),
        *without_verdict(alone),
        *_other_targets(inputs, found),
    ]


def _other_targets(inputs: Inputs, found: Sequence[Verdict]) -> Iterator[str]:
    """The table and the verdicts may judge by different shares, and then one can contradict the other."""
    from evenrank.verdict.targets import target_name

    own = {one.attribute.name: target_name(one.attribute.target) for one in inputs.groups}
    for verdict in found:
        in_table = own.get(verdict.attribute, verdict.target)
        if in_table != verdict.target:
            named = shlex.quote(f"{verdict.attribute}={verdict.target}")
            yield (
                f"The table holds {verdict.attribute} against the target {in_table}, the sentence above "
                f"against {verdict.target}: --target {named} takes the same for both."
            )


def asked_options(known: Description, project: Project | None) -> dict[str, Any]:
    """The targets and the depth of the project's audits, so that what judges the same says the same."""
    settings = {} if project is None else project.table("audit")
    depth = {"depth": settings["depth"]} if "depth" in settings else {}
    return {"target": asked_targets(known, settings.get("target")), **depth}


def asked_targets(known: Description, others: str | None = None) -> dict[str, str | None]:
    """The target of each attribute that one was named for, and ``others``, which is for all that have none.

    A uniform one is named, since an attribute without a target has it too; others are the attributes' own.
    """
    from evenrank.verdict.targets import EQUAL, OTHERS

    named = {
        option.name: EQUAL if option.target == "uniform" and not option.averaged else None
        for option in known.targets
    }
    return named if others is None else {OTHERS: others, **named}
