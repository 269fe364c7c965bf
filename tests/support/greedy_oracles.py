"""The greedy re-rankers once more, one list at a time, from Algorithm 1; and what the others promise."""

from __future__ import annotations

from math import log2

import numpy as np
import oracles
import order_oracles
from fair_oracles import Wanted, greedy, novelty

from evenrank.rerankers import Reranker
from evenrank.testing import Case

Row = list[float]


def parted(method: Reranker, documents: list[str]) -> tuple[list[str], list[str]]:
    """The documents that are re-ranked, and those below."""
    head = documents[: method.cutoff]
    return head, documents[len(head) :]


def relevance(method: Reranker, head: list[str], case: Case, query: str) -> list[float]:
    if method.pseudo or query not in case.qrels:
        return [1 / log2(1 + i) for i in range(1, len(head) + 1)]
    judged = oracles.grades(case, query)
    return [float(judged.get(d, 0) >= 1) for d in head]


def explored(method: Reranker, case: Case, query: str) -> list[bool]:
    """Where fairness alone decides: one number a list and rank, from the seed and the first draw."""
    depth = case.run.depth if method.cutoff is None else min(method.cutoff, case.run.depth)
    numbers = np.random.default_rng([method.seed, 0]).random((len(case.run), depth))
    return (numbers < method.epsilon)[case.run.query_ids.index(query)].tolist()


def fair_greedy(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    whole, tail = parted(method, documents)
    groups = Wanted(case, method.attr, method.target)
    target = groups.target(query)
    if target is None:
        return documents
    staying = [d for d in whole if method.missing == "stay" and groups.share(query, d) is None]
    head = [d for d in whole if d not in staying]
    rows, relevant = groups.memberships(method, head, query), relevance(method, head, case, query)

    def gain(chosen: list[int], d: int) -> float:
        return gain_of(rows, relevant, method.alpha, chosen, d)

    order = greedy(gain, rows, target, smoothing=method.smoothing, explore=explored(method, case, query))
    others = iter([head[place] for place in order])
    return [d if d in staying else next(others) for d in whole] + tail


def ideal(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    head, tail = parted(method, documents)
    rows = Wanted(case, method.attr, method.target).memberships(method, head, query)
    relevant = relevance(method, head, case, query)
    order: list[int] = []
    while len(order) < len(head):
        gains = {
            d: gain_of(rows, relevant, method.alpha, order, d) for d in range(len(head)) if d not in order
        }
        order.append(min(d for d, g in gains.items() if g >= max(gains.values()) * (1 - 1e-12)))
    return [head[place] for place in order] + tail


def gain_of(rows: list[Row], relevant: list[float], alpha: float, chosen: list[int], d: int) -> float:
    return novelty([[relevant[c] * share for share in rows[c]] for c in [*chosen, d]], alpha)[-1]


def extreme(method: Reranker, before: list[str], after: list[str], case: Case, query: str) -> bool:
    """D is the largest, or the smallest, that the documents can have; those without a score are behind."""
    head, tail = parted(method, before)
    (source,) = (source for source in case.evidence if source.name == "polarity")
    scores = dict(zip(source.doc_ids.to_pylist(), source.scores[:, method.axis - 1].tolist(), strict=True))
    has, rest = [d for d in after if d in scores and d in head], [d for d in head if d not in scores]
    if after != has + rest + tail:
        return False
    if len(has) < 2:
        return True
    step = getattr(method, "step", 1)
    own = tuple(scores[d] for d in has)
    least, most = order_oracles.spread_range(
        tuple(scores[d] for d in head if d in scores), step, method.center
    )
    wanted = most if method.name == "MinDUO" else least
    return abs(order_oracles.spread(own, step, method.center) - wanted) < 1e-9 * max(1, most)


GREEDY_ORACLES = {"FAIR_greedy": fair_greedy, "Ideal_alpha_nDCG": ideal}
GREEDY_PROMISES = {"MinDUO": extreme, "MaxDUO": extreme}
WITHOUT_ORACLE = {"Random", "FOE", *GREEDY_PROMISES}  # drawn, or known by what they promise

_BY_RELEVANCE = [
    *({"attr": attr} for attr in ("side", "origin", "stars", "topic", "tags", "side*topic")),
    {"attr": "origin", "pseudo": True},
    {"attr": "origin", "missing": "uniform"},
    {"attr": "origin", "missing": "error"},
    {"attr": "origin", "missing": "none"},
    {"attr": "topic", "target": "pool"},
    {"attr": "tags", "target": "relevance", "pseudo": True},
]
_GREEDY = [*_BY_RELEVANCE, {"attr": "side", "alpha": 1.0}, {"attr": "tags", "alpha": 0.0, "pseudo": True}]
_OPINIONS = [{}, {"center": "list"}, {"axis": 2, "missing": "behind"}, {"missing": "error"}]
GREEDY_VARIANTS = {
    "FAIR_greedy": [
        *_GREEDY,
        *({"attr": attr, "epsilon": 1.0} for attr in ("side", "origin", "topic")),
        *({"attr": attr, "epsilon": 0.3, "seed": 5} for attr in ("side", "origin", "tags")),
        {"attr": "origin", "smoothing": 0.0},
        {"attr": "topic", "smoothing": 0.0, "pseudo": True, "epsilon": 0.5},
    ],
    "Ideal_alpha_nDCG": _GREEDY,
    "FOE": [
        *_BY_RELEVANCE,
        *({"attr": "side", "constraint": rule} for rule in ("parity", "treatment", "impact", "target")),
        {"attr": "origin", "constraint": "target", "pseudo": True, "seed": 3},
        {"attr": "origin", "draw": "likely", "pseudo": True},
        {"attr": "topic", "attention": "reciprocal", "constraint": "target", "draw": "likely"},
    ],
    "MinDUO": _OPINIONS,
    "MaxDUO": [*_OPINIONS, {"step": 2}],
}
