"""The attack probe: how well a fresh adversary tells the protected label from what a ranker computes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from evenrank.arrays import Floats, Int64s
from evenrank.errors import DataError
from evenrank.neural.examples import Examples
from evenrank.neural.labels import PairLabels
from evenrank.neural.ranker import NeuralRanker, adversary
from evenrank.neural.sampling import balanced
from evenrank.neural.scoring import pair_vectors
from evenrank.neural.splits import query_folds
from evenrank.neural.tokens import PairBatches
from evenrank.stats.intervals import ConfidenceInterval, mean_interval
from evenrank.tables import estimate, number

FOLDS = 5
EPOCHS = 30
LEAST_STEPS = 1000
PROBED = 20_000  # pairs of lists; more would only take longer
_RATE, _BATCH, _DECAY = 1e-3, 256, 1e-4


@dataclass(frozen=True, eq=False)
class Probe:
    """What the probe told right, by query (or document) and value: so intervals are about other ones."""

    attribute: str
    values: tuple[str, ...]
    right: Floats  # (Q, V)
    total: Floats  # (Q, V)

    @property
    def accuracy(self) -> float:
        """Balanced accuracy: the mean over values of the share told right. Chance is 1 / values."""
        return float(_balanced(self.right.sum(axis=0), self.total.sum(axis=0)))

    @property
    def chance(self) -> float:
        return 1 / len(self.values)

    def interval(self, level: float = 0.95) -> ConfidenceInterval:
        """The interval over queries; NaN, with the reason, for fewer than five."""
        return mean_interval(self._by_query(), (0.0, 1.0), level=level)

    def change_from(self, before: Probe, level: float = 0.95) -> tuple[float, float, float]:
        """The difference of accuracies, this less ``before``, and its interval over the same queries."""
        if before.right.shape != self.right.shape:
            raise DataError("probes are compared that were made with the same queries and values")
        low, high, _ = mean_interval(self._by_query() - before._by_query(), (-1.0, 1.0), level=level)
        return self.accuracy - before.accuracy, low, high

    def _by_query(self) -> Floats:
        """(Q,): numbers whose mean is the accuracy, and which vary as it does when queries are others.

        The accuracy is a mean over values of ratios of sums, ``R_v / T_v``. Its linear part is that of the
        mean of ``accuracy + Q mean_v (r_qv - (R_v / T_v) t_qv) / T_v`` over queries q.
        """
        total = self.total.sum(axis=0)  # (V,)
        shown = total > 0
        shares = self.right.sum(axis=0)[shown] / total[shown]
        parts = (self.right[:, shown] - shares * self.total[:, shown]) / total[shown]  # (Q, V)
        found: Floats = self.accuracy + len(self.right) * parts.mean(axis=1)
        return found


def _balanced(right: Floats, total: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.nanmean(right / total, axis=-1)
    return found


def probe_ranker(
    ranker: NeuralRanker,
    tokens: PairBatches,
    examples: Examples,
    labels: PairLabels,
    *,
    seed: int = 0,
    folds: int = FOLDS,
    epochs: int = EPOCHS,
    least_steps: int = LEAST_STEPS,
    size: int | None = None,
    shuffled: bool = False,
    precision: str = "float32",
) -> Probe:
    """Train a new adversary on the vectors of a ranker that stays as it is, and test it on other queries.

    The triples are balanced first, so that neither the share of a value nor the relevance of a document
    gives the label away. Queries are cut into ``folds`` (at most as many as there are queries): each is
    tested with an adversary that never saw it.
    It learns for so many ``epochs``, and ``least_steps`` of up to 256 pairs at the least.
    ``shuffled`` gives every pair the label of another one: what the probe then tells right is chance.
    Of lists each pair counts once. Where a ranker reads documents apart, a document is in many pairs with the
    same vector: then each document is tested with an adversary that never saw it.
    """
    generator = np.random.default_rng([seed, 7])
    if examples.triples.shape[1] == 2:
        chosen = balanced(examples.triples, {labels.name: labels}, generator, size).ravel()
    else:
        chosen = np.unique(examples.triples)
        if ranker.separate:
            chosen = chosen[np.unique(examples.pair_documents[chosen], return_index=True)[1]]
        chosen = generator.permutation(chosen)[: PROBED if size is None else size]
    pairs, back = np.unique(chosen, return_inverse=True)
    vectors = pair_vectors(ranker, tokens, pairs, precision=precision)  # (P, width)
    codes = labels.codes[pairs]
    apart = examples.pair_documents if ranker.separate else examples.pair_queries
    if shuffled:
        codes = generator.permutation(codes)
    return probe_vectors(
        vectors, codes, apart[pairs], np.bincount(back, minlength=len(pairs)), labels,
        seed=seed, folds=folds, epochs=epochs, least_steps=least_steps,
    )  # fmt: skip


def probe_vectors(
    vectors: npt.NDArray[np.float32],
    codes: Int64s,
    queries: Int64s,
    weights: Int64s,
    labels: PairLabels,
    *,
    seed: int = 0,
    folds: int = FOLDS,
    epochs: int = EPOCHS,
    least_steps: int = LEAST_STEPS,
    linear: bool = False,
) -> Probe:
    """``probe_ranker`` of vectors (P, width), with the label, the query and the weight of each.

    ``linear`` probes have one layer: what they tell right, any classifier by a hyperplane can.
    """
    distinct, places = np.unique(queries, return_inverse=True)
    if len(distinct) < 2:
        raise DataError(f"attribute {labels.name!r}: a probe is tested on other queries: two are needed")
    parts = query_folds([str(place) for place in range(len(distinct))], min(folds, len(distinct)), seed)
    guessed = np.zeros(len(codes), dtype=np.int64)
    for part in parts:
        tested = np.isin(places, np.array([int(place) for place in part]))
        guessed[tested] = _fit(
            vectors, codes, weights, ~tested, tested, len(labels.values), seed, epochs, least_steps, linear
        )
    shape = (len(distinct), len(labels.values))
    right, total = np.zeros(shape), np.zeros(shape)
    np.add.at(total, (places, codes), weights)
    np.add.at(right, (places, codes), weights * (guessed == codes))
    return Probe(labels.name, labels.values, right, total)


def _fit(
    vectors: npt.NDArray[np.float32],
    codes: Int64s,
    weights: Int64s,
    trained: npt.NDArray[np.bool_],
    tested: npt.NDArray[np.bool_],
    values: int,
    seed: int,
    epochs: int,
    least_steps: int,
    linear: bool,
) -> Int64s:
    """The values that an adversary, trained on some rows, gives others."""
    mean, deviation = vectors[trained].mean(axis=0), vectors[trained].std(axis=0) + 1e-6
    x = torch.from_numpy((vectors[trained] - mean) / deviation)
    y = torch.from_numpy(codes[trained])
    present = np.bincount(codes[trained], weights=weights[trained], minlength=values)
    of_value = torch.from_numpy(np.where(present > 0, 1 / np.maximum(present, 1), 0.0)).float()
    w = torch.from_numpy(weights[trained]).float() * of_value[y]
    w = w * (len(w) / w.sum().clamp_min(1e-12))
    with torch.random.fork_rng(devices=[]), _few_threads():
        torch.manual_seed(seed)
        head: torch.nn.Module = (
            torch.nn.Linear(x.shape[1], values) if linear else adversary(x.shape[1], values)
        )
        optimizer = torch.optim.AdamW(head.parameters(), lr=_RATE, weight_decay=_DECAY)
        # a probe that has not learnt yet would call a ranker blind
        rounds = max(epochs, -(-least_steps // -(-len(x) // _BATCH)))
        for _ in range(rounds):
            order = torch.randperm(len(x))
            for begin in range(0, len(x), _BATCH):
                rows = order[begin : begin + _BATCH]
                loss = (functional.cross_entropy(head(x[rows]), y[rows], reduction="none") * w[rows]).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        with torch.no_grad():
            guessed = head(torch.from_numpy((vectors[tested] - mean) / deviation)).argmax(dim=1)
    found: Int64s = guessed.numpy()
    return found


@contextmanager
def _few_threads() -> Iterator[None]:
    """Matrices as small as these only get slower with many threads, above all beside other processes."""
    had = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(had)


def describe_probe(found: Probe, before: Probe | None = None) -> str:
    """One line: accuracy, interval, chance, and the change from before."""
    low, high, _ = found.interval()
    line = f"{found.attribute}: balanced accuracy {estimate(found.accuracy, low, high)}"
    line += f", chance {number(found.chance)}"
    if before is not None:
        change, low, high = found.change_from(before)
        line += f"; change {estimate(change, low, high, signed=True)}"
    return line


def as_rows(probes: Sequence[Probe], before: Sequence[Probe] = ()) -> list[dict[str, object]]:
    """Plain values, for a file of results; with those of before, the change from them too."""
    rows: list[dict[str, object]] = []
    for place, found in enumerate(probes):
        row: dict[str, object] = {
            "attribute": found.attribute,
            "accuracy": found.accuracy,
            "interval": _plain(*found.interval()[:2]),
            "chance": found.chance,
        }
        if before:
            change, low, high = found.change_from(before[place])
            row |= {"change": change, "change_interval": _plain(low, high)}
        rows.append(row)
    return rows


def _plain(low: float, high: float) -> tuple[float, float] | None:
    """JSON has no NaN."""
    return None if math.isnan(low) else (low, high)
