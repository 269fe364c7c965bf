"""Every measure once more, one query at a time, straight from its definition. Slow on purpose."""

from __future__ import annotations

from math import log2

from evenrank.measures import Measure
from evenrank.testing import Case


def grades(case: Case, query: str) -> dict[str, int]:
    return case.qrels.to_dict().get(query, {})


def intents(case: Case, query: str) -> dict[str, dict[str, int]]:
    return case.intents.to_dict().get(query, {})


def undefined(judged: dict[str, int], rel: int = 1) -> bool:
    return not any(grade >= rel for grade in judged.values())


def ndcg(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged):
        return None
    gain = {d: max(g, 0) if m.dcg == "log2" else 2 ** max(g, 0) - 1 for d, g in judged.items()}
    ranked = [d for d in documents if d in judged] if m.judged_only else documents
    dcg = sum(gain.get(d, 0) / log2(i + 1) for i, d in enumerate(ranked[: m.cutoff], 1))
    ideal = sum(g / log2(i + 1) for i, g in enumerate(sorted(gain.values(), reverse=True)[: m.cutoff], 1))
    return dcg / ideal


def _relevant(m: Measure, documents: list[str], judged: dict[str, int]) -> list[bool]:
    ranked = [d for d in documents if d in judged] if m.judged_only else documents
    return [judged.get(d, 0) >= m.rel for d in ranked[: m.cutoff]]


def precision(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    return None if undefined(judged, m.rel) else sum(_relevant(m, documents, judged)) / m.cutoff


def recall(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged, m.rel):
        return None
    return sum(_relevant(m, documents, judged)) / sum(g >= m.rel for g in judged.values())


def reciprocal_rank(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged, m.rel):
        return None
    return next((1 / i for i, hit in enumerate(_relevant(m, documents, judged), 1) if hit), 0.0)


def average_precision(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged, m.rel):
        return None
    hits = _relevant(m, documents, judged)
    return sum(sum(hits[:i]) / i for i, hit in enumerate(hits, 1) if hit) / sum(
        g >= m.rel for g in judged.values()
    )


def rbp(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged, m.rel or 1):
        return None
    top = max(g for inner in case.qrels.to_dict().values() for g in inner.values())
    gain = {d: max(g, 0) / top if m.rel is None else float(g >= m.rel) for d, g in judged.items()}
    value = (1 - m.p) * sum(gain.get(d, 0) * m.p**i for i, d in enumerate(documents[: m.cutoff]))
    return value / (1 - m.p**m.cutoff) if m.normalized and m.cutoff else value


def _cascade(m: Measure, documents: list[str], judged: dict[str, int], top: int) -> list[float]:
    stops, reach = [], 1.0
    for d in documents[: m.cutoff]:
        p = (2 ** max(0, min(judged.get(d, 0), top)) - 1) / 2**top
        stops.append(reach * p)
        reach *= 1 - p
    return stops


def err(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged):
        return None
    top = m.max_grade or max(g for inner in case.qrels.to_dict().values() for g in inner.values())
    return sum(stop / i for i, stop in enumerate(_cascade(m, documents, judged, top), 1))


def irbu(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    judged = grades(case, query)
    if undefined(judged):
        return None
    top = m.max_grade or max(g for inner in case.qrels.to_dict().values() for g in inner.values())
    return sum(stop * m.phi**i for i, stop in enumerate(_cascade(m, documents, judged, top), 1))


def _none_covered(by_intent: dict[str, dict[str, int]], rel: int = 1) -> bool:
    return not any(g >= rel for inner in by_intent.values() for g in inner.values())


def _novelty(
    documents: list[str], by_intent: dict[str, dict[str, int]], alpha: float, rel: int
) -> list[float]:
    seen, gains = dict.fromkeys(by_intent, 0), []
    for d in documents:
        hit = [i for i, inner in by_intent.items() if inner.get(d, 0) >= rel]
        gains.append(sum((1 - alpha) ** seen[i] for i in hit))
        for i in hit:
            seen[i] += 1
    return gains


def alpha_ndcg(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    by_intent = intents(case, query)
    if _none_covered(by_intent, m.rel):
        return None
    left = sorted({d for inner in by_intent.values() for d in inner}, reverse=True)
    ideal: list[str] = []
    while left and len(ideal) < (m.cutoff or 10**9):
        best = max(left, key=lambda d: round(_novelty([*ideal, d], by_intent, m.alpha, m.rel)[-1], 10))
        ideal.append(best)
        left.remove(best)
    dcg, best_dcg = (
        sum(g / log2(i + 1) for i, g in enumerate(_novelty(ranked, by_intent, m.alpha, m.rel), 1))
        for ranked in (documents[: m.cutoff], ideal)
    )
    return dcg / best_dcg


def err_ia(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    by_intent = intents(case, query)
    if _none_covered(by_intent, m.rel):
        return None
    if not m.normalized:
        top = m.max_grade or case.intents.max_grade
        return sum(
            sum(stop / i for i, stop in enumerate(_cascade(m, documents, inner, top), 1)) / len(by_intent)
            for inner in by_intent.values()
        )
    gains = _novelty(documents[: m.cutoff], by_intent, m.alpha, m.rel)
    served = sum(any(g >= m.rel for g in inner.values()) for inner in by_intent.values())
    most = sum((1 - m.alpha) ** (i - 1) / i for i in range(1, m.cutoff + 1))
    return sum(g / i for i, g in enumerate(gains, 1)) / (served * most)


def nrbp(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    by_intent = intents(case, query)
    if _none_covered(by_intent, m.rel):
        return None
    gains = _novelty(documents[: m.cutoff], by_intent, m.alpha, m.rel)
    served = sum(any(g >= m.rel for g in inner.values()) for inner in by_intent.values())
    return (1 - (1 - m.alpha) * m.beta) / served * sum(m.beta**i * g for i, g in enumerate(gains))


def intent_recall(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    by_intent, rel = intents(case, query), getattr(m, "rel", 1)
    if _none_covered(by_intent, rel):
        return None
    covered = sum(any(inner.get(d, 0) >= rel for d in documents[: m.cutoff]) for inner in by_intent.values())
    return covered / len(by_intent)


def d_ndcg(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    by_intent = intents(case, query)
    if _none_covered(by_intent):
        return None
    everything = {d for inner in by_intent.values() for d in inner}
    gain = {
        d: sum(2 ** inner.get(d, 0) - 1 for inner in by_intent.values()) / len(by_intent) for d in everything
    }
    dcg = sum(gain.get(d, 0) / log2(i + 1) for i, d in enumerate(documents[: m.cutoff], 1))
    return dcg / sum(
        g / log2(i + 1) for i, g in enumerate(sorted(gain.values(), reverse=True)[: m.cutoff], 1)
    )


def dsharp_ndcg(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    first, second = intent_recall(m, documents, case, query), d_ndcg(m, documents, case, query)
    return None if first is None or second is None else m.gamma * first + (1 - m.gamma) * second


ORACLES = {
    "AP": average_precision,
    "D_nDCG": d_ndcg,
    "Dsharp_nDCG": dsharp_ndcg,
    "ERR": err,
    "ERR_IA": err_ia,
    "I_rec": intent_recall,
    "NRBP": nrbp,
    "P": precision,
    "R": recall,
    "RBP": rbp,
    "RR": reciprocal_rank,
    "alpha_nDCG": alpha_ndcg,
    "iRBU": irbu,
    "nDCG": ndcg,
}
