"""What a step learns, against slow truths: losses, the reversal, and who gets which gradient."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_trainers import VALUES, gradients, settings_of, trainer, without_noise

from evenrank import Lexicon
from evenrank.neural import BiEncoderRanker, CrossEncoderRanker, PairLabels, Stage, Trainer, reverse

pytestmark = pytest.mark.needs("torch")

CLOSE: Any = {"rtol": 1e-3, "atol": 1e-5}
FREE = {"batch": 100, "clip": 0}  # one step, and its gradients as they are


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0, 4.0])
def test_reversal_is_the_identity_forward_and_minus_lambda_backward(strength: float) -> None:
    generator = torch.Generator().manual_seed(0)
    vectors = torch.randn(5, 3, generator=generator, requires_grad=True)
    weight = torch.randn(5, 3, generator=generator)
    done = reverse(vectors, strength)
    assert torch.equal(done, vectors)
    (done * weight).sum().backward()
    assert torch.equal(vectors.grad, -strength * weight)


@pytest.mark.parametrize("loss", ["margin", "cross_entropy"])
def test_losses_are_those_of_the_paper(checkpoint: Path, examples: Any, kin: Lexicon, loss: str) -> None:
    """max(0, 1 - s+ + s-) of the scores, and -log p(relevant | d+) - log p(not relevant | d-) of the odds."""
    made = trainer(checkpoint, examples, kin, ranker={"loss": loss})
    made.ranker.eval()
    with torch.no_grad():
        table = [made.ranker.scores(made.ranker.encode(made.tokens.batch(part))).tolist()
                 for part in examples.triples.T]  # fmt: skip
    pairs = list(zip(*table, strict=True))
    if loss == "margin":
        expected = sum(max(0.0, 1 - p + n) for p, n in pairs)
    else:
        expected = sum(math.log1p(math.exp(-p)) + math.log1p(math.exp(n)) for p, n in pairs)
    assert made.validation_loss(examples.triples) == pytest.approx(expected / len(pairs), rel=1e-5)


@pytest.mark.parametrize("loss", ["margin", "cross_entropy"])
def test_who_gets_which_gradient(checkpoint: Path, examples: Any, kin: Lexicon, loss: str) -> None:
    """Beside that of relevance the encoder gets the adversary's, reversed and scaled; the relevance head and
    the adversary get their own alone. The adversary's is computed here without a reversal."""
    triples = examples.triples[:40]
    made = trainer(checkpoint, examples, kin, ranker={"loss": loss}, **FREE)
    found = {s: gradients(made, Stage("joint", triples, 1, strength=s)) for s in (0.0, 0.4, 0.8)}
    pairs = triples.T.ravel()
    vectors = made.ranker.eval().encode(made.tokens.batch(pairs))  # all of them in one batch
    guess = made.ranker.adversaries["kin"](vectors)
    codes = torch.from_numpy(made.labels["kin"].codes[pairs])
    made.ranker.zero_grad()
    (torch.nn.functional.cross_entropy(guess, codes, reduction="sum") / len(triples)).backward()
    of_adversary = {n: p.grad for n, p in made.ranker.named_parameters() if p.grad is not None}
    assert not any(name.startswith("relevance.") for name in of_adversary)
    tuned = gradients(made, Stage("tune", triples, 1))
    assert not any(name.startswith("adversaries.") for name in tuned)
    for name, gradient in found[0.0].items():
        if name.startswith("adversaries."):
            torch.testing.assert_close(gradient, of_adversary[name], **CLOSE)
        else:
            torch.testing.assert_close(gradient, tuned[name], **CLOSE)
        for strength in (0.4, 0.8):
            reversed_too = strength * of_adversary[name] if name.startswith("encoder.") else 0
            torch.testing.assert_close(found[strength][name], gradient - reversed_too, **CLOSE)
    assert any(
        gradient.abs().max() > 1e-3 for n, gradient in of_adversary.items() if n.startswith("encoder.")
    )


@pytest.mark.parametrize("settings", [{"batch": 10, "accumulate": 4}, {"batch": 13, "accumulate": 4}])
def test_accumulated_batches_are_one_large_batch(
    checkpoint: Path, examples: Any, kin: Lexicon, settings: dict[str, int]
) -> None:
    triples = examples.triples[:40]
    stage = Stage("joint", triples, 1, strength=0.5)
    whole, pieces = (
        gradients(trainer(checkpoint, examples, kin, **{**FREE, **given}), stage) for given in ({}, settings)
    )
    torch.testing.assert_close(pieces, whole, **CLOSE)


