"""Studies with a planted slope, at the level of answers: how often intervals cover it, and power.

A trial is ``posterior = prior_slope prior + (slope + s_q) signed DUO + participant + question + noise``, with
``s_q`` the deviation of the question's own slope. Opinions are not rounded to the scale here, so that the
planted slope is the true one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from evenrank.arrays import Floats, Int64s
from evenrank.stats.regression import clustered_coefficient
from evenrank.study.settings import Planned

NORMAL = NormalDist().inv_cdf(0.975)


class DrawnAnswers(NamedTuple):
    """The trials of one simulated study; (N,) each."""

    posterior: Floats
    prior: Floats
    signed: Floats
    participants: Int64s
    questions: Int64s


class Simulated(NamedTuple):
    """Of many simulated studies: shares of those whose 95% interval has the planted slope, and of those that
    find an effect. ``plain`` has the errors of ordinary least squares, ``clustered`` those by question
    without a correction for few of them, ``corrected`` those that the analysis reports."""

    studies: int
    plain: float
    clustered: float
    corrected: float
    found: float  # by the corrected errors, p < .05
    error: float  # standard error of these shares at .95
    width: float  # mean width of the corrected interval


def draw_answers(
    plan: Planned, leanings: Sequence[float], each: int, generator: np.random.Generator
) -> DrawnAnswers:
    """One study: every participant answers ``each`` of the questions, and the signed DUO of the conditions
    is given out in permuted blocks within each question."""
    people, questions, size = plan.participants, plan.questions, len(leanings)
    blocks = -(-people // size)
    places = np.argsort(generator.random((questions, blocks, size)), axis=2)  # (Q, B, size)
    signed = np.asarray(leanings, dtype=np.float64)[places].reshape(questions, -1)[:, :people].T  # (P, Q)
    prior = np.clip(np.rint(generator.normal(0.0, 1.5, (people, questions))), -3, 3)
    slopes = plan.slope + generator.normal(0.0, plan.slope_spread, questions)
    posterior = (
        plan.prior_slope * prior
        + slopes * signed
        + generator.normal(0.0, plan.participant_spread, (people, 1))
        + generator.normal(0.0, plan.question_spread, questions)
        + generator.normal(0.0, plan.noise, (people, questions))
    )
    who, what = np.indices((people, questions))
    if each < questions:
        kept = np.argsort(np.argsort(generator.random((people, questions)), axis=1), axis=1) < each
    else:
        kept = np.ones((people, questions), dtype=bool)
    return DrawnAnswers(posterior[kept], prior[kept], signed[kept], who[kept], what[kept])


def simulate_studies(
    plan: Planned, leanings: Sequence[float], *, each: int | None = None, studies: int = 1000, seed: int = 0
) -> Simulated:
    """Draw studies and analyse each of them as ``study analyse`` does."""
    generator = np.random.default_rng(seed)
    covered = np.zeros(3)
    found, width = 0, 0.0
    for _ in range(studies):
        drawn = draw_answers(plan, leanings, each or plan.questions, generator)
        design = np.column_stack([np.ones(len(drawn.prior)), drawn.prior, drawn.signed])
        estimate = clustered_coefficient(drawn.posterior, design, 2, [drawn.participants, drawn.questions])
        away = abs(estimate.coefficient - plan.slope)
        plain, clustered = _usual_errors(drawn, design)
        half = (estimate.high - estimate.low) / 2
        covered += [away <= NORMAL * plain, away <= NORMAL * clustered, away <= half]
        found += estimate.p < 0.05
        width += 2 * half / studies
    plain_share, clustered_share, corrected_share = (covered / studies).tolist()
    error = math.sqrt(0.95 * 0.05 / studies)
    return Simulated(studies, plain_share, clustered_share, corrected_share, found / studies, error, width)


def _usual_errors(drawn: DrawnAnswers, design: Floats) -> tuple[float, float]:
    """The standard error of ordinary least squares, and that by question as it is usually computed."""
    bread = np.linalg.inv(design.T @ design)
    residual = drawn.posterior - design @ (bread @ (design.T @ drawn.posterior))
    plain = float(residual @ residual) / (len(residual) - design.shape[1]) * float(bread[2, 2])
    weights = (design @ bread[:, 2]) * residual
    sums = np.bincount(drawn.questions, weights)
    return math.sqrt(plain), math.sqrt(float(sums @ sums))
