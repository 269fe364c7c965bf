"""The FAIR e-greedy re-ranker, beside a plain loop over its Algorithm 1; and how near it comes to the best.

    python benchmarks/rerank.py --write

One process does each in turn, round after round, so that all of them meet the same machine; the medians are
compared. The loop and the kernel must give the same lists, or nothing is reported. The loop is too slow
for all of them: it does a share, and its seconds are scaled.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import sys
from typing import Any

import numpy as np
from common import timed, write_table

import evenrank
from evenrank import attention
from evenrank.data.attribute import Attribute
from evenrank.measures.divergences import kullback_leibler
from evenrank.measures.diversity import novelty_gain
from evenrank.measures.greedy import greedy_order
from evenrank.measures.sums import divide
from evenrank.rerankers import rerank

EPSILON, ALPHA = 0.3, 0.5
DEPTH, DRAWS = 100, 1000
LOOP_LISTS = 20  # of the loop
AT_ONCE = 50  # queries of the kernel: all places at once would take 800 MB


def algorithm_1(
    relevance: list[float], shares: list[list[float]], target: list[float], explore: list[bool]
) -> list[int]:
    """As printed, with a running sum of what was chosen: one list, one draw."""
    values = range(len(target))
    ranked: list[int] = []
    left = list(range(len(relevance)))
    mass, seen = [0.0] * len(target), [0.0] * len(target)
    for fairest in explore:
        best, best_keys = -1, (-math.inf, -math.inf)
        for d in left:
            row = shares[d]
            gain = relevance[d] * sum(row[a] * (1 - ALPHA) ** seen[a] for a in values)
            after = [mass[a] + row[a] for a in values]
            total = sum(after)
            kl = sum(m / total * math.log(m / total / target[a]) for a, m in enumerate(after) if m > 0)
            kl = 0.0 if kl < 1e-12 else kl
            keys = (-kl, gain) if fairest else (gain / (kl + 1), -kl)
            if _larger(keys, best_keys):
                best, best_keys = d, keys
        ranked.append(best)
        left.remove(best)
        for a in values:
            mass[a] += shares[best][a]
            seen[a] += relevance[best] * shares[best][a]
    return ranked


def _larger(keys: tuple[float, float], others: tuple[float, float]) -> bool:
    """Equal ones may differ in the last bit."""
    if abs(keys[0] - others[0]) > 1e-12 * max(abs(keys[0]), 1e-300):
        return keys[0] > others[0]
    return keys[1] > others[1] and abs(keys[1] - others[1]) > 1e-12 * abs(keys[1])


def make_lists(queries: int, *, soft: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Relevance (Q, K), shares (Q, K, 2), target (Q, 2), lengths (Q,), always the same."""
    generator = np.random.default_rng(1)
    relevance = generator.integers(0, 2, (queries, DEPTH)).astype(float)
    left = generator.random((queries, DEPTH))
    left = left if soft else (left < 0.3).astype(float)
    target = np.tile([0.5, 0.5], (queries, 1))
    return relevance, np.stack([left, 1 - left], axis=2), target, np.full(queries, DEPTH)


def kernel(lists: Any, draws: int, seed: int) -> list[np.ndarray]:
    """All draws of all queries; of each block of queries the first list of each query is kept."""
    generator = np.random.default_rng(seed)
    kept = []
    for begin in range(0, len(lists[0]), AT_ONCE):
        part = [array[begin : begin + AT_ONCE] for array in lists]
        explore = generator.random((len(part[0]), draws, DEPTH)) < EPSILON
        kept.append(greedy_order(*part, alpha=ALPHA, explore=explore)[:, 0])
    return kept


def loop(lists: Any, count: int, seed: int) -> list[list[int]]:
    generator = np.random.default_rng(seed)
    relevance, shares, target = (array[:count].tolist() for array in lists[:3])
    explore = (generator.random((count, 1, DEPTH)) < EPSILON)[:, 0].tolist()
    return [algorithm_1(*row) for row in zip(relevance, shares, target, explore, strict=True)]


def make_run(queries: int) -> tuple[Any, Any, Any]:
    generator = np.random.default_rng(2)
    ids = [(f"q{q}", f"d{q}-{d}") for q in range(queries) for d in range(DEPTH)]
    names, documents = (list(column) for column in zip(*ids, strict=True))
    run = evenrank.Run.build(names, documents, np.tile(-np.arange(DEPTH, dtype=float), queries))
    qrels = evenrank.Qrels.build(names, documents, generator.integers(0, 2, len(ids)))
    labels = np.array(["f", "m"])[(generator.random(len(ids)) < 0.7).astype(int)].tolist()
    return run, qrels, evenrank.Membership.build(Attribute("gender", ("f", "m")), documents, labels)


def check(*kinds: Any) -> None:
    for lists in kinds:
        same = [array[:LOOP_LISTS] for array in lists]
        ours = np.concatenate(kernel(same, 1, 5)).tolist()
        if ours != loop(lists, LOOP_LISTS, 5):
            raise SystemExit("the loop and the kernel give different lists")


