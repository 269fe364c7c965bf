"""The measures of groups once more, one query at a time, straight from the papers. Slow on purpose."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from math import inf, log, log2, nan, sqrt
from typing import Any

import numpy as np
import oracles

from evenrank import Attribute, Membership, all_measures
from evenrank.measures import Measure
from evenrank.testing import Case

QUERIES = [f"q{i}" for i in range(8)]  # those of a random case
SCALE_TARGET = (0.45, 0.0, 0.35, 0.2)
NOMINAL_TARGETS = ("uniform", "present", "pool", "collection", "relevance", (0.5, 0.3, 0.2))

Row = list[float]


def group_evidence(
    documents: list[str],
    generator: np.random.Generator,
    *,
    partial: bool = False,
    only: str | None = None,
    target: object = None,
) -> list[Membership]:
    """Random membership in five attributes; with ``partial``, every fifth document has none of a kind.

    ``side``: two values, soft shares. ``origin``: three, one label each, a target of any kind.
    ``stars``: a scale of four, one of them not wanted. ``topic``: three, by query and document, with a
    target for some queries. ``tags``: three, of which a document may have several.
    """
    count = len(documents)
    keep = [[row for row in range(count) if not (partial and row % 5 == shift)] for shift in range(5)]

    def names(shift: int) -> list[str]:
        return [documents[row] for row in keep[shift]]

    even = generator.random() < 0.5
    side = Attribute("side", ("left", "right"), target="uniform" if even else (0.3, 0.7))
    left = np.round(generator.random(count), 2) * (generator.random(count) < 0.8)
    made = [Membership.from_matrix(side, names(0), np.stack([left, 1 - left], axis=1)[keep[0]])]

    drawn = NOMINAL_TARGETS[int(generator.integers(len(NOMINAL_TARGETS)))]
    origin = Attribute("origin", ("north", "south", "east"), target=target or drawn)
    labels = generator.choice(3, count, p=[0.6, 0.3, 0.1])
    made.append(Membership.build(origin, names(1), [origin.values[labels[row]] for row in keep[1]]))

    stars = Attribute("stars", ("0", "1-10", "11-100", "more"), ordinal=True, target=SCALE_TARGET)
    shares = np.where(generator.random((count, 1)) < 0.5, np.eye(4)[generator.integers(0, 4, count)], 0.25)
    made.append(Membership.from_matrix(stars, names(2), shares[keep[2]]))

    targets = {query: generator.dirichlet(np.ones(3)) for query in QUERIES[:6]}
    topic = Attribute("topic", ("a", "b", "c"), target=targets)
    pairs = [(query, document) for query in QUERIES for document in names(3)]
    matrix = generator.dirichlet(np.full(3, 0.3), len(pairs))
    made.append(
        Membership.from_matrix(
            topic, [document for _, document in pairs], matrix, queries=[query for query, _ in pairs]
        )
    )

    tags = Attribute("tags", ("x", "y", "z"), target=(0.6, 0.2, 0.2))
    several = (generator.random((count, 3)) < 0.4).astype(float)
    several[:, 0] = np.maximum(several[:, 0], 1 - several.max(axis=1))  # at least one
    made.append(Membership.from_matrix(tags, names(4), several[keep[4]], multilabel=True, split="full"))
    return [member for member in made if only is None or member.attribute.name == only]


def only_group(measure: Measure) -> str | None:
    """The one attribute to give to a measure that does not name its own; None to give it all."""
    one = measure.family not in ("diversity", "words") and not measure.name.startswith("EE_")
    if not one or getattr(measure, "attr", "all") is not None:
        return None
    if measure.name in ("dGF", "OB", "Polarity", "PairPreference", "VersionExposure"):  # of two values
        return "side"
    return "stars" if getattr(measure, "div", "") in ("NMD", "RNOD") else "origin"


class Groups:
    """One attribute of a case as plain lists."""

    def __init__(self, case: Case, attr: str | None) -> None:
        members = {m.attribute.name: m for m in case.evidence if isinstance(m, Membership)}
        self.case = case
        self.parts = [members[name] for name in ([*members] if attr is None else attr.split("*"))]
        self.shares = [_plain(member) for member in self.parts]

    def share(self, query: str, document: str) -> Row | None:
        """By value; for a combination, the products over all combinations of values."""
        rows = [shares.get((query, document), shares.get((None, document))) for shares in self.shares]
        if None in rows:
            return None
        return [float(np.prod(combination)) for combination in itertools.product(*rows)]

    def target(self, query: str) -> Row | None:
        rows = [self._target(place, query) for place in range(len(self.parts))]
        if None in rows:
            return None
        return [float(np.prod(combination)) for combination in itertools.product(*rows)]

    def _target(self, place: int, query: str) -> Row | None:
        rule, size = self.parts[place].attribute.target, len(self.parts[place].attribute.values)
        if isinstance(rule, Mapping):
            return list(rule[query]) if query in rule else None
        if rule == "uniform":
            return [1 / size] * size
        if not isinstance(rule, str):
            return list(rule)
        if rule == "collection":
            rows = [row for (owner, _), row in self.shares[place].items() if owner in (None, query)]
        else:
            background = self.case.background
            pool = background.documents(query) if query in background else []
            found = {d: self.shares[place].get((query, d), self.shares[place].get((None, d))) for d in pool}
            rows = [row for row in found.values() if row is not None]
        mass = [sum(row[value] for row in rows) for value in range(size)]
        if rule == "present":
            mass = [float(m > 0) for m in mass]
        if rule == "relevance":
            judged = oracles.grades(self.case, query)
            useful = [(max(judged.get(d, 0), 0), row) for d, row in found.items() if row is not None]
            gained = [sum(grade * row[value] for grade, row in useful) for value in range(size)]
            mass = [g / m if m else 0.0 for g, m in zip(gained, mass, strict=True)]
        return [m / sum(mass) for m in mass] if sum(mass) else None

    def values(self, query: str) -> list[bool]:
        """Which values a query has: those of its documents where only those are wanted, else all."""
        target = self.target(query)
        if target is not None and any(part.attribute.target == "present" for part in self.parts):
            return [share > 0 for share in target]
        return [True] * int(np.prod([len(part.attribute.values) for part in self.parts]))

    def even(self, query: str) -> Row:
        there = self.values(query)
        return [float(own) / sum(there) for own in there]

    def listed(self, m: Measure, documents: list[str], query: str) -> list[str]:
        if m.missing == "drop":
            documents = [d for d in documents if self.share(query, d) is not None]
        return documents[: m.cutoff]

    def rows(self, documents: list[str], query: str) -> list[Row]:
        return [self.share(query, d) or self.even(query) for d in documents]


def _plain(member: Membership) -> dict[tuple[str | None, str], Row]:
    rows = member.shares.dense(np.arange(len(member))).tolist()
    owners = [None if member.query_ids is None else member.query_ids[code] for code in member.query_codes]
    return dict(zip(zip(owners, member.doc_ids.to_pylist(), strict=True), rows, strict=True))


def shares_of(rows: list[Row]) -> Row:
    mass = [sum(column) for column in zip(*rows, strict=True)]
    return [m / sum(mass) for m in mass]


def kl(p: Row, q: Row) -> float:
    if any(b == 0 < a for a, b in zip(p, q, strict=True)):
        return inf
    return sum(a * log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def jsd(p: Row, q: Row) -> float:
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kl(p, middle) + kl(q, middle)) / 2 / log(2)


def nmd(p: Row, q: Row) -> float:
    return sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(p))) / (len(p) - 1)


def rnod(p: Row, q: Row) -> float:
    wanted = [i for i in range(len(q)) if q[i] > 0]
    distance = [sum(abs(i - j) * (p[j] - q[j]) ** 2 for j in range(len(p))) for i in wanted]
    return sqrt(sum(distance) / len(wanted) / (len(p) - 1))


def l1(p: Row, q: Row) -> float:
    return sum(abs(a - b) for a, b in zip(p, q, strict=True))


def hellinger(p: Row, q: Row) -> float:
    return sqrt(sum((sqrt(a) - sqrt(b)) ** 2 for a, b in zip(p, q, strict=True)) / 2)


def largest(p: Row, q: Row) -> float:
    return max(abs(a - b) for a, b in zip(p, q, strict=True))


DIVERGENCES = {
    "MAX": largest,
    "JSD": jsd,
    "NMD": nmd,
    "RNOD": rnod,
    "KL": kl,
    "L1": l1,
    "Hellinger": hellinger,
}


def weight(bias: Any, rank: int) -> float:
    return {
        "log2": lambda: 1 / log2(1 + rank),
        "rbp": lambda: (1 - bias.p) * bias.p ** (rank - 1),
        "reciprocal": lambda: 1 / rank,
        "uniform": lambda: 1.0,
    }[bias.name]()


def _decay(m: Measure, ranked: list[str], case: Case, query: str) -> list[float] | None:
    """The chance to stop at each rank; None where the reader stops by judgements and there is none."""
    if m.decay in (None, "ERR"):  # every case has judgements
        judged = oracles.grades(case, query)
        if oracles.undefined(judged):
            return None
        top = m.max_grade or max(g for inner in case.qrels.to_dict().values() for g in inner.values())
        return oracles._cascade(m, ranked, judged, top)
    if not ranked:
        return None
    if m.decay == "RBP":
        return [(1 - m.phi) * m.phi ** (i - 1) for i in range(1, len(ranked) + 1)]
    total = sum(1 / log2(1 + i) for i in range(1, len(ranked) + 1))
    return [1 / log2(1 + i) / total for i in range(1, len(ranked) + 1)]


def _fairness(m: Measure, documents: list[str], case: Case, query: str, target: Row) -> float | None:
    groups = Groups(case, m.attr)
    ranked = groups.listed(m, documents, query)
    decay, rows = _decay(m, ranked, case, query), groups.rows(ranked, query)
    if decay is None:
        return None
    similar = [1 - DIVERGENCES[m.div](shares_of(rows[:i]), target) for i in range(1, len(rows) + 1)]
    return sum(stop * near for stop, near in zip(decay, similar, strict=True))


def gf(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    target = Groups(case, m.attr).target(query)
    return None if target is None else _fairness(m, documents, case, query, target)


def dgf(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    first = _fairness(m, documents, case, query, [1.0, 0.0])
    second = _fairness(m, documents, case, query, [0.0, 1.0])
    return None if first is None or second is None else first - second


def gfr(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    ordinal = {e.attribute.name: e.attribute.ordinal for e in case.evidence if isinstance(e, Membership)}
    values = []
    if m.relevance is not None:
        own = m.relevance if m.relevance.cutoff or not m.cutoff else m.relevance @ m.cutoff
        if m.max_grade and "max_grade" in vars(own) and own.max_grade is None:
            own = replace(own, max_grade=m.max_grade)
        values.append(oracles.ORACLES[own.name](own, documents, case, query))
    for name in ordinal if m.attrs is None else m.attrs.split(","):
        div = m.ordinal_div if ordinal.get(name.strip()) else m.div
        same = {key: getattr(m, key) for key in ("decay", "phi", "max_grade", "missing", "cutoff")}
        part = all_measures()["GF"](attr=name.strip(), div=div, **same)
        values.append(gf(part, documents, case, query))
    weights = [1.0 / len(values)] * len(values) if m.weights is None else map(float, m.weights.split(","))
    terms = [(own, value) for own, value in zip(weights, values, strict=True) if own > 0]
    return None if any(value is None for _, value in terms) else sum(own * value for own, value in terms)


def skew(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    groups = Groups(case, m.attr)
    rows, target = groups.rows(groups.listed(m, documents, query), query), groups.target(query)
    if not rows or target is None:
        return None

    def one(p: float, q: float) -> float:
        if p == q == 0:
            return nan
        return -inf if p == 0 else inf if q == 0 else log(p / q)

    return [one(p, q) for p, q in zip(shares_of(rows), target, strict=True)]


def _extreme_skew(choose):
    def oracle(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
        values = skew(m, documents, case, query)
        return None if values is None else choose(value for value in values if value == value)

    return oracle


def ndkl(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    groups = Groups(case, m.attr)
    rows, target = groups.rows(groups.listed(m, documents, query), query), groups.target(query)
    if not rows or target is None:
        return None
    total = sum(kl(shares_of(rows[:i]), target) / log2(1 + i) for i in range(1, len(rows) + 1))
    return total / sum(1 / log2(1 + i) for i in range(1, len(rows) + 1))


def ece(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    groups = Groups(case, m.attr)
    rows = groups.rows(groups.listed(m, documents, query), query)
    if not rows:
        return None
    return [
        sum(row[value] * m.p * (1 - m.p) ** (i - 1) for i, row in enumerate(rows, 1))
        for value in range(len(rows[0]))
    ]


def group_share(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    groups = Groups(case, m.attr)
    if m.of == "target":
        return groups.target(query)
    listed = [groups.share(query, d) for d in groups.listed(m, documents, query)]
    rows = [[share * weight(m.attention, i) for share in row] for i, row in enumerate(listed, 1) if row]
    total = sum(map(sum, rows))
    return [sum(row[value] for row in rows) / total for value in range(len(rows[0]))] if total else None


def mean_attention(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    groups = Groups(case, m.attr)
    rows, exposure = groups.rows(groups.listed(m, documents, query), query), ece(m, documents, case, query)
    if exposure is None:
        return None
    mass = [sum(row[value] for row in rows) for value in range(len(exposure))]
    return [100 * e / own if own else nan for e, own in zip(exposure, mass, strict=True)]


def abr(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    values = mean_attention(m, documents, case, query)
    if values is None:
        return None
    there = Groups(case, m.attr).values(query)
    own = [value for value, exists in zip(values, there, strict=True) if exists]
    return None if any(value != value for value in own) else min(own) / max(own)


def _leaning(m: Measure, documents: list[str], case: Case, query: str) -> list[tuple[str, float]]:
    groups = Groups(case, m.attr)
    ranked = groups.listed(m, documents, query)
    return [(d, row[0] - row[1]) for d, row in zip(ranked, groups.rows(ranked, query), strict=True)]


def output_bias(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    bias = [b for _, b in _leaning(m, documents, case, query)]
    return sum(sum(bias[:t]) / t for t in range(1, len(bias) + 1)) / len(bias) if bias else None


def mean_polarity(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = oracles.grades(case, query)
    counted = [
        (weight(m.attention, rank), b)
        for rank, (d, b) in enumerate(_leaning(m, documents, case, query), 1)
        if not m.relevant or judged.get(d, 0) >= m.rel
    ]
    return sum(v * b for v, b in counted) / sum(v for v, _ in counted) if counted else None


def expected_exposure(m: Measure, lists: list[list[str]], case: Case, query: str) -> float | None:
    """Of one or several rankings of a query."""
    judged = oracles.grades(case, query)
    lists = [ranking for ranking in lists if ranking]
    if oracles.undefined(judged) or not lists:
        return None

    def v(rank: int) -> float:
        return weight(m.attention, rank) if m.cutoff is None or rank <= m.cutoff else 0.0

    pool = sorted({*judged, *(d for ranking in lists for d in ranking)})
    given = {d: sum(v(ranking.index(d) + 1) for ranking in lists if d in ranking) / len(lists) for d in pool}
    due = {}
    for d in pool:
        grade = max(judged.get(d, 0), 0)
        better = sum(max(judged.get(o, 0), 0) > grade for o in pool)
        alike = sum(max(judged.get(o, 0), 0) == grade for o in pool)
        due[d] = sum(v(rank) for rank in range(better + 1, better + alike + 1)) / alike
    e, wanted = [given[d] for d in pool], [due[d] for d in pool]
    if m.attr is not None:
        rows = Groups(case, m.attr).rows(pool, query)
        e, wanted = (
            [
                sum(x * row[value] for x, row in zip(vector, rows, strict=True))
                for value in range(len(rows[0]))
            ]
            for vector in (e, wanted)
        )
    if m.name == "EE_D":
        return sum(x * x for x in e)
    if m.name == "EE_R":
        return sum(x * y for x, y in zip(e, wanted, strict=True))
    return sum((x - y) ** 2 for x, y in zip(e, wanted, strict=True))


def one_ranking(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    return expected_exposure(m, [documents], case, query)


def awrf_by_groups(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    groups = Groups(case, m.attr)
    rows, target = groups.rows(groups.listed(m, documents, query), query), groups.target(query)
    if not rows or target is None:
        return None
    exposure = [
        sum(row[value] * weight(m.attention, i) for i, row in enumerate(rows, 1))
        for value in range(len(target))
    ]
    value = DIVERGENCES[m.distance]([e / sum(exposure) for e in exposure], target)
    return 1 - value if m.fairness else value


GROUP_ORACLES = {
    "ABR": abr,
    "ECE": ece,
    "EE_D": one_ranking,
    "EE_L": one_ranking,
    "EE_R": one_ranking,
    "GF": gf,
    "GFR": gfr,
    "GroupShare": group_share,
    "MA": mean_attention,
    "MaxSkew": _extreme_skew(max),
    "MinSkew": _extreme_skew(min),
    "NDKL": ndkl,
    "OB": output_bias,
    "Polarity": mean_polarity,
    "Skew": skew,
    "dGF": dgf,
}

ATTRIBUTES = [{"attr": name} for name in ("side", "origin", "stars", "topic", "tags", "side*topic")]
_MISSING = [{"missing": "drop"}, {"missing": "error"}]
_ANY = [*ATTRIBUTES, *_MISSING]
_BINARY = [{"attr": "side"}, *_MISSING]
_READER = [
    {"decay": "ERR"},
    {"decay": "RBP"},
    {"decay": "log2"},
    {"decay": "RBP", "phi": 0.5},
    {"max_grade": 5},
    {"decay": "log2", "missing": "drop"},
]
_OTHER_ATTENTION = [{"attention": bias} for bias in ("rbp(p=0.5)", "uniform")]
GROUP_VARIANTS = {
    "GF": [
        *_ANY,
        *_READER,
        *({"attr": attr, "div": div} for attr in ("side", "stars") for div in ("NMD", "RNOD")),
        {"div": "RNOD", "decay": "RBP", "missing": "drop"},
        *({"attr": attr, "div": "MAX"} for attr in ("side", "origin", "stars")),
    ],
    "dGF": [*_BINARY, *_READER, {"div": "NMD"}, {"div": "RNOD"}],
    "GFR": [
        {"attrs": "origin"},
        {"attrs": "stars, side"},
        {"attrs": "side*topic,stars"},
        {"relevance": all_measures()["ERR"]()},
        {"relevance": all_measures()["nDCG"](cutoff=2), "attrs": "side"},
        {"relevance": None},
        {"relevance": None, "decay": "RBP"},
        {"weights": "0.5,0.25,0.25", "attrs": "side,tags"},
        {"weights": "0,0.25,0.75", "attrs": "side,tags"},
        {"div": "NMD", "attrs": "side"},
        {"ordinal_div": "NMD"},
        {"ordinal_div": "JSD", "decay": "log2"},
        {"decay": "RBP", "phi": 0.5},
        {"max_grade": 5},
        {"max_grade": 5, "relevance": all_measures()["ERR"](max_grade=4)},
        *_MISSING,
    ],
    **dict.fromkeys(("Skew", "NDKL"), _ANY),
    "GroupShare": [
        *_ANY,
        {"of": "target"},
        {"of": "target", "attr": "stars"},
        {"attention": "log2"},
        {"attention": "log2", "missing": "undefined"},
        {"attention": "rbp(p=0.5)", "missing": "drop"},
    ],
    **{name: [*_ANY, {"over": "extreme"}] for name in ("MinSkew", "MaxSkew")},
    **{name: [*_ANY, {"p": 0.4}] for name in ("MA", "ABR", "ECE")},
    "OB": _BINARY,
    "Polarity": [
        *_BINARY,
        *_OTHER_ATTENTION,
        {"relevant": True},
        {"relevant": True, "rel": 2, "missing": "drop"},
    ],
    **{
        name: [*ATTRIBUTES, *_OTHER_ATTENTION, {"missing": "error", "attr": "origin"}]
        for name in ("EE_L", "EE_D", "EE_R")
    },
    "AWRF": [
        *({**given, "missing": "uniform"} for given in ATTRIBUTES),
        {"attr": "origin"},
        {"attr": "stars", "missing": "drop", "distance": "JSD", "fairness": True},
        {"attr": "stars", "missing": "neutral", "distance": "KL"},
        {"attr": "topic", "missing": "drop", "distance": "Hellinger", "attention": "rbp(p=0.5)"},
    ],
}
