"""What one number of FAIR hides: runs that tie in it, and parts that say the same twice."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenrank.measures.fair import FAIR
from evenrank.measures.fair_parameters import BOTH, COLUMNS
from evenrank.scores import ScoresBlock
from evenrank.stats.correlation import pearson

TIED = 0.0005  # FAIR is the same to three decimals
APART = 0.01  # a part differs to two
STRONG = 0.9
FEW = 5  # queries: a correlation of fewer says nothing


def fair_notes(blocks: Sequence[ScoresBlock]) -> dict[str, list[str]]:
    """By run, what to say of the FAIR of all runs."""
    said: dict[str, list[str]] = {}
    by_measure: dict[FAIR, list[ScoresBlock]] = {}
    for block in blocks:
        if isinstance(block.measure, FAIR) and block.measure.part in (BOTH, COLUMNS):
            by_measure.setdefault(block.measure, []).append(block)
    for measure, found in by_measure.items():
        for one, two in itertools.combinations(found, 2):
            note = _tie_note(measure, one, two)
            if note is not None:
                said.setdefault(one.run, []).append(note)
        if measure.part == COLUMNS:
            for block in found:
                said.setdefault(block.run, []).extend(_correlation_notes(measure, block))
    return said


def _tie_note(measure: FAIR, one: ScoresBlock, two: ScoresBlock) -> str | None:
    apart = [one.aggregate(column) - two.aggregate(column) for column in range(one.values.shape[1])]
    if not np.isfinite(apart).all() or abs(apart[0]) > TIED:
        return None
    who = f"{measure!r}: {one.run!r} and {two.run!r} tie"
    if measure.part == BOTH:
        shown = replace(measure, part=COLUMNS) if _splits(measure) else None
        return None if shown is None else f"{who}; {shown!r} shows whether their utility and fairness differ"
    if min(abs(apart[1]), abs(apart[2])) < APART:
        return None
    return (
        f"{who} in FAIR but differ in both parts: utility by {apart[1]:+.3f} and fairness by {apart[2]:+.3f} "
        f"({one.run!r} minus {two.run!r}); FAIR alone does not tell them apart"
    )


def _splits(measure: FAIR) -> bool:
    return not measure.whole and not measure.reachable and measure.weight == 0.5


def _correlation_notes(measure: FAIR, block: ScoresBlock) -> list[str]:
    defined = (block.status == 0).all(axis=1)
    utility, fairness = block.values[defined, 1], block.values[defined, 2]
    if len(utility) < FEW or min(np.ptp(utility), np.ptp(fairness)) == 0:
        return []
    strength = pearson(utility, fairness).value
    if abs(strength) < STRONG:
        return []
    return [
        f"{measure!r}: utility and fairness correlate strongly over the {len(utility):,} queries "
        f"(r = {strength:.2f}), so they are close to one measurement, not two"
    ]
