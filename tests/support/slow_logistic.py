"""A logistic regression in which both labels weigh the same, written out: for probes and penalties."""

from __future__ import annotations

from typing import Any

import numpy as np

DECAY = 1e-3


def slow_logits(x: Any, labels: Any, others: Any | None = None) -> Any:
    """Newton's steps on mean balanced loss + DECAY / 2 * |weights|^2 over standardised vectors; the constant
    is free. What it says of ``others``, or of the vectors themselves."""

    def standardised(table: Any) -> Any:
        return np.hstack([(table - x.mean(axis=0)) / x.std(axis=0), np.ones((len(table), 1))])

    z = standardised(x)
    share = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean())) / len(x)
    ridge = np.append(np.full(x.shape[1], DECAY), 0)
    weights = np.zeros(len(ridge))
    for _ in range(30):
        p = 1 / (1 + np.exp(-z @ weights))
        gradient = z.T @ (share * (p - labels)) + ridge * weights
        weights -= np.linalg.solve((z * (share * p * (1 - p))[:, None]).T @ z + np.diag(ridge), gradient)
    assert np.abs(gradient).max() < 1e-9
    return (z if others is None else standardised(others)) @ weights
