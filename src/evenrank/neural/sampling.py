"""Balanced data: as many triples of each combination of protected labels, or as the paper has it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Int64s
from evenrank.errors import DataError
from evenrank.neural.labels import PairLabels


def cells(triples: Int64s, labels: Mapping[str, PairLabels]) -> Int64s:
    """(N,): the combination of labels, of both documents and all attributes, that each triple has."""
    number = np.zeros(len(triples), dtype=np.int64)
    for found in labels.values():
        for side in (0, 1):
            number = number * len(found.values) + found.codes[triples[:, side]]
    return np.unique(number, return_inverse=True)[1].astype(np.int64)


def balanced(
    triples: Int64s, labels: Mapping[str, PairLabels], generator: np.random.Generator, size: int | None = None
) -> Int64s:
    """Triples in which each combination of labels is equally frequent, in random order.

    So the label is as frequent among relevant documents as among others, and tells nothing of relevance.
    ``size`` triples in all (as many as there are, unless said): of a combination that has more than
    its part some are drawn, of one that has fewer each is repeated, none more than once oftener than another.

    The paper takes all gendered items and draws as many others, which balances the label alone.
    """
    check_values(triples, labels)
    groups = cells(triples, labels)
    kinds = int(groups.max(initial=0)) + 1
    each = max(1, (len(triples) if size is None else size) // kinds)
    drawn = []
    for kind in range(kinds):
        own = np.flatnonzero(groups == kind)
        rounds, rest = divmod(each, len(own))
        drawn.append(np.concatenate([np.tile(own, rounds), generator.permutation(own)[:rest]]))
    even: Int64s = triples[generator.permutation(np.concatenate(drawn))]
    return even


def paper_balanced(
    triples: Int64s, labels: Mapping[str, PairLabels], generator: np.random.Generator
) -> Int64s:
    """All triples with a biased document, and as many of the others, drawn once each, in random order.

    A triple whose documents have two labels counts as biased: the adversary learns from both of them. Where
    fewer are neutral than biased, all of both are there. Reference: nfairc-advbert-2021, Section 6.
    """
    check_values(triples, labels)
    biased = np.zeros(len(triples), dtype=bool)
    for found in labels.values():
        biased |= (found.codes[triples] > 0).any(axis=1)
    others = np.flatnonzero(~biased)
    drawn = generator.permutation(others)[: int(biased.sum())]
    even: Int64s = triples[generator.permutation(np.concatenate([np.flatnonzero(biased), drawn]))]
    return even


def check_values(rows: Int64s, labels: Mapping[str, PairLabels]) -> None:
    """Every value of every attribute must be there: an adversary cannot learn one that it never sees."""
    for found in labels.values():
        there = np.bincount(found.codes[rows.ravel()], minlength=len(found.values))
        for value, count in zip(found.values, there.tolist(), strict=True):
            if not count:
                raise DataError(
                    f"attribute {found.name!r}: no training pair has the value {value!r}, so an adversary "
                    "cannot learn it: more data, another lexicon, or labels of another kind"
                )


def value_weights(rows: Int64s, labels: PairLabels) -> npt.NDArray[np.float32]:
    """(V,): by which values that are rare among these pairs count as much as others, 1 in the mean.

    None counts more than fifty times: a few pairs would be learnt by heart.
    """
    shares = np.bincount(labels.codes[rows.ravel()], minlength=len(labels.values)) / rows.size
    weights: npt.NDArray[np.float32] = (1 / (len(shares) * np.maximum(shares, 0.02))).astype(np.float32)
    return weights
