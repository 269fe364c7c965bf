"""The options that say how runs are tested against a baseline: the same in every command that compares."""

from __future__ import annotations

import argparse


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
