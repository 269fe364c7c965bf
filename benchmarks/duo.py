"""The range of DUO: computed, beside enumerated and sampled, in one run.

    python benchmarks/duo.py --write

DUO is scaled to the range that D has over all orders of a list. For up to 8 documents the published code
goes through all orders, for more it draws 40,320 of them, list after list. Two samplers stand for it: one
that works as it does (orders are drawn one by one, the variance of every prefix is computed anew), and the
fastest that we can write (all orders drawn at once, running sums). Ours gets one list alone, and many in one
call, as evaluate gives them. Where all orders are enumerated, the ranges must be equal, or nothing is
reported; a sampled range must lie inside ours.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from typing import Any

import numpy as np
from common import timed, write_table

from evenrank.measures import orders

ALL = 8  # documents, whose orders are enumerated
DRAWN = 40_320  # orders: 8!
SIZES = (8, 10, 20, 50, 100, 200, 1000)


def drawn_one_by_one(scores: Any, generator: np.random.Generator) -> Any:
    """(B, n): the lists as they are made one after the other."""
    if len(scores) <= ALL:
        return np.array([list(order) for order in itertools.permutations(scores.tolist())])
    return np.array([list(generator.permutation(scores)) for _ in range(DRAWN)])


def as_published(scores: Any, generator: np.random.Generator) -> tuple[float, float]:
    """The smallest and the largest D, every prefix of every order looked at again."""
    lists = drawn_one_by_one(scores, generator)
    total = np.zeros(len(lists))
    for k in range(2, len(scores)):
        total += lists[:, :k].var(axis=1) / np.log2(k)
    return float(total.min()), float(total.max())


def with_running_sums(scores: Any, generator: np.random.Generator) -> tuple[float, float]:
    """The same from running sums, a block of orders at a time."""
    count = len(scores)
    if count <= ALL:
        lists = np.array(list(itertools.permutations(scores.tolist())))
        return _range(lists)
    block = max(1, 2_000_000 // count)
    found = [
        _range(generator.permuted(np.broadcast_to(scores, (min(block, DRAWN - begin), count)), axis=1))
        for begin in range(0, DRAWN, block)
    ]
    return min(low for low, _ in found), max(high for _, high in found)


def _range(lists: Any) -> tuple[float, float]:
    count = lists.shape[1]
    k = np.arange(1, count + 1)
    spread = np.cumsum(lists**2, axis=1) / k - (np.cumsum(lists, axis=1) / k) ** 2  # (B, n)
    total = spread[:, 1 : count - 1] @ (1 / np.log2(k[1 : count - 1]))
    return float(total.min()), float(total.max())


def ours(lists: Any) -> Any:
    """(Q, 2): the smallest and the largest D without the whole list's, which is the same for all orders."""
    lengths = np.full(len(lists), lists.shape[1])
    found = orders.extremes(lists, lengths)
    whole = lists.var(axis=1) / np.log2(lists.shape[1])
    return np.column_stack([found.least - whole, found.most - whole])


def speed(count: int, rounds: int, generator: np.random.Generator) -> dict[str, float]:
    many = generator.normal(size=(1000 if count <= 200 else 100, count))
    many -= many.mean(axis=1, keepdims=True)
    ours(many[:2])
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        scores = many[number]
        slow = count > 200 and number  # a minute each: once is enough
        if not slow:
            seconds, found = timed(lambda scores=scores: as_published(scores, generator))
            times.setdefault("published", []).append(seconds)
            check(found, ours(scores[None])[0], count)
        seconds, found = timed(lambda scores=scores: with_running_sums(scores, generator))
        times.setdefault("running", []).append(seconds)
        check(found, ours(scores[None])[0], count)
        for _ in range(5):
            times.setdefault("single", []).append(timed(lambda scores=scores: ours(scores[None]))[0])
        times.setdefault("batch", []).append(timed(lambda: ours(many))[0] / len(many))
    medians = {name: statistics.median(row) for name, row in times.items()}
    print(count, {name: f"{value:.2e}" for name, value in medians.items()}, file=sys.stderr)
    return medians


def check(found: tuple[float, float], true: Any, count: int) -> None:
    low, high = found
    slack = 1e-9 * true[1]
    wrong = low < true[0] - slack or high > true[1] + slack
    if count <= ALL:
        wrong = abs(low - true[0]) > slack or abs(high - true[1]) > slack
    if wrong:
        raise SystemExit(f"{count} documents: {found} is not inside {true}")


def error(count: int, lists: int, generator: np.random.Generator) -> dict[str, float]:
    """How much of the true range a sample reaches, and what it makes of the two extreme orders."""
    reached, balanced, one_sided = [], [], []
    for _ in range(lists):
        scores = generator.normal(size=count)
        low, high = with_running_sums(scores - scores.mean(), generator)
        least, most = ours(scores[None] - scores.mean())[0]
        reached.append((high - low) / (most - least))
        balanced.append((high - most) / (high - low))
        one_sided.append((high - least) / (high - low))
    means = {"reached": reached, "balanced": balanced, "one-sided": one_sided}
    return {name: statistics.mean(row) for name, row in means.items()}


def seconds(value: float) -> str:
    return (
        f"{value:.1f} s"
        if value >= 1
        else f"{value * 1e3:.3g} ms"
        if value >= 1e-3
        else f"{value * 1e6:.3g} µs"
    )


def page(speeds: dict[int, dict[str, float]], errors: dict[int, dict[str, float]]) -> str:
    rows = [
        "| documents | as published | running sums | ours, one list | ours, a list among many "
        "| published / ours among many | alone | running sums / ours among many | alone |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for count, row in speeds.items():
        shown = " | ".join(seconds(row[name]) for name in ("published", "running", "single", "batch"))
        ratios = " | ".join(
            f"{row[theirs] / row[own]:,.0f}"
            for theirs in ("published", "running")
            for own in ("batch", "single")
        )
        rows.append(f"| {count:,} | {shown} | {ratios} |")
    rows += [
        "",
        "| documents | share of the true range that 40,320 orders reach "
        "| sampled DUO of the most balanced order, truly 0 | of the most one-sided order, truly 1 |",
        "|---|---|---|---|",
    ]
    for count, row in errors.items():
        numbers = (round(row[name], 2) + 0.0 for name in ("reached", "balanced", "one-sided"))  # no -0.00
        rows.append(f"| {count:,} | " + " | ".join(f"{number:.2f}" for number in numbers) + " |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lists", type=int, default=20, help="lists for the second table; fewer of 1,000")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/duo.md")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    speeds = {count: speed(count, options.rounds, generator) for count in options.sizes}
    errors = {
        count: error(count, options.lists if count <= 200 else 3, generator)
        for count in options.sizes
        if count > ALL
    }
    tables = page(speeds, errors)
    print(tables)
    if options.write:
        write_table(__file__, tables)


if __name__ == "__main__":
    main()
