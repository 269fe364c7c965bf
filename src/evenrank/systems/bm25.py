"""BM25, from the package bm25s, and the same with a query expanded by what it found first (RM3)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evenrank.arrays import Floats, Int64s
from evenrank.data.run import Run
from evenrank.errors import DataError, MissingExtraError, ParameterError
from evenrank.grammar import declare, integer, number, parameter, text
from evenrank.systems.base import IndexedDocuments, Texts, check_depth, check_texts, not_indexed, run_of
from evenrank.systems.declared import LEXICAL, SystemSettings, SystemTerm
from evenrank.systems.kept import Arrays, KeptArrays, digest_of, packed_words, unpacked_words
from evenrank.systems.naming import declare_short


class BM25:
    """Okapi BM25 in Lucene's form. Words in lower case of two letters or more, English stop words left out,
    no stemming: the defaults of bm25s.

    >>> system = BM25()
    >>> system.index({"d1": "a cat sat", "d2": "a dog barked"})
    >>> system.retrieve({"q": "dog"}).documents("q")
    ['d2']
    """

    def __init__(
        self,
        k1: float = 1.5,
        b: float = 0.75,
        stopwords: str | list[str] | None = "en",
        name: str = "bm25",
        *,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        if not 0 <= b <= 1 or not k1 >= 0:
            raise ParameterError(f"BM25: k1 must be >= 0 and b between 0 and 1, got k1={k1}, b={b}")
        self.name = name
        self._k1, self._b, self._stopwords = k1, b, stopwords
        self._kept = KeptArrays(cache)
        self._collection: IndexedDocuments | None = None
        self._postings: dict[str, npt.NDArray[Any]] = {}
        self._vocabulary: dict[str, int] = {}
        self._tokens: list[list[int]] = []  # of each document, for feedback

    def index(self, documents: Texts) -> None:
        texts = check_texts(documents, "documents")
        if self._kept.lasting:
            found = self._kept.get(self._key(texts), lambda: self._packed(list(texts.values())))
            self._unpack(found)
        else:
            self._build(list(texts.values()))
        self._collection = IndexedDocuments(texts)

    def _build(self, texts: list[str]) -> None:
        library = _bm25s()
        tokens = library.tokenize(texts, stopwords=self._stopwords or [], show_progress=False)
        if not any(tokens.ids):
            raise DataError(f"{self.name}: no document has a word to be found by (stop words are left out)")
        ranker = library.BM25(k1=self._k1, b=self._b)
        ranker.index(tokens, show_progress=False)
        self._postings, self._vocabulary, self._tokens = ranker.scores, ranker.vocab_dict, tokens.ids

    def _key(self, texts: Mapping[str, str]) -> str:
        about = f"bm25 {_bm25s().__version__} {self._k1!r} {self._b!r} {self._stopwords!r}"
        return digest_of(about, texts, texts.values())

    def _packed(self, texts: list[str]) -> Arrays:
        """The index as arrays: postings, the vocabulary, and the tokens of all documents."""
        self._build(texts)
        lengths = [len(tokens) for tokens in self._tokens]
        flat = [term for tokens in self._tokens for term in tokens]
        return {
            **{part: self._postings[part] for part in ("indptr", "indices", "data")},
            "words": packed_words(self._vocabulary),
            "codes": np.array(list(self._vocabulary.values()), dtype=np.int64),
            "ends": np.cumsum(lengths, dtype=np.int64),
            "tokens": np.array(flat, dtype=np.int32),
        }

    def _unpack(self, held: Arrays) -> None:
        self._postings = {part: held[part] for part in ("indptr", "indices", "data")}
        words = unpacked_words(held["words"])
        self._vocabulary = dict(zip(words, held["codes"].tolist(), strict=True))
        self._tokens = [part.tolist() for part in np.split(held["tokens"], held["ends"][:-1])]

    def retrieve(self, queries: Texts, k: int = 100) -> Run:
        asked = check_texts(queries, "queries")
        collection, k = self._indexed(), check_depth(k)
        lists = []
        for query, terms in zip(asked, self.terms(list(asked.values())), strict=True):
            scores = self.scores(self.expanded(dict(Counter(terms))))
            rows = self.found(scores, k)
            lists.append((query, [collection.ids[row] for row in rows], scores[rows].tolist()))
        return run_of(lists, self.name)

    def expanded(self, query: dict[int, int]) -> Mapping[int, float]:
        """The weights of terms for a query of term counts: the counts themselves."""
        return {term: float(count) for term, count in query.items()}

    def terms(self, texts: list[str]) -> list[list[int]]:
        """The codes of the indexed terms in each text, in its order."""
        words = _bm25s().tokenize(
            texts, stopwords=self._stopwords or [], return_ids=False, show_progress=False
        )
        return [[self._vocabulary[word] for word in text if word in self._vocabulary] for text in words]

    def scores(self, weights: Mapping[int, float]) -> Floats:
        """(N,): the weighted sum of what each term gives to a document."""
        starts, rows, gains = (self._postings[part] for part in ("indptr", "indices", "data"))
        total = np.zeros(len(self._indexed()), dtype=np.float32)  # as bm25s adds them up
        for term, weight in weights.items():
            begin, end = starts[term], starts[term + 1]
            total[rows[begin:end]] += np.float32(weight) * gains[begin:end]
        return total.astype(np.float64)

    def found(self, scores: Floats, k: int) -> Int64s:
        """The rows of the k best documents that share a term with the query."""
        rows = np.flatnonzero(scores > 0)
        return self._indexed().best(scores[rows], k, rows)

    def _indexed(self) -> IndexedDocuments:
        if self._collection is None:
            raise not_indexed(self.name)
        return self._collection


class RM3(BM25):
    """BM25, with the query mixed with a relevance model of the documents that it finds first.

    The model of the first m documents is P(w|R) = sum_D P(w|D) P(D|Q), with P(w|D) the share of w among the
    tokens of D, and P(D|Q) its BM25 score over the sum of those of the m (the paper has the likelihood of
    the query there). The t most probable terms are kept and add up to 1; the new query weighs a term
    (1-a) P(w|R) + a P(w|Q), with P(w|Q) over the words of the query that the collection has, and is scored
    by BM25 term by term.

    Abdul-Jaleel et al. 2004, UMass at TREC 2004: Novelty and HARD; Lavrenko and Croft 2001 for P(w|R).
    """

    def __init__(
        self,
        feedback_documents: int = 10,
        feedback_terms: int = 10,
        original_weight: float = 0.5,
        *,
        k1: float = 1.5,
        b: float = 0.75,
        stopwords: str | list[str] | None = "en",
        name: str = "bm25+rm3",
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(k1, b, stopwords, name, cache=cache)
        if feedback_documents < 1 or feedback_terms < 1 or not 0 <= original_weight <= 1:
            raise ParameterError(
                "RM3: feedback_documents and feedback_terms must be >= 1, original_weight between 0 and 1; "
                f"got {feedback_documents}, {feedback_terms}, {original_weight}"
            )
        self._documents, self._terms, self._weight = feedback_documents, feedback_terms, original_weight

    def expanded(self, query: dict[int, int]) -> Mapping[int, float]:
        length = sum(query.values())
        own = {term: count / length for term, count in query.items()}
        if not own:
            return own
        scores = self.scores(super().expanded(query))
        first = self.found(scores, self._documents)
        if not len(first):
            return own
        model = relevance_model([self._tokens[row] for row in first], scores[first])
        likely = sorted(model.items(), key=lambda item: (-round(item[1], 12), item[0]))[: self._terms]
        mass = sum(probability for _, probability in likely)
        mixed = {term: (1 - self._weight) * probability / mass for term, probability in likely}
        for term, probability in own.items():
            mixed[term] = mixed.get(term, 0.0) + self._weight * probability
        return mixed


def relevance_model(documents: Sequence[Sequence[int]], scores: Floats) -> dict[int, float]:
    """P(w|R) over the terms of these documents, which count by their scores."""
    model: dict[int, float] = {}
    for tokens, share in zip(documents, (scores / scores.sum()).tolist(), strict=True):
        for term, count in Counter(tokens).items():
            model[term] = model.get(term, 0.0) + share * count / len(tokens)
    return model


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError:
        raise MissingExtraError.for_job("BM25", "bm25s", "systems") from None
    return bm25s


@declare
class BM25Term(SystemTerm):
    """Okapi BM25 in Lucene's form (bm25s): lower case, English stop words left out, no stemming."""

    name = "BM25"
    family = LEXICAL
    extra = "systems"

    k1: float = parameter(1.5, number(0), "how slowly repeated words add to the score")
    b: float = parameter(0.75, number(0, 1), "how much long documents are held back")
    stopwords: str | None = parameter("en", text(optional=True), "language of the stop words; None keeps all")

    def check(self, settings: SystemSettings) -> None:
        _bm25s()

    def make(self, settings: SystemSettings) -> BM25:
        return BM25(self.k1, self.b, self.stopwords, cache=settings.cache)


@declare
class RM3Term(BM25Term):
    """BM25 with the query expanded by the documents that it finds first (RM3, pseudo-relevance feedback)."""

    name = "RM3"

    documents: int = parameter(10, integer(1), "how many documents the query is expanded by")
    terms: int = parameter(10, integer(1), "how many words it is expanded with")
    weight: float = parameter(0.5, number(0, 1), "share of the original query in the expanded one")

    def make(self, settings: SystemSettings) -> RM3:
        return RM3(
            self.documents, self.terms, self.weight, k1=self.k1, b=self.b, stopwords=self.stopwords,
            cache=settings.cache,
        )  # fmt: skip


declare_short("bm25", "BM25")
declare_short("bm25+rm3", "RM3")
