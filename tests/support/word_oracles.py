"""The measures of group words once more, one query at a time, straight from the papers. Slow on purpose."""

from __future__ import annotations

from math import log, log2, sqrt

import numpy as np

from evenrank import Lexicon, WordCounts, scan
from evenrank.measures import Measure
from evenrank.testing import Case

TERMS = {"a": ["he", "man", "boy"], "b": ["she", "woman"]}


def word_counts(
    documents: list[str], generator: np.random.Generator, *, partial: bool = False
) -> list[WordCounts]:
    """Random counts of five terms in every document, or in most of them; some have none."""
    shares = {"a": 0.5, "b": 0.5} if generator.random() < 0.5 else {"a": 0.7, "b": 0.3}
    lexicon = Lexicon.build("toy", TERMS, targets=shares)
    by_term = generator.poisson(0.6, (len(documents), 5)) * (generator.random((len(documents), 1)) < 0.7)
    others = generator.integers(0, 20, len(documents))
    terms = [term for group in TERMS.values() for term in group]
    texts = [
        (document, " ".join([*np.repeat(terms, counts), *["and"] * other]))
        for row, (document, counts, other) in enumerate(zip(documents, by_term, others, strict=True))
        if not (partial and row % 5 == 0)
    ]
    return [scan(texts, lexicon, terms=True)]


class Words:
    """The counts of one case by document id; ``None`` where a document was not counted."""

    def __init__(self, case: Case) -> None:
        (self.words,) = (source for source in case.evidence if isinstance(source, WordCounts))
        ids = self.words.doc_ids.to_pylist()
        self.counts = dict(zip(ids, self.words.counts.tolist(), strict=True))
        self.lengths = dict(zip(ids, self.words.lengths.tolist(), strict=True))
        self.by_term = dict(zip(ids, self.words.terms.dense(np.arange(len(ids))).tolist(), strict=True))
        self.target = self.words.lexicon.targets

    def listed(self, m: Measure, documents: list[str]) -> list[str]:
        kept = [d for d in documents if d in self.counts] if m.missing == "drop" else documents
        return kept[: m.cutoff]

    def count(self, d: str) -> list[int]:
        return self.counts.get(d, [0, 0])

    def neutrality(self, m: Measure, d: str) -> float:
        counts = self.count(d)
        if sum(counts) <= m.tau:
            return 1.0
        worst = 2 * (1 - min(self.target))
        return 1 - sum(abs(c / sum(counts) - j) for c, j in zip(counts, self.target, strict=True)) / worst


def discounted(values: list[float]) -> float:
    return sum(value / log2(1 + i) for i, value in enumerate(values, 1))


