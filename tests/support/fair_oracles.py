"""FAIR and its companions once more, one query at a time, straight from the paper. Slow on purpose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, inf, log2, nan, prod

import numpy as np
import oracles
from group_oracles import ATTRIBUTES, DIVERGENCES, Groups, Row, kl

from evenrank import parse_measure
from evenrank.measures import Measure
from evenrank.testing import Case

TIE = 1e-12


class Wanted(Groups):
    """One attribute of a case, with the target that a measure has of its own."""

    def __init__(self, case: Case, attr: str | None, rule: str | None) -> None:
        super().__init__(case, attr)
        self.rule = rule

    def target(self, query: str) -> Row | None:
        """Of all combinations of values at once: the shares of a pool are not products of shares."""
        if self.rule is None:
            return super().target(query)
        size = int(np.prod([len(part.attribute.values) for part in self.parts]))
        if self.rule == "uniform":
            return [1 / size] * size
        pool = self.case.background.documents(query) if query in self.case.background else []
        if self.rule == "collection":
            pool = sorted({document for shares in self.shares for _, document in shares})
        rows = {d: row for d in pool if (row := self.share(query, d)) is not None}
        mass = [sum(row[value] for row in rows.values()) for value in range(size)]
        if self.rule == "present":
            mass = [float(m > 0) for m in mass]
        if self.rule == "relevance":
            judged = oracles.grades(self.case, query)
            gained = [sum(max(judged.get(d, 0), 0) * row[v] for d, row in rows.items()) for v in range(size)]
            mass = [g / m if m else 0.0 for g, m in zip(gained, mass, strict=True)]
        return [m / sum(mass) for m in mass] if sum(mass) else None

    def values(self, query: str) -> list[bool]:
        if self.rule is None:
            return super().values(query)
        target = self.target(query)
        everything = [True] * int(np.prod([len(part.attribute.values) for part in self.parts]))
        return [share > 0 for share in target] if target and self.rule == "present" else everything

    def memberships(self, m: Measure, documents: Sequence[str], query: str) -> list[Row]:
        """A document without membership is of no group, or equally of all."""
        nothing = [0.0] * len(self.values(query))
        unknown = self.even(query) if m.missing == "uniform" else nothing
        return [self.share(query, d) or unknown for d in documents]


def of(m: Measure, case: Case) -> Wanted:
    return Wanted(case, m.attr, m.target)


def apart(rows: list[Row], target: Row, divergence: Callable[[Row, Row], float] = kl) -> float | None:
    """d of the groups among these documents; None where none of them has a group."""
    mass = [sum(column) for column in zip(*rows, strict=True)]
    total = sum(mass)
    return max(0.0, divergence([m / total for m in mass], target)) if total > 0 else None


def distance(m: Measure, rows: list[Row], target: Row) -> float | None:
    """d_i of FAIR: of these documents, which stand at the first ranks."""
    if m.div == "exposure":
        weights = m.attention.weights(len(rows)).tolist()
        rows = [[v * share for share in row] for v, row in zip(weights, rows, strict=True)]
        return apart(rows, target, lambda p, q: sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))
    if m.div != "ratio":
        return apart(rows, target, DIVERGENCES[m.div])
    counts = [sum(column) for column in zip(*rows, strict=True)]
    total, s = sum(counts), m.smoothing
    if total == 0:
        return None
    whole, worst = total + len(target) * s, 1.0
    for n, wanted in zip(counts, target, strict=True):
        p, q = (n + s) / whole, (wanted * total + s) / whole
        if p > 0 or q > 0:
            worst = max(worst, inf if min(p, q) == 0 else max(p / q, q / p))
    return worst - 1


def _rows(m: Measure, documents: list[str], case: Case, query: str) -> tuple[list[Row], Row] | None:
    groups = of(m, case)
    rows, target = groups.memberships(m, groups.listed(m, documents, query), query), groups.target(query)
    return (rows, target) if rows and target is not None else None


def kl_of_list(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    found = _rows(m, documents, case, query)
    return None if found is None else apart(*found)


def ndrkl(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    found = _rows(m, documents, case, query)
    if found is None:
        return None
    rows, target = found
    total = normaliser = 0.0
    for i in range(1, len(rows) + 1):
        d = apart(rows[:i], target)
        if d is not None:
            total += 1 / log2(1 + i) / (d + 1)
            normaliser += 1 / log2(1 + i)
    return total / normaliser if normaliser else None


def _too_few(m: Measure, documents: list[str], case: Case, query: str) -> list[list[bool]] | None:
    found = _rows(m, documents, case, query)
    if found is None:
        return None
    rows, target = found
    return [
        [sum(row[g] for row in rows[:i]) < floor(q * i + 1e-9) - 1e-9 for g, q in enumerate(target)]
        for i in range(1, len(rows) + 1)
    ]


def infeasible_index(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    short = _too_few(m, documents, case, query)
    return None if short is None else float(sum(any(row) for row in short))


def infeasible_count(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    short = _too_few(m, documents, case, query)
    return None if short is None else float(sum(sum(row) for row in short))


def feasible_depth(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    short = _too_few(m, documents, case, query)
    if short is None:
        return None
    return float(next((i for i, row in enumerate(short) if any(row)), len(short)))


def novelty(covers: list[Row], alpha: float) -> list[float]:
    """G[i] = sum_a J(d_i, a) (1 - alpha)**r_{a,i-1}."""
    gains = []
    for i, row in enumerate(covers):
        before = [sum(other[a] for other in covers[:i]) for a in range(len(row))]
        gains.append(sum(j * (1 - alpha) ** r for j, r in zip(row, before, strict=True)))
    return gains


def greedy(
    gain: Callable[[list[int], int], float],
    rows: list[Row],
    target: Row,
    divergence: Callable[[Row, Row], float] = kl,
    *,
    smoothing: float = 1.0,
    explore: Sequence[bool] = (),
) -> list[int]:
    """Algorithm 1, as printed, with SPEC's smoothing and ties. ``gain(chosen, d)`` is G of d after them."""
    chosen: list[int] = []
    for i in range(len(rows)):
        fairest = i < len(explore) and explore[i]
        chosen.append(next_document(chosen, gain, rows, target, divergence, smoothing, fairest))
    return chosen


