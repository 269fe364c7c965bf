"""Everything about groups that a report shows: verdicts, changes against the baseline, shares by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenrank.data.run import Run
from evenrank.inputs import Inputs
from evenrank.verdict.advice import advised
from evenrank.verdict.changes import ShareChange, share_changes
from evenrank.verdict.judge import CUTOFF, verdicts
from evenrank.verdict.shares import RankShares, rank_shares
from evenrank.verdict.targets import WhichTarget
from evenrank.verdict.value import Verdict


@dataclass(frozen=True)
class Findings:
    """``system`` is the one that a reader sees first: the baseline, or the one that was asked for."""

    system: str = ""
    verdicts: tuple[Verdict, ...] = ()
    changes: tuple[ShareChange, ...] = ()
    ranks: tuple[RankShares, ...] = ()  # of the system that is shown first, and of the baseline

    def of(self, system: str) -> tuple[Verdict, ...]:
        """The verdicts on one system, the largest difference that is shown first."""
        own = [verdict for verdict in self.verdicts if verdict.system == system]
        return tuple(sorted(own, key=lambda verdict: (not verdict.shown, -_largest(verdict))))


def findings_of(
    inputs: Inputs | None,
    judged: Sequence[Verdict] | None,
    *,
    system: str | None,
    baseline: str | None,
    cutoff: int | None,
    target: WhichTarget,
    depth: int,
    clicks: bool,
) -> Findings:
    """What is found of these inputs; ``judged`` are verdicts that are there already.

    Advice is sought for the verdicts on the system that is shown first, where they have none.
    """
    if inputs is None:
        return Findings(system or baseline or "", tuple(judged or ()))
    wanted = [name for name in (system, baseline, *inputs.runs) if name is not None]
    named = [name for name in wanted if isinstance(inputs.runs.get(name), Run)]
    first = named[0] if named else ""
    deep = cutoff or CUTOFF
    if judged is None:
        judged = verdicts(inputs, cutoff=deep, depth=depth, target=target, clicks=clicks)
        own = advised([verdict for verdict in judged if verdict.system == first], inputs)
        judged = (*own, *(verdict for verdict in judged if verdict.system != first))
    deep = judged[0].cutoff if judged else deep
    seen = dict.fromkeys(name for name in (first, baseline) if name)
    return Findings(
        first,
        tuple(judged),
        share_changes(judged, inputs, baseline) if baseline is not None else (),
        tuple(found for name in seen for found in rank_shares(inputs, name, deep)),
    )


def _largest(verdict: Verdict) -> float:
    known = [abs(group.difference) for group in verdict.groups if group.difference == group.difference]
    return max(known, default=0.0)
