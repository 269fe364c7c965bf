"""What a list could have scored in another order: exact ranges of DUO's sum and of rND, rKL, rRD.

``spread.py`` has the discounted spread D of given orders. ``extremes.py`` finds the order that spreads most
(proved), and with ``smallest.py`` the one that spreads least (exact for short lists, a programme with a fence
for long ones). ``counts.py`` is for two groups, where only the number of protected
documents in each prefix matters.

Lists are rows of a padded (Q, K) array with (Q,) lengths; orders are (Q, K) places in it, -1 in the padding.
"""

from evenrank.measures.orders.counts import DISCOUNTS as DISCOUNTS
from evenrank.measures.orders.counts import count_extremes as count_extremes
from evenrank.measures.orders.counts import count_terms as count_terms
from evenrank.measures.orders.extremes import CENTERS as CENTERS
from evenrank.measures.orders.extremes import EXACT_UP_TO as EXACT_UP_TO
from evenrank.measures.orders.extremes import balanced_order as balanced_order
from evenrank.measures.orders.extremes import extremes
from evenrank.measures.orders.extremes import one_sided_order as one_sided_order
from evenrank.measures.orders.spread import prefix_spread as prefix_spread
from evenrank.measures.orders.spread import rescaled as rescaled
from evenrank.measures.orders.spread import spread
from evenrank.measures.orders.spread import spread_weights as spread_weights

__all__ = ["extremes", "spread"]
