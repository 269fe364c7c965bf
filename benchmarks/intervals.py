"""How often intervals hold the true mean, and how wide they are.

    python benchmarks/intervals.py --write

Rules are vectorised over samples; the shipped one is compared with ``mean_interval``
on some samples of every shape, so that what is simulated is what is shipped.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from evenrank.arrays import Floats
from evenrank.stats.intervals import ADDED, REACH_BEYOND, REACH_WITHIN, UNBOUNDED, Bounds, mean_interval

PAGE = Path(__file__).with_name("intervals.md")
SIZES = (5, 10, 20, 30, 50, 100)
FEW = (2, 3, 4)
REPEATS = 10_000
SLOW = 500  # repeats of rules that are slow or wide
RESAMPLES = 1000
Rule = Callable[[Floats, Bounds], tuple[Floats, Floats]]
Shape = Callable[[np.random.Generator, tuple[int, int]], Floats]
UNIT: Bounds = (0.0, 1.0)


def around(
    x: Floats, low: Floats | float, high: Floats | float, weight: float, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Student's t of samples (R, n) with ``weight`` observations added at ``low`` and at ``high``."""
    n = x.shape[1] + 2 * weight
    mean = (x.sum(axis=1) + weight * (low + high)) / n
    squares = ((x - mean[:, None]) ** 2).sum(axis=1) + weight * ((low - mean) ** 2 + (high - mean) ** 2)
    half = student.ppf((1 + level) / 2, n - 1) * np.sqrt(squares / (n - 1) / n)
    return mean - half, mean + half


def cut(ends: tuple[Floats, Floats], bounds: Bounds) -> tuple[Floats, Floats]:
    return np.maximum(ends[0], bounds[0]), np.minimum(ends[1], bounds[1])


