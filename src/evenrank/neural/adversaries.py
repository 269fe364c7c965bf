"""What the adversaries of a ranker learn: the losses of their guesses, and steps of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from evenrank.arrays import Int64s
from evenrank.neural.labels import PairLabels
from evenrank.neural.losses import adversary_loss
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.sampling import value_weights


class Adversaries:
    """The labels of pairs on the device, and how often the adversaries step for one step of the ranker."""

    def __init__(
        self,
        labels: Mapping[str, PairLabels],
        steps: int,
        weighted: bool,
        device: torch.device,
        clip: float | None = None,
    ) -> None:
        self._labels, self._steps, self._weighted, self._device = labels, steps, weighted, device
        self._longest = math.inf if clip is None else clip  # gradient
        self._codes = {name: torch.from_numpy(found.codes).to(device) for name, found in labels.items()}
        self._weights: dict[str, torch.Tensor] = {}

    def weigh(self, rows: Int64s) -> None:
        """From here rare values among these pairs count more, where they are to."""
        if self._weighted and len(rows):
            self._weights = {
                name: torch.from_numpy(value_weights(rows, found)).to(self._device)
                for name, found in self._labels.items()
            }

    def losses(
        self,
        ranker: NeuralRanker,
        vectors: torch.Tensor,
        pairs: Int64s,
        strength: float,
        ceiling: float | None = None,
    ) -> dict[str, torch.Tensor]:
        """The sum of every adversary's cross entropy over these pairs; gradients are reversed by
        ``strength``, unless it is above ``ceiling`` times that of chance."""
        places = torch.from_numpy(pairs).to(self._device)
        reversal: float | torch.Tensor = strength
        if ceiling is not None:  # a ranker that flees further than chance only loses its way
            with torch.no_grad():
                now = ranker.guesses(vectors, 0.0)
                above = [
                    self._loss(name, guess, places) > ceiling * len(pairs) * math.log(guess.shape[1])
                    for name, guess in now.items()
                ]
                reversal = strength * (1 - torch.stack(above).any().float())
        return {
            f"adversary {name}": self._loss(name, guess, places)
            for name, guess in ranker.guesses(vectors, reversal).items()
        }

    def _loss(self, name: str, guess: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        return adversary_loss(guess, self._codes[name][places], self._weights.get(name))

    def catch_up(
        self, ranker: NeuralRanker, vectors: torch.Tensor, pairs: Int64s, optimizer: torch.optim.Optimizer
    ) -> None:
        """All their steps but the last, which they do together with the ranker: on vectors that stay, so that
        they keep up with a ranker that flees from them."""
        for _ in range(self._steps - 1):
            optimizer.zero_grad(set_to_none=True)
            losses = self.losses(ranker, vectors.float(), pairs, 0.0)
            (torch.stack(list(losses.values())).sum() / len(pairs)).backward()
            norm = torch.nn.utils.clip_grad_norm_(ranker.adversaries.parameters(), self._longest)
            if not math.isfinite(float(norm)):  # the step that follows says so, with the weights as they are
                break
            optimizer.step()  # what has no gradient stays
        optimizer.zero_grad(set_to_none=True)
