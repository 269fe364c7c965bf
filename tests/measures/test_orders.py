"""Ranges over orders against slower ways to the same numbers: all orders, all sets, all ways to count."""

from __future__ import annotations

import os
import warnings
from itertools import combinations, permutations

import numpy as np
import order_oracles
import pytest
from effort import some

from evenrank import EvenrankWarning, Polarity, evaluate, parse_measure, read_run, rerank
from evenrank.measures.orders import extremes, spread

TIMES = int(os.environ.get("EVENRANK_ORDERS_TIMES", "1"))  # more cases: 50 takes minutes
KINDS = ("random", "tied", "clustered", "heavy", "labels", "far")
STEPS = (1, 2, 3, 5)
CENTERS = ("prefix", "list")


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


def reranked(method: str, polarity: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The polarity (Q, K) of lists in the order that a method gives them, and their old places."""
    documents = [f"{q}-{place:03}" for q, n in enumerate(lengths) for place in range(n)]
    known = Polarity.build(documents, np.concatenate([p[:n] for p, n in zip(polarity, lengths, strict=True)]))
    run = read_run({f"q{q}": {f"{q}-{i:03}": -float(i) for i in range(n)} for q, n in enumerate(lengths)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenrankWarning)  # of long lists it says that no proof is known
        again = rerank(run, method, evidence=[known])
    places, found = np.full(polarity.shape, -1), np.zeros(polarity.shape)
    for q, n in enumerate(lengths):
        places[q, :n] = [int(document.partition("-")[2]) for document in again.documents(f"q{q}")]
        found[q, :n] = polarity[q, places[q, :n]]
    return found, places


def spread_weights(n: int, step: int) -> np.ndarray:
    return np.array(order_oracles.weights(n, step)[1:])


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


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("kind", some(KINDS, 2))
def test_range_is_that_of_all_orders(kind: str, center: str) -> None:
    generator = np.random.default_rng(7)
    for n, queries in ((2, 4), (3, 20), (4, 20), (5, 20), (6, 10), (7, 4 * TIMES), (8, TIMES)):
        for step in STEPS:
            polarity, lengths = scores(kind, (queries, n), generator), np.full(queries, n)
            found = extremes(polarity, lengths, step=step, center=center)
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
                found = extremes(polarity, lengths, step=step)
                least, most = all_subsets(polarity, spread_weights(n, step))
                assert found.proved.all()
                near(found.least, least, most)
                near(found.most, most, most)


@pytest.mark.parametrize("center", CENTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_reranked_lists_have_the_values_of_the_range(kind: str, center: str) -> None:
    generator = np.random.default_rng(9)
    lengths = generator.integers(1, 41, 60)
    polarity = scores(kind, (60, 40), generator)
    balanced, places = reranked(f"MinDUO(center={center})", polarity, lengths)
    for n, own in zip(lengths, places.tolist(), strict=True):
        assert sorted(own[:n]) == list(range(n))
    for step in STEPS:
        found = extremes(polarity, lengths, step=step, center=center)
        near(spread(balanced, lengths, step=step, center=center), found.most, found.most)
        one_sided, _ = reranked(f"MaxDUO(center={center},step={step})", polarity, lengths)
        near(spread(one_sided, lengths, step=step, center=center), found.least, found.most)
        listed = spread(polarity, lengths, step=step, center=center)
        assert (listed <= found.most + 1e-12 * np.maximum(1, found.most)).all()
        assert (listed >= found.fence - 1e-12 * np.maximum(1, found.most)).all()


@pytest.mark.parametrize("step", [1, 7])
def test_long_lists_are_reranked_to_the_values_of_the_range(step: int) -> None:
    lengths = np.array([300, 299, 260])
    polarity = np.random.default_rng(15).normal(size=(3, 300))
    one_sided, _ = reranked(f"MaxDUO(step={step})", polarity, lengths)
    found = extremes(polarity, lengths, step=step)
    np.testing.assert_allclose(spread(one_sided, lengths, step=step), found.least, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_balanced_order_spreads_most_at_every_rank(kind: str) -> None:
    polarity, lengths = scores(kind, (20, 7), np.random.default_rng(10)), np.full(20, 7)
    balanced, _ = reranked("MinDUO", polarity, lengths)
    for k in range(2, 8):
        largest = np.max([polarity[:, list(s)].var(axis=1) for s in combinations(range(7), k)], axis=0)
        near(balanced[:, :k].var(axis=1), largest, largest)


def test_tied_documents_keep_their_order_and_no_side_goes_first() -> None:
    labels, lengths = np.array([[1.0, 1, -1, -1, 1, -1], [-1.0, -1, 1, 1, -1, 1]]), np.array([6, 6])
    assert reranked("MinDUO", labels, lengths)[1].tolist() == [[0, 2, 1, 3, 4, 5]] * 2
    assert reranked("MinDUO", labels[:, ::-1].copy(), lengths)[1].tolist() == [[0, 1, 2, 4, 3, 5]] * 2
    for order in reranked("MaxDUO", labels, lengths)[1].tolist():
        assert [place for place in order if place in (0, 1, 4)] == [0, 1, 4]
        assert [place for place in order if place in (2, 3, 5)] == [2, 3, 5]


def test_lists_do_not_see_each_other_nor_the_padding() -> None:
    generator = np.random.default_rng(11)
    lengths = generator.integers(0, 30, 50)
    polarity = generator.normal(size=(50, 30))
    together = extremes(polarity, lengths)
    polarity[np.arange(30) >= lengths[:, None]] = 1e9
    again = extremes(polarity, lengths)
    for query, n in enumerate(lengths):
        alone = extremes(polarity[query : query + 1, :n], lengths[query : query + 1])
        for one, two, three in zip(together[:3], again[:3], alone[:3], strict=True):
            assert one[query] == pytest.approx(three[0], abs=1e-12)
            assert two[query] == pytest.approx(three[0], abs=1e-12)


def test_the_fence_holds_and_is_met_by_labels() -> None:
    generator = np.random.default_rng(13)
    lengths = np.full(200, 30)
    found = extremes(generator.normal(size=(200, 30)), lengths)
    assert (found.fence <= found.least).all()
    assert not found.proved.all()
    assert ((found.least - found.fence) / (found.most - found.least)).max() < 0.007
    assert extremes(scores("labels", (200, 30), generator), lengths).proved.all()


@pytest.mark.parametrize("exponent", [-60, -30, 30, 60])
def test_what_is_proved_does_not_depend_on_the_scale(exponent: int) -> None:
    """Powers of two scale without rounding, so every comparison must come out as before."""
    generator = np.random.default_rng(13)
    polarity = np.vstack([scores(kind, (100, 16), generator) for kind in ("random", "tied", "labels")])
    lengths = np.full(len(polarity), 16)
    plain, scaled = (extremes(x, lengths) for x in (polarity, polarity * 2.0**exponent))
    assert 0 < plain.proved.sum() < len(polarity)
    np.testing.assert_array_equal(scaled.proved, plain.proved)
    np.testing.assert_array_equal(scaled.fence, plain.fence * 4.0**exponent)


def counted(name: str, groups: np.ndarray, **arguments: object) -> np.ndarray:
    """The value of every list, of which ``groups`` (Q, n) has the protected documents."""
    documents = [f"{side}{place:03}" for side in "pn" for place in range(groups.shape[1])]
    known = Polarity.build(documents, np.repeat([1.0, -1.0], groups.shape[1]))
    run = {
        f"q{q:04}": {f"{'p' if own else 'n'}{i:03}": -float(i) for i, own in enumerate(row)}
        for q, row in enumerate(groups)
    }
    given = ",".join(f"{key}={value!r}" for key, value in arguments.items())
    measure = parse_measure(f"{name}({given})")
    return evaluate(run, measure, evidence=[known]).block(measure).values[:, 0]


@pytest.mark.parametrize("discount", ["log2(1+i)", "log2(i)"])
@pytest.mark.parametrize(
    ("name", "clamp"), [("rND", {}), ("rKL", {}), ("rKL", {"clamp": 0.001}), ("rRD", {})]
)
def test_counts_give_the_range_of_all_orders(name: str, clamp: dict[str, float], discount: str) -> None:
    for n in (3, 4, 7):
        for members in range(1, n):
            chosen = np.array(list(combinations(range(n), members)))
            group = np.zeros((len(chosen), n), bool)
            np.put_along_axis(group, chosen, True, axis=1)
            for step in (1, 2, 3):
                asked = {"step": step, "discount": discount, **clamp}
                sums = counted(name, group, normalizer=None, **asked)
                if not np.isfinite(sums).any():  # no rank counts
                    continue
                setting = parse_measure(
                    f"{name}(step={step},discount={discount!r})"
                    if not clamp
                    else (f"{name}(step={step},discount={discount!r},clamp=0.001)")
                )
                slow = [
                    order_oracles.term(setting, int(group[0, :k].sum()), k, members, n)
                    for k in range(1, n + 1)
                ]
                assert sums[0] == pytest.approx(sum(slow), abs=1e-12)
                low, high = sums.min(), sums.max()
                scaled = (sums - low) / (high - low) if high - low > 1e-12 else np.full(len(sums), np.nan)
                assert counted(name, group, **asked) == pytest.approx(scaled, abs=1e-11, nan_ok=True)
                if high:
                    largest = counted(name, group, normalizer="max", **asked)
                    assert largest == pytest.approx(sums / high, abs=1e-11)


@pytest.mark.parametrize("name", ["rND", "rKL", "rRD"])
@pytest.mark.parametrize(("step", "discount"), [(1, "log2(1+i)"), (4, "log2(i)")])
def test_counts_of_long_lists(name: str, step: int, discount: str) -> None:
    generator = np.random.default_rng(16)
    measure = parse_measure(f"{name}(step={step},discount={discount!r})")
    for _ in range(12):
        n = int(generator.integers(20, 60))
        members = int(generator.integers(1, n))
        group = generator.permutation(np.arange(n) < members)
        own = sum(order_oracles.term(measure, int(group[:k].sum()), k, members, n) for k in range(1, n + 1))
        low, high = order_oracles.count_range(measure, members, n)
        (value,) = counted(name, group[None], step=step, discount=discount)
        assert value == pytest.approx((own - low) / (high - low), abs=1e-11)


@pytest.mark.parametrize(("clamp", "share"), [({}, 1.0), ({"clamp": 0.001}, 0.3110806)])
def test_one_group_first_or_last_is_the_maximum_of_rkl_only_without_a_clamp(clamp, share) -> None:
    """The figure is of a slow programme over counts, straight from the definition."""
    first = np.arange(100) < 10
    values = counted("rKL", np.array([first, first[::-1]]), step=10, normalizer="max", **clamp)
    assert values.max() == pytest.approx(share, abs=1e-6)
