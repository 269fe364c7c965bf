"""The cross-encoder: query and document are read together, and a relevance head scores the pair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import nn

from evenrank.neural.losses import CROSS_ENTROPY, OUTPUTS
from evenrank.neural.ranker import CROSS_ENCODER, NeuralRanker
from evenrank.neural.tokens import PairTokens, Texts


class CrossEncoderRanker(NeuralRanker):
    """``g(f(q, d))``: f an encoder of the pair, whose first vector z a linear head g turns into a score."""

    kind: ClassVar[str] = CROSS_ENCODER

    def _add_head(self) -> None:
        self.relevance = nn.Linear(self.width, OUTPUTS[self.loss])

    def batches(self, texts: Texts, pairs: int) -> PairTokens:
        return PairTokens(self.tokenizer, texts, pairs, self.max_length)

    def encode(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """z: the last layer's vector at the first token, (P, width)."""
        return self._layers(batch)[:, 0]

    def outputs(self, vectors: torch.Tensor) -> torch.Tensor:
        """g(z): (P, 1) scores, or (P, 2) for the two-way loss."""
        with torch.autocast(vectors.device.type, enabled=False):  # or near scores become equal ones
            found: torch.Tensor = self.relevance(vectors.float())
        return found

    def scores(self, vectors: torch.Tensor) -> torch.Tensor:
        """(P,): of two outputs the log odds."""
        found = self.outputs(vectors)
        return found[:, 1] - found[:, 0] if self.loss == CROSS_ENTROPY else found[:, 0]

    def seen(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors
