"""What must hold of the model: the reversal, who gets which gradient, which weights a stage leaves alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evenrank import Lexicon
from evenrank.errors import DataError, ParameterError
from evenrank.neural import (
    BiEncoderRanker,
    CrossEncoderRanker,
    PairTokens,
    Stage,
    Trainer,
    label_pairs,
    reverse,
)
from evenrank.neural.config import Training
from evenrank.neural.losses import margin_loss, two_way_loss

pytestmark = pytest.mark.needs("torch")

VALUES = {"kin": ("neutral", "biased")}
FAST = Training(batch=8, device="cpu", learning_rate=1e-3, warmup=0.0)


def trainer(checkpoint: Path, examples: Any, kin: Lexicon, settings: Training = FAST, **more: Any) -> Trainer:
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32, **more)
    tokens = PairTokens(ranker.tokenizer, examples.texts, len(examples.pair_queries), ranker.max_length)
    return Trainer(ranker, tokens, {"kin": label_pairs(examples, kin)}, settings)


def weights(ranker: CrossEncoderRanker, begin: str = "") -> dict[str, Any]:
    return {name: value.clone() for name, value in ranker.state_dict().items() if name.startswith(begin)}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0, 4.0])
def test_reversal_is_the_identity_forward_and_minus_lambda_backward(strength: float) -> None:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(5, 3, generator=generator, requires_grad=True)
    weight = torch.randn(5, 3, generator=generator)
    done = reverse(vectors, strength)
    assert torch.equal(done, vectors)
    (done * weight).sum().backward()
    assert torch.equal(vectors.grad, -strength * weight)


def test_reversal_passes_gradients_to_the_adversary_unchanged() -> None:
    vectors, head = torch.randn(4, 3), torch.nn.Linear(3, 2)
    head(reverse(vectors, 0.7)).pow(2).sum().backward()
    reversed_gradient = head.weight.grad.clone()
    head.zero_grad()
    head(vectors).pow(2).sum().backward()
    assert torch.equal(head.weight.grad, reversed_gradient)


def test_losses_are_those_of_the_paper() -> None:
    positive, negative = torch.tensor([[0.2], [3.0], [-1.0]]), torch.tensor([[0.5], [1.0], [1.0]])
    slow = sum(max(0.0, 1 - p + n) for p, n in [(0.2, 0.5), (3.0, 1.0), (-1.0, 1.0)])
    assert margin_loss(positive, negative).item() == pytest.approx(slow)
    positive, negative = torch.tensor([[0.5, 2.0]]), torch.tensor([[1.0, -1.0]])
    relevant = math.exp(2.0) / (math.exp(0.5) + math.exp(2.0))
    other = math.exp(1.0) / (math.exp(1.0) + math.exp(-1.0))
    assert two_way_loss(positive, negative).item() == pytest.approx(-math.log(relevant) - math.log(other))


def test_scores_of_the_two_way_loss_are_log_odds_of_relevance(checkpoint: Path) -> None:
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, loss="cross_entropy")
    vectors = torch.randn(6, 16, generator=torch.Generator().manual_seed(1))
    chances = ranker.outputs(vectors).softmax(-1)
    torch.testing.assert_close(ranker.scores(vectors), (chances[:, 1] / chances[:, 0]).log())


@pytest.mark.parametrize("loss", ["margin", "cross_entropy"])
def test_who_gets_which_gradient(checkpoint: Path, examples: Any, kin: Lexicon, loss: str) -> None:
    """The adversary's gradient reaches the encoder, reversed and scaled, and never the relevance head."""
    made = trainer(checkpoint, examples, kin, loss=loss)
    made.ranker.eval()

    def gradients(parts: str, strength: float) -> dict[str, Any]:
        made.ranker.zero_grad()
        some = examples.triples[:6]
        stage = Stage("joint", examples.triples, 1, strength=strength)
        losses = made._losses(stage, some, made._vectors(some))
        sum(value for name, value in losses.items() if name.startswith(parts)).backward()
        return {n: p.grad.clone() for n, p in made.ranker.named_parameters() if p.grad is not None}

    adversary, doubled = gradients("adversary", 0.4), gradients("adversary", 0.8)
    assert not any(name.startswith("relevance.") for name in adversary)
    assert any(name.startswith("encoder.") and grad.abs().max() > 0 for name, grad in adversary.items())
    for name, grad in adversary.items():
        scale = 2.0 if name.startswith("encoder.") else 1.0
        torch.testing.assert_close(doubled[name], scale * grad, rtol=1e-4, atol=1e-7)
    assert not any(name.startswith("adversaries.") for name in gradients("utility", 0.4))


