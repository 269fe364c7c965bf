"""What an audit found: for programs as JSON, for people in at most twelve lines."""

from __future__ import annotations

import json
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from evenrank.audit.history import SUMMARY, past_audits
from evenrank.errors import DataError, EvenrankWarning, counted
from evenrank.io.atomic import atomic_write
from evenrank.tables import plain
from evenrank.text import printable
from evenrank.verdict import Verdict, describe
from evenrank.verdict.sentences import describe_advice, describe_relevance, describe_worst
from evenrank.verdict.value import TOO_FEW

KIND = "evenrank audit"
VERSION = 1
LINES, WIDTH = 12, 80


@dataclass(frozen=True)
class AuditSummary:
    """The verdicts of an audit, when it was made, and of what."""

    date: str
    systems: tuple[str, ...]
    queries: int
    verdicts: tuple[Verdict, ...]
    engines: Mapping[str, Any] = field(default_factory=dict)  # what was asked, by system
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        from evenrank._version import __version__

        return {
            "kind": KIND,
            "version": VERSION,
            "evenrank": __version__,
            "date": self.date,
            "systems": list(self.systems),
            "queries": self.queries,
            "sentences": [describe(verdict) for verdict in self.verdicts],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "engines": plain(dict(self.engines)),
            "notes": list(self.notes),
        }

    def write(self, path: str | PathLike[str]) -> None:
        text = json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
        with atomic_write(path) as file:
            file.write(text.encode("utf-8", "backslashreplace") + b"\n")

    @classmethod
    def read(cls, path: str | PathLike[str]) -> AuditSummary:
        """What ``write`` wrote."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise DataError(f"{path}: is not the summary of an audit ({error})") from None
        if not isinstance(content, dict) or content.get("kind") != KIND or content.get("version") != VERSION:
            raise DataError(f"{path}: is not the summary of an audit of this version")
        try:
            return cls(
                date=str(content["date"]),
                systems=tuple(content["systems"]),
                queries=int(content["queries"]),
                verdicts=tuple(Verdict.from_json(one, str(path)) for one in content["verdicts"]),
                engines=content["engines"],
                notes=tuple(content["notes"]),
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"{path}: is not the whole summary of an audit: {error}") from None

    def lines(self, wrote: str, width: int = WIDTH) -> list[str]:
        """At most twelve lines: who is favoured, the worst queries, relevance, what to try, and where."""
        shown = sorted((v for v in self.verdicts if v.shown), key=_largest, reverse=True)
        worst = shown[0] if shown else max(self.verdicts, key=_largest, default=None)
        tail: list[str] = []
        for text in _tail(worst):
            tail += _wrapped(text, width)
        tail.append(wrote)
        others = self._others(shown, width)
        room = LINES - len(tail) - len(others)
        found: list[str] = []
        left = 0
        for verdict in shown:
            block = _wrapped(self._named(verdict) + describe(verdict), width)
            later = len(shown) > 1 and verdict is not shown[-1]  # a line may be needed for those that follow
            if left or len(found) + len(block) + later > room:
                left += 1
            else:
                found += block
        if left:
            found.append(f"{counted(left, 'more attribute has', 'more attributes have')} a favoured group")
        return [*found, *others, *tail]

    def _named(self, verdict: Verdict) -> str:
        return f"{verdict.system}, " if len(self.systems) > 1 else ""

    def _others(self, shown: Sequence[Verdict], width: int) -> list[str]:
        """A line for the attributes without a favoured group, and one for those without a verdict."""
        rest = [verdict for verdict in self.verdicts if not verdict.shown]
        few = [v for v in rest if all(group.decision == TOO_FEW for group in v.groups)]
        none = [verdict for verdict in rest if verdict not in few]
        lines: list[str] = []
        if len(none) == 1 and not shown:
            lines += _wrapped(self._named(none[0]) + describe(none[0]), width)
        elif none:
            lines.append(_cut(f"no group is shown to be favoured: {self._listed(none)}", width))
        if len(few) == 1:
            lines += _wrapped(self._named(few[0]) + describe(few[0]), width)[:2]
        elif few:
            lines.append(_cut(f"too few documents or queries for a verdict: {self._listed(few)}", width))
        return lines

    def _listed(self, verdicts: Sequence[Verdict]) -> str:
        return "; ".join(self._named(verdict) + verdict.attribute for verdict in verdicts)


def past_summaries(folder: str | PathLike[str]) -> list[AuditSummary]:
    """What earlier audits found, the oldest first. One that cannot be read is left out, with a warning."""
    found = []
    for audit in past_audits(folder):
        try:
            found.append(AuditSummary.read(audit / SUMMARY))
        except DataError as error:
            warnings.warn(f"{error}; the trend is without it", EvenrankWarning, stacklevel=2)
    return found


def date_text(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")


def _tail(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return []
    texts = (describe_worst(verdict), describe_relevance(verdict.relevance), describe_advice(verdict))
    return [text for text in texts if text]


def _largest(verdict: Verdict) -> float:
    return max((abs(group.difference) for group in verdict.groups if group.difference == group.difference),
               default=0.0)  # fmt: skip


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        printable(text), width, subsequent_indent="  ", break_long_words=True, break_on_hyphens=False
    )


def _cut(text: str, width: int) -> str:
    text = printable(text)
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."
