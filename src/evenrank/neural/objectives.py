"""What the ranker is to be good at: telling relevant documents from others, or keeping a teacher's order."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch

from evenrank.arrays import Int64s
from evenrank.neural.examples import Examples
from evenrank.neural.losses import distillation_loss, utility_loss
from evenrank.neural.ranker import NeuralRanker
from evenrank.neural.teacher import Teacher


class Objective(Protocol):
    """The utility loss of rows (N, m) of pairs, as a sum; ``vectors`` are those of ``rows.T.ravel()``."""

    def __call__(self, ranker: NeuralRanker, vectors: torch.Tensor, rows: Int64s) -> torch.Tensor: ...


def pairwise_objective(ranker: NeuralRanker, vectors: torch.Tensor, rows: Int64s) -> torch.Tensor:
    """Of triples: the relevant documents, then the others."""
    outputs = ranker.outputs(vectors)
    return utility_loss(ranker.loss, outputs[: len(rows)], outputs[len(rows) :])


class DistillationObjective:
    """The teacher's softmax over documents is kept.

    Over the documents of the query's list; a ranker that knows documents by a vector of their own has those
    of the whole batch for every query at no cost.
    """

    def __init__(
        self, teacher: Teacher, examples: Examples, temperature: float, device: torch.device
    ) -> None:
        self._queries = torch.from_numpy(teacher.queries).to(device)
        self._documents = torch.from_numpy(teacher.documents).to(device)
        self._pair_queries, self._pair_documents = examples.pair_queries, examples.pair_documents
        self._temperature, self._device = temperature, device

    def __call__(self, ranker: NeuralRanker, vectors: torch.Tensor, rows: Int64s) -> torch.Tensor:
        with torch.autocast(self._device.type, enabled=False):
            return self._of_batch(ranker, vectors.float(), rows)

    def _of_batch(self, ranker: NeuralRanker, vectors: torch.Tensor, rows: Int64s) -> torch.Tensor:
        queries = self._queries[self._places(self._pair_queries[rows[:, 0]])]  # (n, width)
        if ranker.separate:
            pairs = rows.T.ravel()
            distinct, where = np.unique(self._pair_documents[pairs], return_index=True)
            own_queries, own_documents = ranker.sides(vectors)
            student = own_queries[: len(rows)] @ own_documents[self._places(where)].T  # (n, D)
            teacher = queries @ self._documents[self._places(distinct)].T
            return distillation_loss(student / self._temperature, teacher / self._temperature)
        student = ranker.outputs(vectors).view(rows.shape[1], len(rows)).T  # (n, m)
        listed = self._documents[self._places(self._pair_documents[rows])]  # (n, m, width)
        return distillation_loss(student, torch.einsum("nw,nmw->nm", queries, listed) / self._temperature)

    def _places(self, rows: Int64s) -> torch.Tensor:
        return torch.from_numpy(rows).to(self._device)