def next_document(
    chosen: list[int],
    gain: Callable[[list[int], int], float],
    rows: list[Row],
    target: Row,
    divergence: Callable[[Row, Row], float],
    smoothing: float,
    fairest: bool,
) -> int:
    """The one of the others that Algorithm 1 takes next: two keys, then the old place."""
    left = [d for d in range(len(rows)) if d not in chosen]
    distance = {}
    for d in left:
        found = apart([rows[c] for c in [*chosen, d]], target, divergence)
        distance[d] = inf if found is None else 0.0 if found < TIE else found
    gains = {d: gain(chosen, d) for d in left}

    def nearest(among: list[int]) -> list[int]:
        least = min(distance[d] for d in among)
        return [d for d in among if distance[d] == least or distance[d] <= least + TIE * max(1.0, least)]

    def largest(among: list[int], keys: dict[int, float]) -> list[int]:
        most = max(keys[d] for d in among)
        return [d for d in among if keys[d] == most or keys[d] >= most * (1 - TIE)]

    if fairest:
        return min(largest(nearest(left), gains))
    ratio = {d: _ratio(gains[d], distance[d] + smoothing) for d in left}
    return min(nearest(largest(left, ratio)))


def _ratio(gain: float, divisor: float) -> float:
    if gain <= 0 or divisor == inf:
        return 0.0
    return inf if divisor == 0 else gain / divisor


def fair(m: Measure, documents: list[str], case: Case, query: str) -> float | list[float] | None:
    """``weight`` as printed in the formula with a = 2c - 1, not as a sum of measures."""
    parts = [fair_part(m, documents, case, query, part) for part in ("both", "utility", "fairness")]
    if m.part == "columns":
        return [nan if value is None else value for value in parts]
    if m.part != "both":
        return parts[("both", "utility", "fairness").index(m.part)]
    both, _, alone = parts
    if m.weight >= 0.5:
        return fair_part(m, documents, case, query, "both", 2 * m.weight - 1)
    if m.weight == 0 or alone is None or both is None:
        return alone if m.weight == 0 else None
    return 2 * m.weight * both + (1 - 2 * m.weight) * alone


