"""Randomised Tukey HSD: ours beside plain loops, in one run.

    python benchmarks/tukey.py --write

The case of gfr-2022, Figure 2: 21 systems, so 210 pairs, on 50 topics, with 5,000 trials. Carterette (2012)
describes the test as a loop: in every trial shuffle the values of each topic among the systems, take the
largest and the smallest mean, and count for every pair whether they lie as far apart as the pair does. Three
loops do just that: in plain Python with the shuffle of its library; in plain Python on the random numbers
that ours draws, whose p-values must be equal to ours to the last bit, or nothing is reported; and over trials
in Python with numpy inside a trial, as one would write it for speed. All use one thread, and what is timed is
the processor's time: others may be at work on the machine.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import write_table

from evenrank.stats import tukey
from evenrank.stats.tukey import randomised_tukey_hsd

SYSTEMS, TOPICS, TRIALS = 21, 50, 5000
SEED = 0
TOLERANCE = 1e-12  # of ">=": means that were summed in another order are equal


def scores() -> Any:
    """(topics, systems): difficult topics are difficult for all, systems differ a little."""
    generator = np.random.default_rng(1)
    difficulty = generator.beta(2, 3, (TOPICS, 1))
    return np.clip(
        difficulty + np.linspace(0, 0.15, SYSTEMS) + generator.normal(0, 0.1, (TOPICS, SYSTEMS)), 0, 1
    )


def p_values(counts: list[list[int]]) -> Any:
    return (np.array(counts) + 1) / (TRIALS + 1)


def counted(values: list[list[float]], shuffle: Callable[[int, int, list[float]], None]) -> list[list[int]]:
    """The loop of the paper; ``shuffle`` gets the trial, the topic and the row that it changes."""
    means = [sum(column) / TOPICS for column in zip(*values, strict=True)]
    apart = [[abs(one - two) for two in means] for one in means]
    counts = [[0] * SYSTEMS for _ in range(SYSTEMS)]
    for trial in range(TRIALS):
        rows = []
        for topic, row in enumerate(values):
            moved = list(row)
            shuffle(trial, topic, moved)
            rows.append(moved)
        shuffled = [sum(column) / TOPICS for column in zip(*rows, strict=True)]
        largest = max(shuffled) - min(shuffled)
        for one in range(SYSTEMS):
            for two in range(SYSTEMS):
                if largest >= apart[one][two] - TOLERANCE:
                    counts[one][two] += 1
    return counts


def with_the_library(values: Any) -> Any:
    source = random.Random(SEED)

    def shuffle(_trial: int, _topic: int, row: list[float]) -> None:
        source.shuffle(row)

    return p_values(counted(values.tolist(), shuffle))


def our_draws() -> list[list[list[int]]]:
    """For each trial and topic the places that ours swaps with, from the last system to the second."""
    generator = np.random.default_rng(SEED)
    step = max(1, tukey._NUMBERS_AT_ONCE // (TOPICS * SYSTEMS))
    above = np.arange(2, SYSTEMS + 1, dtype=np.uint64)[:, None]
    places = []
    for begin in range(0, TRIALS, step):
        some = min(step, TRIALS - begin)
        drawn = tukey.draw(generator, (SYSTEMS - 1, some * TOPICS))
        chosen = (drawn * above >> np.uint64(32)).T.reshape(some, TOPICS, SYSTEMS - 1)
        places += chosen.tolist()
    return places


def with_our_draws(values: Any, places: list[list[list[int]]]) -> Any:
    def shuffle(trial: int, topic: int, row: list[float]) -> None:
        chosen = places[trial][topic]
        for k in range(SYSTEMS - 1, 0, -1):
            place = chosen[k - 1]
            row[k], row[place] = row[place], row[k]

    return p_values(counted(values.tolist(), shuffle))


def with_numpy(values: Any) -> Any:
    generator = np.random.default_rng(SEED)
    means = values.mean(axis=0)
    apart = np.abs(means[:, None] - means)
    counts = np.zeros((SYSTEMS, SYSTEMS), dtype=np.int64)
    for _ in range(TRIALS):
        shuffled = generator.permuted(values, axis=1).mean(axis=0)
        counts += np.ptp(shuffled) >= apart - TOLERANCE
    return p_values(counts.tolist())


def ours(values: Any) -> Any:
    return randomised_tukey_hsd(values, trials=TRIALS, seed=SEED).p_values


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    begin = time.process_time()
    result = action()
    return time.process_time() - begin, result


def measure(rounds: int) -> dict[str, float]:
    values, places = scores(), our_draws()
    ways: dict[str, Callable[[], Any]] = {
        "plain loop": lambda: with_the_library(values),
        "plain loop, our random numbers": lambda: with_our_draws(values, places),
        "loop over trials, numpy inside": lambda: with_numpy(values),
        "ours": lambda: ours(values),
    }
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        found = {}
        for name, action in ways.items():
            for _ in range(5 if name == "ours" else 1):
                seconds, found[name] = timed(action)
                times.setdefault(name, []).append(seconds)
        check(found)
        print(number, {name: f"{row[-1]:.3f}" for name, row in times.items()}, file=sys.stderr)
    return {name: statistics.median(row) for name, row in times.items()}


def check(found: dict[str, Any]) -> None:
    """Equal shuffles give equal p; others come as near as 5,000 trials do."""
    true = found["ours"]
    if not np.array_equal(found["plain loop, our random numbers"], true):
        raise SystemExit("other p-values for the same shuffles")
    error = np.sqrt(2 * true * (1 - true) / TRIALS)
    for name in ("plain loop", "loop over trials, numpy inside"):
        if (np.abs(found[name] - true) > 5 * error + 5 / TRIALS).any():
            raise SystemExit(f"{name}: p-values further off than chance explains")


def page(found: dict[str, float]) -> str:
    rows = ["| | time | of ours |", "|---|---|---|"]
    for name, seconds in found.items():
        rows.append(f"| {name} | {seconds * 1000:,.0f} ms | {seconds / found['ours']:,.0f} |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/tukey.md")
    options = parser.parse_args()
    table = page(measure(options.rounds))
    print(table)
    if options.write:
        write_table(__file__, table)


if __name__ == "__main__":
    main()
