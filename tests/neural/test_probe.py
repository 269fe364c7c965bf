"""The attack probe: what it finds where something is to be found, and chance where nothing is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evenrank import Lexicon
from evenrank.errors import DataError
from evenrank.neural import CrossEncoderRanker, PairLabels, PairTokens, Probe, label_pairs, probe_ranker
from evenrank.neural.probe import describe_probe, probe_vectors
from evenrank.stats.intervals import TOO_FEW

pytestmark = pytest.mark.needs("torch")

QUERIES = np.repeat(np.arange(30), 20)
LABELS = PairLabels("x", ("no", "yes"), np.zeros(1, dtype=np.int64))


def vectors(signal: float, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, 600)
    noise = generator.normal(size=(600, 8)).astype(np.float32)
    noise[:, 3] += (signal * (2 * codes - 1)).astype(np.float32)
    return noise, codes


def found(signal: float, seed: int = 0, codes: Any = None) -> Probe:
    x, own = vectors(signal, seed)
    return probe_vectors(
        x, own if codes is None else codes, QUERIES, np.ones(600, np.int64), LABELS, least_steps=200
    )


def test_a_signal_is_found_and_noise_is_chance() -> None:
    strong, none = found(3.0), found(0.0)
    assert strong.accuracy > 0.97
    low, high, _ = none.interval()
    assert low < 0.5 < high
    assert high - low < 0.15
    change, low, high = none.change_from(strong)
    assert change == pytest.approx(none.accuracy - strong.accuracy)
    assert low < change < high < -0.3


def test_shuffled_labels_are_chance() -> None:
    codes = np.random.default_rng(3).permutation(vectors(3.0)[1])
    low, high, _ = found(3.0, codes=codes).interval()
    assert low < 0.5 < high


def test_rare_values_count_as_much_as_frequent_ones() -> None:
    """Against the definition, from the counts."""
    right, total = np.array([[90.0, 1.0], [0.0, 1.0]]), np.array([[100.0, 2.0], [0.0, 2.0]])
    one = Probe("x", ("no", "yes"), right, total)
    assert one.accuracy == pytest.approx((90 / 100 + 2 / 4) / 2)
    assert math.isnan(one.interval().low)
    assert one.interval().reason == TOO_FEW  # two queries say nothing of others
    with pytest.raises(DataError, match="same queries"):
        one.change_from(Probe("x", ("no", "yes"), right[:1], total[:1]))


def test_queries_are_never_tested_by_a_probe_that_saw_them() -> None:
    """Vectors that only name their query tell everything to who has seen it, and nothing to others."""
    generator = np.random.default_rng(1)
    of_query = generator.integers(0, 2, 30)
    x = np.eye(30, dtype=np.float32)[QUERIES]
    probe = probe_vectors(x, of_query[QUERIES], QUERIES, np.ones(600, np.int64), LABELS, least_steps=200)
    assert probe.accuracy < 0.7


def test_few_queries_are_fewer_folds() -> None:
    x, codes = vectors(3.0)
    few, ones = np.repeat(np.arange(3), 200), np.ones(600, np.int64)
    assert probe_vectors(x, codes, few, ones, LABELS, least_steps=200).accuracy > 0.97
    with pytest.raises(DataError, match="two are needed"):
        probe_vectors(x, codes, few * 0, ones, LABELS)


def test_the_probe_of_a_ranker(checkpoint: Path, examples: Any, kin: Lexicon) -> None:
    ranker = CrossEncoderRanker.start(str(checkpoint), {"kin": ("neutral", "biased")}, max_length=32)
    before = {name: value.clone() for name, value in ranker.state_dict().items()}
    tokens = PairTokens(ranker.tokenizer, examples.texts, len(examples.pair_queries), 32)
    labels = label_pairs(examples, kin)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    one, again = (
        probe_ranker(ranker, tokens, examples, labels, folds=4, epochs=3, least_steps=0) for _ in range(2)
    )
    assert np.array_equal(one.right, again.right)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert all(torch.equal(value, before[name]) for name, value in ranker.state_dict().items())
    assert one.total.sum() == 2 * (len(examples) // 4 * 4)  # two pairs a triple, as many of each combination
    assert one.total.sum(axis=0)[0] == one.total.sum(axis=0)[1]
    assert describe_probe(one, one).startswith("kin: balanced accuracy 0.")
    assert "change 0.0000 [-0." in describe_probe(one, one)


def test_an_interval_is_that_of_queries_drawn_again() -> None:
    """Against queries drawn with replacement, many of them, where percentiles are not too narrow."""
    draw = np.random.default_rng(2)
    total = draw.integers(1, 9, (400, 2)).astype(float)
    right = draw.binomial(total.astype(int), [0.9, 0.6]).astype(float)
    one = Probe("x", ("no", "yes"), right, total)
    picks = draw.integers(0, 400, (4000, 400))
    accuracies = (right[picks].sum(axis=1) / total[picks].sum(axis=1)).mean(axis=1)
    low, high, _ = one.interval()
    assert high - low == pytest.approx(np.diff(np.quantile(accuracies, [0.025, 0.975]))[0], rel=0.1)
    assert low < one.accuracy < high


def test_a_probe_that_is_always_right_has_an_interval_of_some_width() -> None:
    total = np.full((20, 2), 4.0)
    one = Probe("x", ("no", "yes"), total, total)
    assert one.interval().low < one.accuracy == one.interval().high == 1
    change, low, high = one.change_from(one)
    assert low < change == 0 < high
