"""Measures of one list on many rankings: the means of the values that each ranking has alone."""

from __future__ import annotations

import numpy as np
import pytest

import evenrank
from evenrank.errors import MissingEvidenceError

MEASURES = [
    "nDCG@3", "RR", "GF(attr='size')@2", "GF(attr='size',missing='uniform')", "GF(attr='mix')@3",
    "AWRF(attr='size',missing='drop')@3", "NDKL(attr='size')", "Judged@2",
]  # fmt: skip
SIZES = evenrank.read_groups({f"d{d}": "abc"[d % 3] for d in range(30)}, "size")
MIXED = evenrank.Membership.from_matrix(
    evenrank.Attribute("mix", ("x", "y")),
    [f"d{d}" for d in range(30)],
    [[d / 29, 1 - d / 29] for d in range(30)],
)
QRELS = {f"q{q}": {f"d{d}": (d + q) % 3 for d in range(q, 30, 4)} for q in range(1, 7)}


def draws(count: int, seed: int = 0) -> list[evenrank.Run]:
    """Rankings of different depth and of different queries, the first of all of them."""
    generator = np.random.default_rng(seed)
    found = []
    for draw in range(count):
        queries = range(6) if draw % 3 == 0 else generator.permutation(6)[:4].tolist()
        lists = {f"q{q}": generator.permutation(30)[: generator.integers(1, 9)].tolist() for q in queries}
        scored = {q: {f"d{d}": 9.0 - rank for rank, d in enumerate(ids)} for q, ids in lists.items()}
        found.append(evenrank.read_run(scored, name=f"draw {draw}"))
    return found


def values(runs: list[evenrank.Run] | evenrank.Run, measures: list[str]) -> evenrank.Scores:
    whole = evenrank.RunSet.build(runs) if isinstance(runs, list) else runs
    return evenrank.evaluate(whole, measures, qrels=QRELS, groups=[SIZES, MIXED], background=draws(1)[0])


@pytest.mark.parametrize(
    ("measures", "longest"),
    [(MEASURES, 0), ([m for m in MEASURES if m != "Judged@2"], 0), (["nDCG@3", "RR", MEASURES[2]], 300_000)],
)
def test_the_mean_of_what_each_ranking_has(measures: list[str], longest: int) -> None:
    """Also where one ranking is much longer than the others."""
    runs = draws(7)
    if longest:
        ids = [f"d{place}" for place in range(longest)]
        runs.append(evenrank.Run.build(["q3"] * longest, ids, np.arange(longest, 0, -1), name="long"))
    found = values(runs, measures)
    alone = [values(run, measures) for run in runs]
    for measure in measures:
        block = found.block(measure)
        for query, value in zip(block.query_ids, block.values[:, 0], strict=True):
            own = [
                one.block(measure).values[one.block(measure).query_ids.index(query), 0]
                for one, run in zip(alone, runs, strict=True)
                if query in run or not any(query in other for other in runs)
            ]
            own = [number for number in own if not np.isnan(number)]
            expected = sum(own) / len(own) if own else np.nan
            np.testing.assert_allclose(value, expected, rtol=1e-14, err_msg=f"{measure} {query}")
        assert block.draws is not None
        np.testing.assert_allclose(block.draws[:, 0], [one.mean(measure) for one in alone], rtol=1e-14)


def test_a_later_ranking_without_evidence_is_named() -> None:
    good, other = draws(1)[0], evenrank.read_run({"q0": {"z": 1.0}, "q1": {"y": 1.0}}, name="the second")
    with pytest.raises(MissingEvidenceError, match=r"'the second'.*groups"):
        values([good, other, good], ["NDKL(attr='size',missing='error')"])
    with pytest.raises(MissingEvidenceError, match=r"\b2\b.*'size'"):
        values([good, other, good], ["NDKL(attr='size',missing='uniform')"])