def fair_part(
    m: Measure, documents: list[str], case: Case, query: str, part: str, a: float = 0.0
) -> float | None:
    """(1/M) sum_i IRM_i (a + (1 - a)/(d_i + 1)); a is 1 for utility. Fairness is the mean of 1/(d_i + 1)."""
    a = 1.0 if part == "utility" else a
    groups = of(m, case)
    target = groups.target(query)
    whole_list = documents
    if m.missing == "drop":
        whole_list = [d for d in documents if groups.share(query, d) is not None]
    rows = groups.memberships(m, whole_list, query)
    if m.whole:
        own = m.irm if m.irm.cutoff or m.cutoff is None else m.irm @ m.cutoff
        value = oracles.ORACLES[own.name](own, whole_list, case, query)
        if value is None or target is None:
            return None
        d = distance(m, rows[: m.cutoff], target) if rows else None
        return value / ((d or 0.0) + 1)
    if part == "fairness":
        if target is None:
            return None
        kept = rows[: m.cutoff]
        found = [d for i in range(1, len(kept) + 1) if (d := distance(m, kept[:i], target)) is not None]
        return sum(1 / (d + 1) for d in found) / len(found) if found else None
    judged = oracles.grades(case, query)
    rel = getattr(m.irm, "rel", None) or 1
    if target is None or (not whole_list if m.pseudo else oracles.undefined(judged, rel)):
        return None
    if m.pseudo:
        relevant = [1 / log2(1 + i) for i in range(1, len(whole_list) + 1)]
        worth = [_gain(m.irm, grade) for grade in relevant] if m.irm.name == "nDCG" else relevant
    else:
        relevant = [float(judged.get(d, 0) >= rel) for d in whole_list]
        worth = [_worth(m.irm, judged.get(d, 0), case) for d in whole_list]
    covers = [[grade * share for share in row] for grade, row in zip(relevant, rows, strict=True)]

    def value(order: list[int]) -> float:
        order = order[: m.cutoff]
        own = _utility(m.irm, [worth[d] for d in order], [covers[d] for d in order])
        total = 0.0
        for i, u in enumerate(own, 1):
            d = distance(m, [rows[place] for place in order[:i]], target)
            total += u * (a + (1 - a) / ((d or 0.0) + 1))
        return total

    listed = list(range(len(whole_list)))
    if m.reachable:
        alpha = getattr(m.irm, "alpha", 0.0)

        def gain(chosen: list[int], d: int) -> float:
            if m.irm.name in ("nDCG", "RBP", "AP", "ERR"):
                return worth[d]
            return novelty([covers[c] for c in [*chosen, d]], alpha)[-1]

        most = value(greedy(gain, rows, target, DIVERGENCES[m.div]))
    else:
        most = _ideal(m, worth, covers, case, query, groups)
    return value(listed) / most if most > 0 else None


def _gain(irm: Measure, grade: float) -> float:
    return max(grade, 0) if irm.dcg == "log2" else 2 ** max(grade, 0) - 1


def _worth(irm: Measure, grade: int, case: Case) -> float:
    if irm.name == "nDCG":
        return _gain(irm, grade)
    largest = max(g for inner in case.qrels.to_dict().values() for g in inner.values())
    if irm.name == "ERR":
        most = irm.max_grade or largest
        return (2 ** min(max(grade, 0), most) - 1) / 2**most
    if irm.name == "RBP" and irm.rel is None:
        return max(grade, 0) / largest
    return float(grade >= (irm.rel or 1))


def _utility(irm: Measure, worth: list[float], covers: list[Row]) -> list[float]:
    ranks = range(1, len(worth) + 1)
    if irm.name == "nDCG":
        return [g / log2(1 + i) for g, i in zip(worth, ranks, strict=True)]
    if irm.name == "RBP":
        return [g * irm.p ** (i - 1) for g, i in zip(worth, ranks, strict=True)]
    if irm.name == "AP":  # times R, by which the ideal is multiplied, too
        return [g * sum(worth[:i]) / i for g, i in zip(worth, ranks, strict=True)]
    if irm.name == "ERR":
        return [g * prod(1 - p for p in worth[: i - 1]) / i for g, i in zip(worth, ranks, strict=True)]
    gains = zip(novelty(covers, irm.alpha), ranks, strict=True)
    if irm.name == "alpha_nDCG":
        return [g / log2(1 + i) for g, i in gains]
    if irm.name == "ERR_IA":
        return [g / i for g, i in gains]
    assert irm.name == "NRBP"
    return [g * irm.beta ** (i - 1) for g, i in gains]


def _ideal(
    m: Measure, worth: list[float], covers: list[Row], case: Case, query: str, groups: Wanted
) -> float:
    if m.irm.name == "RBP":
        return sum(m.irm.p ** (i - 1) for i in range(1, 2000 if m.cutoff is None else m.cutoff + 1))
    judged = oracles.grades(case, query)  # best grade first, then by id descending
    if not m.pseudo:
        rel = getattr(m.irm, "rel", None) or 1
        worth = [_worth(m.irm, grade, case) for grade in judged.values()]
        rows = groups.memberships(m, list(judged), query)
        covers = [
            [(grade >= rel) * share for share in row]
            for grade, row in zip(judged.values(), rows, strict=True)
        ]
    if m.irm.name == "AP":
        return min(sum(worth), m.cutoff or inf)
    if m.irm.name in ("nDCG", "ERR"):
        return sum(_utility(m.irm, sorted(worth, reverse=True)[: m.cutoff], covers[: m.cutoff]))
    if m.irm.name == "alpha_nDCG":
        order: list[Row] = []
        left = list(covers)
        while left and len(order) < (m.cutoff or len(covers)):
            gains = [novelty([*order, row], m.irm.alpha)[-1] for row in left]
            best = next(i for i, gain in enumerate(gains) if gain >= max(gains) - TIE)
            order.append(left.pop(best))
        return sum(_utility(m.irm, [0.0] * len(order), order))
    served = sum(any(row[a] > 0 for row in covers) for a in range(len(covers[0]))) if covers else 0
    if m.irm.name == "ERR_IA":
        return served * sum((1 - m.irm.alpha) ** (i - 1) / i for i in range(1, m.cutoff + 1))
    return served / (1 - (1 - m.irm.alpha) * m.irm.beta)


