"""MiniLM with a penalty, an eraser or both: ranked lists, and their values query by query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from debias_data import QuerySet, Vectors

import evenrank as er
from evenrank.arrays import Floats
from evenrank.erasure import Eraser, Targets
from evenrank.stats.intervals import mean_interval, student_quantile

NFAIRR, NDCG = "NFaiRR@10", "nDCG@10"
DEPTH, QUERIES_AT_ONCE = 10, 256


@dataclass(frozen=True)
class Method:
    """Vectors of documents changed by an eraser or not, and a penalty on group words or not."""

    name: str
    eraser: Eraser | None = None
    lam: float = 0.0
    unit: bool = False
    queries: bool = False

    def vectors(self, given: Vectors) -> Vectors:
        found = given if self.eraser is None else self.eraser(given)
        return found / np.linalg.norm(found, axis=1, keepdims=True) if self.unit else found

    def scores(self, queries: Vectors, documents: Vectors, w: Floats) -> Vectors:
        asked = self.eraser(queries) if self.queries and self.eraser is not None else queries
        found: Vectors = asked @ documents.T
        if self.lam:
            found -= (self.lam * (1 - w)).astype(np.float32)
        return found


def methods(vectors: Vectors, words: er.WordCounts) -> list[Method]:
    label = Eraser.fit(vectors, Targets.of_words(words, label_alone=True))
    targets = Targets.of_words(words)
    six = Eraser.fit(vectors, targets)
    return [
        Method("MiniLM"),
        *(Method(f"penalty {lam:g}", lam=lam) for lam in (0.02, 0.05, 0.1)),
        Method("erasure, label", label),
        Method("erasure, six targets", six),
        Method("erasure, six, length 1 again", six, unit=True),
        Method("erasure, six, queries too", six, queries=True),
        Method("erasure, six, second order 4", Eraser.fit(vectors, targets, second_order=4)),
        Method("erasure, six, and penalty 0.05", six, lam=0.05),
        Method("erasure, six, length 1, and penalty 0.05", six, lam=0.05, unit=True),
    ]


def ranked(method: Method, asked: QuerySet, w: Floats) -> er.Run:
    """The first ten documents of every query."""
    documents = method.vectors(asked.collection.vectors)
    ids, names = np.array(asked.collection.ids), list(asked.texts)
    queries, found, values = [], [], []
    for begin in range(0, len(names), QUERIES_AT_ONCE):
        scores = method.scores(asked.vectors[begin : begin + QUERIES_AT_ONCE], documents, w)
        best = np.argpartition(-scores, DEPTH, axis=1)[:, :DEPTH]
        for place, row in enumerate(best):
            order = row[np.argsort(-scores[place, row], kind="stable")]
            queries += [names[begin + place]] * DEPTH
            found += ids[order].tolist()
            values += scores[place, order].tolist()
    return er.Run.build(queries, found, values)


def by_query(run: er.Run, measure: str, asked: QuerySet, words: er.WordCounts) -> Floats:
    """The value of every query, in one order for all runs."""
    known = {"qrels": asked.qrels} if measure == NDCG else {"words": words, "background": words}
    scores = er.evaluate(run, [measure], **known).to_dict()  # type: ignore[arg-type]
    (values,) = next(iter(scores.values())).values() if _nested(scores) else (next(iter(scores.values())),)
    return np.array([values[query] for query in sorted(asked.texts) if query in values])


def _nested(scores: Mapping[str, object]) -> bool:
    first = next(iter(scores.values()))
    return isinstance(first, dict) and isinstance(next(iter(first.values())), dict)


def difference(values: Floats, base: Floats, bounds: tuple[float, float] = (-1.0, 1.0)) -> str:
    low, high, _ = mean_interval(values - base, bounds)
    return f"{np.mean(values - base):+.3f} [{low:+.3f}, {high:+.3f}]"


def shown(p: float) -> str:
    return f"{p:.0e}" if p < 0.001 else f"{p:.3f}"


def crossed(differences: Floats) -> str:
    """(S, Q): the mean with an interval over splits and queries, crossed: their variances added."""
    splits, queries = differences.mean(axis=1), differences.mean(axis=0)
    error = np.sqrt(splits.var(ddof=1) / len(splits) + queries.var(ddof=1) / len(queries))
    reach = student_quantile(0.975, len(splits) - 1.0) * error
    mean = differences.mean()
    return f"{mean:+.3f} [{mean - reach:+.3f}, {mean + reach:+.3f}]"
