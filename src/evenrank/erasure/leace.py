"""LEACE: the least change of vectors after which they say nothing, linearly, about some targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats

SMALLEST_EIGENVALUE = 1e-10  # of the covariance, as a share of the largest: below it is 0
SMALLEST_SINGULAR_VALUE = 1e-8  # of the whitened cross-covariance, likewise


class Projection(NamedTuple):
    """``P = left @ right``, of low rank: the part of a centred vector that is taken off."""

    left: Floats  # (D, R)
    right: Floats  # (R, D)

    def applied(self, covariance: Floats) -> Floats:
        """The covariance of vectors after it: ``(I - P) S (I - P)^T``."""
        rest = np.eye(len(covariance)) - self.left @ self.right
        found: Floats = rest @ covariance @ rest.T
        return (found + found.T) / 2

    def then(self, other: Projection) -> Projection:
        """One projection that does what this one and then the other one do.

        ``(I - P2)(I - P1) = I - (P1 + P2 - P2 P1)``.
        """
        right = other.right - (other.right @ self.left) @ self.right
        return Projection(np.hstack([self.left, other.left]), np.vstack([self.right, right]))


def leace(covariance: Floats, cross_covariance: Floats) -> Projection:
    """The projection of Belrose et al. 2023, Theorem 4.2, from ``S = cov(X)`` and ``C = cov(X, Z)``.

    ``P = W^+ U U^T W``, where ``W = S^(-1/2)`` (pseudo-inverse) and U is an orthonormal basis of the columns
    of ``W C``. Then ``cov(x - P (x - mean), Z) = C - P C = 0``, whatever S is, as long as its range holds C;
    and of all affine maps with that property it changes vectors least.
    """
    whiten, colour = whitening(covariance)
    bases, sizes, _ = np.linalg.svd(whiten @ cross_covariance, full_matrices=False)
    kept = bases[:, sizes > SMALLEST_SINGULAR_VALUE * sizes.max(initial=0.0)]
    return Projection(colour @ kept, kept.T @ whiten)


def second_order(covariance: Floats, marked: Floats, count: int) -> Projection:
    """The ``count`` directions in which the spread of documents with a label differs most from that of all.

    After LEACE both have the same mean, but not the same covariance, which a classifier that is not linear
    can use. These are the eigenvectors of ``W (S_1 - S) W`` with the largest eigenvalues, whatever the sign;
    erasing all of them would leave nothing, and each costs what it stands for.
    """
    whiten, colour = whitening(covariance)
    values, directions = np.linalg.eigh(whiten @ (marked - covariance) @ whiten)
    kept = directions[:, np.argsort(-np.abs(values), kind="stable")[:count]]
    return Projection(colour @ kept, kept.T @ whiten)


def still(covariance: Floats) -> Projection:
    """The directions in which vectors do not vary, to be set to their mean.

    Some encoders have dimensions that are all but constant, and the last digits of such a dimension tell as
    much as any other: whoever standardises it before a classifier would find again what was erased.
    """
    values, directions = np.linalg.eigh(covariance)
    constant = directions[:, values <= SMALLEST_EIGENVALUE * max(values[-1], 0.0)]
    return Projection(constant, np.ascontiguousarray(constant.T))


def whitening(covariance: Floats) -> tuple[Floats, Floats]:
    """``S^(-1/2)`` and ``S^(1/2)``, both 0 where S is."""
    values, directions = np.linalg.eigh(covariance)
    some = values > SMALLEST_EIGENVALUE * max(values[-1], 0.0)
    values, directions = values[some], directions[:, some]
    roots = np.sqrt(values)
    return (directions / roots) @ directions.T, (directions * roots) @ directions.T
