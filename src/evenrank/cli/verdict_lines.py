"""The verdict under a table: one line for each attribute, the same sentence as in an audit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description


def verdict_lines(inputs: Inputs, known: Description, system: str) -> list[str]:
    """Who is favoured by one system, a line for each attribute."""
    from evenrank.verdict import describe, verdicts, without_verdict

    if not inputs.groups:
        return []
    alone = replace(inputs, runs={system: inputs.runs[system]}, words=None, qrels=None)
    found = verdicts(alone, target=asked_targets(known))
    several = f"{system}, " if len(inputs.runs) > 1 else ""
    return [*(several + describe(verdict) for verdict in found), *without_verdict(alone)]


def asked_targets(known: Description) -> dict[str, str]:
    """The attributes whose target was named as uniform, which is what one without a target has too."""
    return {option.name: "equal" for option in known.targets if option.target == "uniform"}
