"""DUO from the scores of an axis beside DUO from labels, over random orders of the documents of a query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenrank.arrays import Floats
from evenrank.evidence.polarise.held_out import FittedQuery

ORDERS = 100


def duo_correlations(queries: Sequence[FittedQuery], *, orders: int = ORDERS, seed: int = 0) -> Floats:
    """(Q,): Spearman's correlation over random orders; NaN where either DUO does not vary.

    Where it is low, DUO from scores ranks lists otherwise than DUO from labels would.
    """
    from scipy.stats import spearmanr

    from evenrank.data.polarity import Polarity
    from evenrank.data.run import Run
    from evenrank.evaluation import evaluate

    generator = np.random.default_rng(seed)
    names, documents, scores, by_axis, by_label = (
        list[str](),
        list[str](),
        list[float](),
        list[float](),
        list[float](),
    )
    for place, each in enumerate(queries):
        if each.first is None:
            continue
        count = len(each.documents)
        for number in range(orders):
            order = generator.permutation(count)
            names += [f"{place}#{number}"] * count
            documents += [each.documents[at] for at in order]
            scores += [float(count - rank) for rank in range(count)]
            by_axis += each.scores[order].tolist()
            by_label += np.where(each.first[order], 1.0, -1.0).tolist()
    if not names:
        return np.full(len(queries), np.nan)
    run = Run.build(names, documents, scores)
    values = []
    for given in (by_axis, by_label):
        polarity = Polarity.build(documents, given, queries=names, oriented=True)
        block = evaluate(run, "DUO", polarity=polarity).block("DUO")
        values.append(dict(zip(block.query_ids, block.values[:, 0].tolist(), strict=True)))
    found = np.full(len(queries), np.nan)
    for place in range(len(queries)):
        own = [f"{place}#{number}" for number in range(orders)]
        pairs = np.array([[known.get(name, np.nan) for name in own] for known in values])
        if not np.isnan(pairs).any() and (np.ptp(pairs, axis=1) > 0).all():
            found[place] = spearmanr(pairs[0], pairs[1]).statistic
    return found
