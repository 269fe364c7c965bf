"""Other word lists made from one: each is a row of numbers, how often every term of the lexicon counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.data.lexicon import Lexicon
from evenrank.errors import ParameterError


def whole_list(lexicon: Lexicon) -> Floats:
    """(1, T): the list as it is."""
    return np.ones((1, len(lexicon)))


def leave_one_out(lexicon: Lexicon, terms: Int64s) -> Floats:
    """(len(terms), T): each of these terms left out in turn."""
    lists = np.ones((len(terms), len(lexicon)))
    lists[np.arange(len(terms)), terms] = 0
    return lists


def resampled_lists(lexicon: Lexicon, count: int, generator: np.random.Generator) -> Floats:
    """(count, T): the terms of each group drawn with replacement, as many as there are.

    A term that is drawn twice counts twice. Groups keep their size, so that no list is one-sided by chance
    alone.
    """
    if count < 1:
        raise ParameterError(f"at least one list must be drawn, got {count}")
    owners = np.array(lexicon.term_groups)
    lists = np.zeros((count, len(lexicon)))
    for group in range(len(lexicon.groups)):
        own = np.flatnonzero(owners == group)
        lists[:, own] = generator.multinomial(len(own), np.full(len(own), 1 / len(own)), count)
    return lists


def list_without(lexicon: Lexicon, words: Sequence[str]) -> Floats:
    """(1, T): the list without these words."""
    left = set(words)
    return np.array([[float(term not in left) for term in lexicon.terms]])


def weights_of(lexicon: Lexicon) -> Floats:
    """(T, G): how strongly each term stands for each group."""
    if lexicon.weights is not None:
        return np.array(lexicon.weights)
    return np.eye(len(lexicon.groups))[list(lexicon.term_groups)]