def plain_t(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    return around(x, 0.0, 0.0, 0.0)


def at_the_bounds(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    return cut(around(x, bounds[0], bounds[1], ADDED), bounds)


def shipped(
    x: Floats, bounds: Bounds, within: float = REACH_WITHIN, beyond: float = REACH_BEYOND
) -> tuple[Floats, Floats]:
    mean = x.mean(axis=1)
    low, high = mean - x.min(axis=1), x.max(axis=1) - mean
    equal = share_equal(x)
    added = []
    for outermost, bound in ((low, mean - bounds[0]), (high, bounds[1] - mean)):
        if np.isinf(bound).all():
            added.append(beyond * outermost)
        else:
            added.append(equal * bound + (1 - equal) * np.minimum(bound, within * outermost))
    return cut(around(x, mean - added[0], mean + added[1], ADDED), bounds)


def share_equal(x: Floats) -> Floats:
    ordered = np.sort(x, axis=1)
    run = longest = np.ones(len(x))
    for column in range(1, x.shape[1]):
        run = np.where(ordered[:, column] == ordered[:, column - 1], run + 1, 1.0)
        longest = np.maximum(longest, run)
    share: Floats = (longest - 1) / (x.shape[1] - 1)
    return share


def johnson(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """Student's t moved by the skewness: Johnson, Modified t tests and confidence intervals, 1978."""
    n, mean, deviation = x.shape[1], x.mean(axis=1), x.std(axis=1, ddof=1)
    third = ((x - mean[:, None]) ** 3).mean(axis=1)
    q = student.ppf(0.975, n - 1)
    lean = (
        np.divide(third, deviation**2, out=np.zeros(len(x)), where=deviation > 0) / (6 * n) * (1 + 2 * q * q)
    )
    half = q * deviation / math.sqrt(n)
    return mean + lean - half, mean + lean + half


def drawn_again(x: Floats, generator: np.random.Generator) -> Floats:
    picks = generator.integers(0, x.shape[1], (len(x), RESAMPLES, x.shape[1]))
    return np.take_along_axis(x[:, None, :], picks, axis=2)  # (R, B, n)


def by_blocks(rule: Rule) -> Rule:
    """So many samples at once that resampling them fits into memory."""

    def blocks(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
        step = max(1, 4_000_000 // (RESAMPLES * x.shape[1]))
        parts = [rule(x[begin : begin + step], bounds) for begin in range(0, len(x), step)]
        return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])

    return blocks


GENERATOR = np.random.default_rng(1)


@by_blocks
def percentile(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    low, high = np.quantile(drawn_again(x, GENERATOR).mean(axis=2), [0.025, 0.975], axis=1)
    return low, high


@by_blocks
def bootstrap_t(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    again = drawn_again(x, GENERATOR)
    mean, error = x.mean(axis=1), x.std(axis=1, ddof=1) / math.sqrt(x.shape[1])
    away, errors = again.mean(axis=2) - mean[:, None], again.std(axis=2, ddof=1) / math.sqrt(x.shape[1])
    ratios = np.where(errors > 1e-12, away / np.where(errors > 1e-12, errors, 1.0), np.sign(away) * 1e6)
    low, high = np.quantile(ratios, [0.025, 0.975], axis=1)
    return mean - high * error, mean - low * error


@by_blocks
def gaffke(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """Quantiles of Dirichlet weights on the values and one more at the bound: Gaffke 2005."""
    weights = GENERATOR.dirichlet(np.ones(x.shape[1] + 1), RESAMPLES)  # (B, n + 1)
    below = np.column_stack([x, np.full(len(x), bounds[0])]) @ weights.T
    above = np.column_stack([x, np.full(len(x), bounds[1])]) @ weights.T
    return np.quantile(below, 0.025, axis=1), np.quantile(above, 0.975, axis=1)


def betting(x: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
    """The hedged betting interval (Waudby-Smith and Ramdas 2024, Theorem 3), on a grid of 400 means."""
    grid = np.linspace(0.001, 0.999, 400)
    scaled = (x - bounds[0]) / (bounds[1] - bounds[0])
    count, n = scaled.shape
    before = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(scaled, axis=1)) / (before + 1)
    spreads = (0.25 + np.cumsum((scaled - means) ** 2, axis=1)) / (before + 1)
    lagged = np.column_stack([np.full(count, 0.25), spreads[:, :-1]])
    bets = np.minimum(np.sqrt(2 * math.log(2 / 0.05) / (n * lagged)), 50.0)  # (R, n)
    inside = np.zeros((count, len(grid)), dtype=bool)
    for place, mean in enumerate(grid):
        up = 1 + np.minimum(bets, 0.5 / mean) * (scaled - mean)
        down = 1 - np.minimum(bets, 0.5 / (1 - mean)) * (scaled - mean)
        wealth = np.maximum(np.log(up).sum(axis=1), np.log(down).sum(axis=1)) + math.log(0.5)
        inside[:, place] = wealth < math.log(1 / 0.05)
    low = grid[inside.argmax(axis=1)]
    high = grid[len(grid) - 1 - inside[:, ::-1].argmax(axis=1)]
    size = bounds[1] - bounds[0]
    return bounds[0] + size * low, bounds[0] + size * high


def mixed(share: float, value: float, others: Shape) -> Shape:
    """``share`` of all values are ``value``, the rest are drawn from ``others``."""
    return lambda g, size: np.where(g.random(size) < share, value, others(g, size))


def beta(a: float, b: float) -> Shape:
    return lambda g, size: g.beta(a, b, size)


BOUNDED: dict[str, tuple[Shape, float]] = {
    "normal, deviation .15": (lambda g, size: g.normal(0.5, 0.15, size).clip(0, 1), 0.5),
    "normal, deviation .10": (lambda g, size: g.normal(0.5, 0.10, size).clip(0, 1), 0.5),
    "normal, deviation .03": (lambda g, size: g.normal(0.5, 0.03, size).clip(0, 1), 0.5),
    "85% are 1, else beta(2, 2)": (mixed(0.85, 1.0, beta(2, 2)), 0.925),
    "85% are 1, else beta(.5, 3)": (mixed(0.85, 1.0, beta(0.5, 3)), 0.85 + 0.15 / 7),
    "85% are 1, else beta(3, .5)": (mixed(0.85, 1.0, beta(3, 0.5)), 0.85 + 0.15 * 6 / 7),
    "beta(.5, 3)": (beta(0.5, 3), 1 / 7),
    "60% are 0, else beta(2, 2)": (mixed(0.6, 0.0, beta(2, 2)), 0.2),
    "60% are 0, else uniform": (mixed(0.6, 0.0, beta(1, 1)), 0.2),
}
FREE: dict[str, tuple[Shape, float]] = {
    "normal": (lambda g, size: g.normal(0, 1, size), 0.0),
    "lognormal": (lambda g, size: g.lognormal(0, 1, size), math.exp(0.5)),
    "exponential": (lambda g, size: g.exponential(1, size), 1.0),
    "t with 3 degrees of freedom": (lambda g, size: g.standard_t(3, size), 0.0),
    "60% are 0, else exponential": (mixed(0.6, 0.0, lambda g, size: g.exponential(1, size)), 0.4),
    "85% are 0, else exponential": (mixed(0.85, 0.0, lambda g, size: g.exponential(1, size)), 0.15),
}
DIFFERENCES: dict[str, tuple[Shape, float]] = {
    "normal, deviation .05": (lambda g, size: g.normal(0, 0.05, size), 0.0),
    "normal, deviation .2": (lambda g, size: g.normal(0, 0.2, size), 0.0),
    "both beta(.5, 3)": (lambda g, size: g.beta(0.5, 3, size) - g.beta(0.5, 3, size), 0.0),
    "both 85% 1, else beta(2, 2)": (
        lambda g, size: mixed(0.85, 1.0, beta(2, 2))(g, size) - mixed(0.85, 1.0, beta(2, 2))(g, size), 0.0,
    ),
    "85% unchanged, else normal .3": (mixed(0.85, 0.0, lambda g, size: g.normal(0, 0.3, size)), 0.0),
    "85% unchanged, else lost beta(2, 2)": (mixed(0.85, 0.0, lambda g, size: -g.beta(2, 2, size)), -0.075),
    "normal, deviation .05, effect .02": (lambda g, size: g.normal(0.02, 0.05, size), 0.02),
    "normal, deviation .2, effect .1": (lambda g, size: g.normal(0.1, 0.2, size), 0.1),
}  # fmt: skip
FAST: dict[str, Rule] = {"t": plain_t, "t, quarters at the bounds": at_the_bounds, "shipped": shipped}
OTHERS: dict[str, Rule] = {"percentiles": percentile, "Gaffke": gaffke, "betting": betting}


def simulated(
    shapes: dict[str, tuple[Shape, float]],
    rules: dict[str, Rule],
    bounds: Bounds,
    sizes: tuple[int, ...],
    repeats: int,
    *,
    zero: bool = False,
) -> list[str]:
    """A line for each shape and size: coverage, width over that of t, and how often ``zero`` is excluded."""
    lines = [f"| values | n | {' | '.join(rules)} |", f"|---|---|{'---|' * len(rules)}"]
    for name, (shape, truth) in shapes.items():
        for n in sizes:
            x = shape(np.random.default_rng([7, n]), (repeats, n))
            check(x[:20], bounds)
            cells = []
            for rule, apply in rules.items():
                some = x[:SLOW] if rule in ("percentiles", "Gaffke", "betting", "bootstrap-t") else x
                low, high = apply(some, bounds)
                width = float((high - low).mean())
                base = float(np.subtract(*plain_t(some, bounds)[::-1]).mean())
                held = float(((low <= truth + 1e-12) & (truth - 1e-12 <= high)).mean())
                excluded = float(((low > 1e-12) | (high < -1e-12)).mean())
                cells.append(f"{held:.3f} x{width / base:.2f}" + (f", {excluded:.3f}" if zero else ""))
            lines.append(f"| {name} | {n} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def check(x: Floats, bounds: Bounds) -> None:
    """The vectorised rule is the one that ships."""
    if x.shape[1] < min(SIZES):
        return
    low, high = shipped(x, bounds)
    for row, one, other in zip(x, low, high, strict=True):
        found = mean_interval(row, bounds)
        if found.reason is None and not np.allclose(found[:2], (one, other), rtol=0, atol=1e-9):
            sys.exit(f"mean_interval gives {found[:2]}, the simulation {(one, other)}, for {row.tolist()}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=REPEATS, help="samples of each shape and size")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/intervals.md")
    options = parser.parse_args()
    repeats = options.repeats
    reaches = {f"reach {within:g}": partial(shipped, within=within) for within in (2.0, 3.0)}
    far = {f"reach {beyond:g}": partial(shipped, beyond=beyond) for beyond in (2.0, 2.5)}
    no_bounds = {"t": plain_t, "Johnson": johnson, "percentiles": percentile, "bootstrap-t": bootstrap_t}
    both = {"percentiles": percentile, **FAST}
    few = {"t, quarters at the bounds": at_the_bounds, "shipped": shipped}
    parts = {
        "bounded": simulated(BOUNDED, {**FAST, **OTHERS}, UNIT, SIZES, repeats),
        "reach": simulated(BOUNDED, {**reaches, "shipped": shipped}, UNIT, (10, 20), repeats),
        "few": simulated(BOUNDED, few, UNIT, (*FEW, 5), repeats),
        "free": simulated(FREE, {**no_bounds, **far, "shipped": shipped}, UNBOUNDED, SIZES, repeats),
        "differences": simulated(DIFFERENCES, both, (-1.0, 1.0), SIZES, repeats, zero=True),
    }
    if not options.write:
        return
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = head + begin + "\n".join(lines) + "\n" + end + tail
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
