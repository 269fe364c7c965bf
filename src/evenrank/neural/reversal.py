"""The gradient reversal layer: nothing forward, the opposite backward."""

from __future__ import annotations

from typing import Any

import torch


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, vectors: torch.Tensor, strength: float | torch.Tensor) -> torch.Tensor:
        context.strength = strength
        return vectors.view_as(vectors)  # a tensor of its own, or autograd would see no function here

    @staticmethod
    def backward(context: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return -context.strength * gradients[0], None


def reverse(vectors: torch.Tensor, strength: float | torch.Tensor) -> torch.Tensor:
    """``rev_lambda``: the vectors themselves; gradients that come back are multiplied by ``-strength``.

    Reference: nfairc-advbert-2021, Section 5.2, after Ganin and Lempitsky 2015.

    >>> z = torch.ones(2, requires_grad=True)
    >>> reverse(z, 0.5).sum().backward()
    >>> z.grad.tolist()
    [-0.5, -0.5]
    """
    reversed_: torch.Tensor = _Reversal.apply(vectors, strength)
    return reversed_
