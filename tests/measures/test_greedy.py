"""The greedy order: at every rank by brute force, how chance decides, and how far it is from the best."""

from __future__ import annotations

import itertools
from importlib import import_module

import fair_oracles
import numpy as np
import pytest
from greedy_oracles import gain_of
from scipy.stats import chisquare

from evenrank import Attribute, Membership, Qrels, Run, rerank
from evenrank.measures import greedy
from evenrank.measures.divergences import DISTANCES
from evenrank.measures.greedy import greedy_order


def shares_of(kind: str, count: int, values: int, generator: np.random.Generator) -> np.ndarray:
    """(n, L): labels, mixtures of few values so that many are tied, any mixtures; some of no group."""
    if kind == "labels":
        shares = np.eye(values)[generator.integers(0, values, count)]
    elif kind == "tied":
        few = np.vstack([np.full(values, 1 / values), np.eye(values), generator.dirichlet(np.ones(values))])
        shares = few[generator.integers(0, len(few), count)]
    else:
        shares = generator.dirichlet(np.full(values, 0.5), count)
    return shares * (generator.random(count) < 0.85)[:, None]


def lists(seed: int, kind: str) -> tuple[np.ndarray, ...]:
    """Relevance (Q, K), shares (Q, K, L), target (Q, L), lengths (Q,) and three draws of where to explore."""
    generator = np.random.default_rng(seed)
    queries, depth, values = 6, 9, int(generator.integers(2, 5))
    lengths = generator.integers(0, depth + 1, queries)
    shares = np.stack([shares_of(kind, depth, values, generator) for _ in range(queries)])
    relevance = np.where(
        generator.random((queries, 1)) < 0.5,
        generator.integers(0, 2, (queries, depth)).astype(float),
        generator.permuted(np.tile(1 / np.log2(2 + np.arange(depth)), (queries, 1)), axis=1),
    )
    inside = np.arange(depth) < lengths[:, None]
    target = generator.dirichlet(np.ones(values), queries)
    target[0], target[1] = 1 / values, 0.0  # parity; and no target at all
    target[2, 0] = 0.0
    target[2] /= target[2].sum()
    explore = np.stack(
        [np.zeros((queries, depth)), np.ones((queries, depth)), generator.random((queries, depth)) < 0.4],
        axis=1,
    ).astype(bool)
    return relevance * inside, shares * inside[:, :, None], target, lengths, explore


