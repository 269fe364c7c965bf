"""What an audit found in at most fourteen lines: who is favoured, how sure that is, and what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenrank.auditing.commands import command_lines
from evenrank.auditing.summary import AuditSummary
from evenrank.text import printable
from evenrank.verdict import Verdict, describe
from evenrank.verdict.sentences import (
    describe_change,
    describe_reach,
    describe_relevance,
    describe_shortly,
    describe_trial,
    describe_unshown,
    describe_worst,
)
from evenrank.verdict.value import TOO_FEW

LINES, WIDTH = 14, 80
LINES_OF_REST = 4  # names beyond that are counted


def audit_lines(
    summary: AuditSummary,
    wrote: Path,
    *,
    previous: AuditSummary | None = None,
    renamed: tuple[str, str] = ("", ""),
    width: int = WIDTH,
) -> list[str]:
    """At most fourteen lines; where there is more to say than that, the less important is said shortly.

    What does not fit even so is left out by whole sentences, and a line names it with the file that has it.
    ``wrote`` is that file, ``previous`` the audit before, which the first attribute is compared with.
    ``renamed`` is a folder in the command to try, and what to call it instead.
    """
    page = _LinesOfAudit(summary, wrote, previous, renamed, width)
    lines: list[str] = []
    for shortened, left_out in page.steps():
        lines = page.lines(shortened, left_out)
        if len(lines) <= LINES:
            break
    return lines


@dataclass(frozen=True)
class _LinesOfAudit:
    summary: AuditSummary
    wrote: Path
    previous: AuditSummary | None
    renamed: tuple[str, str]
    width: int

    FURTHER, WORST, TRIAL = 1, 2, 3  # from which step on each of these is said shortly
    NO_CHANGE, NO_WORST, NO_TRIAL = 4, 5, 6  # and from which on it is left out

    def steps(self) -> Iterator[tuple[int, int]]:
        """How far the text is shortened, and how many of the last verdicts are left out, in turn."""
        all_but_first = max(0, len(self._found(0)) - 1)
        yield from ((shortened, 0) for shortened in range(self.NO_CHANGE))
        yield from ((self.NO_CHANGE, left_out) for left_out in range(all_but_first + 1))
        yield from ((shortened, all_but_first) for shortened in (self.NO_WORST, self.NO_TRIAL))

    def lines(self, shortened: int, left_out: int) -> list[str]:
        """All lines; the more steps of shortening and the more verdicts left out, the fewer."""
        found = self._found(shortened)
        told = found[: len(found) - left_out]
        lines = [line for text, _ in told for line in self._wrapped(text)]
        rest = self._listed([verdict for _, verdicts in found[len(told) :] for verdict in verdicts])
        shown = self._shown()
        first = shown[0] if shown else max(self.summary.verdicts, key=_largest, default=None)
        if first is not None:
            lines += self._about(first, shortened)
            if first.worst and shortened >= self.NO_WORST:
                rest.append("the worst queries")
            if first.advice is not None and shortened >= self.NO_TRIAL:
                rest.append("what to try")
        return [*lines, *self._rest(rest), f"wrote {self.wrote}"]

    def _shown(self) -> list[Verdict]:
        return sorted((v for v in self.summary.verdicts if v.shown), key=_largest, reverse=True)

    def _found(self, shortened: int) -> list[tuple[str, list[Verdict]]]:
        """Sentences, the most important first, and the verdicts that each of them tells."""
        found = []
        for place, verdict in enumerate(self._shown()):
            shortly = place > 0 and shortened >= self.FURTHER
            text = describe_shortly(verdict) if shortly else describe(verdict)
            found.append((self._named(verdict) + text, [verdict]))
        return found + self._others()

    def _others(self) -> list[tuple[str, list[Verdict]]]:
        """On the attributes without a favoured group, and on those without a verdict."""
        rest = [verdict for verdict in self.summary.verdicts if not verdict.shown]
        few = [v for v in rest if all(group.decision == TOO_FEW for group in v.groups)]
        none = [verdict for verdict in rest if verdict not in few]
        found = []
        if len(none) == 1 and len(rest) == len(self.summary.verdicts):
            found.append((self._named(none[0]) + describe(none[0]), none))
        elif none:
            listed = "; ".join(self._named(verdict) + describe_unshown(verdict) for verdict in none)
            found.append((f"no group is shown to be favoured: {listed}", none))
        if len(few) == 1:
            found.append((self._named(few[0]) + describe(few[0]), few))
        elif few:
            listed = "; ".join(self._listed(few))
            found.append((f"too few queries, or documents with a group, for a verdict: {listed}", few))
        return found

    def _rest(self, names: Sequence[str]) -> list[str]:
        """What is left out above and where it is, as far as its names fit; nothing where all is said."""
        if not names:
            return []
        lines: list[str] = []
        for count in range(len(names), 0, -1):
            more = [f"and {len(names) - count} more"] if count < len(names) else []
            lines = self._wrapped(f"{self.wrote.name} has the rest: {'; '.join([*names[:count], *more])}")
            if len(lines) <= LINES_OF_REST:
                break
        return lines

    def _about(self, verdict: Verdict, shortened: int) -> list[str]:
        """The change since the last audit, the worst queries, relevance and what to try, for one verdict."""
        lines = [] if shortened >= self.NO_CHANGE else self._change(verdict)
        if verdict.worst and shortened < self.NO_WORST:
            lines += self._wrapped(describe_worst(verdict, shortly=shortened >= self.WORST))
        lines += self._wrapped(describe_relevance(verdict.relevance))
        reach = describe_reach(verdict)
        lines += self._wrapped(reach) if reach else []
        advice = verdict.advice
        if advice is None or shortened >= self.NO_TRIAL:
            return lines
        old, new = self.renamed
        words = [word.replace(old, new) if old else word for word in advice.command]
        lines += self._wrapped(describe_trial(verdict, shortly=shortened >= self.TRIAL))
        return lines + command_lines(words or [advice.method], self.width)

    def _change(self, verdict: Verdict) -> list[str]:
        """What the audit before found on the same system, attribute and target."""
        if self.previous is None:
            return []
        alike = ("system", "attribute", "target", "cutoff")
        for old in self.previous.verdicts:
            if all(getattr(old, name) == getattr(verdict, name) for name in alike):
                change = describe_change(old, verdict)
                return self._wrapped(f"since {self.previous.date[:10]}: {change}") if change else []
        return []

    def _named(self, verdict: Verdict) -> str:
        return f"{verdict.system}, " if len(self.summary.systems) > 1 else ""

    def _listed(self, verdicts: Sequence[Verdict]) -> list[str]:
        """The attributes, each with its systems where there are several."""
        systems: dict[str, list[str]] = {}
        for verdict in verdicts:
            systems.setdefault(verdict.attribute, []).append(verdict.system)
        if len(self.summary.systems) == 1:
            return list(systems)
        return [f"{attribute} ({', '.join(names)})" for attribute, names in systems.items()]

    def _wrapped(self, text: str) -> list[str]:
        return textwrap.wrap(
            printable(text), self.width, subsequent_indent="  ", break_long_words=True, break_on_hyphens=False
        )


def _largest(verdict: Verdict) -> float:
    return max((abs(group.difference) for group in verdict.groups if group.difference == group.difference),
               default=0.0)  # fmt: skip
