"""What an audit found, as JSON for programs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from typing import Any

from evenrank.auditing.history import SUMMARY, past_audits
from evenrank.errors import DataError, EvenrankWarning
from evenrank.files import read_utf8
from evenrank.io.atomic import atomic_write
from evenrank.tables import plain
from evenrank.verdict import Verdict, describe

KIND = "evenrank audit"
VERSION = 1


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
            content = json.loads(read_utf8(path))
        except DataError:
            raise
        except (ValueError, RecursionError) as error:
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