def fairr(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    words = Words(case)
    ranked = words.listed(m, documents)
    return discounted([words.neutrality(m, d) for d in ranked]) if ranked else None


def _background(m: Measure, words: Words, case: Case, query: str) -> list[float]:
    documents = case.background.documents(query) if query in case.background else []
    kept = [d for d in documents if d in words.counts or m.missing != "drop"]
    return sorted((words.neutrality(m, d) for d in kept), reverse=True)


def nfairr(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    value, background = fairr(m, documents, case, query), _background(m, Words(case), case, query)
    ideal = discounted(background[: m.cutoff])
    return None if value is None or ideal == 0 else value / ideal


def set_fairr(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    background = _background(m, Words(case), case, query)
    if not background:
        return None
    return sum(background) / len(background) * discounted([1.0] * min(m.cutoff, len(background)))


def nset_fairr(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    value, background = set_fairr(m, documents, case, query), _background(m, Words(case), case, query)
    ideal = discounted(background[: m.cutoff])
    return None if value is None or ideal == 0 else value / ideal


def _bias(m: Measure, words: Words, ranked: list[str]) -> list[float]:
    form = {"tc": float, "tf": lambda c: log(1 + c), "bool": lambda c: float(c > 0)}[m.form]
    return [form(words.count(d)[0]) - form(words.count(d)[1]) for d in ranked]


def rab(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    words = Words(case)
    bias = _bias(m, words, words.listed(m, documents))
    return sum(bias) / len(bias) if bias else None


def arab(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    words = Words(case)
    bias = _bias(m, words, words.listed(m, documents))
    means = [sum(bias[:t]) / t for t in range(1, len(bias) + 1)]
    return sum(means) / len(means) if means else None


def _weight(m: Measure, rank: int) -> float:
    name, p = m.attention.name, getattr(m.attention, "p", None)
    return {
        "log2": lambda: 1 / log2(1 + rank),
        "rbp": lambda: (1 - p) * p ** (rank - 1),
        "reciprocal": lambda: 1 / rank,
        "uniform": lambda: 1.0,
    }[name]()


def _exposure(m: Measure, words: Words, ranked: list[str]) -> list[float]:
    total = [0.0, 0.0]
    for rank, d in enumerate(ranked, 1):
        for group in range(2):
            if words.lengths.get(d, 0) > 0:
                total[group] += words.count(d)[group] / words.lengths[d] * _weight(m, rank)
    return total


def rbdf(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    words = Words(case)
    ranked = words.listed(m, documents)
    if not ranked:
        return None
    weights = [_weight(m, rank) for rank in range(1, len(ranked) + 1)]
    return sum(w for w, d in zip(weights, ranked, strict=True) if sum(words.count(d))) / sum(weights)


def ted(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    words = Words(case)
    ranked = words.listed(m, documents)
    exposure = _exposure(m, words, ranked)
    if not ranked or (sum(exposure) == 0 and not m.rbdf):
        return None
    if sum(exposure) == 0:
        return 0.0
    difference = sum(abs(e / sum(exposure) - j) for e, j in zip(exposure, words.target, strict=True))
    return difference * rbdf(m, documents, case, query) if m.rbdf else difference


def texfair(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    value, worst = ted(m, documents, case, query), 2 * (1 - min(Words(case).target))
    return None if value is None else (worst - value) / (worst if m.normalized else 1)


def group_exposure(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    words = Words(case)
    exposure = _exposure(m, words, words.listed(m, documents))
    return [e / sum(exposure) for e in exposure] if sum(exposure) else None


def term_exposure(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    words = Words(case)
    ranked = words.listed(m, documents)
    if not ranked:
        return None
    return [
        sum(
            words.by_term[d][t] / words.lengths[d] * _weight(m, rank)
            for rank, d in enumerate(ranked, 1)
            if words.lengths.get(d, 0) > 0
        )
        for t in range(5)
    ]


def awrf(m: Measure, documents: list[str], case: Case, query: str) -> float | None:
    words = Words(case)
    ranked = words.listed(m, documents)
    if not ranked:
        return None
    total = [0.0, 0.0]
    for rank, d in enumerate(ranked, 1):
        counts = words.count(d) if sum(words.count(d)) else [1, 1]
        for group in range(2):
            total[group] += _weight(m, rank) * counts[group] / sum(counts)
    p, q = [t / sum(total) for t in total], words.target

    def kl(a: list[float], b: list[float]) -> float:
        return sum(x * log(x / y) for x, y in zip(a, b, strict=True) if x > 0)

    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    value = {
        "L1": lambda: sum(abs(a - b) for a, b in zip(p, q, strict=True)),
        "KL": lambda: kl(p, q),
        "JSD": lambda: (kl(p, middle) + kl(q, middle)) / 2 / log(2),
        "Hellinger": lambda: sqrt(sum((sqrt(a) - sqrt(b)) ** 2 for a, b in zip(p, q, strict=True)) / 2),
    }[m.distance]()
    return 1 - value if m.fairness else value


def random_order(m: Measure, documents: list[str], case: Case, query: str) -> list[float] | None:
    """The mean over the same draws, one order at a time."""
    if not documents:
        return None
    inner = m.measure if m.cutoff is None else m.measure @ m.cutoff
    keys = np.random.default_rng(m.seed).random((len(documents), m.samples)).T
    values = [
        WORD_ORACLES[inner.name](inner, [documents[i] for i in np.argsort(row, kind="stable")], case, query)
        for row in keys
    ]
    return None if None in values else [float(np.mean(values)), float(np.std(values) / sqrt(m.samples - 1))]


WORD_ORACLES = {
    "RandomOrder": random_order,
    "ARaB": arab,
    "AWRF": awrf,
    "FaiRR": fairr,
    "GroupExposure": group_exposure,
    "NFaiRR": nfairr,
    "NSetFaiRR": nset_fairr,
    "RBDF": rbdf,
    "RaB": rab,
    "SetFaiRR": set_fairr,
    "TED": ted,
    "TExFAIR": texfair,
    "TermExposure": term_exposure,
}
