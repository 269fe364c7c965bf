"""How often a gate is wrong: false alarms and misses, by simulation.

    python benchmarks/gate.py --write

Differences between two rankings are drawn from known distributions, so that the true mean is known. A gate
whose allowed loss is just the true loss must neither call the run worse nor call it safe: each should happen
in at most alpha of all samples. Where the true loss is larger, calling it worse is right, and how often that
happens is the gate's power. The bounds move with the differences, so one sample answers for every true loss.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable

import numpy as np
from common import write_table

from evenrank.arrays import Floats
from evenrank.comparison.gate.rules import AT_LEAST
from evenrank.stats.difference import mean_bounds
from evenrank.stats.intervals import resampled

Draw = Callable[[np.random.Generator, int], Floats]

QUERIES = (10, 20, 30, 50, 100, 200)
ALPHA = 0.05
BEYOND = (0.02, 0.05, 0.1)  # how far the true loss is from what is allowed


def every_query_moves(generator: np.random.Generator, n: int) -> Floats:
    return 0.8 * generator.beta(5, 5, n) - 0.4


def most_unchanged(generator: np.random.Generator, n: int) -> Floats:
    """60% stay, the others gain or lose alike."""
    sign = np.where(generator.random(n) < 0.5, -1.0, 1.0)
    return np.where(generator.random(n) < 0.6, 0.0, sign * generator.beta(1, 3, n))


def more_losses(generator: np.random.Generator, n: int) -> Floats:
    """50% stay, 30% lose, 20% gain."""
    kind, size = generator.random(n), generator.beta(1, 4, n)
    return np.where(kind < 0.5, 0.0, np.where(kind < 0.8, -size, size))


def few_lose(generator: np.random.Generator, n: int) -> Floats:
    """80% stay, 20% lose, some of them much."""
    return np.where(generator.random(n) < 0.8, 0.0, -generator.beta(1, 2, n))


def rare_large_gains(generator: np.random.Generator, n: int) -> Floats:
    """60% stay, 30% lose a little, 10% gain much: few queries are likely to miss the gains."""
    kind = generator.random(n)
    lost, gained = -0.15 * generator.random(n), generator.beta(2, 3, n)
    return np.where(kind < 0.6, 0.0, np.where(kind < 0.9, lost, gained))


CASES: dict[str, tuple[Draw, float]] = {  # with the true mean
    "every query moves a little": (every_query_moves, 0.0),
    "60% unchanged, gains as losses": (most_unchanged, 0.0),
    "50% unchanged, more losses": (more_losses, 0.2 * (0.2 - 0.3)),
    "80% unchanged, 20% lose": (few_lose, -0.2 / 3),
    "many small losses, rare large gains": (rare_large_gains, 0.1 * 0.4 - 0.3 * 0.075),
}


def simulate(draw: Draw, mean: float, queries: int, repeats: int, resamples: int) -> dict[str, float]:
    """Rates over ``repeats`` samples, for the gate's bounds and for the percentile bootstrap alone."""
    generator = np.random.default_rng(queries)
    low, high, inner_low, inner_high = (np.empty(repeats) for _ in range(4))
    for place in range(repeats):
        moved = draw(generator, queries)
        bounds = mean_bounds(moved, alpha=ALPHA, resamples=resamples, seed=place)
        low[place], high[place] = bounds.lower, bounds.upper
        if not moved.any():  # the gate calls a run safe that changed no query
            low[place] = high[place] = np.inf
        means = resampled(moved, lambda drawn: drawn.mean(axis=-1), resamples=resamples, seed=place)
        inner_low[place], inner_high[place] = np.quantile(means, [ALPHA, 1 - ALPHA])
    room = 1e-12
    rates = {
        "worse": (high < mean - room).mean(),
        "safe": (low > mean + room).mean(),
        "percentile worse": (inner_high < mean - room).mean(),
        "percentile safe": (inner_low > mean + room).mean(),
    }
    for beyond in BEYOND:
        rates[f"worse {beyond}"] = (high < mean + beyond).mean()
        rates[f"safe {beyond}"] = (low >= mean - beyond).mean()
    return {name: float(rate) for name, rate in rates.items()}


def page(found: dict[tuple[str, int], dict[str, float]]) -> str:
    head = ["false alarm", "percentile alone", "wrongly safe", "percentile alone"]
    rows = [f"| case | queries | {' | '.join(head)} |", "|---|---|---|---|---|---|"]
    for (case, queries), rates in found.items():
        names = ("worse", "percentile worse", "safe", "percentile safe")
        rows.append(f"| {case} | {queries} | " + " | ".join(f"{rates[name]:.3f}" for name in names) + " |")
    shown = [f"{word} {beyond}" for word in ("worse", "safe") for beyond in BEYOND]
    titles = [f"worse, {beyond:g} beyond" for beyond in BEYOND] + [
        f"safe, {beyond:g} within" for beyond in BEYOND
    ]
    rows += ["", f"| case | queries | {' | '.join(titles)} |", "|---" * (2 + len(titles)) + "|"]
    for (case, queries), rates in found.items():
        rows.append(f"| {case} | {queries} | " + " | ".join(f"{rates[name]:.2f}" for name in shown) + " |")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3000, help="samples of queries for each case")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/gate.md")
    options = parser.parse_args()
    found = {}
    for case, (draw, mean) in CASES.items():
        for queries in QUERIES:
            found[case, queries] = simulate(draw, mean, queries, options.repeats, options.resamples)
            print(case, queries, found[case, queries], file=sys.stderr)
    tables = page(found)
    print(tables)
    if options.write:
        error = (0.05 * 0.95 / options.repeats) ** 0.5
        told = (
            f"alpha {ALPHA:g}, {options.repeats:,} samples a row (a rate of .05 has a standard error "
            f"of {error:.4f}), {options.resamples:,} resamples; a gate wants at least {AT_LEAST} queries by "
            f"default. Python {platform.python_version()}, numpy {np.__version__}.\n\n"
        )
        write_table(__file__, tables, told)


if __name__ == "__main__":
    main()
