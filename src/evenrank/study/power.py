"""How many participants a study needs, by simulating it with the planned effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evenrank.study.conditions import Study
from evenrank.study.settings import Planned
from evenrank.study.simulation import Simulated, simulate_studies

FACTORS = (0.5, 1.0, 2.0)


def leanings_of(study: Study) -> list[float]:
    """The signed DUO of each place in a block, by the first encoder, averaged over questions."""
    found = []
    for condition in study.settings.conditions:
        values = [
            next(iter(study.lists[question, condition.name].leanings.values()))[1].signed or 0.0
            for question in study.questions
        ]
        found += [sum(values) / len(values)] * condition.share
    return found


def planned_power(
    plan: Planned, leanings: Sequence[float], each: int, *, studies: int, seed: int
) -> list[tuple[Planned, Simulated]]:
    """For half, once and twice the planned participants, and for twice the questions."""
    plans = [replace(plan, participants=max(2, round(plan.participants * factor))) for factor in FACTORS]
    plans.append(replace(plan, questions=2 * plan.questions))
    return [
        (one, simulate_studies(one, leanings, each=min(each, one.questions), studies=studies, seed=seed))
        for one in plans
    ]
