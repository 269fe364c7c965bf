"""Rankers: what they start from, how they are saved and read back, what is refused, and what they read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_trainers import VALUES, same, trainer, weights

from evenrank import DataError, Lexicon, ParameterError
from evenrank.neural import BiEncoderRanker, CrossEncoderRanker, PairTokens, Stage, load_ranker

pytestmark = pytest.mark.needs("torch")


def test_saved_rankers_read_back(checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path) -> None:
    made = trainer(checkpoint, examples, kin, ranker={"loss": "cross_entropy"})
    made.run(Stage("joint", examples.triples, 1, strength=0.5))
    made.ranker.save(tmp_path / "ranker")
    again = load_ranker(tmp_path / "ranker")
    assert isinstance(again, CrossEncoderRanker)
    assert same(weights(again), weights(made.ranker))
    assert (again.loss, again.max_length, again.attributes) == ("cross_entropy", 32, VALUES)
    files = {path.suffix for path in (tmp_path / "ranker").iterdir()}
    assert not files & {".bin", ".pt", ".pkl", ".pth"}
    with pytest.raises(DataError, match=r"ranker\.json"):
        CrossEncoderRanker.load(tmp_path)


@pytest.mark.needs("sentence_transformers")
def test_the_folder_of_a_bi_encoder_is_read_by_sentence_transformers(
    checkpoint: Path, tmp_path: Path
) -> None:
    import sentence_transformers as library

    ranker = BiEncoderRanker.start(str(checkpoint), VALUES, max_length=24).eval()
    ranker.save(tmp_path / "ranker")
    model = library.SentenceTransformer(str(tmp_path / "ranker"), device="cpu", local_files_only=True)
    texts = ["moon", "the river of bread and music"]
    again = load_ranker(tmp_path / "ranker")
    assert isinstance(again, BiEncoderRanker)
    for one in (ranker, again.eval()):
        tokens = one.batches(lambda rows: (["star"] * len(rows), [texts[row] for row in rows]), 2)
        with torch.no_grad():
            _, documents = one.sides(one.encode(tokens.batch(np.arange(2))))
        assert model.encode(texts) == pytest.approx(documents.numpy(), abs=1e-5)
    with pytest.raises(DataError, match="bi-encoder"):
        CrossEncoderRanker.load(tmp_path / "ranker")


def test_training_goes_on_with_a_ranker_that_was_trained(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path
) -> None:
    """With the head that it scores by, and adversaries of its own; a part of it begins with a new head."""
    made = trainer(checkpoint, examples, kin)
    made.run(Stage("joint", examples.triples, 1, strength=0.5))
    folder = str(tmp_path / "ranker")
    made.ranker.save(folder)
    again = CrossEncoderRanker.start(folder, {"trade": ("none", "some", "many")}, max_length=16, seed=3)
    assert same(weights(again, "encoder."), weights(made.ranker, "encoder."))
    assert same(weights(again, "relevance."), weights(made.ranker, "relevance."))
    assert (again.attributes, again.max_length) == ({"trade": ("none", "some", "many")}, 16)
    fresh = weights(CrossEncoderRanker.start(str(checkpoint), VALUES, seed=3), "relevance.")
    bi_encoder = str(tmp_path / "bi-encoder")
    BiEncoderRanker.start(str(checkpoint), VALUES, loss="distillation").save(bi_encoder)
    for part in (
        CrossEncoderRanker.start(folder, VALUES, seed=3, layers=1),
        CrossEncoderRanker.start(bi_encoder, VALUES, seed=3),
    ):
        assert same(weights(part, "relevance."), fresh)
    with pytest.raises(ParameterError, match=r"loss .*'margin'.*'cross_entropy'"):
        CrossEncoderRanker.start(folder, VALUES, loss="cross_entropy")


def test_pickled_weights_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = tmp_path / "pickled"
    folder.mkdir()
    for path in checkpoint.iterdir():
        if path.suffix != ".safetensors":
            (folder / path.name).write_bytes(path.read_bytes())
    torch.save(load_file(checkpoint / "model.safetensors"), folder / "pytorch_model.bin")
    with pytest.raises(DataError, match="cannot be loaded"):
        CrossEncoderRanker.start(str(folder), VALUES)


def test_bad_checkpoints_and_parameters(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        CrossEncoderRanker.start(str(tmp_path / "nowhere"), VALUES)
    with pytest.raises(ParameterError, match="2 layers"):
        CrossEncoderRanker.start(str(checkpoint), VALUES, layers=3)
    for name in ("type", "training", ""):
        with pytest.raises(ParameterError, match=f"'{name}'"):
            CrossEncoderRanker.start(str(checkpoint), {name: ("no", "yes")})
    with pytest.raises(ParameterError, match="margin, cross_entropy"):
        CrossEncoderRanker.start(str(checkpoint), VALUES, loss="hinge")
    assert len(CrossEncoderRanker.start(str(checkpoint), VALUES, layers=1).encoder.encoder.layer) == 1


@pytest.mark.parametrize("kind", ["distilbert", "roberta", "electra"])
def test_other_encoders_of_the_kind(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path, kind: str
) -> None:
    """Some have no token types, or call their width differently; each trains, is saved and read back."""
    from transformers import AutoConfig, AutoModel

    sizes = {"vocab_size": 19, "max_position_embeddings": 64}
    if kind == "distilbert":
        sizes |= {"dim": 16, "hidden_dim": 32, "n_layers": 1, "n_heads": 2}
    else:
        sizes |= {"hidden_size": 16, "intermediate_size": 32}
        sizes |= {"num_hidden_layers": 1, "num_attention_heads": 2}
    config = AutoConfig.for_model(kind, **sizes, pad_token_id=0)
    AutoModel.from_config(config).save_pretrained(tmp_path / "encoder")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "encoder" / name).write_bytes((checkpoint / name).read_bytes())
    made = trainer(tmp_path / "encoder", examples, kin)
    made.run(Stage("joint", examples.triples[:8], 1, strength=0.5))
    made.ranker.save(tmp_path / "ranker")
    assert same(weights(CrossEncoderRanker.load(tmp_path / "ranker")), weights(made.ranker))


def test_batches_are_padded_and_cut(checkpoint: Path) -> None:
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=16)
    texts = [("moon", ""), ("moon star", "river " * 500), ("", ""), ("月 ☾ луна", "Ünïcödé \U0001f319")]
    tokens = PairTokens(
        ranker.tokenizer, lambda rows: ([texts[r][0] for r in rows], [texts[r][1] for r in rows]), 4, 16
    )
    batch = tokens.batch(np.array([0, 1, 2, 3]))
    assert batch["input_ids"].shape == (4, 16)
    alone = ranker.tokenizer([texts[1][0]], [texts[1][1]], truncation=True, max_length=16)
    assert batch["input_ids"][1].tolist() == alone["input_ids"][0]
    assert batch["attention_mask"].sum(1).tolist()[:3] == [4, 16, 3]
    assert torch.isfinite(ranker.scores(ranker.encode(batch))).all()
    assert tokens.batch(np.array([2]))["input_ids"].shape == (1, 3)  # as long as it must be


@pytest.mark.parametrize("pairs", [300, 3_000_000])
def test_pairs_have_the_same_tokens_in_any_order(checkpoint: Path, pairs: int) -> None:
    """Also where there are too many of them to be held."""
    tokenizer = CrossEncoderRanker.start(str(checkpoint), VALUES).tokenizer

    def tokens(pairs: int) -> PairTokens:
        texts = lambda rows: (["star"] * len(rows), ["moon river " * (row % 7) for row in rows])  # noqa: E731
        return PairTokens(tokenizer, texts, pairs, 64)

    at_once, one_by_one = tokens(300), tokens(pairs)
    at_once.prepare(np.arange(300))
    for row in np.random.default_rng(0).permutation(300):
        one_by_one.prepare(np.array([row]))
    for rows in (np.array([5, 3, 3, 299]), np.arange(300)):
        first, second = at_once.batch(rows), one_by_one.batch(rows)
        assert first.keys() == second.keys()
        assert all(torch.equal(first[name], second[name]) for name in first)


def test_what_is_saved_does_not_depend_on_what_was_read_before(checkpoint: Path, tmp_path: Path) -> None:
    """A resumed run has read fewer texts, and must save the same tokenizer."""
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32)
    ranker.save(tmp_path / "fresh")
    ranker.tokenizer(["moon", "the star"], truncation=True, max_length=4, padding=True)
    ranker.save(tmp_path / "used")
    name = "tokenizer.json"
    assert (tmp_path / "fresh" / name).read_bytes() == (tmp_path / "used" / name).read_bytes()
