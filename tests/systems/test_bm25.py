"""BM25 against bm25s itself, and RM3 against its formulas worked out slowly."""

from __future__ import annotations

from collections import Counter
from math import log

import bm25s
import numpy as np
import pytest

from evenrank import DataError, ParameterError
from evenrank.sample import load
from evenrank.systems import BM25, RM3

pytestmark = pytest.mark.needs("bm25s")


def words(text: str) -> list[str]:
    (tokens,) = bm25s.tokenize([text], stopwords="en", return_ids=False, show_progress=False)
    return tokens


def test_scores_are_those_of_bm25s() -> None:
    sample = load()
    ids = list(sample.documents)
    ranker = bm25s.BM25()
    ranker.index(
        bm25s.tokenize(list(sample.documents.values()), stopwords="en", show_progress=False),
        show_progress=False,
    )
    system = BM25()
    system.index(sample.documents)
    run = system.retrieve(sample.queries, len(ids)).to_dict()
    for query, text in sample.queries.items():
        scores = ranker.get_scores(words(text))
        theirs = {ids[row]: float(scores[row]) for row in np.flatnonzero(scores > 0)}
        assert run[query] == pytest.approx(theirs, rel=1e-6)


def test_the_formula_on_five_documents(documents: dict[str, str], queries: dict[str, str]) -> None:
    """Lucene's form: idf log(1 + (N - n + 0.5)/(n + 0.5)), times tf/(tf + k1(1 - b + b len/average))."""
    system = BM25(k1=1.2, b=0.5)
    system.index(documents)
    run = system.retrieve(queries).to_dict()
    tokens = {document: Counter(words(text)) for document, text in documents.items()}
    average = sum(count.total() for count in tokens.values()) / len(tokens)
    for query in ("q1", "q2"):
        expected = {}
        for document, counts in tokens.items():
            score = 0.0
            for word in words(queries[query]):
                n = sum(word in other for other in tokens.values())
                norm = 1.2 * (1 - 0.5 + 0.5 * counts.total() / average)
                score += log(1 + (5 - n + 0.5) / (n + 0.5)) * counts[word] / (counts[word] + norm)
            if score:
                expected[document] = score
        assert run[query] == pytest.approx(expected, rel=1e-5)


def test_a_query_that_finds_nothing_has_no_list(documents: dict[str, str], queries: dict[str, str]) -> None:
    system = BM25()
    system.index(documents)
    assert system.retrieve(queries).query_ids == ("q1", "q2")
    with pytest.raises(DataError, match="bm25"):
        system.retrieve({"q3": "zebra"})


@pytest.mark.parametrize("system", [BM25, RM3])
def test_documents_without_any_word(system: type[BM25]) -> None:
    with pytest.raises(DataError):
        system().index({"a": "", "b": "the of"})
    some = system()
    some.index({"a": "", "b": "the cat"})
    assert some.retrieve({"q": "cat"}).documents("q") == ["b"]


def test_indexing_again_replaces(documents: dict[str, str]) -> None:
    system = BM25()
    system.index(documents)
    system.index({"x": "a nurse"})
    assert system.retrieve({"q": "nurse"}).documents("q") == ["x"]


def test_equal_documents_stand_by_id_and_so_does_who_is_cut_off() -> None:
    texts = {f"d{number}": "a nurse" for number in range(9)} | {"e": "somebody else"}
    system = BM25()
    system.index(dict(sorted(texts.items(), key=lambda item: hash(item[0]) % 7)))
    assert system.retrieve({"q": "nurse"}, 3).documents("q") == ["d8", "d7", "d6"]


@pytest.mark.parametrize("seed", range(3))
def test_the_best_k_against_a_sort(seed: int) -> None:
    generator = np.random.default_rng(seed)
    ids = [f"d{number}" for number in generator.permutation(30)]
    times = dict(zip(ids, generator.integers(1, 5, 30).tolist(), strict=True))
    system = BM25()
    system.index(
        {key: " ".join(["nurse"] * count + ["bridge"] * (5 - count)) for key, count in times.items()}
    )
    slow = sorted(ids, key=lambda key: (times[key], key.encode()), reverse=True)
    for k in generator.integers(1, 35, 8).tolist():
        assert system.retrieve({"q": "nurse"}, k).documents("q") == slow[:k]


def test_feedback_against_a_slow_computation() -> None:
    """P(w|R) from the first documents, its ten likeliest terms, mixed half and half with the query."""
    sample = load()
    first = BM25()
    first.index(sample.documents)
    expanded = RM3(feedback_documents=4, feedback_terms=6, original_weight=0.3)
    expanded.index(sample.documents)
    found = expanded.retrieve(sample.queries, 20).to_dict()
    top = first.retrieve(sample.queries, 4).to_dict()
    single: dict[str, dict[str, float]] = {}  # what each word alone gives to each document
    for query in list(sample.queries)[:6]:
        scores = top[query]
        model: Counter[str] = Counter()
        for document, score in scores.items():
            counts = Counter(words(sample.documents[document]))
            for word, count in counts.items():
                model[word] += score / sum(scores.values()) * count / counts.total()
        codes = expanded.terms(list(model))
        code = {word: numbers[0] for word, numbers in zip(model, codes, strict=True)}
        likely = sorted(model, key=lambda word: (-round(model[word], 12), code[word]))[:6]
        mass = sum(model[word] for word in likely)
        own = Counter(word for word in words(sample.queries[query]) if first.terms([word]) != [[]])
        weights = {word: 0.7 * model[word] / mass for word in likely}
        for word, count in own.items():
            weights[word] = weights.get(word, 0) + 0.3 * count / own.total()
        total: Counter[str] = Counter()
        for word, weight in weights.items():
            if word not in single:
                ((known,),) = first.terms([word])
                values = first.scores({known: 1.0})
                single[word] = dict(zip(sample.documents, values.tolist(), strict=True))
            for document, value in single[word].items():
                total[document] += weight * value
        for document, score in found[query].items():
            assert score == pytest.approx(total[document], rel=1e-4)
        assert len(found[query]) == 20


def test_all_the_weight_on_the_query_is_bm25() -> None:
    sample = load()
    plain, expanded = BM25(), RM3(original_weight=1.0)
    plain.index(sample.documents)
    expanded.index(sample.documents)
    one, two = plain.retrieve(sample.queries, 10), expanded.retrieve(sample.queries, 10)
    same = [one.documents(query) == two.documents(query) for query in sample.queries]
    assert np.mean(same) > 0.9  # sums of floats: documents a hair apart may change places


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: BM25(b=2), r"\bb\b"),
        (lambda: RM3(feedback_terms=0), "feedback_terms"),
        (lambda: RM3(original_weight=1.5), "original_weight"),
        (lambda: BM25().retrieve({"q": "a"}), "bm25.*index"),
    ],
)
def test_wrong_parameters(make, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        make()
