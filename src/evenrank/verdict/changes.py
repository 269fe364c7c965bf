"""What another system gives a group, beside the baseline: shares over the same queries, with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Floats
from evenrank.data.run import Run
from evenrank.inputs import Inputs
from evenrank.inputs.query_weights import weights_at
from evenrank.stats.difference import mean_difference
from evenrank.stats.weights import weighted_mean
from evenrank.verdict.attributes import group_attributes
from evenrank.verdict.sentences import attention, percent, signed_points
from evenrank.verdict.shares import asked_queries, attention_shares
from evenrank.verdict.value import Verdict

NAMED = 3  # systems that a sentence names
MORE, LESS_THAN, UNSHOWN = "more", "less", ""


@dataclass(frozen=True)
class ShareChange:
    """How the share of one group differs from the baseline's, a mean over the queries that both have.

    The intervals of all changes that were made together hold together, so one that excludes 0 is shown.
    """

    system: str
    baseline: str
    attribute: str
    group: str
    cutoff: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    level: float

    @property
    def shown(self) -> str:
        """``more`` or ``less`` than the baseline gives, or nothing where neither is shown."""
        if math.isnan(self.low) or self.low <= 0 <= self.high:
            return UNSHOWN
        return MORE if self.low > 0 else LESS_THAN


def share_changes(verdicts: Sequence[Verdict], inputs: Inputs, baseline: str) -> tuple[ShareChange, ...]:
    """For every attribute of the baseline's verdicts, what every other system gives the group farthest below
    its target in the baseline's lists.

    >>> from evenrank.data.membership import Membership
    >>> from evenrank.verdict.judge import verdicts
    >>> runs = {name: Run.build([f"q{n}" for n in range(9) for _ in "ab"], list(order) * 9,
    ...                         [2.0, 1.0] * 9) for name, order in (("old", "ab"), ("new", "ba"))}
    >>> known = Inputs.of(runs, groups=Membership.from_labels("size", {"a": "large", "b": "small"}))
    >>> (found,) = share_changes(verdicts(known), known, "old")
    >>> found.group, round(found.before, 2), round(found.after, 2), found.shown
    ('small', 0.39, 0.61, 'more')
    """
    own = [verdict for verdict in verdicts if verdict.system == baseline and verdict.lowest is not None]
    old = inputs.runs.get(baseline)
    others = {name: run for name, run in inputs.runs.items() if name != baseline and isinstance(run, Run)}
    if not isinstance(old, Run):
        return ()
    by_name = {one.attribute.name: one for one in group_attributes(inputs)}
    found = []
    for verdict in own:
        membership, lowest = by_name.get(verdict.attribute), (verdict.less or (verdict.lowest,))[0]
        if membership is None or lowest is None:
            continue
        queries = asked_queries(old, inputs)
        omega = None if inputs.query_weights is None else weights_at(inputs.query_weights, queries)
        place = membership.attribute.values.index(lowest.value)
        level = 1 - (1 - verdict.level) / (len(own) * len(others))
        shares = {
            name: attention_shares(run, membership, verdict.cutoff, queries)[:, place]
            for name, run in {baseline: old, **others}.items()
        }
        found += [
            _change(verdict, lowest.value, system, shares[baseline], shares[system], level, omega)
            for system in others
        ]
    return tuple(found)


def _change(
    verdict: Verdict,
    group: str,
    system: str,
    before: Floats,
    after: Floats,
    level: float,
    omega: Floats | None,
) -> ShareChange:
    both = np.isfinite(before) & np.isfinite(after)
    before, after, omega = before[both], after[both], None if omega is None else omega[both]
    found = mean_difference(after, before, (0.0, 1.0), level=level, weights=omega)
    return ShareChange(
        system=system,
        baseline=verdict.system,
        attribute=verdict.attribute,
        group=group,
        cutoff=verdict.cutoff,
        before=weighted_mean(before, omega),
        after=weighted_mean(after, omega),
        difference=found.difference,
        low=found.low,
        high=found.high,
        level=verdict.level,
    )


def describe_changes(changes: Sequence[ShareChange]) -> list[str]:
    """What other systems give each group, beside the baseline: sentences, those that show something first."""
    by_attribute: dict[str, list[ShareChange]] = {}
    for change in changes:
        by_attribute.setdefault(change.attribute, []).append(change)
    shown = [few for few in by_attribute.values() if any(change.shown for change in few)]
    rest = [few for few in by_attribute.values() if not any(change.shown for change in few)]
    return [*(_one(few[0]) if len(few) == 1 else _several(few) for few in shown), *_unshown(rest)]


def _unshown(rest: Sequence[Sequence[ShareChange]]) -> list[str]:
    """One sentence for all attributes of which nothing is shown; a single one has its numbers."""
    if not rest:
        return []
    first = rest[0][0]
    if len(rest) == 1 and len(rest[0]) == 1:
        return (
            [f"No difference is shown: {_gives(first)}; {_possible(rest[0])}."]
            if first.before == first.before
            else [_apart(first)]
        )
    groups = "; ".join(f"{few[0].group} ({few[0].attribute}): {_possible(few)}" for few in rest)
    return [f"No difference is shown in what these groups get: {groups}."]


def _possible(changes: Sequence[ShareChange]) -> str:
    """How large a difference remains possible where none is shown, and whether more queries would help.

    The intervals are about other queries alone, so more queries make every one narrower.
    """
    known = [change for change in changes if not math.isnan(change.low)]
    if not known:
        return "any difference remains possible, and more queries would help"
    ends = min(change.low for change in known), max(change.high for change in known)
    return (
        f"{signed_points(ends[0])} to {signed_points(ends[1])} points remain possible, and more queries "
        "would help: four times as many would halve that range"
    )


def _apart(change: ShareChange) -> str:
    return f"{change.system} and {change.baseline} share no query with documents of any group."


def _one(change: ShareChange) -> str:
    return f"{_gives(change)}."


def _gives(change: ShareChange) -> str:
    group = f"{change.attribute} {change.group}" if change.group.isdigit() else change.group
    return (
        f"{change.system} gives {group} {attention(change.after, change.cutoff)} instead "
        f"of {percent(change.before)} ({_interval(change)})"
    )


def _interval(change: ShareChange) -> str:
    if math.isnan(change.low):
        return "too few queries for an interval"
    points = [signed_points(end) for end in (change.difference, change.low, change.high)]
    return f"{points[0]} points, {100 * change.level:g}% interval {points[1]} to {points[2]}"


def _several(changes: Sequence[ShareChange]) -> str:
    first = changes[0]
    more, less, rest = ([c for c in changes if c.shown == kind] for kind in (MORE, LESS_THAN, UNSHOWN))
    parts = []
    if more:
        parts.append(f"{_count(more)} {first.group} more than {first.baseline} ({_named(more, -1)})")
    if less:
        parts.append(f"{_count(less)} {first.group} less than {first.baseline} ({_named(less, 1)})")
    if rest:
        parts.append(f"for {len(rest)} no difference is shown ({_possible(rest)})")
    return f"Of {len(changes)} other systems, {', '.join(parts)}."


def _count(changes: Sequence[ShareChange]) -> str:
    return f"{len(changes)} {'gives' if len(changes) == 1 else 'give'}"


def _named(changes: Sequence[ShareChange], sign: int) -> str:
    order = sorted(changes, key=lambda change: sign * change.difference)
    named = ", ".join(f"{change.system} {percent(change.after)}" for change in order[:NAMED])
    return named if len(order) <= NAMED else f"{named} and {len(order) - NAMED} more"
