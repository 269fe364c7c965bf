"""Reciprocal rank fusion, and BM25 by tantivy."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from evenrank import ParameterError, Run, write_run
from evenrank.systems import make_system


def fixed(path: Path, order: dict[str, list[str]]) -> None:
    rows = [(query, one, -float(rank)) for query, ranked in order.items() for rank, one in enumerate(ranked)]
    write_run(Run.build(*map(list, zip(*rows, strict=True)), name=path.stem), path)


def test_the_sum_of_reciprocal_ranks(documents: dict[str, str], tmp_path: Path) -> None:
    fixed(tmp_path / "one.trec", {"q": ["d1", "d2", "d3"], "r": ["d5"]})
    fixed(tmp_path / "two.trec", {"q": ["d3", "d1", "d4"]})
    parts = ",".join(f"RunFile(path='{tmp_path}/{name}.trec')" for name in ("one", "two"))
    system = make_system(f"RRF({parts},k=60)")
    system.index(documents)
    run = system.retrieve({"q": "x", "r": "y"}, 3)
    assert run.documents("q") == ["d1", "d3", "d2"]
    expected = {"d1": 1 / 61 + 1 / 62, "d3": 1 / 63 + 1 / 61, "d2": 1 / 62}
    assert run.to_dict()["q"] == pytest.approx(expected, abs=1e-12)
    assert run.documents("r") == ["d5"]  # which only one of them found


@pytest.mark.needs("bm25s")
def test_parts_are_as_deep_as_they_say(documents: dict[str, str]) -> None:
    deep = make_system("RRF(BM25,RM3)")
    flat = make_system("RRF(BM25@1,RM3@1)")
    for system in (deep, flat):
        system.index(documents)
    assert len(deep.retrieve({"q": "nurse hospital"}).documents("q")) > 1
    assert len(flat.retrieve({"q": "nurse hospital"}).documents("q")) == 1
    with pytest.raises(ParameterError, match="RRF"):
        make_system("RRF(BM25)")


@pytest.mark.needs("tantivy")
def test_tantivy_is_bm25_of_plain_words(documents: dict[str, str]) -> None:
    """By the formula, where lengths below 40 words are exact; tantivy and Lucene round longer ones."""
    import re

    words = {key: re.findall(r"\w+", text.lower()) for key, text in documents.items()}
    mean = sum(map(len, words.values())) / len(words)

    def bm25(query: list[str], key: str) -> float:
        total = 0.0
        for term in query:
            n, f = sum(term in own for own in words.values()), words[key].count(term)
            idf = math.log(1 + (len(words) - n + 0.5) / (n + 0.5))
            total += idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * len(words[key]) / mean)) if f else 0.0
        return total

    system = make_system("Tantivy")
    system.index(documents)
    run = system.retrieve({"q1": "Nurse hospital!", "q2": "the bridges", "q3": "zebra"}, 10)
    assert set(run) == {"q1", "q2"}
    for query, asked in (("q1", ["nurse", "hospital"]), ("q2", ["the", "bridges"])):
        scores = {key: value for key in documents if (value := bm25(asked, key)) > 0}
        assert run.to_dict()[query] == pytest.approx(scores, rel=1e-5)
    stemmed = make_system("Tantivy(analyzer=stemmed)")
    stemmed.index(documents)
    assert set(stemmed.retrieve({"q": "bridge"}).documents("q")) == {"d3", "d4"}


@pytest.mark.needs("tantivy")
def test_equal_documents_at_the_end_of_a_list() -> None:
    """Which of them enters does not depend on where they stand in the index."""
    system = make_system("Tantivy")
    system.index({f"d{place}": "nurse" for place in range(9)} | {"other": "bridge"})
    assert system.retrieve({"q": "nurse"}, 3).documents("q") == ["d8", "d7", "d6"]
