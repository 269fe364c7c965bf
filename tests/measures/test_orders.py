"""Ranges over orders against slower ways to the same numbers: all orders, all sets, all ways to count."""

from __future__ import annotations

import math
import os
from itertools import combinations, permutations

import numpy as np
import order_oracles
import pytest
from effort import some

from evenrank.measures import orders
from evenrank.measures.orders import compiled, counts, subsets
from evenrank.measures.orders.intervals import least_by_intervals, order_by_intervals
from evenrank.measures.orders.largest import ends_first

TIMES = int(os.environ.get("EVENRANK_ORDERS_TIMES", "1"))  # more cases: 50 takes minutes
KINDS = ("random", "tied", "clustered", "heavy", "labels", "far")
STEPS = (1, 2, 3, 5)


def scores(kind: str, shape: tuple[int, int], generator: np.random.Generator) -> np.ndarray:
    if kind == "tied":
        return generator.integers(-2, 3, shape).astype(float)
    if kind == "clustered":
        return generator.choice([-3.0, 0.5, 4.0], shape) + generator.normal(scale=1e-3, size=shape)
    if kind == "heavy":
        return generator.standard_cauchy(shape)
    if kind == "labels":
        return generator.choice([-1.0, 1.0], shape)
    if kind == "far":  # a mean that is large beside the differences
        return 1e4 + generator.normal(size=shape)
    return generator.normal(size=shape)


def near(one: np.ndarray, two: np.ndarray, most: np.ndarray) -> None:
    """Equal to 1e-12, of the largest D where that is above 1."""
    assert (np.abs(one - two) <= 1e-12 * np.maximum(1, most)).all()


def arranged(polarity: np.ndarray, order: np.ndarray) -> np.ndarray:
    return np.take_along_axis(polarity, np.maximum(order, 0), axis=1)


def all_orders(polarity: np.ndarray, step: int, center: str) -> tuple[np.ndarray, np.ndarray]:
    n = polarity.shape[1]
    every = np.array(list(permutations(range(n))))
    least, most = [], []
    for p in polarity:
        p = p - p.mean()  # the digits that a large mean would take
        x = p[every]
        k = np.arange(1, n + 1)
        about = np.cumsum(x, axis=1) / k if center == "prefix" else np.full(x.shape, p.mean())
        d = sum(
            ((x[:, :j] - about[:, j - 1 : j]) ** 2).mean(axis=1) / np.log2(j)
            for j in range(2, n + 1)
            if j % step == 0
        ) + np.zeros(len(x))
        least.append(d.min())
        most.append(d.max())
    return np.array(least), np.array(most)


