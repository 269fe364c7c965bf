"""What an audit found in at most twelve lines: who is favoured, how sure that is, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from evenrank.audit.commands import command_lines
from evenrank.audit.summary import AuditSummary
from evenrank.errors import counted
from evenrank.text import printable
from evenrank.verdict import Verdict, describe
from evenrank.verdict.sentences import (
    describe_change,
    describe_reach,
    describe_relevance,
    describe_shortly,
    describe_trial,
    describe_worst,
)
from evenrank.verdict.value import TOO_FEW

LINES, WIDTH = 12, 80


def audit_lines(
    summary: AuditSummary,
    wrote: str,
    *,
    previous: AuditSummary | None = None,
    renamed: tuple[str, str] = ("", ""),
    width: int = WIDTH,
) -> list[str]:
    """At most twelve lines; where there is more to say than that, the less important is said shortly.

    ``previous`` is the audit before, which the first attribute is compared with. ``renamed`` is a folder in
    the command to try, and what to call it instead.
    """
    page = _LinesOfAudit(summary, wrote, previous, renamed, width)
    lines: list[str] = []
    for shortened in range(_LinesOfAudit.STEPS + 1):
        lines = page.lines(shortened)
        if len(lines) <= LINES:
            return lines
    return [*lines[: LINES - 1], lines[-1]]


@dataclass(frozen=True)
class _LinesOfAudit:
    summary: AuditSummary
    wrote: str
    previous: AuditSummary | None
    renamed: tuple[str, str]
    width: int

    STEPS = 6

    def lines(self, shortened: int) -> list[str]:
        """All lines; the more steps of shortening, the fewer."""
        shown = sorted((v for v in self.summary.verdicts if v.shown), key=_largest, reverse=True)
        first = shown[0] if shown else max(self.summary.verdicts, key=_largest, default=None)
        found = [line for verdict in shown[:1] for line in self._block(verdict)]
        if shortened < 5:
            for verdict in shown[1:]:
                found += self._block(verdict) if shortened < 1 else [self._short(verdict)]
        elif shown[1:]:
            found.append(
                f"{counted(len(shown) - 1, 'more attribute has', 'more attributes have')} a favoured group"
            )
        found += self._others(shown, shortly=shortened >= 3)
        if first is not None:
            found += self._about(first, shortened)
        return [*found, self.wrote]

    def _about(self, verdict: Verdict, shortened: int) -> list[str]:
        """The change since the last audit, the worst queries, relevance and what to try, for one verdict."""
        lines = [] if shortened >= 6 else self._change(verdict)
        if verdict.worst and shortened >= 2:
            lines.append(self._cut(describe_worst(verdict, shortly=True)))
        elif verdict.worst:
            lines += self._wrapped(describe_worst(verdict))
        lines += self._wrapped(describe_relevance(verdict.relevance))
        reach = describe_reach(verdict)
        lines += self._wrapped(reach) if reach else []
        advice = verdict.advice
        if advice is None:
            return lines
        old, new = self.renamed
        words = [word.replace(old, new) if old else word for word in advice.command]
        lines += self._wrapped(describe_trial(verdict, shortly=shortened >= 4))
        return lines + command_lines(words or [advice.method], self.width)

    def _change(self, verdict: Verdict) -> list[str]:
        """What the audit before found on the same system, attribute and target."""
        if self.previous is None:
            return []
        alike = ("system", "attribute", "target", "cutoff")
        for old in self.previous.verdicts:
            if all(getattr(old, name) == getattr(verdict, name) for name in alike):
                change = describe_change(old, verdict)
                return [self._cut(f"since {self.previous.date[:10]}: {change}")] if change else []
        return []

    def _named(self, verdict: Verdict) -> str:
        return f"{verdict.system}, " if len(self.summary.systems) > 1 else ""

    def _block(self, verdict: Verdict) -> list[str]:
        return self._wrapped(self._named(verdict) + describe(verdict))

    def _short(self, verdict: Verdict) -> str:
        return self._cut(self._named(verdict) + describe_shortly(verdict))

    def _others(self, shown: Sequence[Verdict], *, shortly: bool) -> list[str]:
        """A line for the attributes without a favoured group, and one for those without a verdict."""
        rest = [verdict for verdict in self.summary.verdicts if not verdict.shown]
        few = [v for v in rest if all(group.decision == TOO_FEW for group in v.groups)]
        none = [verdict for verdict in rest if verdict not in few]
        lines: list[str] = []
        if len(none) == 1 and not shown:
            lines += self._block(none[0])
        elif none:
            lines.append(self._cut(f"no group is shown to be favoured: {self._listed(none)}"))
        if len(few) == 1:
            lines += self._block(few[0])[: 1 if shortly else 2]
        elif few:
            lines.append(self._cut(f"too few documents or queries for a verdict: {self._listed(few)}"))
        return lines

    def _listed(self, verdicts: Sequence[Verdict]) -> str:
        return "; ".join(self._named(verdict) + verdict.attribute for verdict in verdicts)

    def _wrapped(self, text: str) -> list[str]:
        return textwrap.wrap(
            printable(text), self.width, subsequent_indent="  ", break_long_words=True, break_on_hyphens=False
        )

    def _cut(self, text: str) -> str:
        text = printable(text)
        return text if len(text) <= self.width else text[: self.width - 3].rstrip() + "..."


def _largest(verdict: Verdict) -> float:
    return max((abs(group.difference) for group in verdict.groups if group.difference == group.difference),
               default=0.0)  # fmt: skip
