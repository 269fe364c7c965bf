"""What a list could have scored in another order: exact ranges of DUO's sum and of rND, rKL, rRD.

``spread.py`` has the discounted spread D of given orders; ``largest.py`` finds the order that spreads most
(proved), ``subsets.py`` and ``intervals.py`` the one that spreads least (exact for short lists, a programme
with a fence for long ones), ``extremes.py`` is the door to both. ``counts.py`` is for two groups, where only
the number of protected documents in each prefix matters.

Lists are rows of a padded (Q, K) array with (Q,) lengths; orders are (Q, K) places in it, -1 in the padding.
"""

from evenrank.measures.orders.counts import DISCOUNTS, UTILITIES, Utility, count_extremes, count_terms
from evenrank.measures.orders.extremes import (
    CENTERS,
    EXACT_UP_TO,
    Extremes,
    OneSided,
    balanced_order,
    extremes,
    one_sided_order,
)
from evenrank.measures.orders.spread import prefix_spread, rescaled, spread, spread_weights

__all__ = [
    "CENTERS",
    "DISCOUNTS",
    "EXACT_UP_TO",
    "UTILITIES",
    "Extremes",
    "OneSided",
    "Utility",
    "balanced_order",
    "count_extremes",
    "count_terms",
    "extremes",
    "one_sided_order",
    "prefix_spread",
    "rescaled",
    "spread",
    "spread_weights",
]
