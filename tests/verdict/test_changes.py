"""What changed against the baseline, and who stands at which rank, by slow oracles."""

from __future__ import annotations

import math

import numpy as np
import planted_shop
import pytest

from evenrank.verdict.changes import ShareChange, describe_changes, share_changes
from evenrank.verdict.findings import findings_of
from evenrank.verdict.judge import verdicts
from evenrank.verdict.ranks import rank_shares


def share_of_small(documents: list[str]) -> float:
    """A third of the products is large: those whose number three divides."""
    weights = [1 / math.log2(2 + place) for place in range(len(documents))]
    small = [weight for weight, d in zip(weights, documents, strict=True) if int(d[1:]) % 3]
    return sum(small) / sum(weights)


def test_the_change_is_the_mean_of_differences() -> None:
    inputs = planted_shop.shop_comparison().inputs
    (found,) = share_changes(verdicts(inputs), inputs, "live")
    live, new = (inputs.runs[name] for name in ("live", "new"))
    pairs = [(share_of_small(live.documents(q)[:10]), share_of_small(new.documents(q)[:10])) for q in live]
    before, after = np.array(pairs).T
    assert (found.group, found.system, found.baseline) == ("small", "new", "live")
    assert found.before == pytest.approx(before.mean())
    assert found.after == pytest.approx(after.mean())
    assert found.difference == pytest.approx((after - before).mean())
    assert found.low < found.difference < found.high
    assert found.shown == "more"


def test_ranks_are_counted() -> None:
    inputs = planted_shop.shop_comparison().inputs
    (found,) = rank_shares(inputs, "live", 5)
    run = inputs.runs["live"]
    small = found.values.index("small")
    for rank in range(5):
        there = [int(run.documents(query)[rank][1:]) % 3 > 0 for query in run]
        assert found.shares[rank, small] == pytest.approx(sum(there) / len(there))
    assert found.queries == (40,) * 5


def change(system: str, low: float, high: float, group: str = "small") -> ShareChange:
    middle = (low + high) / 2
    return ShareChange(system, "live", "size", group, 10, 0.2, 0.2 + middle, middle, low, high, 0.95)


def test_sentences_of_changes() -> None:
    assert describe_changes([change("new", 0.05, 0.15)]) == [
        "new gives small 30% of the attention in the first 10 places instead of 20% "
        "(+10.0 points, 95% interval +5.0 to +15.0)."
    ]
    none = describe_changes([change("new", -0.05, 0.15)])[0]
    assert none.startswith("No difference is shown: new gives")
    assert "-5.0 to +15.0 points remain possible, and more queries would help" in none
    assert "gives size 1 30%" in describe_changes([change("new", 0.05, 0.15, "1")])[0]
    many = [change(f"s{n}", 0.01, 0.03) for n in range(5)] + [change("t", -0.2, -0.1), change("u", -0.1, 0.1)]
    assert describe_changes(many) == [
        "Of 7 other systems, 5 give small more than live (s0 22%, s1 22%, s2 22% and 2 more), "
        "1 gives small less than live (t 5%), for 1 no difference is shown (-10.0 to +10.0 points remain "
        "possible, and more queries would help: four times as many would halve that range)."
    ]
    (none,) = describe_changes([change("s", -0.1, 0.05), change("t", -0.05, 0.2)])
    assert none.startswith("No difference is shown in what these groups get: small (size): -10.0 to +20.0 ")


def test_the_first_system_is_the_baseline_or_the_one_asked_for() -> None:
    inputs = planted_shop.shop_comparison().inputs
    assert findings_of(inputs, baseline="live").system == "live"
    asked = findings_of(inputs, baseline="live", system="new")
    assert asked.system == "new"
    assert {shares.system for shares in asked.ranks} == {"new", "live"}
    assert findings_of(None).verdicts == ()
