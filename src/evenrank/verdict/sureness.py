"""How sure a verdict is, in a sentence, and what it means where nothing is shown or nothing is known."""

from __future__ import annotations

from evenrank.verdict.redealing import LEAST_QUERIES, LEAST_UNITS
from evenrank.verdict.sentences import (
    describe_more_queries,
    describe_other_queries,
    describe_possible,
    digits_apart,
    lowest_tested,
    over_queries,
    percent,
)
from evenrank.verdict.trials import METHODS
from evenrank.verdict.value import TOO_FEW, Verdict

NOTHING_KNOWN = (
    "Nothing is known about the groups that documents belong to, so it cannot be concluded who is favoured. "
    "Name a field of the documents or a file of groups (--groups), or a word list (--lexicon)."
)
ONLY_SCORES = (
    "Only scores are known here, no ranked lists and no groups, so it cannot be concluded who is favoured. "
    "Report the runs with groups (--groups) or a word list (--lexicon)."
)


def describe_sureness(verdict: Verdict) -> str:
    """Whether the interval excludes the target, what it is about, and what it leaves possible."""
    over = over_queries(verdict)
    what = f"values of {verdict.unit}" if verdict.unit else "documents"
    if all(group.decision == TOO_FEW for group in verdict.groups):
        return f"Not sure at all: {_takes(what)}."
    together = f" and for all {verdict.tests} groups together" * (verdict.tests > 2)
    level = f"{100 * verdict.level:g}% interval"
    if not verdict.shown:
        group = lowest_tested(verdict)
        return (
            f"Not shown: the {level}, over {over}{together}, includes the target. For {group.value} "
            f"{describe_possible(group)}. {describe_more_queries(group)}."
        )
    shown = f"the {level}, over {over}{together}, excludes the target"
    if not verdict.less:  # the sentence of the verdict has no interval then
        most = verdict.favoured[0]
        said = (most.share, most.share_low, most.share_high, most.target)
        share, low, high, target = (percent(one, digits_apart(most)) for one in said)
        shown += f": {most.value} gets {share} ({low} to {high}) where its target is {target}"
    allows = f"It allows for other queries and for chance in which {what} carry which label."
    return f"{shown[0].upper()}{shown[1:]}. {allows} {describe_other_queries(verdict)}."


def describe_no_advice(verdict: Verdict) -> str:
    """Why there is nothing to try."""
    if all(group.decision == TOO_FEW for group in verdict.groups):
        what = f"values of {verdict.unit}" if verdict.unit else "documents"
        return f"Collect more: {_takes(what)}."
    if not verdict.less:
        found = lowest_tested(verdict)
        return (
            "No group is shown to get less than its target, so no change is advised. This does not say that "
            f"all get their target: for {found.value} {describe_possible(found)}. "
            f"{describe_more_queries(found)}."
        )
    tried = f"{', '.join(METHODS[:-1])} and {METHODS[-1]}"
    return (
        f"Re-ranking the first {verdict.depth} documents does not help: none of {tried} gives "
        f"{verdict.less[0].value} clearly more and brings the groups together closer to their targets. Look "
        "at what is retrieved, or at what the collection holds."
    )


def _takes(what: str) -> str:
    return (
        f"a verdict takes {LEAST_QUERIES} queries, attention on {LEAST_UNITS} {what} or more, and groups so "
        "large that a share of 0 would be shown"
    )