def test_reversed_gradients_point_away_from_the_adversary(
    checkpoint: Path, examples: Any, kin: Lexicon
) -> None:
    """Against the slow truth: the gradient of -lambda * loss, without a reversal."""
    made = trainer(checkpoint, examples, kin)
    made.ranker.eval()
    triples = examples.triples[:6]
    made._losses(Stage("joint", triples, 1, strength=0.3), triples, made._vectors(triples))[
        "adversary kin"
    ].backward()
    found = {n: p.grad.clone() for n, p in made.ranker.encoder.named_parameters() if p.grad is not None}
    made.ranker.zero_grad()
    pairs = triples.T.ravel()
    vectors = made.ranker.encode(made.tokens.batch(pairs))
    codes = torch.from_numpy(made.labels["kin"].codes[pairs])
    guess = made.ranker.adversaries["kin"](vectors)
    (-0.3 * torch.nn.functional.cross_entropy(guess, codes, reduction="sum")).backward()
    for name, parameter in made.ranker.encoder.named_parameters():
        if parameter.grad is not None:
            torch.testing.assert_close(found[name], parameter.grad, rtol=1e-4, atol=1e-6)


def test_the_second_stage_leaves_encoder_and_relevance_head_as_they_are(
    checkpoint: Path, examples: Any, kin: Lexicon
) -> None:
    made = trainer(checkpoint, examples, kin)
    encoder, head = weights(made.ranker, "encoder."), weights(made.ranker, "relevance.")
    adversary = weights(made.ranker, "adversaries.")
    noisy: list[bool] = []
    made.run(
        Stage("adversary", examples.triples, 1), progress=lambda _: noisy.append(made.ranker.encoder.training)
    )
    assert not any(noisy)  # what is frozen gives the same vectors every time
    assert same(weights(made.ranker, "encoder."), encoder)
    assert same(weights(made.ranker, "relevance."), head)
    assert not same(weights(made.ranker, "adversaries."), adversary)


