"""A small BERT with random weights, and a small collection to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from evenrank import Lexicon, Qrels
from evenrank.io import write_qrels

WORDS = [
    "moon",
    "star",
    "river",
    "bread",
    "music",
    "engine",
    "garden",
    "paper",
    "he",
    "his",
    "she",
    "her",
    "the",
    "of",
]


@pytest.fixture(scope="session")
def kin() -> Lexicon:
    return Lexicon.build("kin", {"male": ["he", "his"], "female": ["she", "her"]})


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as transformers writes it: two layers, width 16."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.set_num_threads(1)  # two threads beside a busy core are slower than one
    folder = tmp_path_factory.mktemp("bert")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = BertTokenizer(vocab={piece: place for place, piece in enumerate(pieces)}, model_max_length=64)
    config = BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(3)
        BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class Planted(NamedTuple):
    qrels: Qrels
    queries: dict[str, str]
    documents: dict[str, str]


@pytest.fixture(scope="session")
def planted() -> Planted:
    """Eight queries of one word; relevant documents have the word, and more often group words."""
    generator = np.random.default_rng(5)
    queries = {f"q{place}": WORDS[place] for place in range(8)}
    rows: list[tuple[str, str, int]] = []
    documents: dict[str, str] = {}
    for query, word in queries.items():
        for number in range(8):
            relevant = number < 3
            own = [word] if relevant else []
            gendered = generator.random() < (0.7 if relevant else 0.3)
            group = list(generator.choice(["he", "his"], 2)) if gendered else []
            filler = list(generator.choice(WORDS[:8], 4))
            name = f"{query}-{number}"
            documents[name] = " ".join(own + group + [w for w in filler if relevant or w != word])
            rows.append((query, name, int(relevant)))
    return Planted(Qrels.build(*map(list, zip(*rows, strict=True))), queries, documents)


@pytest.fixture
def examples(planted: Planted) -> Any:
    from evenrank.neural import build_examples

    return build_examples(planted.qrels, planted.queries, planted.documents, negatives=3)


@pytest.fixture
def files(tmp_path: Path, checkpoint: Path, planted: Planted) -> dict[str, Any]:
    """A configuration over files, quick to train."""
    write_qrels(planted.qrels, tmp_path / "qrels.txt")
    for name, texts in (("queries", planted.queries), ("documents", planted.documents)):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()))
    rows = [
        f"{query} Q0 {query}-{place} {place} {-place} x\n" for query in planted.queries for place in range(8)
    ]
    (tmp_path / "run.trec").write_text("".join(rows))
    (tmp_path / "kin.csv").write_text("word,group\nhe,m\nhis,m\nshe,f\nher,f\n")
    return {
        "examples": {"validation": 0.2},
        "attributes": [{"name": "kin", "lexicon": "kin.csv"}],
        "model": {"encoder": str(checkpoint), "max_length": 32},
        "training": {"device": "cpu", "batch": 8, "learning_rate": 1e-3, "save_seconds": 0},
        "tune": {"epochs": 1, "checkpoints": 2},
        "adversary": {"epochs": 0.5},
        "joint": {"strengths": [0.2, 1], "epochs": 0.5, "checkpoints": 2},
        "evaluate": {"run": "run.trec", "queries": "queries.tsv", "depth": 5},
    }
