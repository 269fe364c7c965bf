"""Verdicts in plain English: the same sentences in audits, reports, tables and gates.

They say who gets more or less than the target, never why: the reason is not in the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from evenrank.data.attribute import CANDIDATES, CATALOGUE, EQUAL, GIVEN
from evenrank.errors import counted
from evenrank.tables import number
from evenrank.verdict.advice import PLACES
from evenrank.verdict.redealing import LEAST_QUERIES, LEAST_UNITS
from evenrank.verdict.targets import target_means
from evenrank.verdict.value import (
    MOST_UNLABELLED,
    NOT_SHOWN,
    TOO_FEW,
    Advice,
    GroupFinding,
    RelevanceFinding,
    Verdict,
)

UNIFORM = "uniform"  # the attention by which places are counted
NAMED = 2  # further groups that a sentence names
LONGEST = 32  # characters of a query's text
_MOST_DIGITS = 6
_SAME = 0.5 / 10**_MOST_DIGITS  # points that are nearer to each other differ by rounding alone
FAR_BELOW = 0.01  # of the attention: what an order may miss of a target before it is worth a sentence
HELPS, HARDLY = (
    0.6,
    0.25,
)  # parts of the variance that more queries remove: of 0.6, four times as many save a quarter


def describe(verdict: Verdict) -> str:
    """One sentence: who is favoured, with shares and interval, or that nobody is shown to be."""
    about = f"{verdict.attribute}{_unlabelled(verdict)}: "
    if not verdict.decided:
        return about + _too_few(verdict)
    if not verdict.shown:
        least = lowest_tested(verdict)
        gets = f"no group is shown to be favoured; {_gets(verdict, least, 'and')}"
        return about + f"{gets}; {describe_possible(least)}. {describe_more_queries(least)}."
    parts = []
    if verdict.less:
        parts.append(_gets(verdict, verdict.less[0], "but"))
        parts += _also(verdict.less[1:], "less than its target", "less than their targets")
    if verdict.favoured:
        first, *others = verdict.favoured
        parts.append(f"{first.value} is favoured: {_times(verdict, first)}")
        parts += _also(others, "favoured", "favoured", more="also ")
    if any(group.decision == NOT_SHOWN for group in verdict.groups):
        parts.append(_others(verdict))
    return about + "; ".join(parts) + "."


def describe_shortly(verdict: Verdict) -> str:
    """The same in fewer words, for the second and further attributes of an audit."""
    if not verdict.decided:
        return describe(verdict)
    parts = []
    if verdict.less:
        low = verdict.less[0]
        more = digits_apart(low)
        ends = f"({_points(low.share_low, more)} to {_points(low.share_high, more)})"
        aimed = percent(low.target, more)
        parts.append(f"{low.value} gets {percent(low.share, more)} {ends} instead of {aimed}")
        parts += _also(verdict.less[1:], "less than its target", "less than their targets")
    if verdict.favoured:
        parts.append(f"{verdict.favoured[0].value} is favoured, {_times(verdict, verdict.favoured[0])}")
    if not parts:
        least = lowest_tested(verdict)
        parts.append(f"no group is shown to be favoured ({least.value}: {describe_undecided(least)})")
    return f"{verdict.attribute}: {'; '.join(parts)}"


def describe_possible(group: GroupFinding) -> str:
    """How large a difference remains possible where none is shown."""
    low, high = (
        percent(end, int(_points(end) == _points(group.share)))  # what it gets is not shown
        for end in (group.shown_below, group.shown_above)
    )
    ends = [f"less than {low}"] if 100 * group.shown_below >= _SAME else []
    ends += [f"more than {high}"] if 100 * (1 - group.shown_above) >= _SAME else []
    return f"{' or '.join(ends)} would have been shown"


def describe_more_queries(group: GroupFinding, *, shortly: bool = False) -> str:
    """Whether more queries would show smaller differences."""
    helps = "help" if group.fades >= HELPS else "hardly help" if group.fades <= HARDLY else "help a little"
    if shortly:
        return f"more queries would {helps}"
    now = group.share_high - group.share_low
    then = now * math.sqrt(1 - group.fades * (1 - 1 / 4))
    still = (
        f"still be {_points(then)} points wide"
        if helps == "hardly help"
        else (f"be {_points(then)} points wide instead of {_points(now)}")
    )
    return f"More queries would {helps}: with four times as many the interval would {still}"


def describe_undecided(group: GroupFinding) -> str:
    """Both on one group: how large a difference remains possible, and whether more queries would help."""
    return f"{describe_possible(group)}, {describe_more_queries(group, shortly=True)}"


def describe_lost(verdict: Verdict) -> str:
    """What the lowest group has in the catalogue, of what is found, and of the attention; against the
    catalogue also where most of its part is lost. Empty where nothing is lost."""
    if not verdict.less or math.isnan(verdict.less[0].catalogue):
        return ""
    low = verdict.less[0]
    parts = (
        f"{verdict.attribute} {low.value}: {percent(low.catalogue)} of the catalogue, "
        f"{percent(low.candidates)} of what is found, {percent(low.share)} of the {_what(verdict)}"
    )
    found, ordered = low.catalogue - low.candidates, low.candidates - low.share
    if verdict.target != CATALOGUE or max(found, ordered) <= 0:
        return parts
    most = "which documents are found" if found > ordered else "the order of those that are found"
    return f"{parts}; most is lost by {most}"


def _others(verdict: Verdict) -> str:
    """On the groups of which nothing is shown, beside those of which something is."""
    tested = [group for group in verdict.groups if group.decision == NOT_SHOWN]
    least = lowest_tested(verdict)
    others = f" and {counted(len(tested) - 1, 'other', 'others')}" if len(tested) > 1 else ""
    own = f"for {least.value} " if others else ""
    return f"no difference is shown for {least.value}{others}: {own}{describe_undecided(least)}"


def describe_other_queries(verdict: Verdict) -> str:
    """What other queries would give with the same documents and labels: a description and no verdict."""
    group = (verdict.less or verdict.favoured or (verdict.lowest,))[0]
    if group is None or math.isnan(group.queries_low):
        return ""
    return (
        f"With the same documents and labels, other queries would give {group.value} "
        f"{_points(group.queries_low)} to {percent(group.queries_high)}"
    )


def _unlabelled(verdict: Verdict) -> str:
    if not verdict.unlabelled or verdict.unseen > MOST_UNLABELLED:
        return ""
    has = "has" if verdict.unlabelled == 1 else "have"
    return f" ({verdict.unlabelled:,} of {verdict.ranked:,} documents in the first places {has} no group)"


def describe_target(verdict: Verdict) -> str:
    """What the target means."""
    return target_means(verdict.target, verdict.depth)


def describe_small_groups(verdict: Verdict) -> str:
    """The groups that are too small for a verdict, with their counts; empty where there are none."""
    small = [group for group in verdict.groups if group.decision == TOO_FEW]
    if not small or len(small) == len(verdict.groups):
        return ""
    listed = ", ".join(f"{group.value} ({group.documents:,.0f})" for group in small)
    what = "where not even a share of 0 would have been shown"
    return f"{verdict.attribute}: no verdict on {listed}, {what}"


def describe_worst(verdict: Verdict) -> str:
    """The worst queries by their text; empty where no query gives a group less than its target."""
    group = (verdict.less or (verdict.lowest,))[0]
    if group is None or not verdict.worst:
        return ""
    shown = "; ".join(
        f"{_short(one.text or one.query)} ({percent(one.share)}"
        + (f", found {percent(one.candidates)}" if not math.isnan(one.candidates) else "")
        + ")"
        for one in verdict.worst
    )
    return f"worst queries for {verdict.attribute} {group.value}: {shown}"


def over_queries(verdict: Verdict) -> str:
    """How many queries a verdict is over, and as how many they count where they have weights."""
    over = counted(verdict.queries, "query", "queries")
    if math.isnan(verdict.effective):
        return over
    return f"{over} that count as {verdict.effective:.1f} by their weights"


def describe_relevance(found: RelevanceFinding) -> str:
    """What is known of relevance, and what cannot be concluded."""
    if not found.measure:
        return "relevance is not known: the favoured documents may be the better ones or not"
    over = counted(found.queries, "query", "queries")
    value = f"relevance: {found.measure} is {number(found.value)}{_interval(found.low, found.high)}, {over}"
    if found.clicks:
        value += (
            "; from clicks, which follow position as well as relevance: its key eta sets how far they "
            "are corrected for it"
        )
    return value


def describe_advice(verdict: Verdict) -> str:
    """What to try next, with what it gives and what it costs; empty where there is no advice."""
    advice = verdict.advice
    if advice is None:
        return ""
    return (
        f"to try: {advice.method}{_aimed(verdict)} gives {advice.group} {percent(advice.after)} "
        f"instead of {percent(advice.before)} {_cost(advice, verdict.cutoff)}"
    )


def describe_trial(verdict: Verdict) -> str:
    """What the command below it gives and costs; empty where there is no advice."""
    advice = verdict.advice
    if advice is None:
        return ""
    return (
        f"to try: this gives {advice.group} {percent(advice.after)} instead of {percent(advice.before)} "
        f"{_cost(advice, verdict.cutoff)}:"
    )


def describe_reach(verdict: Verdict) -> str:
    """That no order of the candidates gives the lowest group its target; empty where one does."""
    lowest = verdict.less[0] if verdict.less else None
    if lowest is None or not lowest.reachable < lowest.target - FAR_BELOW:
        return ""
    of = f"{lowest.unreachable:,} of {counted(verdict.queries, 'query', 'queries')}"
    return (
        f"too few of {lowest.value} are found: for {of} no order of the first {verdict.depth} reaches the "
        f"target; with each list as near to it as can be, {lowest.value} gets {percent(lowest.reachable)}"
    )


def describe_change(before: Verdict, now: Verdict) -> str:
    """What an earlier audit found on the group that is lowest now; empty where it did not look at it."""
    lowest = (now.less or (now.lowest,))[0]
    then = [group for group in before.groups if lowest is not None and group.value == lowest.value]
    if lowest is None or not then or math.isnan(then[0].share):
        return ""
    old, new = (
        percent(one.share)
        + ("" if math.isnan(one.share_low) else f" ({_points(one.share_low)} to {_points(one.share_high)})")
        for one in (then[0], lowest)
    )
    return f"{now.attribute} {lowest.value} had {old}, now {new}"


def _aimed(verdict: Verdict) -> str:
    """The option without which another target is taken."""
    if verdict.target == GIVEN or " " in verdict.attribute:
        return ""
    return f" --target {verdict.attribute}={verdict.target}"


def percent(share: float, more: int = 0) -> str:
    """A share, with so many digits that only all is 100% and only nothing 0%, and ``more`` than that.

    >>> percent(0.0241), percent(0.65), percent(1.0), percent(0.0)
    ('2.4%', '65%', '100%', '0%')
    >>> percent(0.9975), percent(0.0004), percent(0.653, more=1)
    ('99.8%', '0.04%', '65.3%')
    """
    return f"{_points(share, more)}%"


def places(cutoff: int) -> str:
    return "place" if cutoff == 1 else f"{cutoff} places"


def attention(share: float, cutoff: int, by: str = "log2", more: int = 0) -> str:
    """
    >>> attention(0.24, 10), attention(0.28, 10, "uniform")
    ('24% of the attention in the first 10 places', '28% of the first 10 places')
    """
    of = "" if by == UNIFORM else "attention in the "
    return f"{percent(share, more)} of the {of}first {places(cutoff)}"


def _what(verdict: Verdict) -> str:
    return "places" if verdict.attention == UNIFORM else "attention"


def signed_points(share: float) -> str:
    """A difference with its sign, and with so many digits that none is called 0 that is not.

    >>> signed_points(0.114), signed_points(-0.0002), signed_points(0.0), signed_points(-1e-12)
    ('+11.4', '-0.02', '+0.0', '+0.0')
    """
    value = 100 * share if abs(100 * share) >= _SAME else 0.0
    digits = 1
    while value and not round(value, digits) and digits < _MOST_DIGITS:
        digits += 1
    return f"{value:+.{digits}f}"


def digits_apart(group: GroupFinding) -> int:
    """How many more digits tell its share from its target, and with a verdict the ends of its interval."""
    ends = [] if group.decision in (NOT_SHOWN, TOO_FEW) else [group.share_low, group.share_high]
    aim = _points(group.target)
    alike = [one for one in (group.share, *ends) if _points(one) == aim]
    return int(any(100 * abs(one - group.target) >= _SAME for one in alike))


def _points(share: float, more: int = 0) -> str:
    value = 100 * share
    digits = (0 if abs(value) >= 9.95 else 1) + more
    for end in (0, 100):
        away = abs(value - end)
        while away >= _SAME and round(value, digits) == end and digits < _MOST_DIGITS:
            digits += 1
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if digits else text
    return "0" if text == "-0" else text


def _gets(verdict: Verdict, group: GroupFinding, word: str) -> str:
    """``small is 65% of the catalogue but gets 24% of the attention in the first 10 places (95% interval 22
    to 26)``."""
    more = digits_apart(group)
    aimed = percent(group.target, more)
    gets = f"gets {attention(group.share, verdict.cutoff, verdict.attention, more)}"
    level = f"{100 * verdict.level:g}% interval"
    interval = f"({level} {_points(group.share_low, more)} to {_points(group.share_high, more)})"
    if verdict.target == CANDIDATES:  # the target differs by query, so the difference has the interval
        away = f"({_signed(group.difference)} points, {level} {_signed(group.low)} to {_signed(group.high)})"
        return f"{group.value} is {aimed} of the documents found {word} {gets} {away}"
    if verdict.target == CATALOGUE:
        return f"{group.value} is {aimed} of the catalogue {word} {gets} {interval}"
    aim = "an equal share" if verdict.target == EQUAL else "the target"
    return f"{aim} of {group.value} is {aimed} {word} it {gets} {interval}"


def _times(verdict: Verdict, group: GroupFinding) -> str:
    share = "target" if verdict.target not in (CATALOGUE, CANDIDATES) else "share"
    if math.isnan(group.ratio):
        return f"{percent(group.share)}, where its {share} is 0%"
    times = f"{group.ratio:.1f}" if group.ratio >= 1.1 else f"{group.ratio:.2f}"
    return f"{times} times its {share}"


def _also(groups: Sequence[GroupFinding], one: str, several: str, more: str = "") -> list[str]:
    if not groups:
        return []
    named = ", ".join(group.value for group in groups[:NAMED])
    left = len(groups) - NAMED
    named += f" and {left} more" if left > 0 else ""
    verb = "is" if len(groups) == 1 else "are"
    if more:
        return [f"{more}{several}: {named}"]
    return [f"{named} {'gets' if verb == 'is' else 'get'} {one if verb == 'is' else several} too"]


def lowest_tested(verdict: Verdict) -> GroupFinding:
    """The group farthest below its target, of those that nothing is shown of where there are some."""
    tested = [group for group in verdict.groups if group.decision == NOT_SHOWN]
    return min(
        tested or [*verdict.less, *verdict.favoured], key=lambda one: (round(one.difference, 9), one.value)
    )


def _too_few(verdict: Verdict) -> str:
    if not verdict.queries:
        return "no verdict: no query has a list with a document of any group."
    if verdict.unseen > MOST_UNLABELLED:
        return (
            f"no verdict: {verdict.unlabelled:,} of {verdict.ranked:,} documents in the first "
            f"{places(verdict.cutoff)} have no group and get {percent(verdict.unseen)} of the "
            f"{_what(verdict)}; more than {percent(MOST_UNLABELLED)} is too much to say what groups get."
        )
    if verdict.queries < LEAST_QUERIES or verdict.effective < LEAST_QUERIES - 0.01:
        be = "is" if verdict.queries == 1 else "are"
        return f"no verdict: there {be} {over_queries(verdict)}, fewer than {LEAST_QUERIES}."
    what = f"values of {verdict.unit}" if verdict.unit else "documents"
    if verdict.units < LEAST_UNITS:
        return (
            f"no verdict: a few {what} get most of the {_what(verdict)}, as if there were "
            f"{verdict.units:.1f}; a verdict takes {LEAST_UNITS}."
        )
    return "no verdict: not even a share of 0 would have been shown for any group."


def _cost(advice: Advice, cutoff: int) -> str:
    if advice.cost_measure == PLACES:
        return (
            f"and brings {advice.cost:.1f} new documents into the first {cutoff} "
            f"(95% interval {advice.cost_low:.1f} to {advice.cost_high:.1f})"
        )
    change = f"{advice.cost:+.3f}".replace("+0.000", "0.000").replace("-0.000", "0.000")
    return f"and changes {advice.cost_measure} by {change}{_interval(advice.cost_low, advice.cost_high)}"


def _interval(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return ""
    return f" (95% interval {number(low)} to {number(high)})"


def _signed(share: float) -> str:
    text = _points(share)
    return text if share < 0 or text == "0" else f"+{text}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return f"“{text}”" if len(text) <= LONGEST else f"“{text[: LONGEST - 1].rstrip()}…”"


def describe_all(verdicts: Iterable[Verdict]) -> list[str]:
    """The sentence of every verdict, with the system before it where there are several."""
    found = list(verdicts)
    several = len({verdict.system for verdict in found}) > 1
    return [(f"{verdict.system}, " if several else "") + describe(verdict) for verdict in found]
