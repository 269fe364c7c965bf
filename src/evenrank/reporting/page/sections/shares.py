"""Who gets seen: what every system gives every group, beside the target, and who stands at which rank."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenrank.reporting.page import safe
from evenrank.reporting.page.group_colours import GroupLook, looks_of
from evenrank.reporting.page.rendering import Section, render, section
from evenrank.reporting.page.report_data import ReportData
from evenrank.verdict import GroupFinding, Verdict
from evenrank.verdict.findings import Findings
from evenrank.verdict.sentences import describe_undecided, lowest_tested, percent
from evenrank.verdict.shares import RankShares
from evenrank.verdict.value import FAVOURED, LESS, NOT_SHOWN

IN_ONE_BAR = 3  # groups; with more each has a bar of its own, since only ends have their own intervals
SYSTEMS = 12  # that are drawn at once
GROUPS = 8  # of an attribute, those farthest from their targets
WRITTEN = 0.1  # the least share that has room for its number


@dataclass(frozen=True)
class Segment:
    """A part of a bar, in percent of its width."""

    style: str
    start: float
    width: float
    text: str  # empty where there is no room
    middle: float
    title: str


@dataclass(frozen=True)
class ShareBar:
    """A bar with the marks on it, and what it says in words."""

    name: str
    note: str
    label: str
    segments: Sequence[Segment]
    targets: Sequence[float] = ()
    intervals: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class RankColumn:
    rank: int
    segments: Sequence[Segment]
    label: str


@dataclass(frozen=True)
class AttributeShares:
    """The picture of one attribute."""

    name: str
    legend: Sequence[GroupLook]
    places: int
    bars: Sequence[ShareBar]
    more: Sequence[ShareBar]
    ranks: Sequence[tuple[str, Sequence[RankColumn], str]]


@section(6)
def shares_section(material: ReportData) -> Section | None:
    found = material.findings
    attributes = dict.fromkeys(verdict.attribute for verdict in found.of(found.system) if _known(verdict))
    pictures = [_attribute(material, attribute) for attribute in attributes]
    if not pictures:
        return None
    return Section("shares", "Who gets seen", render("shares.html", pictures=pictures))


def _known(verdict: Verdict) -> bool:
    return any(not math.isnan(group.share) for group in verdict.groups)


def _attribute(material: ReportData, attribute: str) -> AttributeShares:
    found = material.findings
    own = [verdict for verdict in found.verdicts if verdict.attribute == attribute and _known(verdict)]
    first = next(verdict for verdict in own if verdict.system == found.system)
    own = [first, *(verdict for verdict in own if verdict is not first)]
    looks = looks_of([group.value for group in first.groups])
    bars = [*_before(first, looks)] if len(looks) <= IN_ONE_BAR else []
    for verdict in own:
        bars += [_whole(verdict, looks)] if len(looks) <= IN_ONE_BAR else list(_each(verdict, looks, own))
    shown = SYSTEMS if len(looks) <= IN_ONE_BAR else 2 * GROUPS
    return AttributeShares(
        name=safe.name(attribute),
        legend=list(looks.values()),
        places=first.cutoff,
        bars=bars[:shown],
        more=bars[shown:],
        ranks=list(_ranks(found, attribute, looks)),
    )


def _before(verdict: Verdict, looks: dict[str, GroupLook]) -> Iterator[ShareBar]:
    """What there is of each group before anything is ranked, where it is known."""
    for name, field in (("all documents", "catalogue"), (f"found, first {verdict.depth}", "candidates")):
        shares = {group.value: getattr(group, field) for group in verdict.groups}
        if not any(map(math.isnan, shares.values())):
            said = ", ".join(f"{looks[value].label} {percent(share)}" for value, share in shares.items())
            segments = _segments(shares, looks)
            yield ShareBar(name, "", f"{name}: {said}.", segments)


def _whole(verdict: Verdict, looks: dict[str, GroupLook]) -> ShareBar:
    """All groups in one bar. The first group has its interval at its end, the last at its start."""
    groups = verdict.groups
    name = safe.name(verdict.system)
    ends: list[float] = []
    for group in groups[:-1]:
        ends.append((ends[-1] if ends else 0.0) + group.target)
    intervals = []
    if not math.isnan(groups[0].share_low):
        intervals.append(_span(groups[0].share_low, groups[0].share_high))
    if len(groups) > 2 and not math.isnan(groups[-1].share_low):
        intervals.append(_span(1 - groups[-1].share_high, 1 - groups[-1].share_low))
    return ShareBar(
        name=name,
        note=_note(verdict, looks),
        label=f"{name}: {'; '.join(_in_words(group, looks) for group in groups)}.",
        segments=_segments({group.value: group.share for group in groups}, looks),
        targets=[_percent(end) for end in ends],
        intervals=intervals,
    )


def _each(
    verdict: Verdict, looks: dict[str, GroupLook], all_of_them: Sequence[Verdict]
) -> Iterator[ShareBar]:
    """A bar for each group, those farthest from their targets first."""
    known = [group for group in verdict.groups if not math.isnan(group.share)]
    several = len(all_of_them) > 1
    for group in sorted(known, key=lambda group: -abs(group.difference))[:GROUPS]:
        look = looks[group.value]
        interval = [] if math.isnan(group.share_low) else [_span(group.share_low, group.share_high)]
        yield ShareBar(
            name=(f"{safe.name(verdict.system)}, " if several else "") + f"{look.mark} {look.label}",
            note=_points(group),
            label=f"{safe.name(verdict.system)}: {_in_words(group, looks)}.",
            segments=_segments({group.value: group.share}, looks),
            targets=[_percent(group.target)],
            intervals=interval,
        )


def _segments(shares: dict[str, float], looks: dict[str, GroupLook]) -> list[Segment]:
    at, out = 0.0, []
    for value, share in shares.items():
        look, wide = looks[value], 0.0 if math.isnan(share) else share
        text = percent(wide) if wide >= WRITTEN else ""
        out.append(
            Segment(
                look.style, _percent(at), _percent(wide), text, _percent(at + wide / 2),
                f"{look.label} {percent(wide)}",
            )
        )  # fmt: skip
        at += wide
    return out


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _span(low: float, high: float) -> tuple[float, float]:
    return _percent(low), _percent(high - low)


def _in_words(group: GroupFinding, looks: dict[str, GroupLook]) -> str:
    interval = (
        "" if math.isnan(group.share_low)
        else f", interval {percent(group.share_low)} to {percent(group.share_high)}"
    )  # fmt: skip
    return f"{looks[group.value].label} {percent(group.share)}{interval}, target {percent(group.target)}"


def _note(verdict: Verdict, looks: dict[str, GroupLook]) -> str:
    """The group that is farthest from its target, of those that are shown to be."""
    shown = [*verdict.less, *verdict.favoured]
    if not shown:
        if all(group.decision != NOT_SHOWN for group in verdict.groups):
            return "too few for a verdict"
        least = lowest_tested(verdict)
        return f"{_points(least)} ({looks[least.value].label})"
    group = max(shown, key=lambda group: abs(group.difference))
    return f"{looks[group.value].label} {_points(group)}"


def _points(group: GroupFinding) -> str:
    if group.decision not in (FAVOURED, LESS):
        none = f"no difference shown: {describe_undecided(group)}"
        return none if group.decision == NOT_SHOWN else "no verdict"
    size = 100 * abs(group.difference)
    written = f"{size:.0f}" if size >= 1.5 else f"{size:.1f}"
    return f"{written} points {'above' if group.decision == FAVOURED else 'below'} target"


def _ranks(
    found: Findings, attribute: str, looks: dict[str, GroupLook]
) -> Iterator[tuple[str, Sequence[RankColumn], str]]:
    """For each system that is looked at: its name, a column for each rank, and what they say."""
    for shares in found.ranks:
        if shares.attribute == attribute and len(shares.shares):
            columns = [_column(shares, place, looks) for place in range(len(shares.shares))]
            yield safe.name(shares.system), columns, _finding(shares, looks)


def _column(shares: RankShares, place: int, looks: dict[str, GroupLook]) -> RankColumn:
    row = dict(zip(shares.values, shares.shares[place].tolist(), strict=True))
    said = ", ".join(
        f"{looks[value].label} {percent(share)}" for value, share in row.items() if not math.isnan(share)
    )
    return RankColumn(place + 1, _segments(row, looks), f"rank {place + 1}: {said or 'no document'}")


def _finding(shares: RankShares, looks: dict[str, GroupLook]) -> str:
    """Who stands at the first rank, and who at the last that is drawn."""
    last = len(shares.shares) - 1
    said = []
    for value, column in zip(shares.values, shares.shares.T.tolist(), strict=True):
        if math.isnan(column[0]):
            continue
        below = (
            "" if math.isnan(column[last]) or not last else f" and {percent(column[last])} at rank {last + 1}"
        )
        said.append(f"{looks[value].label} {percent(column[0])} at rank 1{below}")
    return f"{safe.name(shares.system)}: {'; '.join(said[:GROUPS])}."