def all_subsets(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest D of lists (Q, n), by the best way to each of the 2^n sets."""
    n = x.shape[1]
    x = x - x.mean(axis=1, keepdims=True)
    member = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1  # (2^n, n)
    total, squares = member @ x.T, member @ (x * x).T  # (2^n, Q)
    size = member.sum(axis=1)
    least, most = np.zeros(total.shape), np.zeros(total.shape)
    for k in range(1, n + 1):
        sets = np.flatnonzero(size == k)
        smaller = sets[:, None] ^ (1 << np.nonzero(member[sets])[1].reshape(len(sets), k))
        own = weights[k - 1] * (squares[sets] / k - (total[sets] / k) ** 2)
        least[sets] = own + least[smaller].min(axis=1)
        most[sets] = own + most[smaller].max(axis=1)
    return least[-1], most[-1]


@pytest.mark.parametrize("center", orders.CENTERS)
@pytest.mark.parametrize("kind", some(KINDS, 2))
def test_range_is_that_of_all_orders(kind: str, center: str) -> None:
    generator = np.random.default_rng(7)
    for n, queries in ((2, 4), (3, 20), (4, 20), (5, 20), (6, 10), (7, 4 * TIMES), (8, TIMES)):
        for step in STEPS:
            polarity, lengths = scores(kind, (queries, n), generator), np.full(queries, n)
            found = orders.extremes(polarity, lengths, step=step, center=center)
            least, most = all_orders(polarity, step, center)
            assert found.proved.all()
            near(found.least, least, most)
            near(found.most, most, most)


@pytest.mark.parametrize("kind", some(KINDS, 2))
def test_range_is_that_of_all_subsets(kind: str) -> None:
    generator = np.random.default_rng(8)
    for n, queries in ((9, 100), (10, 60), (11, 30), (12, 20), (13, 8), (14, 4)):
        for step in STEPS[: 3 if TIMES == 1 else 4]:
            for _ in range(TIMES):
                polarity, lengths = scores(kind, (queries, n), generator), np.full(queries, n)
                found = orders.extremes(polarity, lengths, step=step)
                least, most = all_subsets(polarity, orders.spread_weights(n, step))
                assert found.proved.all()
                near(found.least, least, most)
                near(found.most, most, most)


@pytest.mark.parametrize("center", orders.CENTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_orders_have_the_values_of_the_range(kind: str, center: str) -> None:
    generator = np.random.default_rng(9)
    lengths = generator.integers(0, 41, 60)
    polarity = scores(kind, (60, 40), generator)
    for step in STEPS:
        found = orders.extremes(polarity, lengths, step=step, center=center)
        balanced = orders.balanced_order(polarity, lengths, center=center)
        one_sided = orders.one_sided_order(polarity, lengths, step=step, center=center)
        for order in (balanced, one_sided.order):
            for n, places in zip(lengths, order.tolist(), strict=True):
                assert sorted(places[:n]) == list(range(n))
                assert set(places[n:]) <= {-1}
        d = orders.spread(arranged(polarity, balanced), lengths, step=step, center=center)
        near(d, found.most, found.most)
        d = orders.spread(arranged(polarity, one_sided.order), lengths, step=step, center=center)
        near(d, found.least, found.most)
        assert (one_sided.proved == found.proved).all()
        listed = orders.spread(polarity, lengths, step=step, center=center)
        assert (listed <= found.most + 1e-12 * np.maximum(1, found.most)).all()
        assert (listed >= found.fence - 1e-12 * np.maximum(1, found.most)).all()


def test_the_balanced_order_spreads_most_at_every_rank() -> None:
    generator = np.random.default_rng(10)
    for kind in KINDS:
        polarity, lengths = scores(kind, (20, 7), generator), np.full(20, 7)
        order = orders.balanced_order(polarity, lengths)
        achieved = orders.prefix_spread(arranged(polarity, order), lengths)
        for k in range(2, 8):
            largest = np.max([polarity[:, list(s)].var(axis=1) for s in combinations(range(7), k)], axis=0)
            near(achieved[:, k - 1], largest, largest)


def test_tied_documents_keep_their_order_and_no_side_goes_first() -> None:
    labels, lengths = np.array([[1.0, 1, -1, -1, 1, -1], [-1.0, -1, 1, 1, -1, 1]]), np.array([6, 6])
    assert orders.balanced_order(labels, lengths).tolist() == [[0, 2, 1, 3, 4, 5]] * 2
    assert orders.balanced_order(labels[:, ::-1].copy(), lengths).tolist() == [[0, 1, 2, 4, 3, 5]] * 2
    for order in orders.one_sided_order(labels, lengths).order.tolist():
        assert [place for place in order if place in (0, 1, 4)] == [0, 1, 4]
        assert [place for place in order if place in (2, 3, 5)] == [2, 3, 5]


def test_lists_do_not_see_each_other_nor_the_padding() -> None:
    generator = np.random.default_rng(11)
    lengths = generator.integers(0, 30, 50)
    polarity = generator.normal(size=(50, 30))
    together = orders.extremes(polarity, lengths)
    polarity[np.arange(30) >= lengths[:, None]] = 1e9
    again = orders.extremes(polarity, lengths)
    for query, n in enumerate(lengths):
        alone = orders.extremes(polarity[query : query + 1, :n], lengths[query : query + 1])
        for one, two, three in zip(together[:3], again[:3], alone[:3], strict=True):
            assert one[query] == pytest.approx(three[0], abs=1e-12)
            assert two[query] == pytest.approx(three[0], abs=1e-12)


def test_where_the_programme_is_wrong_the_sets_are_right() -> None:
    """The known case in which no order of intervals is best; it needs weights that DUO does not have."""
    weights = np.array([0, 208.0, 0, 0, 0, 1.0, 0])
    x = np.array([[1.0, 2, 5, 103, 109, 117, 124], [-124.0, -117, -109, -103, -5, -2, -1]])
    x, lengths = x - x.mean(axis=1, keepdims=True), np.array([7, 7])
    programme, fence = least_by_intervals(x, lengths, weights)
    least, order = subsets.less_by_subsets(x, lengths, weights, programme, fence)
    true = all_subsets(x, weights)[0]
    assert (true < programme * 0.999).all()
    np.testing.assert_allclose(least, true, rtol=1e-12)
    assert (np.sort(order, axis=1) == np.arange(7)).all()
    d = orders.prefix_spread(arranged(x, order), lengths) @ weights
    np.testing.assert_allclose(d, true, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sets_find_what_is_less_from_any_start(kind: str) -> None:
    """With a start that is too large the search itself must find the smallest D and its order."""
    generator = np.random.default_rng(12)
    for n, step in ((2, 1), (6, 1), (9, 2), (10, 1), (11, 3)):
        weights, lengths = orders.spread_weights(n, step), np.full(12, n)
        x = np.sort(scores(kind, (12, n), generator), axis=1)
        x = x - x.mean(axis=1, keepdims=True)
        fence = least_by_intervals(x, lengths, weights)[1]
        least, most = all_subsets(x, weights)
        found, order = subsets.less_by_subsets(x, lengths, weights, most * 1.01 + 1, fence)
        near(found, least, most)
        near(orders.prefix_spread(arranged(x, order), lengths) @ weights, least, most)


def test_the_fence_holds_and_is_met_by_labels() -> None:
    generator = np.random.default_rng(13)
    lengths = np.full(200, 30)
    found = orders.extremes(generator.normal(size=(200, 30)), lengths)
    assert (found.fence <= found.least).all()
    assert not found.proved.all()
    assert ((found.least - found.fence) / (found.most - found.least)).max() < 0.007
    assert orders.extremes(scores("labels", (200, 30), generator), lengths).proved.all()


@pytest.mark.parametrize("exponent", [-60, -30, 30, 60])
def test_what_is_proved_does_not_depend_on_the_scale(exponent: int) -> None:
    """Powers of two scale without rounding, so every comparison must come out as before."""
    generator = np.random.default_rng(13)
    polarity = np.vstack([scores(kind, (100, 16), generator) for kind in ("random", "tied", "labels")])
    lengths = np.full(len(polarity), 16)
    plain, scaled = (orders.extremes(x, lengths) for x in (polarity, polarity * 2.0**exponent))
    assert 0 < plain.proved.sum() < len(polarity)
    np.testing.assert_array_equal(scaled.proved, plain.proved)
    np.testing.assert_array_equal(scaled.fence, plain.fence * 4.0**exponent)
    sides = [orders.one_sided_order(x, lengths) for x in (polarity, polarity * 2.0**exponent)]
    np.testing.assert_array_equal(sides[0].proved, plain.proved)
    np.testing.assert_array_equal(sides[1].proved, plain.proved)


@pytest.mark.needs("evenrank")
def test_compiled_loops_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenrank.measures.orders import kernel

    generator = np.random.default_rng(14)
    for kind in KINDS:
        lengths = generator.integers(0, 60, 40)
        polarity = scores(kind, (40, 60), generator)
        there = np.arange(60) < lengths[:, None]
        places = np.argsort(np.where(there, polarity, np.inf), axis=1)
        x = np.where(there, np.take_along_axis(polarity, places, axis=1), 0)
        for step in (1, 3):
            results = []
            for module in (None, kernel):
                for user in ("intervals", "largest"):
                    monkeypatch.setattr(f"evenrank.measures.orders.{user}.kernel", lambda _, m=module: m)
                weights = orders.spread_weights(60, step)
                ends = ends_first(x, places, places[:, ::-1], lengths)
                results.append((*least_by_intervals(x, lengths, weights), ends))
            for one, two in zip(*results, strict=True):
                np.testing.assert_array_equal(one, two)


def test_the_kernel_is_loaded_for_much_work_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(compiled.sys.modules, "evenrank.measures.orders.kernel", raising=False)
    asked = []
    monkeypatch.setattr(compiled, "import_module", lambda name: asked.append(name) or name)
    monkeypatch.setattr(compiled, "find_spec", lambda name: name)
    assert compiled.kernel(1000) is None
    assert compiled.kernel(10**9) == "evenrank.measures.orders.kernel"
    monkeypatch.setattr(compiled, "find_spec", lambda name: None)
    assert compiled.kernel(10**9) is None
    assert len(asked) == 1


def test_long_orders_have_the_value_of_the_programme() -> None:
    generator = np.random.default_rng(15)
    x = np.sort(generator.normal(size=(3, 300)), axis=1)
    x, lengths = x - x.mean(axis=1, keepdims=True), np.array([300, 299, 260])
    for step in (1, 7):
        weights = orders.spread_weights(300, step)
        least = least_by_intervals(x, lengths, weights)[0]
        order = order_by_intervals(x, lengths, weights)
        d = [
            orders.prefix_spread(x[i : i + 1, order[i, :n]], np.array([n]))[0] @ weights[:n]
            for i, n in enumerate(lengths)
        ]
        np.testing.assert_allclose(d, least, rtol=1e-12)


class Setting:
    """What the slow computation reads from a measure."""

    def __init__(self, name: str, step: int, discount: str, clamp: float | None = None) -> None:
        self.name, self.step, self.discount, self.clamp = name, step, discount, clamp

    @property
    def utility(self) -> counts.Utility:
        return counts.clamped(self.clamp) if self.name == "rKL" else counts.UTILITIES[self.name]


@pytest.mark.parametrize("discount", orders.DISCOUNTS)
@pytest.mark.parametrize(("name", "clamp"), [("rND", None), ("rKL", None), ("rKL", 0.001), ("rRD", None)])
def test_counts_give_the_range_of_all_orders(name: str, clamp: float | None, discount: str) -> None:
    for n in range(2, 9 + (TIMES > 1) * 5):
        for members in range(1, n):
            chosen = np.array(list(combinations(range(n), members)))
            group = np.zeros((len(chosen), n), bool)
            np.put_along_axis(group, chosen, True, axis=1)
            lengths = np.full(len(group), n)
            for step in (1, 2, 3):
                setting = Setting(name, step, discount, clamp)
                u = setting.utility
                sums = orders.count_terms(group, lengths, u, step=step, discount=discount).sum(axis=1)
                slow = [
                    order_oracles.term(setting, int(group[0, :k].sum()), k, members, n)
                    for k in range(1, n + 1)
                ]
                assert sums[0] == pytest.approx(sum(slow), abs=1e-12)
                with np.errstate(
                    invalid="raise"
                ):  # a list of one group, and an empty one, are 0 and no trouble
                    least, most = orders.count_extremes(
                        np.array([members, 0, 0, n, members]),
                        np.array([n, 0, n, n, n]),
                        u,
                        step=step,
                        discount=discount,
                    )
                low, high = sums.min(), sums.max()
                np.testing.assert_allclose(least, [low, 0, 0, 0, low], rtol=0, atol=1e-12)
                np.testing.assert_allclose(most, [high, 0, 0, 0, high], rtol=0, atol=1e-12)


def test_counts_of_many_lists_at_once() -> None:
    generator = np.random.default_rng(16)
    lengths = generator.integers(2, 60, 80)
    members = np.array([int(generator.integers(1, n)) for n in lengths])
    for name in counts.UTILITIES:
        for step, discount in ((1, "log2(1+i)"), (4, "log2(i)")):
            setting = Setting(name, step, discount)
            found = orders.count_extremes(members, lengths, setting.utility, step=step, discount=discount)
            slow = [
                order_oracles.count_range(setting, int(p), int(n))
                for p, n in zip(members, lengths, strict=True)
            ]
            np.testing.assert_allclose(np.array(found).T, slow, rtol=0, atol=1e-12)


def test_published_values_of_fairrank() -> None:
    """The demo of DataResponsibly/FairRank: the 50 protected of 100 first, every tenth rank, not scaled."""
    group, lengths = (np.arange(100) < 50)[None, :], np.array([100])

    def value(utility: counts.Utility) -> float:
        return float(orders.count_terms(group, lengths, utility, step=10).sum())

    assert f"{value(counts.difference):.12f}" == "0.660066334446"
    assert f"{value(counts.clamped(0.001)):.11f}" == "1.15901724032"
    assert f"{value(counts.ratio):.11f}" == "1.08152800722"
    assert f"{value(counts.divergence):.10f}" == "1.1713550498"


@pytest.mark.parametrize(("clamp", "share"), [(None, 1.0), (0.001, 0.3110806)])
def test_one_group_first_or_last_is_the_maximum_of_rkl_only_without_a_clamp(clamp, share) -> None:
    """By a slow programme over counts, straight from the definition."""
    n, members, step = 100, 10, 10

    def bits(p: float, q: float) -> float:
        if clamp is not None:
            p, q = (clamp if value in (0, 1) else value for value in (p, q))
        return sum(a * math.log2(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)

    def term(count: int, k: int) -> float:
        return bits(count / k, members / n) / math.log2(k + 1) if k % step == 0 else 0.0

    best = {0: 0.0}
    for k in range(1, n + 1):
        reached = {count + more for count in best for more in (0, 1)}
        kept = [count for count in reached if count <= members and members - count <= n - k]
        best = {c: max(best.get(c, -1), best.get(c - 1, -1)) + term(c, k) for c in kept}
    ends = [[min(k, members) for k in range(1, n + 1)], [max(0, k - n + members) for k in range(1, n + 1)]]
    largest = max(sum(term(count, k) for k, count in enumerate(end, 1)) for end in ends)
    assert largest / best[members] == pytest.approx(share, abs=1e-6)
    _, most = counts.count_extremes(np.array([members]), np.array([n]), counts.clamped(clamp), step=step)
    assert most[0] == pytest.approx(best[members])
