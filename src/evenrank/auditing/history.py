"""The audits of a folder: each is a folder of its own, named by the time at which it was made."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from evenrank.errors import ParameterError
from evenrank.io.atomic import atomic_write

RUNS, GROUPS = "runs", "groups"
LATEST = "latest"  # leads to the last audit
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


def point_to(audit: Path) -> bool:
    """Let ``latest``, beside the audit, lead to it; False where the system has no links.

    There it is a file that holds the name of the folder.
    """
    latest = audit.with_name(LATEST)
    new = audit.with_name(f".{LATEST}-{secrets.token_hex(4)}")
    try:
        new.symlink_to(audit.name, target_is_directory=True)
        new.replace(latest)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        if not latest.is_dir():  # a folder of that name is somebody else's
            with atomic_write(latest) as file:
                file.write(f"{audit.name}\n".encode())
        return False
    return True


def runs_of(audit: Path) -> list[Path]:
    """The files of the runs that were audited."""
    return sorted(path for path in (audit / RUNS).iterdir() if path.is_file())


def latest_runs(folder: str | PathLike[str]) -> list[str]:
    """The files of the runs of the last audit; none where there is no audit.

    They are named by the folder that leads to the last audit, where there is one.
    """
    past = past_audits(folder)
    if not past:
        return []
    latest = past[-1].with_name(LATEST)
    leads = latest.is_dir() and latest.resolve() == past[-1].resolve()
    return [str(path) for path in runs_of(latest if leads else past[-1])]


def earlier_run(
    folder: str | PathLike[str],
    names: Sequence[str],
    files: Sequence[str | PathLike[str]],
    has_same_lists: Callable[[Path], bool],
) -> str | None:
    """The file of the run that ``files`` are compared with, of the last audit before them; None without one.

    An audit that the files lie in is theirs, and so is the last one if a run in it has the same lists.
    The run is the only one of the audit, or of several the one that is called as the only one of ``names``.
    """
    past = past_audits(folder)
    if not past:
        return None
    before = _before(past, files)
    if before == past and any(map(has_same_lists, runs_of(past[-1]))):
        before = past[:-1]
    if not before:
        raise ParameterError(
            f"{past[0]}: is the audit of this run itself, and there is no earlier audit to compare with: "
            "name another run, --baseline FILE, or audit the engine again after a change and gate that run"
        )
    runs = runs_of(before[-1])
    alike = [path for path in runs if path.name.split(".")[0] in names]
    chosen = runs if len(runs) == 1 else alike
    if len(chosen) != 1:
        listed = ", ".join(str(path) for path in runs)
        raise ParameterError(
            f"the last audit has several runs: say which is the baseline, --baseline FILE: {listed}"
        )
    return str(chosen[0])


def _before(past: Sequence[Path], files: Sequence[str | PathLike[str]]) -> list[Path]:
    """The audits that were made before the first one that holds any of the files."""
    places = [Path(file).resolve() for file in files]
    for number, audit in enumerate(past):
        if any(place.is_relative_to(audit.resolve()) for place in places):
            return list(past[:number])
    return list(past)
