"""How sure a verdict is, in a sentence, and what it means where nothing is shown or nothing is known."""

from __future__ import annotations

from evenrank.errors import counted
from evenrank.verdict.advice import METHODS
from evenrank.verdict.sentences import percent
from evenrank.verdict.value import LEAST, TOO_FEW, Verdict

NOTHING_KNOWN = (
    "Nothing is known about the groups that documents belong to, so it cannot be concluded who is favoured. "
    "Name a field of the documents or a file of groups (--groups), or a word list (--lexicon)."
)
ONLY_SCORES = (
    "Only scores are known here, no ranked lists and no groups, so it cannot be concluded who is favoured. "
    "Report the runs with groups (--groups) or a word list (--lexicon)."
)


def describe_sureness(verdict: Verdict) -> str:
    """Whether chance explains the difference, over how many queries, and what was tested with it."""
    over = counted(verdict.queries, "query", "queries")
    if all(group.decision == TOO_FEW for group in verdict.groups):
        return f"Not sure at all: a verdict takes {LEAST} queries and {LEAST} documents of a group."
    together = f" and for all {verdict.tests} tested differences together" * (verdict.tests > 1)
    if verdict.shown:
        if not verdict.less:  # the sentence of the verdict has no interval then
            most = verdict.favoured[0]
            over = (
                f"{most.value} gets {percent(most.share)} ({100 * verdict.level:g}% interval "
                f"{percent(most.share_low)} to {percent(most.share_high)}) where its target is "
                f"{percent(most.target)}, over {over}"
            )
            return f"Chance does not explain this: {over}{together}."
        return f"Chance does not explain this: the interval, over {over}{together}, excludes the target."
    return (
        f"Chance may explain this: the interval, over {over}{together}, includes the target. More queries "
        "would show smaller differences."
    )


def describe_no_advice(verdict: Verdict) -> str:
    """Why there is nothing to try."""
    if all(group.decision == TOO_FEW for group in verdict.groups):
        return f"Collect more: at least {LEAST} queries and {LEAST} documents of each group."
    if not verdict.less:
        return (
            "Nothing has to change for these groups: none is shown to get less than its target. More queries "
            "would show smaller differences."
        )
    tried = f"{', '.join(METHODS[:-1])} and {METHODS[-1]}"
    return (
        f"Re-ranking the first {verdict.depth} documents does not help: none of {tried} gives "
        f"{verdict.less[0].value} clearly more and brings the groups together closer to their targets. Look "
        "at what is retrieved, or at what the collection holds."
    )
