"""What is minimised: a utility loss on documents of a query, and the adversary's cross entropy.

All are sums over the rows, not means: whoever adds up pieces of a batch divides once, by the whole.
"""

from __future__ import annotations

import torch
from torch.nn import functional

MARGIN = "margin"
CROSS_ENTROPY = "cross_entropy"
DISTILLATION = "distillation"
LOSSES = (MARGIN, CROSS_ENTROPY, DISTILLATION)
OUTPUTS = {MARGIN: 1, CROSS_ENTROPY: 2, DISTILLATION: 1}  # what the relevance head gives for a pair


def margin_loss(positive: torch.Tensor, negative: torch.Tensor, margin: float = 1.0) -> torch.Tensor:
    """``sum max(0, margin - s(q, d+) + s(q, d-))``: max-margin, Eq. 10. Scores are (m, 1).

    >>> margin_loss(torch.tensor([[2.0], [0.5]]), torch.tensor([[0.0], [0.0]])).item()
    0.5
    """
    return functional.relu(margin - positive + negative).sum()


def two_way_loss(positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
    """``sum -log p(relevant | q, d+) - log p(not relevant | q, d-)``: footnote 7, and the published code.

    Outputs are (m, 2): not relevant, relevant.
    """
    return -(positive.log_softmax(-1)[:, 1].sum() + negative.log_softmax(-1)[:, 0].sum())


def utility_loss(name: str, positive: torch.Tensor, negative: torch.Tensor) -> torch.Tensor:
    """The loss of this name, in 32 bits whatever the precision of the outputs."""
    positive, negative = positive.float(), negative.float()
    return margin_loss(positive, negative) if name == MARGIN else two_way_loss(positive, negative)


def distillation_loss(student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """``sum_q KL(softmax(teacher) || softmax(student))`` over the documents of each row; both are (n, m).

    >>> distillation_loss(torch.tensor([[1.0, 3.0]]), torch.tensor([[2.0, 4.0]])).item()
    0.0
    """
    return functional.kl_div(
        student.float().log_softmax(-1), teacher.float().log_softmax(-1), reduction="sum", log_target=True
    )


def adversary_loss(
    outputs: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor | None = None
) -> torch.Tensor:
    """``sum CE(h(z), l)`` over pairs: those of relevant and those of other documents, as Eq. 11 adds them.

    ``weights`` of the values make up for rare ones, where the pairs are not balanced.
    """
    return functional.cross_entropy(outputs.float(), labels, weight=weights, reduction="sum")
