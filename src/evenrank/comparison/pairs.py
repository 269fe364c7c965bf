"""One system against another on one measure: the difference, its interval, a test, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenrank.arrays import Floats
from evenrank.comparison.measure_table import MeasureTable
from evenrank.errors import ParameterError
from evenrank.stats.corrections import CORRECTIONS, correct
from evenrank.stats.paired import (
    EffectSizes,
    PairedTest,
    WinTieLoss,
    effect_sizes,
    gains_of_rows,
    paired_differences,
    paired_t,
    paired_t_rows,
    sign_flip,
    wilcoxon,
    win_tie_loss,
)

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
        for system, baseline in _compared(table, baselines)
    ]
    corrected = correct([pair.p_value for pair in found], correction) if found else np.zeros(0)
    return tuple(
        replace(pair, corrected=float(p), verdict=_verdict(table, _lean(table, pair), float(p), alpha))
        for pair, p in zip(found, corrected, strict=True)
    )


def verdicts_of(
    table: MeasureTable,
    many: Floats,
    baselines: Sequence[str],
    *,
    test: str,
    correction: str,
    alpha: float,
    seed: int = 0,
) -> list[dict[tuple[str, str], str]]:
    """The verdicts that ``pairs_of`` gives, for each of many values (L, Q, S) of the systems of a table."""
    compared = _compared(table, baselines)
    leans, p_values = np.zeros((len(many), len(compared))), np.ones((len(many), len(compared)))
    for column, (system, baseline) in enumerate(compared):
        own, other = (many[:, :, table.place(each)] for each in (system, baseline))  # (L, Q)
        gains = gains_of_rows(own, other, lower_is_better=table.lower_is_better)
        leans[:, column], p_values[:, column] = _tested(gains, test, seed)
    return [
        {
            pair: _verdict(table, float(lean), float(p), alpha)
            for pair, lean, p in zip(compared, row, correct(own, correction), strict=True)
        }
        for row, own in zip(leans, p_values, strict=True)
    ]


def _tested(gains: Floats, test: str, seed: int) -> tuple[Floats, Floats]:
    """(L,) twice: the mean of each row, and its p-value; NaN is left out of a row."""
    if test == "t":
        return paired_t_rows(gains)
    options: dict[str, Any] = {"seed": seed} if test == "permutation" else {}
    rows = [row[np.isfinite(row)] for row in gains]
    means = [float(row.mean()) if len(row) else 0.0 for row in rows]
    return np.array(means), np.array([TESTS[test](row, **options).p_value for row in rows])


def _compared(table: MeasureTable, baselines: Sequence[str]) -> list[tuple[str, str]]:
    """Every other system with every baseline, and baselines with those before them."""
    return [
        (system, baseline)
        for baseline in baselines
        for system in table.systems
        if system not in baselines or table.systems.index(system) > table.systems.index(baseline)
        if system != baseline
    ]


def _pair(table: MeasureTable, system: str, baseline: str, test: str, correction: str, seed: int) -> Pair:
    own, other = table.values[:, table.place(system)], table.values[:, table.place(baseline)]
    leaning = paired_differences(own, other, lower_is_better=table.lower_is_better)
    options: dict[str, Any] = {"seed": seed} if test == "permutation" else {}
    tested = leaning.values
    if table.weights is not None:  # a mean of weighted differences is 0 where the weighted mean is
        weights = table.weights[np.isfinite(own) & np.isfinite(other)]
        tested = tested * weights * (len(weights) / max(weights.sum(), 1e-30))
    outcome = TESTS[test](tested, **options)
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


def _lean(table: MeasureTable, pair: Pair) -> float:
    return -pair.difference if table.lower_is_better else pair.difference


def _verdict(table: MeasureTable, lean: float, p: float, alpha: float) -> str:
    """``lean`` is above 0 where the system is better."""
    if not p < alpha:
        return ""
    if not table.has_better:
        return "differs"
    return "better" if lean > 0 else "worse" if lean < 0 else ""
