"""A trained ranker by the name of its folder, as a second look of a system."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from evenrank import rerank
from evenrank.neural import CrossEncoderRanker, NeuralReranker
from evenrank.systems import BM25, Reranked, make_system
from evenrank.systems.scorers import as_scorer

pytestmark = pytest.mark.needs("torch", "transformers", "bm25s")

VALUES = {"kin": ("neutral", "biased")}
DOCUMENTS = {"d1": "the mother said", "d2": "a father and a mother said", "d3": "said said", "d4": ""}
QUERIES = {"q1": "mother said", "q2": "father"}


def test_a_folder_is_read_with_its_own_head(checkpoint: Path, tmp_path: Path) -> None:
    """It orders as ``NeuralReranker`` does; a second reading gives the same numbers."""
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32, seed=3)
    ranker.save(tmp_path / "mine")
    system = make_system(f"bm25>>{tmp_path / 'mine'}")
    assert system.name == "bm25>>mine"
    first = BM25()
    for one in (system, first):
        one.index(DOCUMENTS)
    expected = rerank(first.retrieve(QUERIES), NeuralReranker.of(ranker, QUERIES, DOCUMENTS))
    found = system.retrieve(QUERIES)
    assert {q: found.documents(q) for q in QUERIES} == {q: expected.documents(q) for q in QUERIES}
    torch.manual_seed(1)
    pairs = ["mother said"] * 3, ["the mother said", "", "said"]
    again = as_scorer(tmp_path / "mine").score(*pairs)
    torch.manual_seed(2)
    assert as_scorer(tmp_path / "mine").score(*pairs).tolist() == again.tolist()
    assert len(set(again.tolist())) == 3


def test_a_ranker_is_a_scorer(checkpoint: Path) -> None:
    from evenrank.neural.scorer import RankerScorer

    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32)
    system = Reranked(BM25(), RankerScorer(ranker, "mine"))
    system.index(DOCUMENTS)
    assert system.name == "bm25>>mine"
    assert set(system.retrieve(QUERIES).documents("q2")) == {"d2"}
