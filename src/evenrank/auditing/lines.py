"""What an audit found, for the terminal: verdicts first, then what changed, what to try and where to look."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenrank.auditing.commands import command_lines
from evenrank.auditing.summary import AuditSummary
from evenrank.text import printable
from evenrank.verdict import Verdict, describe
from evenrank.verdict.sentences import (
    describe_change,
    describe_lost,
    describe_reach,
    describe_relevance,
    describe_shortly,
    describe_small_groups,
    describe_trial,
    describe_worst,
)

WIDTH = 80


def audit_lines(
    summary: AuditSummary,
    wrote: Path,
    *,
    previous: AuditSummary | None = None,
    renamed: tuple[str, str] = ("", ""),
    width: int = WIDTH,
) -> list[str]:
    """A sentence for every attribute of every system, then the detail of those that show something.

    ``wrote`` is the file that has the rest, ``previous`` the audit before, which verdicts are compared with.
    ``renamed`` is a folder in the commands to try, and what to call it instead.
    """
    page = _LinesOfAudit(summary, wrote, previous, renamed, width)
    return list(page.lines())


@dataclass(frozen=True)
class _LinesOfAudit:
    summary: AuditSummary
    wrote: Path
    previous: AuditSummary | None
    renamed: tuple[str, str]
    width: int

    def lines(self) -> Iterator[str]:
        found = sorted(self.summary.verdicts, key=_order)
        shown = [verdict for verdict in found if verdict.shown]
        for place, verdict in enumerate(found):
            yield from self._told(verdict, describe(verdict) if place == 0 else describe_shortly(verdict))
            yield from self._wrapped(describe_small_groups(verdict))
        for verdict in shown:
            yield from self._told(verdict, describe_lost(verdict))
            yield from self._told(verdict, describe_reach(verdict))
        for verdict in shown or found[:1]:
            yield from self._change(verdict)
        for verdict in shown:
            yield from self._trial(verdict)
        for verdict in shown:
            yield from self._told(verdict, describe_worst(verdict))
        yield from self._relevance(shown)
        yield f"wrote {self.wrote}"

    def _told(self, verdict: Verdict, text: str) -> list[str]:
        """A sentence on a verdict, with its system before it where there are several."""
        several = text and len(self.summary.systems) > 1
        return self._wrapped(f"{verdict.system}, {text}" if several else text)

    def _change(self, verdict: Verdict) -> Iterator[str]:
        """What the audit before found on the same system, attribute and target."""
        if self.previous is None:
            return
        alike = ("system", "attribute", "target", "cutoff")
        for old in self.previous.verdicts:
            if all(getattr(old, name) == getattr(verdict, name) for name in alike):
                change = describe_change(old, verdict)
                yield from self._told(verdict, change and f"since {self.previous.date[:10]}: {change}")

    def _trial(self, verdict: Verdict) -> Iterator[str]:
        """What to try for an attribute: the gain, the cost, and the command that does it."""
        advice = verdict.advice
        if advice is None:
            return
        old, new = self.renamed
        words = [word.replace(old, new) if old else word for word in advice.command]
        yield from self._told(verdict, describe_trial(verdict))
        yield from command_lines(words or [advice.method], self.width)

    def _relevance(self, shown: list[Verdict]) -> Iterator[str]:
        """What is known of each system's relevance; that nothing is known, where somebody is favoured."""
        known = {one.system: one for one in self.summary.verdicts if one.relevance.measure}
        for verdict in known.values():
            yield from self._told(verdict, describe_relevance(verdict.relevance))
        if shown and not known:
            yield from self._wrapped(describe_relevance(shown[0].relevance))

    def _wrapped(self, text: str) -> list[str]:
        return textwrap.wrap(
            printable(text), self.width, subsequent_indent="  ", break_long_words=True, break_on_hyphens=False
        )


def _order(verdict: Verdict) -> tuple[bool, bool, float]:
    """What is shown comes first, the largest difference before others; what has no verdict comes last."""
    known = [abs(group.difference) for group in verdict.groups if group.difference == group.difference]
    return not verdict.shown, not verdict.decided, -max(known, default=0.0)
