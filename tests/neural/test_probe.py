"""The attack probe: what it finds where something is to be found, and chance where nothing is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evenrank import DataError, Lexicon, Qrels
from evenrank.neural import (
    CrossEncoderRanker,
    PairLabels,
    PairTokens,
    Probe,
    build_examples,
    label_pairs,
    probe_ranker,
)

pytestmark = pytest.mark.needs("torch")


class Vectors:
    """A ranker, and the tokens that it reads, that give a row of a table for each pair."""

    separate, training, device = False, False, torch.device("cpu")

    def __init__(self, table: Any) -> None:
        self.table = torch.from_numpy(table.astype(np.float32))

    def eval(self) -> None: ...

    def train(self, mode: bool) -> None: ...

    def lengths(self, pairs: Any) -> Any:
        return np.ones(len(pairs), np.int64)

    def batch(self, pairs: Any, device: Any = None) -> Any:
        return {"rows": torch.from_numpy(pairs)}

    def encode(self, batch: Any) -> Any:
        return self.table[batch["rows"]]

    def seen(self, vectors: Any) -> Any:
        return vectors


def of_queries(queries: int, documents: int = 20) -> Any:
    """Examples in which half of the documents of each query are relevant."""
    names = [f"q{query}" for query in range(queries) for _ in range(documents)]
    texts = {f"{name}-{place}": f"{name} text {place}" for place, name in enumerate(names)}
    grades = [place % 2 for place in range(len(names))]
    return build_examples(
        Qrels.build(names, list(texts), grades), {name: name for name in names}, texts, negatives=4
    )


def found(table: Any, codes: Any, examples: Any, **options: Any) -> Probe:
    ranker: Any = Vectors(table)
    labels = PairLabels("x", ("no", "yes"), codes)
    return probe_ranker(ranker, ranker, examples, labels, **{"least_steps": 200, **options})


def told(examples: Any, signal: float) -> tuple[Any, Any]:
    """Noise with a signal of the label in one dimension, and the labels."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 2, len(examples.pair_queries))
    table = generator.normal(size=(len(codes), 8))
    table[:, 3] += signal * (2 * codes - 1)
    return table, codes


def test_a_signal_is_found_and_noise_is_chance() -> None:
    examples = of_queries(30)
    strong, none = (found(*told(examples, signal), examples) for signal in (3.0, 0.0))
    assert strong.accuracy > 0.97
    low, high, _ = none.interval()
    assert low < 0.5 < high
    assert high - low < 0.15
    change, low, high = none.change_from(strong)
    assert change == pytest.approx(none.accuracy - strong.accuracy)
    assert low < change < high < -0.3
    low, high, _ = found(*told(examples, 3.0), examples, shuffled=True).interval()
    assert low < 0.5 < high


def test_queries_are_never_tested_by_a_probe_that_saw_them() -> None:
    """Vectors that only name their query tell everything to who has seen it, and nothing to others."""
    examples = of_queries(30)
    of_query = np.random.default_rng(1).integers(0, 2, 30)
    codes = of_query[examples.pair_queries]
    codes[np.random.default_rng(2).random(len(codes)) < 0.05] ^= 1  # so that every combination is there
    probe = found(np.eye(30)[examples.pair_queries], codes, examples)
    assert probe.accuracy < 0.7


def test_few_queries_are_fewer_folds() -> None:
    examples = of_queries(3, documents=100)
    assert found(*told(examples, 3.0), examples).accuracy > 0.97
    one = of_queries(1, documents=100)
    with pytest.raises(DataError, match="two are needed"):
        found(*told(one, 3.0), one)


def test_rare_values_count_as_much_as_frequent_ones() -> None:
    """Against the definition, from the counts."""
    right, total = np.array([[90.0, 1.0], [0.0, 1.0]]), np.array([[100.0, 2.0], [0.0, 2.0]])
    one = Probe("x", ("no", "yes"), right, total)
    assert one.accuracy == pytest.approx((90 / 100 + 2 / 4) / 2)
    assert math.isnan(one.interval().low)  # two queries say nothing of others
    assert one.interval().reason
    with pytest.raises(DataError, match="same queries"):
        one.change_from(Probe("x", ("no", "yes"), right[:1], total[:1]))


def test_the_probe_of_a_ranker_leaves_everything_as_it_was(
    checkpoint: Path, examples: Any, kin: Lexicon
) -> None:
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
