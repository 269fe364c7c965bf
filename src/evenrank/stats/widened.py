"""The interval of a mean over queries that share documents: Student's t, widened by a factor.

A verdict on the share of a group and a gate on the same share take their intervals from here, so that both
say the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenrank.arrays import Floats
from evenrank.stats.intervals import Bounds, mean_interval


@dataclass(frozen=True)
class WidenedInterval:
    """How intervals are made: at ``level``, both ends moved ``times`` as far away from the mean.

    ``level`` is that of one interval. It is above the one that is printed where several intervals hold
    together.
    """

    level: float = 0.95
    times: float = 1.0

    def ends(self, values: Floats, bounds: Bounds) -> tuple[float, float]:
        """The ends of the interval of the mean, within the bounds; NaN where there is no interval.

        >>> import numpy as np
        >>> values = np.linspace(0.2, 0.4, 30)
        >>> [round(end, 3) for end in WidenedInterval(0.95, 1.0).ends(values, (0.0, 1.0))]
        [0.275, 0.325]
        >>> [round(end, 3) for end in WidenedInterval(0.95, 2.0).ends(values, (0.0, 1.0))]
        [0.249, 0.351]
        """
        found = mean_interval(values, bounds, level=self.level)
        if found.reason is not None:
            return math.nan, math.nan
        mean = float(values.mean())
        low, high = (mean + self.times * (end - mean) for end in (found.low, found.high))
        return max(bounds[0], low), min(bounds[1], high)
