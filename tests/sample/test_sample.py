from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from statistics import mean

import pytest
from sample_inputs import bm25_run

from evenrank.sample import load
from evenrank.systems import BM25

SAMPLE = load()


def test_size_and_shape() -> None:
    needs = [query for query, family in SAMPLE.families.items() if family == "need"]
    debates = [query for query, family in SAMPLE.families.items() if family == "debate"]
    assert len(SAMPLE.queries) >= 40
    assert len(debates) >= 12
    judged = SAMPLE.qrels.to_dict()
    assert all(len(judged[query]) >= 10 for query in needs)
    assert all(set(judged[query].values()) == {0, 1, 2, 3} for query in needs)
    assert all(len(judged[query]) == 8 for query in debates)
    assert {document for inner in judged.values() for document in inner} == set(SAMPLE.documents)


def test_both_sides_of_a_debate_have_four_documents() -> None:
    for query, sides in SAMPLE.sides.to_dict().items():
        assert {side: len(documents) for side, documents in sides.items()} == {"for": 4, "against": 4}, query


def test_every_document_has_its_attributes() -> None:
    assert set(SAMPLE.popularity) == set(SAMPLE.publisher) == set(SAMPLE.documents)
    assert set(SAMPLE.popularity.values()) == {1, 2, 3, 4}
    assert len(set(SAMPLE.publisher.values())) == 6
    leaning = Counter(SAMPLE.leaning.values())
    assert set(leaning) == {"female", "male", "both", "none"}
    assert min(leaning.values()) >= 30


def test_texts_are_of_the_promised_length() -> None:
    assert all(40 <= len(text.split()) <= 120 for text in SAMPLE.documents.values())


def test_texts_have_what_real_text_has() -> None:
    texts = list(SAMPLE.documents.values())
    assert sum(any(ord(character) > 127 for character in text) for text in texts) > 80
    assert sum("'" in text or "’" in text for text in texts) > 150


def test_no_two_texts_are_near_duplicates() -> None:
    def shingles(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text.lower())
        return {tuple(words[i : i + 4]) for i in range(len(words) - 3)}

    everything = [shingles(text) for text in SAMPLE.documents.values()]
    assert max(len(a & b) / len(a | b) for a, b in combinations(everything, 2)) < 0.05


def test_the_run_is_made_from_the_texts() -> None:
    pytest.importorskip("bm25s", reason="the extra [systems] is not installed")
    system = BM25()
    system.index(SAMPLE.documents)
    new, shipped = system.retrieve(SAMPLE.queries, 100), bm25_run()
    assert list(new) == list(shipped)
    for query in shipped:
        assert new.documents(query) == shipped.documents(query)
    assert new.scores.tolist() == pytest.approx(shipped.scores.tolist(), rel=1e-5)


def test_the_authors_are_unrelated_to_relevance() -> None:
    grades: dict[str, int] = {}
    for judged in SAMPLE.qrels.to_dict().values():
        grades |= judged
    means = {
        author: mean(grades[document] for document, by in SAMPLE.author.items() if by == author)
        for author in ("freelance", "staff")
    }
    assert abs(means["freelance"] - means["staff"]) < 0.1
