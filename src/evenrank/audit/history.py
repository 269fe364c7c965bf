"""The audits of a folder: each is a folder of its own, named by the time at which it was made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from evenrank.errors import ParameterError

RUNS = "runs"
SUMMARY = "summary.json"
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z(-\d+)?")


def dated_name(now: datetime) -> str:
    """What the folder of an audit is called: names sort as times do.

    >>> dated_name(datetime(2026, 5, 4, 13, 7, 9, tzinfo=UTC))
    '2026-05-04T13-07-09Z'
    """
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")


def past_audits(folder: str | PathLike[str]) -> list[Path]:
    """The folders of earlier audits, the oldest first."""
    root = Path(folder)
    if not root.is_dir():
        return []
    return sorted(
        path for path in root.iterdir() if _DATED.fullmatch(path.name) and (path / SUMMARY).is_file()
    )


def last_run(folder: str | PathLike[str], names: Sequence[str]) -> str | None:
    """The file of the run in the last audit that others are compared with; None without an audit.

    That is its only run, or of several the one that is called as the only one of ``names``.
    """
    past = past_audits(folder)
    if not past:
        return None
    runs = sorted(path for path in (past[-1] / RUNS).iterdir() if path.is_file())
    alike = [path for path in runs if path.name.split(".")[0] in names]
    chosen = runs if len(runs) == 1 else alike
    if len(chosen) != 1:
        listed = ", ".join(str(path) for path in runs)
        raise ParameterError(
            f"the last audit has several runs: say which is the baseline, --baseline FILE: {listed}"
        )
    return str(chosen[0])
