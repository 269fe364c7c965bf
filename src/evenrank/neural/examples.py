"""What a ranker learns from: pairs of a query and a document, and triples of a query and two documents."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenrank.arrays import Int64s
from evenrank.data.qrels import Qrels
from evenrank.data.run import Run
from evenrank.errors import DataError, EvenrankWarning, counted, few


@dataclass(frozen=True, eq=False)
class Examples:
    """Triples as rows of pairs: whatever is known of a pair (tokens, labels) is known once."""

    query_ids: tuple[str, ...]
    query_texts: tuple[str, ...]
    documents: tuple[str, ...]  # texts
    pair_queries: Int64s  # (P,) places in query_ids
    pair_documents: Int64s  # (P,) places in documents
    triples: Int64s  # (N, 2) the pair of the relevant document, and of the other one

    def __len__(self) -> int:
        return len(self.triples)

    @property
    def triple_queries(self) -> Int64s:
        """(N,): the query of each triple."""
        return self.pair_queries[self.triples[:, 0]]

    def texts(self, pairs: Int64s) -> tuple[list[str], list[str]]:
        """Queries and documents of these pairs."""
        return (
            [self.query_texts[place] for place in self.pair_queries[pairs].tolist()],
            [self.documents[place] for place in self.pair_documents[pairs].tolist()],
        )

    def of_queries(self, queries: Iterable[str]) -> Examples:
        """The triples of these queries; pairs keep their places."""
        wanted = set(queries)
        places = np.array([query in wanted for query in self.query_ids], dtype=bool)
        return replace(self, triples=self.triples[places[self.triple_queries]])

    def with_texts(self, queries: Sequence[str], documents: Sequence[str]) -> Examples:
        """The same pairs and triples with other words, as scrubbing gives."""
        return replace(self, query_texts=tuple(queries), documents=tuple(documents))


class Gatherer:
    """Collects triples, and gives every pair one place."""

    def __init__(self) -> None:
        self._queries: dict[str, int] = {}
        self._texts: list[str] = []
        self._documents: dict[str, int] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._triples: list[tuple[int, int]] = []

    def add(self, query: str, text: str, positive: str, negative: str) -> None:
        place = self._queries.setdefault(query, len(self._queries))
        if place == len(self._texts):
            self._texts.append(text)
        self._triples.append((self._pair(place, positive), self._pair(place, negative)))

    def _pair(self, query: int, document: str) -> int:
        place = self._documents.setdefault(document, len(self._documents))
        return self._pairs.setdefault((query, place), len(self._pairs))

    def done(self, source: str) -> Examples:
        if not self._triples:
            raise DataError(f"{source}: no query has a relevant document and another one to learn from")
        pairs = np.array(list(self._pairs), dtype=np.int64)  # (P, 2)
        return Examples(
            tuple(self._queries), tuple(self._texts), tuple(self._documents),
            pairs[:, 0].copy(), pairs[:, 1].copy(), np.array(self._triples, dtype=np.int64),
        )  # fmt: skip


def build_examples(
    qrels: Qrels,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    *,
    pool: Run | None = None,
    min_grade: int = 1,
    negatives: int = 4,
    seed: int = 0,
) -> Examples:
    """Triples from judgements: a relevant document, and one drawn from the pool that is not known to be.

    The pool of a query are its documents in the run, or its judged ones without a run; a document of grade
    ``min_grade`` or more is relevant and never a negative. Every relevant document is paired with up to
    ``negatives`` others, drawn without repetition by ``seed`` and the query. Documents without text
    are left out, with a warning that counts them; so are queries without a triple.
    """
    gathered = Gatherer()
    no_text: set[str] = set()
    left_out: list[str] = []
    for query, grades in qrels.to_dict().items():
        text = queries.get(query)
        relevant = [document for document, grade in grades.items() if grade >= min_grade]
        around = grades if pool is None else pool.documents(query) if query in pool else []
        others = [document for document in around if grades.get(document, 0) < min_grade]
        no_text.update(document for document in (*relevant, *others) if document not in documents)
        relevant = [document for document in relevant if document in documents]
        others = [document for document in others if document in documents]
        if text is None or not relevant or not others:
            left_out.append(query)
            continue
        # the draw of a query depends on no other query, so that leaving one out changes nothing else
        generator = np.random.default_rng([seed, *query.encode()])
        for document in relevant:
            drawn = generator.choice(len(others), size=min(negatives, len(others)), replace=False)
            for place in drawn.tolist():
                gathered.add(query, text, documents[document], documents[others[place]])
    examples = gathered.done(qrels.source or "qrels")
    _say_left_out(no_text, left_out)
    return examples


def needed_documents(qrels: Qrels, pool: Run | None) -> set[str]:
    """The documents whose text ``build_examples`` will ask for."""
    pooled = [] if pool is None else pool.doc_ids.to_pylist()
    return {*qrels.doc_ids.to_pylist(), *pooled}


def _say_left_out(no_text: set[str], left_out: list[str]) -> None:
    if no_text:
        warnings.warn(
            f"training goes without {counted(len(no_text), 'document', 'documents')} that have no text: "
            f"{few(sorted(no_text))}",
            EvenrankWarning,
            stacklevel=3,
        )
    if left_out:
        many = counted(len(left_out), "query that lacks", "queries that lack")
        warnings.warn(
            f"training goes without {many} a text, a relevant document or another one: {few(left_out)}",
            EvenrankWarning,
            stacklevel=3,
        )
