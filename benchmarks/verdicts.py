"""How often a verdict is wrong in shops without a bias, and how often a planted bias is found.

    python benchmarks/verdicts.py --write

A shop (tests/support/shops.py) has products with a category, two styles and a quality, which all queries see,
so that good products stand in many lists. Without a bias, sellers have nothing to do with the lists: from
each shop ten are made by drawing its sellers anew. With a bias, the scores of small sellers are lower by a
part of the standard deviation of quality.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests/support"))

from shops import Shop, shop  # noqa: E402

from evenrank.verdict import Verdict, verdicts  # noqa: E402

MARK = "<!-- table -->\n"
DRAWS = 10
TARGETS = ("catalogue", "candidates")


class Kind(NamedTuple):
    products: int
    queries: int
    small: float


KINDS = (
    Kind(5000, 200, 0.65),
    Kind(1000, 60, 0.65),
    Kind(1000, 200, 0.65),
    Kind(1000, 200, 0.9),
)
LOWERED = (0.25, 0.5)


def both_verdicts(made: Shop) -> dict[str, Verdict]:
    groups = made.groups
    return {one: verdicts(made.run, groups=groups, catalogue=True, target=one)[0] for one in TARGETS}


def rate(wrong: int, count: int) -> str:
    error = math.sqrt(wrong * (count - wrong) / count) / count
    return f"{100 * wrong / count:.1f}% (\u00b1 {100 * error:.1f})"


def without_a_bias(kind: Kind, shops: int) -> str:
    wrong = dict.fromkeys(TARGETS, 0)
    for seed in range(shops):
        made = shop(seed, products=kind.products, queries=kind.queries, small=kind.small)
        for draw in range(DRAWS):
            other = made.relabelled(1000 * seed + draw, kind.small)
            for target, verdict in both_verdicts(other).items():
                wrong[target] += verdict.shown
    count = shops * DRAWS
    rates = " | ".join(rate(wrong[target], count) for target in TARGETS)
    return f"| {kind.products:,} | {kind.queries} | {kind.small:.0%} | {count:,} | {rates} |"


def with_a_bias(lowered: float, shops: int) -> str:
    found = dict.fromkeys(TARGETS, 0)
    difference = dict.fromkeys(TARGETS, 0.0)
    for seed in range(shops):
        made = shop(seed, lowered=lowered)
        for target, verdict in both_verdicts(made).items():
            small = verdict.group("small")
            found[target] += small.high < 0
            difference[target] += small.difference / shops
    cells = [f"{rate(found[one], shops)}, {100 * difference[one]:.1f} points" for one in TARGETS]
    return f"| {lowered:g} | {shops} | {' | '.join(cells)} |"


def main() -> None:
    parser: Any = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shops", type=int, default=50, help="of each kind; twice as many of the first")
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/verdicts.md")
    options = parser.parse_args()
    rows = [
        "| products | queries | small sellers | shops | wrong verdicts, catalogue | candidates |",
        "|---|---|---|---|---|---|",
    ]
    for place, kind in enumerate(KINDS):
        rows.append(without_a_bias(kind, options.shops * (1 if place else 2)))
        print(rows[-1], file=sys.stderr)
    rows += [
        "",
        "| lowered by | shops | found and mean difference, catalogue | candidates |",
        "|---|---|---|---|",
    ]
    for lowered in LOWERED:
        rows.append(with_a_bias(lowered, options.shops))
        print(rows[-1], file=sys.stderr)
    table = "\n".join(rows) + "\n"
    print(table)
    if options.write:
        page = HERE / "verdicts.md"
        before, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
        page.write_text(before + mark + table, encoding="utf-8")


if __name__ == "__main__":
    main()