FAIR_ORACLES = {
    "FAIR": fair,
    "KL": kl_of_list,
    "nDRKL": ndrkl,
    "FeasibleDepth": feasible_depth,
    "InfeasibleIndex": infeasible_index,
    "InfeasibleCount": infeasible_count,
}

_TARGETS = [
    *({"target": rule} for rule in ("uniform", "present", "pool", "collection", "relevance")),
    {"attr": "stars", "target": "relevance"},
    {"attr": "topic", "target": "collection"},
    {"attr": "side*topic", "target": "pool"},
    {"attr": "side*topic", "target": "relevance"},
    {"attr": "tags", "target": "relevance", "missing": "drop"},
]
_MISSING = [{"missing": rule} for rule in ("uniform", "drop", "error")]
_ANY = [*ATTRIBUTES, *_TARGETS, *_MISSING, {"attr": "topic", "missing": "uniform"}]
_IRMS = [
    parse_measure(name, check=False)
    for name in (
        "alpha_nDCG(alpha=0)", "alpha_nDCG(alpha=1)", "alpha_nDCG(rel=2)", "nDCG", "nDCG(dcg='exp-log2')",
        "RBP", "RBP(p=0.5,rel=2)", "ERR_IA", "ERR_IA(alpha=0.2,rel=2)", "NRBP", "NRBP(alpha=1,beta=0.8)",
    )
]  # fmt: skip
_JUDGED_IRMS = [
    parse_measure(name) for name in ("AP", "AP(rel=2)", "ERR", "ERR(max_grade=5)", "ERR(max_grade=2)")
]
FAIR_VARIANTS = {
    **dict.fromkeys(("KL", "nDRKL", "FeasibleDepth", "InfeasibleIndex", "InfeasibleCount"), _ANY),
    "FAIR": [
        *_ANY,
        *({"irm": irm} for irm in _IRMS),
        *({"irm": irm, "attr": attr} for irm in _IRMS[::2] for attr in ("side", "tags")),
        *({"irm": irm, "reachable": True, "attr": "topic"} for irm in _IRMS),
        *({"irm": irm, "pseudo": True, "attr": "side"} for irm in _IRMS),
        {"irm": _IRMS[4], "pseudo": True, "missing": "drop"},
        *({"irm": irm, "attr": attr} for irm in _JUDGED_IRMS for attr in ("side", "origin")),
        *({"irm": irm, "reachable": True, "attr": "topic"} for irm in _JUDGED_IRMS),
        *({"div": "ratio", "attr": attr} for attr in ("side", "origin", "tags")),
        *({"div": "ratio", "smoothing": s, "attr": "stars"} for s in (0, 2)),
        *({"div": "exposure", "attr": attr} for attr in ("side", "origin", "topic")),
        {"div": "exposure", "attention": "rbp(p=0.6)", "missing": "uniform"},
        {"div": "exposure", "whole": True, "irm": parse_measure("AP")},
        *({"weight": c, "irm": irm} for c in (0.0, 0.2, 0.7, 1.0) for irm in (_IRMS[0], _IRMS[3])),
        {"weight": 0.3, "attr": "side*topic", "missing": "drop"},
        *(
            {"part": part, "attr": attr}
            for part in ("utility", "fairness", "columns")
            for attr in ("side", "tags")
        ),
        *({"part": part, "irm": _IRMS[3], "pseudo": True} for part in ("utility", "fairness", "columns")),
        {"pseudo": True, "reachable": True},
        {"pseudo": True, "missing": "uniform", "attr": "stars"},
        {"reachable": True, "missing": "uniform"},
        {"reachable": True, "missing": "drop", "attr": "tags"},
        *({"div": div} for div in ("L1", "JSD", "Hellinger")),
        *({"div": div, "attr": attr} for div in ("NMD", "RNOD") for attr in ("side", "stars")),
        {"div": "RNOD", "attr": "stars", "reachable": True},
        *(
            {"whole": True, "irm": parse_measure(name, check=False)}
            for name in ("P", "AP", "RBP(normalized=True)", "nDCG(judged_only=True)", "alpha_nDCG", "P@2")
        ),
        {"whole": True, "irm": parse_measure("AP(rel=2)"), "missing": "drop", "attr": "topic"},
        {"whole": True, "irm": parse_measure("AP"), "div": "JSD", "missing": "uniform"},
    ],
}
