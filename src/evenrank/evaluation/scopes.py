"""The queries that measures are evaluated on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np

from evenrank.arrays import Bools, Int64s


@dataclass(frozen=True, eq=False)
class Scope:
    """The queries of some measures, and their rows among those that are aligned; None: all of them."""

    query_ids: tuple[str, ...]
    rows: Int64s | None

    @classmethod
    def of(cls, queries: tuple[str, ...], chosen: Bools) -> Scope:
        if chosen.all():
            return cls(queries, None)
        return cls(tuple(compress(queries, chosen)), np.flatnonzero(chosen))