@pytest.mark.parametrize("kind", ["labels", "tied", "soft"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_every_pick_is_the_best_of_the_others(kind: str, alpha: float, smoothing: float) -> None:
    """With epsilon 0, with epsilon 1, and in between."""
    for seed in range(6):
        relevance, shares, target, lengths, explore = lists(seed, kind)
        places = greedy_order(
            relevance, shares, target, lengths, alpha=alpha, smoothing=smoothing, explore=explore
        )
        assert places.shape == explore.shape
        for query, draw in itertools.product(range(len(lengths)), range(explore.shape[1])):
            size = int(lengths[query])
            order = places[query, draw].tolist()
            assert sorted(order[:size]) == list(range(size))
            assert order[size:] == [-1] * (len(order) - size)
            rows, relevant = shares[query, :size].tolist(), relevance[query, :size].tolist()

            def gain(chosen: list[int], d: int, rows=rows, relevant=relevant) -> float:
                return gain_of(rows, relevant, alpha, chosen, d)

            for rank in range(size):
                best = fair_oracles.next_document(
                    order[:rank], gain, rows, target[query].tolist(), fair_oracles.kl, smoothing,
                    bool(explore[query, draw, rank]),
                )  # fmt: skip
                assert order[rank] == best, (seed, query, draw, rank)


@pytest.mark.needs("numba")
@pytest.mark.slow  # it compiles
@pytest.mark.parametrize("kind", ["labels", "tied", "soft"])
def test_the_compiled_loop_chooses_the_same_documents(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with targets of 0, no target, no gain, negative gains, and documents of no group."""
    compared = 0
    for seed, alpha, smoothing in itertools.product(range(25), (None, 0.0, 0.5, 1.0), (0.0, 1.0, 0.1)):
        relevance, shares, target, lengths, explore = lists(seed, kind)
        if seed % 5 == 1 and alpha is None:  # with alpha, relevance is never negative
            relevance = relevance - 0.5 * (np.arange(len(relevance)) % 2)[:, None]
        if seed % 5 == 2:
            target = np.where((np.arange(len(target)) == 3)[:, None], np.nan, target)
        given = relevance, shares, target, lengths
        options = {"alpha": alpha, "smoothing": smoothing, "explore": explore}
        options |= {"steps": 4} if seed % 3 == 0 else {}
        options |= {"divergence": None} if seed % 7 == 3 else {}
        found = []
        for loaded in (None, import_module(greedy._KERNEL)):
            monkeypatch.setattr(greedy, "kernel", lambda *_, loaded=loaded: loaded)
            found.append(greedy_order(*given, **options))
        np.testing.assert_array_equal(*found)
        compared += 1
    assert compared == 300


@pytest.mark.needs("numba")
@pytest.mark.slow  # it compiles
@pytest.mark.parametrize("values", [2, 5])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_the_compiled_loop_chooses_the_same_of_long_lists(
    values: int, smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With targets that no mixture comes near, with targets whose sum is not 1, and with equal documents."""
    generator = np.random.default_rng(3)
    shares = generator.dirichlet(np.full(values, 0.7), (12, 120))
    shares[:4, 60:] = shares[:4, :60]
    relevance = generator.integers(0, 3, (12, 120)).astype(float)
    relevance[::2] *= generator.random((6, 120))
    target, lengths = generator.dirichlet(np.full(values, 0.3), 12), np.full(12, 120)
    target[:3] = 1 / values
    target[3:6] *= [[0.4], [0.9], [1.7]]
    explore = generator.random((12, 5, 120)) < 0.3
    found = []
    for loaded in (None, import_module(greedy._KERNEL)):
        monkeypatch.setattr(greedy, "kernel", lambda *_, loaded=loaded: loaded)
        found.append(
            greedy_order(relevance, shares, target, lengths, alpha=0.5, smoothing=smoothing, explore=explore)
        )
    np.testing.assert_array_equal(*found)


@pytest.mark.needs("numba")
@pytest.mark.slow  # it compiles
@pytest.mark.parametrize(
    ("rows", "target"),
    [
        ([[0.3, 0.7]] + [[0.1 + 0.2, 0.7]] * 6 + [[0.3, 0.7]], [0.3, 0.7]),  # divergences of 0, and nearly 0
        ([[0.3 + step * 2**-54] for step in range(8)], [1.0]),  # gains that grow from the first to the last
    ],
)
def test_the_compiled_loop_rules_out_no_document_that_differs_in_the_last_bit(
    rows: list[list[float]], target: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greedy, "kernel", lambda *_: import_module(greedy._KERNEL))
    for smoothing, explore in itertools.product((0.0, 1.0), (False, True)):
        places = greedy_order(
            np.ones((1, 8)), np.array([rows]), np.array([target]), np.array([8]), alpha=0.0,
            smoothing=smoothing, explore=np.full((1, 1, 8), explore),
        )  # fmt: skip
        assert places.tolist() == [[list(range(8))]]


def test_divergences_that_differ_in_the_last_bit_are_equal() -> None:
    """The first document is as wanted but for rounding; without smoothing its gain is infinite, too."""
    shares = np.array([[[0.1 + 0.2, 0.7], [0.3, 0.7]]])
    for smoothing, explore in itertools.product((0.0, 1.0), (False, True)):
        places = greedy_order(
            np.ones((1, 2)), shares, np.array([[0.3, 0.7]]), np.array([2]), alpha=0.5, smoothing=smoothing,
            explore=np.full((1, 1, 2), explore),
        )  # fmt: skip
        assert places.tolist() == [[[0, 1]]]


@pytest.mark.parametrize(
    ("row", "target", "alpha", "smoothing"),
    [
        ([0.5, 0.5], [0.5, 0.5], 0.5, 0.0),  # all as wanted: every gain is infinite
        ([1.0, 0.0], [0.0, 1.0], 0.5, 1.0),  # all infinitely unfair: every gain is nothing
        ([0.0, 0.0], [0.5, 0.5], None, 1.0),  # all of no group, and gain does not need one
    ],
)
def test_gains_that_a_divergence_hides(row, target, alpha, smoothing) -> None:
    """The old order decides; where fairness comes first, the gain does."""
    relevance, shares = np.array([[0.4, 1.0, 0.7]]), np.array([[row] * 3])
    for fairest, wanted in ((False, [0, 1, 2]), (True, [1, 2, 0])):
        places = greedy_order(
            relevance, shares, np.array([target]), np.array([3]), alpha=alpha, smoothing=smoothing,
            explore=np.full((1, 1, 3), fairest),
        )  # fmt: skip
        assert places.tolist() == [[wanted]]


@pytest.mark.parametrize("div", ["KL", "JSD"])
def test_gain_that_groups_do_not_change(div: str) -> None:
    """As for nDCG and RBP: a document gains what it is worth, with a group or without."""
    for seed in range(6):
        worth, shares, target, lengths, _ = lists(seed, "tied")
        places = greedy_order(worth, shares, target, lengths, alpha=None, divergence=DISTANCES[div])
        for query, size in enumerate(lengths.tolist()):
            rows, own = shares[query, :size].tolist(), worth[query].tolist()
            if not target[query].any() and div != "KL":
                continue  # another divergence from nothing has no meaning
            slow = fair_oracles.greedy(
                lambda chosen, d, own=own: own[d], rows, target[query].tolist(), fair_oracles.DIVERGENCES[div]
            )
            assert places[query, 0, :size].tolist() == slow


def test_after_some_ranks_the_others_follow_as_they_stood() -> None:
    relevance, shares, target, lengths, explore = lists(3, "labels")
    whole = greedy_order(relevance, shares, target, lengths, alpha=0.5, explore=explore)
    part = greedy_order(relevance, shares, target, lengths, alpha=0.5, explore=explore, steps=3)
    assert np.array_equal(part[:, :, :3], whole[:, :, :3])
    for query, draw in itertools.product(range(len(lengths)), range(explore.shape[1])):
        rest = part[query, draw, 3 : lengths[query]].tolist()
        assert rest == sorted(whole[query, draw, 3 : lengths[query]].tolist())
        assert (part[query, draw, lengths[query] :] == -1).all()


def test_repetitions_in_blocks_are_as_one_by_one(monkeypatch) -> None:
    relevance, shares, target, lengths, explore = lists(4, "tied")
    whole = greedy_order(relevance, shares, target, lengths, alpha=0.5, explore=explore)
    monkeypatch.setattr("evenrank.measures.greedy._NUMBERS_AT_ONCE", 1)
    assert np.array_equal(whole, greedy_order(relevance, shares, target, lengths, alpha=0.5, explore=explore))


def test_branches_come_as_often_as_epsilon_says() -> None:
    """Ten thousand draws of lists that show which branch was taken at the first two ranks."""
    documents = {"a": ("x", 1), "c": ("x", 1), "b": ("both", 0), "e": ("both", 0), "d": ("y", 0)}
    queries = [f"q{i}" for i in range(100)]
    rows = [(q, d, -place) for q in queries for place, d in enumerate(documents)]
    run = Run.build(*map(list, zip(*rows, strict=True)))
    judged = [(q, d, grade) for q in queries for d, (_, grade) in documents.items()]
    qrels = Qrels.build(*map(list, zip(*judged, strict=True)))
    labels = {d: label for d, (label, _) in documents.items()}
    groups = Membership.from_labels(Attribute("side", ("x", "y")), labels, even=["both"])
    draws = rerank(run, "FAIR_greedy(epsilon=0.3,seed=7)", qrels=qrels, groups=groups, repeat=100)
    found = [tuple(draw.documents(query)[:2]) for draw in draws for query in queries]
    branches = [("a", "c"), ("a", "d"), ("b", "a"), ("b", "e")]  # greedy, then greedy; then fairest; ..
    counts = [found.count(branch) for branch in branches]
    assert sum(counts) == 10_000
    assert chisquare(counts, [4900, 2100, 2100, 900]).pvalue > 1e-7
    # draws differ from each other, not only lists within a draw
    firsts = [sum(draw.documents(query)[0] == "b" for query in queries) for draw in draws]
    assert np.std(firsts) > 2


def test_the_greedy_order_is_near_the_best() -> None:
    """Of all orders of six documents; how near is in benchmarks/rerank.md."""
    generator = np.random.default_rng(0)
    gaps = []
    for _ in range(20):
        rows = shares_of("labels", 6, 2, generator).tolist()
        relevant = generator.integers(0, 2, 6).astype(float).tolist()
        target = generator.dirichlet(np.ones(2)).tolist()
        order = greedy_order(
            np.array([relevant]), np.array([rows]), np.array([target]), np.array([6]), alpha=0.5
        )[0, 0].tolist()
        best = max(value(list(other), rows, relevant, target) for other in itertools.permutations(range(6)))
        own = value(order, rows, relevant, target)
        assert own <= best + 1e-12
        gaps.append(1 - own / best if best else 0.0)
    assert np.mean(gaps) < 0.05
    assert max(gaps) > 1e-6  # it is not the best always


def value(order: list[int], rows: list[list[float]], relevant: list[float], target: list[float]) -> float:
    """The sum that FAIR normalises, for alpha = .5."""
    covers = [[relevant[d] * share for share in rows[d]] for d in order]
    total = 0.0
    for i, gain in enumerate(fair_oracles.novelty(covers, 0.5), 1):
        d = fair_oracles.apart([rows[place] for place in order[:i]], target)
        total += gain / np.log2(1 + i) / ((d or 0.0) + 1)
    return total


def test_documents_that_were_placed_do_not_compete_any_more() -> None:
    depth, looked_at = 20, []

    def divergence(achieved: np.ndarray, target: np.ndarray) -> np.ndarray:
        looked_at.append(achieved.shape[0])
        return DISTANCES["KL"](achieved, target)

    generator = np.random.default_rng(0)
    mixtures = generator.dirichlet([1, 1], (3, depth))
    relevance = generator.integers(0, 2, (3, depth)).astype(float)
    explore = generator.random((3, 4, depth)) < 0.3
    found = greedy_order(
        relevance, mixtures, np.full((3, 2), 0.5), np.full(3, depth), alpha=0.5, explore=explore,
        divergence=divergence,
    )  # fmt: skip
    assert looked_at == list(range(depth, 0, -1))
    assert (np.sort(found, axis=2) == np.arange(depth)).all()


def test_lists_of_different_length_and_classes_are_ordered_as_each_alone() -> None:
    relevance, shares, target, lengths, explore = lists(3, "tied")
    together = greedy_order(relevance, shares, target, lengths, alpha=0.5, explore=explore)
    for query in range(len(lengths)):
        one = slice(query, query + 1)
        alone = greedy_order(
            relevance[one], shares[one], target[one], lengths[one], alpha=0.5, explore=explore[one]
        )
        np.testing.assert_array_equal(together[one], alone)
