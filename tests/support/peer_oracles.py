"""Measures that other tools have, once more from their definitions, one query at a time. Slow on purpose."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, log, log2

import group_oracles
import oracles
import word_oracles
from fair_oracles import Wanted, fair_part
from group_oracles import ATTRIBUTES, Groups, Row, weight

from evenrank import all_measures
from evenrank.measures import Measure
from evenrank.testing import Case


def under_exposure(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    """With a target that sums to 1 it is half of the L1 distance, which AWRF has an oracle for."""
    half = all_measures()["AWRF"](attr=m.attr, attention=m.attention, missing=m.missing, cutoff=m.cutoff)
    by = word_oracles.awrf if m.attr is None else group_oracles.awrf_by_groups
    found = by(half, documents, case, query)
    return None if found is None else found / 2


def exposure_ratio(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    groups, judged = Groups(case, m.attr), oracles.grades(case, query)
    if m.name != "EXP" and query not in case.qrels.to_dict():
        return None
    ranked = groups.listed(m, documents, query)
    rows = groups.rows(ranked, query)
    values = []
    for value, exists in enumerate(groups.values(query)):
        if not exists:
            continue
        members = [row[value] for row in rows]
        exposure = [share / log2(1 + i) for i, share in enumerate(members, 1)]
        grade = [max(judged.get(d, 0), 0) for d in ranked]
        if sum(members) == 0:
            return None
        mean_exposure = sum(exposure) / sum(members)
        mean_grade = sum(s * g for s, g in zip(members, grade, strict=True)) / sum(members)
        mean_clicks = sum(e * g for e, g in zip(exposure, grade, strict=True)) / sum(members)
        if m.name != "EXP" and mean_grade == 0:
            return None
        values.append(
            {
                "EXP": lambda e=mean_exposure: e,
                "EXPU": lambda e=mean_exposure, g=mean_grade: e / g,
                "EXPRU": lambda c=mean_clicks, g=mean_grade: c / g,
            }[m.name]()
        )
    return min(values) / max(values) if values else None


def gini(values: list[float]) -> float:
    return sum(abs(a - b) for a in values for b in values) / (2 * len(values) * sum(values))


def gini_of(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    if m.by == "groups":
        groups = Groups(case, m.attr)
        rows = groups.rows(groups.listed(m, documents, query), query)
        there = [value for value, exists in enumerate(groups.values(query)) if exists]
        exposure = [
            sum(row[value] * weight(m.attention, i) for i, row in enumerate(rows, 1)) for value in there
        ]
        return gini(exposure) if sum(exposure) > 0 else None
    given: dict[str, float] = {}
    for own in case.run.query_ids:
        for i, document in enumerate(case.run.documents(own)[: m.cutoff], 1):
            given[document] = given.get(document, 0.0) + weight(m.attention, i)
    return gini([*given.values()])


def amortised(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    groups = Groups(case, m.attr)
    total: list[float] | None = None
    for own in case.run.query_ids:
        ranked = case.run.documents(own)[: m.cutoff]
        given = [(1 / log2(1 + i), groups.share(own, d)) for i, d in enumerate(ranked, 1)]
        due = [(max(g, 0), groups.share(own, d)) for d, g in oracles.grades(case, own).items()]
        parts = []
        for side in (given, due):
            known = [(amount, row) for amount, row in side if row is not None]
            size = len(known[0][1]) if known else 0
            mass = [sum(amount * row[value] for amount, row in known) for value in range(size)]
            parts.append([m / sum(mass) for m in mass] if sum(mass) > 0 else None)
        if None not in parts:
            apart = [a - r for a, r in zip(*parts, strict=True)]
            total = apart if total is None else [x + y for x, y in zip(total, apart, strict=True)]
    return None if total is None else sum(map(abs, total))


def _counts(m: Measure, documents: list[str], case: Case, query: str) -> tuple[list[Row], Groups]:
    groups = Groups(case, m.attr)
    labelled = [d for d in documents if groups.share(query, d) is not None]
    return [groups.share(query, d) for d in labelled], groups


def _no_likelier(chance: list[float], observed: int) -> float:
    return min(1.0, sum(p for p in chance if p <= chance[observed] * (1 + 1e-7)))


def binomial(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    rows, groups = _counts(m, documents, case, query)
    rows, target = rows[: m.cutoff], groups.target(query)
    if not rows or target is None or any(share not in (0, 1) for row in rows for share in row):
        return None
    n = len(rows)
    return [
        _no_likelier(
            [comb(n, x) * q**x * (1 - q) ** (n - x) for x in range(n + 1)], int(sum(row[v] for row in rows))
        )
        for v, q in enumerate(target)
    ]


def hypergeometric(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    rows, _ = _counts(m, documents, case, query)
    if not rows or any(share not in (0, 1) for row in rows for share in row):
        return None
    population, drawn = len(rows), min(len(rows), m.cutoff)
    values = []
    for v in range(len(rows[0])):
        members = int(sum(row[v] for row in rows))
        chance = [
            comb(members, x) * comb(population - members, drawn - x) / comb(population, drawn)
            for x in range(drawn + 1)
        ]
        values.append(_no_likelier(chance, int(sum(row[v] for row in rows[:drawn]))))
    return values


def fa_ir_test(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    """By the exact binomial of re-rankers' oracles; the table of a list is that of its length."""
    from reranker_oracles import adjusted, minima

    groups = Wanted(case, m.attr, m.target)
    listed = groups.listed(m, documents, query)
    rows, target = groups.memberships(m, listed, query), groups.target(query)
    if not rows or (target is None and m.p is None) or any(x not in (0, 1) for row in rows for x in row):
        return None
    names = groups.parts[0].attribute.values
    found = []
    for v, name in enumerate(names):
        if m.protected not in (None, name):
            continue
        p = target[v] if m.p is None else m.p
        exact, alpha = Fraction(p), Fraction(m.alpha)
        table = [i if p >= 1 else 0 for i in range(1, len(rows) + 1)]
        if 0 < p < 1:
            table = [*(adjusted if m.adjust else minima)(len(rows), exact, alpha)]
        have = [sum(row[v] for row in rows[:i]) for i in range(1, len(rows) + 1)]
        found.append(float(all(n >= least - 1e-9 for n, least in zip(have, table, strict=True))))
    return found


