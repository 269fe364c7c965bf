"""The re-rankers once more, one list at a time, straight from the papers. Slow on purpose.

Shares that are fractions are taken as fractions, so that floors, ceilings and ties are exact.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from group_oracles import Groups, group_evidence
from word_oracles import Words, word_counts

from evenrank import Attribute, Membership, Polarity
from evenrank.data.tables import DocumentTable
from evenrank.rerankers import Reranker
from evenrank.testing import Case

ATTRIBUTES = {
    "side": ("left", "right"),
    "origin": ("north", "south", "east"),
    "stars": ("0", "1-10", "11-100", "more"),
    "topic": ("a", "b", "c"),
    "tags": ("x", "y", "z"),
}


def evidence(documents: list[str], generator: np.random.Generator, *, partial: bool) -> list[Any]:
    """Words, groups and a table of shops; with ``partial``, some documents are missing in each."""
    rating = generator.integers(1, 6, len(documents)).astype(float)
    kept = [row for row in range(len(documents)) if not (partial and row % 4 == 1)]
    if partial:
        rating[::6] = np.nan
    columns = {"rating": rating[kept], "price": generator.random(len(kept))}
    return [
        *word_counts(documents, generator, partial=partial),
        *group_evidence(documents, generator, partial=partial),
        DocumentTable.build("shop", [documents[row] for row in kept], columns),
        opinions(documents, generator, partial=partial),
    ]


def opinions(documents: list[str], generator: np.random.Generator, *, partial: bool) -> Polarity:
    """Scores on two axes; on the first, many are tied."""
    scores = np.column_stack([generator.integers(-2, 3, len(documents)), generator.random(len(documents))])
    kept = [row for row in range(len(documents)) if not (partial and row % 4 == 2)]
    return Polarity.build([documents[row] for row in kept], scores[kept])


def one_group(documents: list[str], generator: np.random.Generator) -> list[Any]:
    """All documents are of one group, have no group words, and cost the same."""
    lone = [
        Membership.from_labels(Attribute(name, values), dict.fromkeys(documents, values[1]))
        for name, values in ATTRIBUTES.items()
    ]
    (words,) = word_counts(documents, generator)
    nothing = type(words).build(words.doc_ids, words.lengths, words.counts * 0, words.lexicon)
    same = np.ones(len(documents))
    return [nothing, *lone, DocumentTable.build("shop", documents, {"rating": same, "price": same})]


def exact(share: float) -> Fraction:
    """The fraction with a small denominator that is meant, where there is one."""
    near = Fraction(share).limit_denominator(1000)
    return near if abs(near - Fraction(share)) < Fraction(1, 10**12) else Fraction(share)


def rank_by_rank(name: str, labels: Sequence[int], p: Sequence[Fraction], k_max: int) -> list[int]:
    """DetGreedy, DetCons and DetRelaxed as printed, for groups that may run out. Places of ``labels``."""
    queues = [[place for place, label in enumerate(labels) if label == a] for a in range(len(p))]
    counts = [0] * len(p)
    ranked: list[int] = []
    for k in range(1, min(k_max, len(labels)) + 1):
        some = [a for a in range(len(p)) if queues[a]]
        below_min = [a for a in some if counts[a] < math.floor(k * p[a])]
        below_max = [a for a in some if math.floor(k * p[a]) <= counts[a] < math.ceil(k * p[a])]
        if below_min:
            nearest = below_min
        elif name == "DetGreedy":
            nearest = below_max or some
        else:
            keys = {a: Fraction(math.ceil(k * p[a])) / p[a] for a in below_max}
            if not below_max:  # everybody is at the maximum: whose minimum asks next
                keys = {a: (counts[a] + 1) / p[a] if p[a] else math.inf for a in some}
            if name == "DetRelaxed":
                keys = {a: key if key == math.inf else math.ceil(key) for a, key in keys.items()}
            nearest = [a for a, key in keys.items() if key == min(keys.values())]
        chosen = min(nearest, key=lambda a: queues[a][0])
        ranked.append(queues[chosen].pop(0))
        counts[chosen] += 1
    return ranked


def constrained_sort(labels: Sequence[int], p: Sequence[Fraction], k_max: int) -> list[int]:
    """DetConstSort as printed, but with deadlines and slots both counted from 1."""
    queues = [[place for place, label in enumerate(labels) if label == a] for a in range(len(p))]
    minima = [0] * len(p)
    ranked: list[int] = []
    deadlines: list[int] = []
    k = 0
    while len(ranked) < k_max and any(queue and share for queue, share in zip(queues, p, strict=True)):
        k += 1
        now = [math.floor(k * share) for share in p]
        changed = [a for a in range(len(p)) if minima[a] < now[a] and queues[a]]
        for a in sorted(changed, key=lambda a: queues[a][0]):
            ranked.append(queues[a].pop(0))
            deadlines.append(k)
            at = len(ranked) - 1
            while at > 0 and deadlines[at - 1] >= at + 1 and ranked[at - 1] > ranked[at]:
                for row in (ranked, deadlines):
                    row[at - 1], row[at] = row[at], row[at - 1]
                at -= 1
            if len(ranked) == k_max:
                break
        minima = now
    return ranked


def filled(labels: Sequence[int], chosen: Sequence[int]) -> list[int]:
    return [*chosen, *(place for place in range(len(labels)) if place not in set(chosen))]


class Part:
    """The documents of a list that a re-ranker by group looks at, and the way back."""

    def __init__(self, method: Reranker, documents: list[str], case: Case, query: str) -> None:
        self.method = method
        self.groups = Groups(case, method.attr)
        self.head, self.tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
        self.shares = {d: self.groups.share(query, d) for d in self.head}
        self.members = [d for d in self.head if self.shares[d] is not None]
        self.labels = [hard(self.shares[d]) for d in self.members]
        self.target = self.groups.target(query)

    @property
    def k_max(self) -> int:
        return len(self.members) if self.method.top is None else min(self.method.top, len(self.members))

    def back(self, order: Sequence[int]) -> list[str]:
        new = [self.members[place] for place in order]
        if self.method.missing == "stay":
            rest = iter(new)
            return [next(rest) if self.shares[d] is not None else d for d in self.head] + self.tail
        return new + [d for d in self.head if self.shares[d] is None] + self.tail

    def counts(self, after: list[str], label: int) -> list[int]:
        """How many of a group stand in the first i ranks, of those that take part."""
        stand = [d for d in after[: len(self.head)] if self.shares.get(d) is not None]
        of = {d: own == label for d, own in zip(self.members, self.labels, strict=True)}
        return [sum(of[d] for d in stand[: i + 1]) for i in range(len(stand))]


def hard(shares: Sequence[float]) -> int:
    return max(range(len(shares)), key=lambda value: (shares[value], -value))


def deterministic(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    part = Part(method, documents, case, query)
    if part.target is None:
        return part.back(range(len(part.members)))
    p = [exact(share) for share in part.target]
    if method.name == "DetConstSort":
        chosen = constrained_sort(part.labels, p, part.k_max)
    else:
        chosen = rank_by_rank(method.name, part.labels, p, part.k_max)
    return part.back(filled(part.labels, chosen))


def keeps_minima(method: Reranker, before: list[str], after: list[str], case: Case, query: str) -> bool:
    part = Part(method, before, case, query)
    if part.target is None:
        return after == before
    return all(
        count >= math.floor(i * exact(share))
        for label, share in enumerate(part.target)
        for i, count in enumerate(part.counts(after, label)[: part.k_max], start=1)
    )


def binomial(m: int, k: int, p: Fraction) -> Fraction:
    """F(m; k, p)."""
    return sum((math.comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(m + 1)), Fraction(0))


def minima(k: int, p: Fraction, alpha: Fraction) -> list[int]:
    return [next(m for m in range(i + 1) if binomial(m, i, p) > alpha) for i in range(1, k + 1)]


def failing(table: Sequence[int], p: Fraction) -> Fraction:
    """The share of random lists that fail, by going through what each rank may hold."""

    @cache
    def from_here(rank: int, protected: int) -> Fraction:
        if rank and protected < table[rank - 1]:
            return Fraction(1)
        if rank == len(table):
            return Fraction(0)
        return p * from_here(rank + 1, protected + 1) + (1 - p) * from_here(rank + 1, protected)

    return from_here(0, 0)


@cache
def adjusted(k: int, p: Fraction, alpha: Fraction) -> tuple[int, ...]:
    """The table of the largest alpha at which at most a share ``alpha`` of random lists fails."""
    steps = {binomial(m, i, p) for i in range(1, k + 1) for m in range(i)}
    best = [0] * k
    for step in sorted(step for step in steps if step <= alpha):
        table = minima(k, p, step)
        if failing(table, p) > alpha:
            break
        best = table
    return tuple(best)


def fa_ir_table(method: Reranker, part: Part) -> Sequence[int] | None:
    values = part.groups.parts[0].attribute.values
    if method.p is None and part.target is None:
        return None
    share = method.p if method.p is not None else part.target[values.index(method.protected)]
    p, alpha = Fraction(share).limit_denominator(1000), exact(method.alpha)
    if method.adjust:
        return adjusted(part.k_max, p, alpha)
    return minima(part.k_max, p, alpha)


def fa_ir(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    part = Part(method, documents, case, query)
    table = fa_ir_table(method, part)
    if table is None:
        return part.back(range(len(part.members)))
    value = part.groups.parts[0].attribute.values.index(method.protected)
    protected = [place for place, label in enumerate(part.labels) if label == value]
    others = [place for place, label in enumerate(part.labels) if label != value]
    chosen: list[int] = []
    count = 0
    for m in table:
        if protected and (count < m or not others or protected[0] < others[0]):
            chosen.append(protected.pop(0))
            count += 1
        else:
            chosen.append(others.pop(0))
    return part.back(filled(part.labels, chosen))


def passes_test(method: Reranker, before: list[str], after: list[str], case: Case, query: str) -> bool:
    part = Part(method, before, case, query)
    table = fa_ir_table(method, part)
    value = part.groups.parts[0].attribute.values.index(method.protected)
    return table is None or all(
        count >= m for count, m in zip(part.counts(after, value), table, strict=False)
    )


def unique(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    head, tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
    groups, seen, kept, alone = Groups(case, method.attr), set(), [], []
    for d in head:
        share = groups.share(query, d)
        if share is None:
            (alone if method.missing == "behind" else kept).append(d)
        elif hard(share) not in seen:
            seen.add(hard(share))
            kept.append(d)
    return kept + alone + tail


def none_twice(method: Reranker, before: list[str], after: list[str], case: Case, query: str) -> bool:
    groups = Groups(case, method.attr)
    part = after if method.cutoff is None else [d for d in after if d in before[: method.cutoff]]
    labels = [hard(share) for d in part if (share := groups.share(query, d)) is not None]
    return len(set(labels)) == len(labels)


def neutral(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    words = Words(case)
    head, tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
    band = method.band or len(head)

    def key(place: int) -> tuple[int, bool, float]:
        behind = method.missing == "behind" and head[place] not in words.counts
        return place // band, behind, 0.0 if behind else -round(words.neutrality(method, head[place]), 12)

    return [head[place] for place in sorted(range(len(head)), key=key)] + tail


def scores_of(method: Reranker, documents: list[str], case: Case, query: str) -> dict[str, float]:
    """Scores in units of their deviation over the first hundred, or as they are."""
    begin = case.run.offsets[case.run.query_ids.index(query)]
    scores = dict(zip(documents, case.run.scores[begin : begin + len(documents)].tolist(), strict=True))
    spread = statistics.pstdev(list(scores.values())[:100]) if method.scale == "sd" else 1.0
    return {name: score / (spread or 1.0) for name, score in scores.items()}


def penalty(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    words, scores = Words(case), scores_of(method, documents, case, query)

    def value(name: str) -> float:
        neutral = words.neutrality(method, name) if name in words.counts else 1.0
        return scores[name] - method.lam * (1 - neutral)

    head, tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
    return sorted(head, key=lambda name: -round(value(name), 10)) + tail


def group_penalty(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    part, scores = Part(method, documents, case, query), scores_of(method, documents, case, query)
    target = part.target
    lam = 0.0 if target is None else method.lam

    def distance(rows: list[list[float]]) -> float:
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        return (
            0.0 if target is None else sum(abs(a - float(b)) for a, b in zip(mean, target, strict=True)) / 2
        )

    chosen: list[int] = []
    while len(chosen) < len(part.members):
        above = [part.shares[part.members[place]] for place in chosen] if method.marginal else []
        free = [place for place in range(len(part.members)) if place not in chosen]
        value = {
            place: scores[part.members[place]] - lam * distance([*above, part.shares[part.members[place]]])
            for place in free
        }
        chosen.append(max(free, key=lambda place: (round(value[place], 10), -place)))
    return part.back(chosen)


def mmr(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    part = Part(method, documents, case, query)

    def similarity(one: str, two: str) -> float:
        a, b = part.shares[one], part.shares[two]
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)

    order: list[int] = []
    while len(order) < len(part.members):
        value = {}
        for place in set(range(len(part.members))) - set(order):
            d = part.members[place]
            nearest = max((similarity(d, part.members[other]) for other in order), default=0.0)
            relevance = 1 / math.log2(2 + part.head.index(d))
            value[place] = method.lam * relevance - (1 - method.lam) * nearest
        order.append(min(place for place in value if value[place] >= max(value.values()) - 1e-12))
    return part.back(order)


def greedy_mmr(
    method: Reranker, documents: list[str], known: set[str], similarity: Callable[[str, str], float]
) -> list[str]:
    """Eq. 1 of Carbonell and Goldstein, one document after another; those without evidence follow."""
    head, tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
    order: list[str] = []
    while left := [d for d in head if d in known and d not in order]:
        value = {
            d: method.lam / math.log2(2 + head.index(d))
            - (1 - method.lam) * max((similarity(d, other) for other in order), default=0.0)
            for d in left
        }
        order.append(next(d for d in left if value[d] >= max(value.values()) - 1e-12))
    return order + [d for d in head if d not in known] + tail


def vector_mmr(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    (table,) = (source for source in case.evidence if isinstance(source, DocumentTable))
    rows = zip(*(column.tolist() for column in table.columns.values()), strict=True)
    vectors = dict(zip(table.doc_ids.to_pylist(), rows, strict=True))
    known = {d for d, row in vectors.items() if not any(map(math.isnan, row))}

    def cosine(one: str, two: str) -> float:
        a, b = vectors[one], vectors[two]
        return max(0.0, sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b))

    return greedy_mmr(method, documents, known, cosine)


def polarity_mmr(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    (source,) = (source for source in case.evidence if source.name == "polarity")
    scores = np.asarray(source.scores).reshape(len(source.doc_ids), -1)[:, method.axis - 1]
    held = dict(zip(source.doc_ids.to_pylist(), scores.tolist(), strict=True))
    own = [held[d] for d in documents[: method.cutoff] if d in held]
    span = max(own, default=0.0) - min(own, default=0.0)
    return greedy_mmr(
        method, documents, set(held), lambda one, two: 1 - (abs(held[one] - held[two]) / span if span else 0)
    )


class Aspects:
    """P(d|q) and P(d|g) of one list, by document."""

    def __init__(self, method: Reranker, documents: list[str], case: Case, query: str) -> None:
        self.whole, self.tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
        groups = Groups(case, method.attr)
        self.staying = {d for d in self.whole if method.missing == "stay" and groups.share(query, d) is None}
        self.head = [d for d in self.whole if d not in self.staying]
        scores = dict(zip(documents, case.run.select([query]).scores.tolist(), strict=True))
        least = min((scores[d] for d in self.head), default=0.0)
        above = {d: scores[d] - min(least, 0.0) for d in self.head}
        total = sum(above.values())
        self.likely = {d: above[d] / total if total else 1 / len(self.head) for d in self.head}
        self.target = groups.target(query) or [0.0] * len(groups.values(query))
        self.by_group = {
            d: [share * self.likely[d] for share in groups.share(query, d) or [0.0] * len(self.target)]
            for d in self.head
        }

    def back(self, order: list[str]) -> list[str]:
        others = iter(order)
        return [d if d in self.staying else next(others) for d in self.whole] + self.tail

    def first_of_best(self, value: dict[str, float]) -> str:
        return next(d for d in self.head if d in value and value[d] >= max(value.values()) - 1e-12)


def xquad(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    known, order = Aspects(method, documents, case, query), []
    while len(order) < len(known.head):
        value = {}
        for d in set(known.head) - set(order):
            served = [math.prod(1 - known.by_group[s][g] for s in order) for g in range(len(known.target))]
            terms = zip(known.target, known.by_group[d], served, strict=True)
            diverse = sum(q * own * left for q, own, left in terms)
            value[d] = (1 - method.lam) * known.likely[d] + method.lam * diverse
        order.append(known.first_of_best(value))
    return known.back(order)


def pm2(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    known, order = Aspects(method, documents, case, query), []
    seats = [0.0] * len(known.target)
    while len(order) < len(known.head):
        rest = [d for d in known.head if d not in order]
        quotient = [q / (2 * s + 1) for q, s in zip(known.target, seats, strict=True)]
        left = [g for g in range(len(seats)) if any(known.by_group[d][g] > 0 for d in rest)]
        if not left:
            return known.back(order + rest)
        best = next(g for g in left if quotient[g] >= max(quotient[h] for h in left) - 1e-12)
        value = {}
        for d in rest:
            own = known.by_group[d]
            others = sum(quotient[g] * own[g] for g in range(len(seats)) if g != best)
            value[d] = method.lam * quotient[best] * own[best] + (1 - method.lam) * others
        order.append(known.first_of_best(value))
        own = known.by_group[order[-1]]
        seats = [s + x / sum(own) if sum(own) else s for s, x in zip(seats, own, strict=True)]
    return known.back(order)


def sort_by(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    (table,) = (source for source in case.evidence if isinstance(source, DocumentTable))
    column = table.columns[method.field.partition(".")[2]].tolist()
    values = dict(zip(table.doc_ids.to_pylist(), column, strict=True))
    head, tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
    has = [d for d in head if not math.isnan(values.get(d, math.nan))]
    has.sort(key=lambda d: values[d] if method.ascending else -values[d])
    return has + [d for d in head if d not in has] + tail


def oracle(method: Reranker, documents: list[str], case: Case, query: str) -> list[str]:
    grades = case.qrels.to_dict().get(query, {})
    if method.insert:
        first = [d for d, grade in case.qrels.as_listed().get(query, {}).items() if grade > 0]
        return first + [d for d in documents if d not in first]
    head, tail = documents[: method.cutoff], documents[len(documents[: method.cutoff]) :]
    return sorted(head, key=lambda d: -max(grades.get(d, 0), 0)) + tail


DET = ("DetGreedy", "DetCons", "DetRelaxed", "DetConstSort")
ORACLES = {
    **dict.fromkeys(DET, deterministic),
    "FA_IR": fa_ir,
    "MMR": mmr,
    "PolarityMMR": polarity_mmr,
    "VectorMMR": vector_mmr,
    "PM2": pm2,
    "xQuAD": xquad,
    "Neutral": neutral,
    "Penalty": penalty,
    "GroupPenalty": group_penalty,
    "Oracle": oracle,
    "SortBy": sort_by,
    "Unique": unique,
}
PROMISES = {**dict.fromkeys(DET, keeps_minima), "FA_IR": passes_test, "Unique": none_twice}
