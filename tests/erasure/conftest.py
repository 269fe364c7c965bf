"""Vectors that tell two labels apart, and more."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest


class Planted(NamedTuple):
    vectors: np.ndarray
    labels: np.ndarray
    counts: np.ndarray


@pytest.fixture(scope="session")
def planted() -> Planted:
    """400 vectors of 12 dimensions with a large common part; label and counts are in several of them."""
    generator = np.random.default_rng(3)
    labels = generator.random(400) < 0.2
    counts = generator.poisson(1 + 2 * labels).astype(float)
    mix = generator.normal(size=(12, 12))
    vectors = 50 + generator.normal(size=(400, 12)) @ mix
    vectors[:, 0] += 2 * labels
    vectors[:, 1] += counts
    vectors[:, 5] -= labels + 0.5 * counts
    return Planted(vectors, labels, counts)
