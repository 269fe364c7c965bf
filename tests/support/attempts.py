"""Executors that note every attempt at a task, and workers that are killed at one of them."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BEFORE, AFTER = "before", "after"


class Attempts:
    """An executor that leaves a file in a folder for each attempt at a task that is not finished.

    ``deaths`` are places of tasks and whether the worker is killed before it does the task or right after;
    each happens once.
    """

    def __init__(self, executor: Any, folder: Path, deaths: dict[int, str] | None = None) -> None:
        self._executor, self._folder, self._deaths = executor, folder, deaths or {}
        self.name, self.link = executor.name, executor.link
        folder.mkdir(exist_ok=True)

    def run(self, work: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
        folder, deaths = str(self._folder), self._deaths

        # it is sent to workers as it stands, so that they need not find this file
        def noted(task: tuple[int, Any]) -> Any:
            place, own = task
            job = getattr(work, "args", (None,))[0]
            if job is None or not job.record(own.number).exists():
                (Path(folder) / f"{place}-{uuid.uuid4().hex}.attempt").touch()
            mark = Path(folder) / f"{place}.death"
            if deaths.get(place) == "before" and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            done = work(own)
            if deaths.get(place) == "after" and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        yield from self._executor.run(noted, list(enumerate(tasks)))


def attempts(folder: Path) -> int:
    return len(list(folder.glob("*.attempt")))


def deaths(folder: Path) -> int:
    return len(list(folder.glob("*.death")))
