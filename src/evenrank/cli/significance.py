"""How runs are tested against each other: the options that say it, and what they mean."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from evenrank.cli.shared import option, seed_of
from evenrank.errors import ParameterError

TESTS = ("t", "wilcoxon", "permutation")
CORRECTIONS = ("none", "bonferroni", "holm", "bh")


def add_significance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baseline", action="append", metavar="NAME",
        help="the run that the others are tested against (default: the first); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--test", type=option(test_of), metavar="TEST[,CORRECTION][,ALPHA]",
        help=f"paired test ({', '.join(TESTS)}), correction for several pairs within a measure "
        f"({', '.join(CORRECTIONS)}; bh is Benjamini-Hochberg) and significance level; default: t,holm,0.05",
    )  # fmt: skip


class Test(NamedTuple):
    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05


def test_of(text: str) -> Test:
    """
    >>> test_of("wilcoxon,0.01")
    Test(test='wilcoxon', correction='holm', alpha=0.01)
    """
    found = Test()
    for part in (part.strip() for part in text.split(",")):
        if part in TESTS:
            found = found._replace(test=part)
        elif part in CORRECTIONS:
            found = found._replace(correction=part)
        else:
            try:
                found = found._replace(alpha=float(part))
            except ValueError:
                known = ", ".join((*TESTS, *CORRECTIONS))
                raise ParameterError(
                    f"{part!r} is not a test, a correction or a level: there are {known}"
                ) from None
    if not 0 < found.alpha < 1:
        raise ParameterError(f"the significance level must be above 0 and below 1, got {found.alpha}")
    return found


def significance(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options say, under the names that ``compare`` has for it."""
    chosen: Test = arguments.test or Test()
    return {"baseline": arguments.baseline, "seed": seed_of(arguments), **chosen._asdict()}