def measure(queries: int, rounds: int) -> dict[str, float]:
    hard, soft = make_lists(queries), make_lists(AT_ONCE, soft=True)
    check(hard, soft)
    scale = queries * DRAWS / LOOP_LISTS
    run, qrels, groups = make_run(50)
    seconds: dict[str, list[float]] = {}

    def note(what: str, spent: float) -> None:
        seconds.setdefault(what, []).append(spent)
        print(f"{what}: {spent:.2f} s", file=sys.stderr)

    def again(count: int | None) -> Any:
        return rerank(run, f"FAIR_greedy(epsilon={EPSILON})", qrels=qrels, groups=groups, repeat=count)

    for _ in range(rounds):
        note("loop, labels", timed(lambda: loop(hard, LOOP_LISTS, 5))[0] * scale)
        note("kernel, labels", timed(lambda: kernel(hard, DRAWS, 5))[0])
        note("rerank, one by one", timed(lambda: [again(None) for _ in range(20)])[0] * DRAWS / 20)
        note("rerank, repeat=1000", timed(lambda: again(DRAWS))[0])
        note("loop, mixtures", timed(lambda: loop(soft, LOOP_LISTS, 5))[0] * scale)
        note("kernel, mixtures", timed(lambda: kernel(soft, DRAWS, 5))[0] * queries / AT_ONCE)
    return {what: statistics.median(times) for what, times in seconds.items()}


def gaps(documents: int, values: int, *, soft: bool, pools: int) -> list[float]:
    """1 - FAIR of the 0-greedy order over that of the best of all orders, for random pools."""
    generator = np.random.default_rng(documents * 10 + values + 100 * soft)
    orders = np.array(list(itertools.permutations(range(documents))))
    found = []
    while len(found) < pools:
        shares = np.eye(values)[generator.integers(0, values, documents)]
        if soft:
            shares = generator.dirichlet(np.ones(values), documents)
        relevance = generator.integers(0, 2, documents).astype(float)
        target = generator.dirichlet(np.full(values, 2))
        if not relevance.any():
            continue
        own = greedy_order(relevance[None], shares[None], target[None], np.array([documents]), alpha=ALPHA)[
            :, 0
        ]
        values_of = fair_sums(np.concatenate([own, orders]), relevance, shares, target)
        found.append(1 - values_of[0] / values_of.max())
    return found


def fair_sums(
    orders: np.ndarray, relevance: np.ndarray, shares: np.ndarray, target: np.ndarray
) -> np.ndarray:
    """(P,): the sum that FAIR normalises, for each order."""
    rows = shares[orders]  # (P, n, L)
    mass = np.cumsum(rows, axis=1)
    apart = kullback_leibler(divide(mass, mass.sum(axis=2, keepdims=True)), target)  # (P, n)
    gains = novelty_gain(rows * relevance[orders][:, :, None], ALPHA)
    return np.asarray((gains * attention.log2().weights(orders.shape[1]) / (apart + 1)).sum(axis=1))


def gap_table(pools: int) -> list[str]:
    rows = ["| documents | groups | best order found | mean gap | 95% of gaps below | largest gap |"]
    rows.append("|---|---|---|---|---|---|")
    for documents, values, soft in itertools.product((5, 7), (2, 3), (False, True)):
        found = np.array(gaps(documents, values, soft=soft, pools=pools))
        kind = f"{values}, {'mixtures' if soft else 'labels'}"
        numbers = [(found < 1e-9).mean(), found.mean(), np.quantile(found, 0.95), found.max()]
        rows.append(f"| {documents} | {kind} | " + " | ".join(f"{n:.1%}" for n in numbers) + " |")
    return rows


def page(times: dict[str, float], queries: int, pools: int) -> str:
    rows = [f"{queries:,} queries x {DEPTH} documents x {DRAWS:,} draws, e = {EPSILON}.\n"]
    rows += [
        "| documents have | loop, seconds (scaled) | kernel, seconds | times faster |",
        "|---|---|---|---|",
    ]
    for kind in ("labels", "mixtures"):
        slow, fast = times[f"loop, {kind}"], times[f"kernel, {kind}"]
        star = "" if kind == "labels" else " (scaled)"
        rows.append(f"| {kind} | {slow:,.0f} | {fast:,.1f}{star} | {slow / fast:,.0f} |")
    one, many = times["rerank, one by one"], times["rerank, repeat=1000"]
    rows.append("\n| 1,000 draws of 50 lists of 100, run to RunSet | seconds | times faster |\n|---|---|---|")
    rows.append(f"| `rerank` once a draw (scaled from 20) | {one:.2f} | 1 |")
    rows.append(f"| `rerank(..., repeat=1000)` | {many:.2f} | {one / many:.1f} |")
    rows.append(f"\nHow far the 0-greedy order is from the best of all orders, {pools} random pools each:\n")
    return "\n".join([*rows, *gap_table(pools)]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pools", type=int, default=500)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/rerank.md")
    options = parser.parse_args()
    table = page(measure(options.queries, options.rounds), options.queries, options.pools)
    print(table)
    if options.write:
        write_table(__file__, table)


if __name__ == "__main__":
    main()