PEER_ORACLES = {
    "Amortised": amortised,
    "BinomialTest": binomial,
    "EXP": exposure_ratio,
    "EXPRU": exposure_ratio,
    "EXPU": exposure_ratio,
    "FA_IR_Test": fa_ir_test,
    "Gini": gini_of,
    "HypergeometricTest": hypergeometric,
    "UnderExposure": under_exposure,
}

_ONE_LABEL = [{"attr": name} for name in ("origin", "tags", "side")]
_MISSING = [{"missing": rule} for rule in ("drop", "error")]
PEER_VARIANTS = {
    "UnderExposure": [
        *({"attr": name} for name in ("side", "origin", "stars", "topic", "tags")),
        {"attention": "rbp(p=0.5)"},
        {"attr": "origin", "attention": "reciprocal"},
        {"missing": "neutral"},
        {"missing": "drop"},
        {"missing": "uniform", "attr": "side"},
    ],
    **{name: [*ATTRIBUTES, *_MISSING] for name in ("EXP", "EXPU", "EXPRU")},
    "Gini": [
        {"attention": "reciprocal"},
        *({"by": "groups", "attr": name} for name in ("side", "origin", "topic", "tags")),
        {"by": "groups", "missing": "drop", "attention": "rbp(p=0.6)"},
    ],
    "Amortised": [{"attr": name} for name in ("side", "origin", "topic", "tags")] + [{"missing": "error"}],
    "BinomialTest": [*_ONE_LABEL, {"missing": "error"}],
    "HypergeometricTest": [*_ONE_LABEL, {"missing": "error"}],
    "FA_IR_Test": [
        *({"attr": name} for name in ("side", "origin", "topic", "tags")),
        {"protected": "south", "p": 0.4},
        {"protected": "east", "alpha": 0.3, "missing": "uniform"},
        {"p": 0.5, "adjust": True, "alpha": 0.25},
        {"target": "pool", "missing": "drop"},
    ],
}


def by_groups(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    """A measure of diversity whose intents are groups: what FAIR divides, by the oracle of FAIR."""
    if m.name == "I_rec":
        judged, groups = oracles.grades(case, query), Groups(case, m.attr)
        rows = {d: groups.share(query, d) for d in {*judged, *documents}}
        if not any(g >= m.rel and rows[d] is not None for d, g in judged.items()):
            return None
        size = len(groups.values(query))
        ranked = [d for d in documents[: m.cutoff] if judged.get(d, 0) >= m.rel and rows[d] is not None]
        found = sum(any(rows[d][value] > 0 for d in ranked) for value in range(size))
        return found / sum(groups.values(query))
    fair = all_measures()["FAIR"](irm=replace(m, attr=None, cutoff=None), attr=m.attr, cutoff=m.cutoff)
    return fair_part(fair, documents, case, query, "utility")


INTENTS_BY_GROUP = {
    name: [{"attr": attr, "rel": rel} for attr, rel in (("side", 1), ("origin", 2), ("tags", 1))]
    for name in ("alpha_nDCG", "ERR_IA", "NRBP", "I_rec")
}


def versions(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    side, content = Groups(case, m.attr or "side"), Groups(case, m.pair or "side")

    def best(groups: Groups, document: str) -> int | None:
        row = groups.share(query, document)
        return None if row is None or max(row) == 0 else row.index(max(row))

    pairs = [
        (i, j)
        for i, one in enumerate(documents[: m.cutoff], 1)
        for j, two in enumerate(documents[: m.cutoff], 1)
        if (best(side, one), best(side, two)) == (0, 1)
        and (m.pair is None or best(content, one) == best(content, two) is not None)
    ]
    if not pairs:
        return None
    if m.name == "PairPreference":
        return sum(1 if i < j else -1 for i, j in pairs) / len(pairs)
    firsts, seconds = ({pair[place] for pair in pairs} for place in (0, 1))
    return log(sum(1 / log2(1 + i) for i in firsts) / sum(1 / log2(1 + j) for j in seconds))


for name in ("PairPreference", "VersionExposure"):
    PEER_ORACLES[name] = versions
    PEER_VARIANTS[name] = [{"attr": "side", "pair": "origin"}, {"attr": "side", "pair": "topic"}]
    PEER_VARIANTS[name] += [{"attr": "side", "missing": "error"}]
