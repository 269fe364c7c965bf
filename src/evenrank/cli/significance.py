"""The options that say how runs are tested against a baseline: the same in every command that compares."""

from __future__ import annotations

import argparse
from typing import Any


def add_significance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline", action="append", metavar="NAME",
        help="the run that the others are tested against (default: the first); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--test", choices=("t", "wilcoxon", "permutation"), default="t", help="paired test (default: t)"
    )
    parser.add_argument(
        "--correction", choices=("none", "bonferroni", "holm", "bh"), default="holm",
        help="for several pairs within a measure (default: holm; bh is Benjamini-Hochberg)",
    )  # fmt: skip
    parser.add_argument("--alpha", type=float, default=0.05, metavar="P", help="default: 0.05")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of what is drawn at random (default: 0)"
    )


def significance(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options say, under the names that ``compare`` has for it."""
    return {name: getattr(arguments, name) for name in ("baseline", "test", "correction", "alpha", "seed")}
