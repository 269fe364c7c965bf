"""Rows of like length, so that little is padded when each group is computed by itself."""

from __future__ import annotations

import numpy as np

from evenrank.arrays import Int64s

ON_CPU, ON_GPU = 16, 256  # the fewest rows of a group: a GPU is not busy with fewer
MOST = 4  # groups: more save little


def length_groups(lengths: Int64s, fewest: int) -> list[Int64s]:
    """The places of all rows, in groups of at least ``fewest`` rows and of like length; one group, in the
    order as it is, where there are too few for two.

    >>> [group.tolist() for group in length_groups(np.array([9, 1, 8, 2]), 2)]
    [[1, 3], [2, 0]]
    """
    count = min(MOST, len(lengths) // fewest)
    if count < 2:
        return [np.arange(len(lengths))]
    return np.array_split(np.argsort(lengths, kind="stable"), count)
