"""Expected exposure, which is of all rankings of a query together."""

from __future__ import annotations

import itertools

import group_oracles
import numpy as np
import pytest
from effort import some

from evenrank import Run, RunSet, all_measures, evaluate
from evenrank.testing import random_case


@pytest.mark.parametrize("name", ["EE_L", "EE_D", "EE_R"])
@pytest.mark.parametrize("arguments", [{}, {"attr": "origin"}, {"attr": "topic"}], ids=repr)
@pytest.mark.parametrize("seeds", some([2, 10]))
def test_exposure_over_several_rankings(name: str, arguments: dict[str, str], seeds: int) -> None:
    """Some draws lack a query, and the last query is only in one of them."""
    for seed in range(seeds):
        draws = [random_case(100 * seed + draw, lambda *_: []) for draw in range(4)]
        case = random_case(seed, lambda *given: group_oracles.group_evidence(*given, partial=True))
        runs = RunSet.build(
            [draw.run.select(draw.run.query_ids[place : 8 - (place > 0)]) for place, draw in enumerate(draws)]
        )
        for cutoff in (None, 3):
            measure = all_measures()[name](cutoff=cutoff, **arguments)
            scores = evaluate(
                runs, measure, qrels=case.qrels, groups=case.evidence, background=case.background,
                queries=runs.query_ids,
            )  # fmt: skip
            block = scores.block(measure)
            for query, (value,) in zip(block.query_ids, block.values, strict=True):
                lists = [draw.documents(query) if query in draw else [] for draw in runs]
                slow = group_oracles.expected_exposure(measure, lists, case, query)
                assert value == pytest.approx(np.nan if slow is None else slow, abs=1e-9, nan_ok=True)


def test_expected_exposure_of_the_parts() -> None:
    """|e - e*|^2 = |e|^2 - 2 e.e* + |e*|^2, and a ranker that shuffles equals gives what is due."""
    orders = list(itertools.permutations(["a", "b", "c"]))
    fair = RunSet.build([Run.build(["q"] * 3, list(order), [3.0, 2, 1]) for order in orders])
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    assert evaluate(fair, "EE_L", qrels=qrels).mean("EE_L") == pytest.approx(0, abs=1e-12)
    one = evaluate(fair.runs[0], "EE_L EE_D EE_R", qrels=qrels)
    loss, disparity, relevance = (one.mean(measure) for measure in one.measures)
    due = 3 * np.mean(1 / np.log2([2, 3, 4])) ** 2
    assert loss == pytest.approx(disparity - 2 * relevance + due)
