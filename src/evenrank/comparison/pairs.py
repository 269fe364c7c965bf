"""One system against another on one measure: the difference, its interval, a test, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenrank.comparison.measure_table import MeasureTable
from evenrank.errors import ParameterError
from evenrank.stats.corrections import CORRECTIONS, correct
from evenrank.stats.effects import EffectSizes, WinTieLoss, effect_sizes, win_tie_loss
from evenrank.stats.paired import PairedTest, paired_t, sign_flip, wilcoxon
from evenrank.stats.pairs import paired_differences

TESTS: Mapping[str, Callable[[Any], PairedTest]] = {
    "t": paired_t,
    "wilcoxon": wilcoxon,
    "permutation": sign_flip,
}


@dataclass(frozen=True)
class Pair:
    """A system beside a baseline. ``difference`` is system less baseline, in the measure's own units.

    ``verdict`` follows the direction of the measure: ``better`` or ``worse`` where the corrected p is below
    alpha, ``differs`` there where neither high nor low is better, else nothing is shown. ``dropped`` are the
    queries that lack a value on either side.
    """

    measure: str
    system: str
    baseline: str
    difference: float
    low: float
    high: float
    test: str
    p_value: float
    corrected: float
    correction: str
    queries: int
    dropped: int
    infinite: int
    outcomes: WinTieLoss  # of the system, in the measure's direction
    effects: EffectSizes  # in the measure's direction
    verdict: str = ""
    has_better: bool = True  # whether one value is better than another, so that queries are won and lost
    reason: str | None = None  # why there is no p
    left_out: Mapping[str, int] = field(default_factory=dict)  # dropped and infinite, by reason


def pairs_of(
    table: MeasureTable,
    baselines: Sequence[str],
    *,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
) -> tuple[Pair, ...]:
    """Every other system against every baseline; the correction is over all of these pairs."""
    if test not in TESTS:
        raise ParameterError(f"test must be one of {', '.join(TESTS)}, got {test!r}")
    if correction not in CORRECTIONS:
        raise ParameterError(f"correction must be one of {', '.join(CORRECTIONS)}, got {correction!r}")
    found = [
        _pair(table, system, baseline, test, correction, seed)
        for baseline in baselines
        for system in table.systems
        if system not in baselines or table.systems.index(system) > table.systems.index(baseline)
        if system != baseline
    ]
    corrected = correct([pair.p_value for pair in found], correction) if found else np.zeros(0)
    return tuple(
        replace(pair, corrected=float(p), verdict=_verdict(table, pair, float(p), alpha))
        for pair, p in zip(found, corrected, strict=True)
    )


def _pair(table: MeasureTable, system: str, baseline: str, test: str, correction: str, seed: int) -> Pair:
    own, other = table.values[:, table.place(system)], table.values[:, table.place(baseline)]
    leaning = paired_differences(own, other, lower_is_better=table.lower_is_better)
    options: dict[str, Any] = {"seed": seed} if test == "permutation" else {}
    outcome = TESTS[test](leaning.values, **options)
    interval = table.difference(system, baseline, seed=seed)
    return Pair(
        measure=table.name,
        system=system,
        baseline=baseline,
        difference=interval.difference,
        low=interval.low,
        high=interval.high,
        test=test,
        p_value=outcome.p_value,
        corrected=outcome.p_value,
        correction=correction,
        queries=len(leaning.values),
        dropped=leaning.undefined,
        infinite=leaning.infinite,
        outcomes=win_tie_loss(leaning.values),
        effects=effect_sizes(leaning.values),
        has_better=table.has_better,
        reason=outcome.reason,
        left_out=_left_out(table, table.place(system), table.place(baseline)),
    )


def _left_out(table: MeasureTable, system: int, baseline: int) -> dict[str, int]:
    """Why queries are left out, and how many; where neither has a value, the system's reason counts."""
    lacking = ~np.isfinite(table.values[:, [system, baseline]])  # (Q, 2)
    return dict(
        Counter(
            table.reason(row, system if lacking[row, 0] else baseline)
            for row in np.flatnonzero(lacking.any(axis=1)).tolist()
        )
    )


def _verdict(table: MeasureTable, pair: Pair, p: float, alpha: float) -> str:
    if not p < alpha:
        return ""
    if not table.has_better:
        return "differs"
    lean = -pair.difference if table.lower_is_better else pair.difference
    return "better" if lean > 0 else "worse" if lean < 0 else ""