def test_the_first_stage_leaves_the_adversary_alone(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    made = trainer(checkpoint, examples, kin)
    adversary, encoder = weights(made.ranker, "adversaries."), weights(made.ranker, "encoder.")
    made.run(Stage("tune", examples.triples, 1))
    assert same(weights(made.ranker, "adversaries."), adversary)
    assert not same(weights(made.ranker, "encoder."), encoder)


@pytest.mark.parametrize("clip", [None, 0.05])
def test_without_strength_the_third_stage_is_plain_training(
    checkpoint: Path, examples: Any, kin: Lexicon, clip: float | None
) -> None:
    """Lambda 0, the same data and seeds; clipping is not across heads, so it may be on."""
    settings = Training(batch=8, device="cpu", learning_rate=1e-3, clip=clip)
    plain, joint = (trainer(checkpoint, examples, kin, settings) for _ in range(2))
    plain.run(Stage("tune", examples.triples, 2, seed=4))
    joint.run(Stage("joint", examples.triples, 2, seed=4, strength=0.0))
    for part in ("encoder.", "relevance."):
        assert same(weights(plain.ranker, part), weights(joint.ranker, part))
    other = trainer(checkpoint, examples, kin, settings)
    other.run(Stage("joint", examples.triples, 2, seed=4, strength=0.5))
    assert not same(weights(plain.ranker, "encoder."), weights(other.ranker, "encoder."))


def test_the_same_seed_gives_the_same_weights(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    before = torch.random.get_rng_state()
    runs = [trainer(checkpoint, examples, kin, seed=seed) for seed in (1, 1, 2)]
    for made, seed in zip(runs, (1, 1, 2), strict=True):
        made.run(Stage("joint", examples.triples, 1, seed=seed, strength=0.5))
    assert same(weights(runs[0].ranker), weights(runs[1].ranker))
    assert not same(weights(runs[0].ranker), weights(runs[2].ranker))
    assert torch.equal(torch.random.get_rng_state(), before)  # who draws numbers beside us draws the same


def test_accumulated_batches_are_one_large_batch(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    made = trainer(checkpoint, examples, kin)
    made.ranker.eval()  # noise would be drawn piece by piece
    stage = Stage("joint", examples.triples, 1, strength=0.5)
    found = []
    for piece in (12, 5, 1):
        made.piece = piece
        made.ranker.zero_grad()
        losses = made._gradients(stage, examples.triples[:12], made._scaler(), made._optimizer())
        found.append(
            ({n: p.grad.clone() for n, p in made.ranker.named_parameters() if p.grad is not None}, losses)
        )
    for gradients, losses in found[1:]:
        torch.testing.assert_close(gradients, found[0][0], rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(losses, found[0][1])


def test_saved_rankers_read_back(checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path) -> None:
    made = trainer(checkpoint, examples, kin, loss="cross_entropy")
    made.run(Stage("joint", examples.triples, 1, strength=0.5))
    made.ranker.save(tmp_path / "ranker")
    again = CrossEncoderRanker.load(tmp_path / "ranker")
    assert same(weights(again), weights(made.ranker))
    assert (again.loss, again.max_length, again.attributes) == ("cross_entropy", 32, VALUES)
    files = {path.suffix for path in (tmp_path / "ranker").iterdir()}
    assert not files & {".bin", ".pt", ".pkl", ".pth"}
    (tmp_path / "ranker" / "heads.safetensors").write_bytes(b"broken")
    with pytest.raises(DataError, match=r"heads\.safetensors is not as it was written"):
        CrossEncoderRanker.load(tmp_path / "ranker")
    with pytest.raises(DataError, match=r"this folder holds no ranker \(it has no ranker\.json\)"):
        CrossEncoderRanker.load(tmp_path)


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
    for part in (
        CrossEncoderRanker.start(folder, VALUES, seed=3, layers=1),
        CrossEncoderRanker.start(_bi_encoder(checkpoint, tmp_path), VALUES, seed=3),
    ):
        assert same(weights(part, "relevance."), fresh)
    with pytest.raises(ParameterError, match=r"loss must be 'margin', with which .*ranker was trained"):
        CrossEncoderRanker.start(folder, VALUES, loss="cross_entropy")


def _bi_encoder(checkpoint: Path, folder: Path) -> str:
    BiEncoderRanker.start(str(checkpoint), VALUES, loss="distillation").save(folder / "bi-encoder")
    return str(folder / "bi-encoder")


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
    with pytest.raises(DataError, match="no such folder"):
        CrossEncoderRanker.start(str(tmp_path / "nowhere"), VALUES)
    with pytest.raises(ParameterError, match="at most the 2 layers"):
        CrossEncoderRanker.start(str(checkpoint), VALUES, layers=3)
    for name in ("type", "training", ""):
        with pytest.raises(ParameterError, match=f"an attribute cannot be called '{name}'"):
            CrossEncoderRanker.start(str(checkpoint), {name: ("no", "yes")})
    with pytest.raises(ParameterError, match="one of margin, cross_entropy"):
        CrossEncoderRanker.start(str(checkpoint), VALUES, loss="hinge")
    assert len(CrossEncoderRanker.start(str(checkpoint), VALUES, layers=1).encoder.encoder.layer) == 1


@pytest.mark.parametrize("kind", ["distilbert", "roberta", "electra"])
def test_other_encoders_of_the_kind(
    checkpoint: Path, examples: Any, kin: Lexicon, tmp_path: Path, kind: str
) -> None:
    """Some have no token types, or call their width differently; each trains, is saved and read back."""
    from transformers import AutoConfig, AutoModel

    sizes = {
        "vocab_size": 19,
        "max_position_embeddings": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    widths = (
        {"dim": 16, "hidden_dim": 32}
        if kind == "distilbert"
        else {"hidden_size": 16, "intermediate_size": 32}
    )
    names = {"n_layers": 1, "n_heads": 2} if kind == "distilbert" else {}
    config = AutoConfig.for_model(kind, **{**sizes, **widths, **names}, pad_token_id=0)
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


def test_what_is_saved_does_not_depend_on_what_was_read_before(checkpoint: Path, tmp_path: Path) -> None:
    """A resumed run has read fewer texts, and must save the same tokenizer."""
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, max_length=32)
    ranker.save(tmp_path / "fresh")
    ranker.tokenizer(["moon", "the star"], truncation=True, max_length=4, padding=True)
    ranker.save(tmp_path / "used")
    name = "tokenizer.json"
    assert (tmp_path / "fresh" / name).read_bytes() == (tmp_path / "used" / name).read_bytes()