def test_nothing_is_reversed_above_the_ceiling(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    made = trainer(checkpoint, examples, kin, **FREE)
    triples = examples.triples[:16]

    def found(strength: float, ceiling: float | None = None) -> dict[str, Any]:
        return gradients(made, Stage("joint", triples, 1, strength=strength, ceiling=ceiling))

    plain, reversed_ = found(0.0), found(2.0)
    torch.testing.assert_close(found(2.0, 1e-6), plain, **CLOSE)
    torch.testing.assert_close(found(2.0, 1e6), reversed_, **CLOSE)
    assert any((reversed_[name] - plain[name]).abs().max() > 1e-3 for name in plain)


def test_the_adversary_counts_the_same_for_lists_of_any_length(checkpoint: Path) -> None:
    """Its mean over the documents of a list stands beside the loss of that list."""
    ranker = CrossEncoderRanker.start(str(checkpoint), VALUES, loss="distillation", max_length=24)
    labels = {"kin": PairLabels("kin", VALUES["kin"], np.array([0, 1, 0, 0] * 3))}
    texts = ranker.batches(lambda rows: (["moon"] * len(rows), ["star"] * len(rows)), 12)
    made = Trainer(
        ranker, texts, labels, settings_of(**FREE), objective=lambda ranker, vectors, rows: vectors.sum() * 0
    )
    short, long = (  # the same labels, three times as often
        gradients(made, Stage("joint", np.arange(count)[None, :], 1, strength=1.0)) for count in (4, 12)
    )
    torch.testing.assert_close(short, long, **CLOSE)


def test_rare_values_weigh_more(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    """Each value as much as any other: n / (values * count) for one that is there ``count`` times of n."""
    made = trainer(checkpoint, examples, kin, own={"weighted": True}, **FREE)
    table = made.labels["kin"].codes
    triples = examples.triples[table[examples.triples].sum(axis=1) < 2]  # few of them are biased
    found = gradients(made, Stage("adversary", triples, 1))
    pairs = triples.T.ravel()
    codes = table[pairs]
    shares = np.bincount(codes, minlength=2) / len(codes)
    assert shares.min() < 0.45
    made.ranker.zero_grad()
    guess = made.ranker.eval().adversaries["kin"](made.ranker.encode(made.tokens.batch(pairs)).detach())
    weight = torch.tensor(1 / (2 * shares), dtype=torch.float32)
    loss = torch.nn.functional.cross_entropy(guess, torch.from_numpy(codes), weight=weight, reduction="sum")
    (loss / len(triples)).backward()
    for name, parameter in made.ranker.adversaries.named_parameters():
        torch.testing.assert_close(found[f"adversaries.{name}"], parameter.grad, **CLOSE)


def test_adversaries_take_steps_of_their_own(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    """They learn from vectors that stay: the encoder does not move because of them."""
    losses, moved = [], []
    for steps in (1, 60):
        made = trainer(
            checkpoint, examples, kin, learning_rate=1e-3, adversary_learning_rate=1e-2,
            own={"adversary": _adversary(steps)}, **FREE,
        )  # fmt: skip
        without_noise(made.ranker)
        before = {name: value.clone() for name, value in made.ranker.encoder.named_parameters()}
        triples = examples.triples[:20]
        made.run(Stage("joint", triples, 1, strength=0.0))
        after = dict(made.ranker.encoder.named_parameters())
        moved.append({name: after[name].detach() - value for name, value in before.items()})
        made.ranker.encoder.load_state_dict(before, strict=False)
        pairs = triples.T.ravel()
        with torch.no_grad():
            guess = made.ranker.adversaries["kin"](made.ranker.encode(made.tokens.batch(pairs)))
        codes = torch.from_numpy(made.labels["kin"].codes[pairs])
        losses.append(torch.nn.functional.cross_entropy(guess, codes).item())
    assert losses[1] < losses[0] - 0.005
    torch.testing.assert_close(moved[0], moved[1], rtol=1e-3, atol=1e-5)


def _adversary(steps: int) -> Any:
    from evenrank.neural import make_config

    return make_config({"adversary": {"steps": steps}}).adversary


def slow_vector(ranker: BiEncoderRanker, text: str) -> Any:
    """One text, no padding: the mean over its tokens, of length 1."""
    given = ranker.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        mean = ranker.encoder(**given).last_hidden_state[0].mean(dim=0)
    return (mean / mean.norm()).numpy()


def test_a_bi_encoder_scores_pairs_by_the_cosine_of_their_means(checkpoint: Path) -> None:
    ranker = BiEncoderRanker.start(str(checkpoint), VALUES, max_length=24).eval()
    queries, texts = ["moon", "star river", "moon"], ["the moon of bread", "she her his", "river"]
    tokens = ranker.batches(lambda rows: ([queries[r] for r in rows], [texts[r] for r in rows]), 3)
    with torch.no_grad():
        found = ranker.scores(ranker.encode(tokens.batch(np.arange(3)))).numpy()
    expected = [
        float(slow_vector(ranker, query) @ slow_vector(ranker, text))
        for query, text in zip(queries, texts, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-5)
    assert found.std() > 1e-3
