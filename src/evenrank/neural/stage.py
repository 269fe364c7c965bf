"""One stage of training: what is trained, on which triples, for how long, and where checkpoints are taken."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenrank.arrays import Int64s

TUNE, ADVERSARY, JOINT = "tune", "adversary", "joint"


@dataclass(frozen=True, eq=False)
class Stage:
    """What is trained, on which triples, for how long."""

    kind: str  # tune: encoder and relevance head; adversary: the adversaries; joint: everything
    triples: Int64s  # (N, 2); a list of a distillation has m documents, (N, m)
    epochs: float
    seed: int = 0
    strength: float = 0.0
    checkpoints: int = 1
    patience: int | None = None
    schedule: str = "constant"
    ceiling: float | None = None

    @property
    def key(self) -> str:
        return f"{self.kind}-{self.strength:g}" if self.kind == JOINT else self.kind

    def steps(self, size: int) -> int:
        """Steps in all, with ``size`` triples a step."""
        return math.ceil(self.epochs * self.steps_an_epoch(size))

    def steps_an_epoch(self, size: int) -> int:
        return max(1, math.ceil(len(self.triples) / size))

    def checkpoint_steps(self, size: int) -> list[int]:
        """The steps after which a checkpoint is taken; the last is the end."""
        steps = self.steps(size)
        return sorted({max(1, round(steps * n / self.checkpoints)) for n in range(1, self.checkpoints + 1)})

    def batches(self, size: int, first: int) -> Iterator[Int64s]:
        """The triples of each step from step ``first`` on; the order of an epoch follows from the seed."""
        each = self.steps_an_epoch(size)
        for step in range(first, self.steps(size)):
            epoch, place = divmod(step, each)
            if step == first or place == 0:
                order = np.random.default_rng([self.seed, epoch]).permutation(len(self.triples))
            yield self.triples[order[place * size : (place + 1) * size]]


@dataclass(frozen=True)
class Checkpoint:
    """A ranker on the way: the how many-th it is, after how many steps, and its validation loss."""

    number: int
    step: int
    validation: float | None
    best: bool
