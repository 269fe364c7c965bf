"""What an audit advises: the cheapest re-ranker that closes the gap, with what it gives and what it costs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from audits import verdict_of
from scipy.stats import t
from shops import Shop, shop, slow_share

from evenrank import Run, read_groups, rerank


def shares_of_small(made: Shop, run: Run) -> np.ndarray:
    return np.array(
        [slow_share(run.documents(query)[:10], made.sizes, "small", attention=True) for query in made.run]
    )


def reranked(made: Shop, method: str) -> Run:
    groups = read_groups(made.sizes, "size", target="collection")
    result: Run = rerank(made.run, method, groups=groups)
    return result


def judged(made: Shop, folder: Path) -> str:
    """The first document of every list is relevant."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{query} 0 {made.run.documents(query)[0]} 1\n" for query in made.run]
    (folder / "qrels.txt").write_text("".join(lines))
    return str(folder / "qrels.txt")


def test_advice_is_the_cheapest_method_that_closes_the_gap(biased: Shop, tmp_path: Path) -> None:
    found = verdict_of(tmp_path, biased.run, biased.sizes, depth=40)
    advice, want = found.advice, found.group("small").target
    left, cost = {}, {}
    for method in advice.tried:
        made = reranked(biased, method)
        left[method] = abs(shares_of_small(biased, made).mean() - want)
        lists = [(made.documents(query)[:10], biased.run.documents(query)[:10]) for query in biased.run]
        cost[method] = np.mean([len(set(new) - set(old)) for new, old in lists])
    assert len(cost) == 3
    gap = want - found.group("small").share
    good = [method for method in advice.tried if left[method] <= 0.1 * gap]
    best = min(good, key=lambda method: cost[method]) if good else min(left, key=lambda method: left[method])
    assert (advice.method, advice.group) == (best, "small")
    assert advice.cost == pytest.approx(cost[best])
    assert advice.cost_low < advice.cost < advice.cost_high
    assert (advice.before, advice.after) == pytest.approx(
        (shares_of_small(biased, biased.run).mean(), shares_of_small(biased, reranked(biased, best)).mean())
    )
    assert advice.gain == pytest.approx(advice.after - advice.before)
    assert advice.gain_low < advice.gain < advice.gain_high


def test_advice_tells_what_it_costs_in_relevance_and_does_not_know_it(biased: Shop, tmp_path: Path) -> None:
    blind = verdict_of(tmp_path / "none", biased.run, biased.sizes, depth=40).advice
    found = verdict_of(tmp_path, biased.run, biased.sizes, depth=40, qrels=judged(biased, tmp_path)).advice
    assert (found.tried, found.cost_measure) == (blind.tried, "nDCG@10")
    discounts = []
    for query in biased.run:
        rank = reranked(biased, found.method).documents(query).index(biased.run.documents(query)[0])
        discounts.append(1 / math.log2(rank + 2) if rank < 10 else 0)
    assert found.cost == pytest.approx(np.mean(discounts) - 1)
    assert found.cost_low <= found.cost <= found.cost_high


@pytest.mark.parametrize("seed", [0, 5])
def test_advice_is_tested_on_the_same_queries_and_not_against_how_queries_differ(
    tmp_path: Path, seed: int
) -> None:
    """A gap that is shown may be narrower than the interval of the share, and can be closed all the same."""
    made = shop(seed, lowered=0.4, products=800, queries=60, depth=40)
    found = verdict_of(tmp_path, made.run, made.sizes, depth=40)
    lowest, advice = found.less[0], found.advice
    assert -lowest.difference < lowest.share_high - lowest.share_low
    own = shares_of_small(made, reranked(made, advice.method)) - shares_of_small(made, made.run)
    spread = t.ppf(1 - 0.05 / 2, 59) * own.std(ddof=1) / math.sqrt(60)
    assert advice.gain == pytest.approx(own.mean())
    assert advice.gain_low == pytest.approx(own.mean() - spread, abs=0.01)
    assert advice.gain_low > 0


def test_nothing_is_advised_where_no_order_helps(biased: Shop, tmp_path: Path) -> None:
    """Lists without a document of the group: no order gives it more."""
    rows = [
        (query, document, float(-place))
        for query in biased.run
        for place, document in enumerate(biased.run.documents(query))
        if biased.sizes[document] == "large"
    ]
    lists = Run.build(*zip(*rows, strict=True), name="large")
    found = verdict_of(tmp_path, lists, biased.sizes, depth=40)
    assert (found.less[0].value, found.less[0].share, found.advice) == ("small", 0.0, None)


def test_nothing_is_advised_where_nothing_is_shown(tmp_path: Path) -> None:
    made = shop(3, products=300, queries=40, depth=20)
    found = verdict_of(tmp_path, made.run, made.sizes)
    assert (found.shown, found.worst, found.advice) == (False, (), None)
