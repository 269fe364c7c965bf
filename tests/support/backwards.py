"""Executors that do their tasks here: the last one first, or until they are stopped."""

from __future__ import annotations

from typing import Any


class Backwards:
    """It notes which partitions it was asked for."""

    name, link = "threads", None

    def __init__(self) -> None:
        self.done: list[int] = []

    def map(self, work: Any, tasks: Any) -> Any:
        results = []
        for place in reversed(range(len(tasks))):
            if hasattr(tasks[place], "number"):  # a partition
                self.done.append(place)
            results.append(work(tasks[place]))
        yield from reversed(results)


class Stops(Exception):
    """Of an executor that is stopped."""


class InRounds(Backwards):
    """It notes how many tasks each round did, and may stop in a round after some of them, as a process that
    is killed does. Of a collection whose ids ascend the words are counted in one round."""

    def __init__(self, stop: int | None = None, after: int = 0) -> None:
        super().__init__()
        self.stop, self.after = stop, after
        self.rounds: list[int] = []

    def map(self, work: Any, tasks: Any) -> Any:
        self.rounds.append(0)
        for place, task in enumerate(tasks):
            if len(self.rounds) - 1 == self.stop and place == self.after:
                raise Stops
            self.before(place)
            result = work(task)
            self.rounds[-1] += 1
            self.behind(place)
            yield result

    def before(self, place: int) -> None:
        """Is called before each task."""

    def behind(self, place: int) -> None:
        """Is called behind each task."""
