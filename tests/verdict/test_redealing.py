"""The kernel of verdicts against slow oracles, full enumeration, and the reference that it was made from."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenrank.verdict.redealing import Chance, Labelled, Lists, bands, chance_of, dealt, g, spread_of_size

REFERENCE = Path(__file__).parents[3] / "shared/prototypes/verdict/fairshare.py"
FOUND, FIRST = 12, 5


class Case:
    """Lists, labels and units at random."""

    def __init__(self, seed: int, units: str, *, documents: int = 60, queries: int = 15, groups: int = 3):
        generator = np.random.default_rng(seed)
        self.unit = {
            "own": None,
            "equal": np.repeat(np.arange(documents // 4), 4),
            "sizes": np.sort(generator.integers(0, documents // 4, documents)),
            "mixed": np.sort(generator.integers(0, documents // 4, documents)),
        }[units]
        codes = generator.integers(0, groups, documents)
        if self.unit is not None and units != "mixed":
            codes = codes[self.unit]
        self.member = np.eye(groups)[codes]
        merit = generator.normal(size=documents)
        noise = generator.normal(size=(queries, documents))
        self.found = np.argsort(-(merit + noise), axis=1)[:, :FOUND]
        weight = np.array([1 / math.log2(2 + place) if place < FIRST else 0.0 for place in range(FOUND)])
        self.weight = weight / weight.sum()
        self.omega = generator.random(queries) + 0.5
        self.omega /= self.omega.sum()

    def targets(self, kind: str) -> np.ndarray:
        if kind == "candidates":
            return self.member[self.found].mean(axis=1)
        share = self.member.mean(axis=0) if kind == "catalogue" else np.full(self.member.shape[1], 1 / 3)
        return np.tile(share, (len(self.found), 1))

    def chance(self, kind: str, **options: Any) -> Chance:
        queries = len(self.found)
        lists = Lists(np.repeat(np.arange(queries), FOUND), self.found.ravel(), np.tile(self.weight, queries))
        labels = Labelled(self.member, np.ones(len(self.member)), self.unit)
        return chance_of(
            lists, labels, self.targets(kind), options.pop("omega", self.omega),
            candidates=kind == "candidates", **options,
        )  # fmt: skip


@pytest.mark.parametrize("kind", ["catalogue", "candidates", "equal"])
@pytest.mark.parametrize("units", ["own", "equal", "sizes"])
def test_what_does_not_depend_on_draws_is_that_of_a_slow_oracle(kind: str, units: str) -> None:
    case = Case(1, units)
    queries, (count, groups) = len(case.found), case.member.shape
    owner = list(range(count)) if case.unit is None else case.unit.tolist()
    targets = case.targets(kind)
    of_query: list[dict[int, float]] = []  # w_qu, net
    shown: dict[int, float] = {}
    for query in range(queries):
        net: dict[int, float] = {}
        for place, document in enumerate(case.found[query].tolist()):
            unit = owner[document]
            net[unit] = net.get(unit, 0.0) + case.weight[place] - (1 / FOUND if kind == "candidates" else 0)
            shown[unit] = shown.get(unit, 0.0) + case.omega[query] * case.weight[place]
        of_query.append(net)
    a = {
        unit: sum(case.omega[query] * of_query[query].get(unit, 0.0) for query in range(queries))
        for unit in set(owner)
    }
    kappa = sum(
        case.omega[query] ** 2 * (of_query[query].get(unit, 0.0) - a[unit]) ** 2
        for query in range(queries)
        for unit in a
    )
    found = case.chance(kind)
    q_effective = 1 / sum(case.omega**2)
    assert found.queries == pytest.approx(q_effective)
    assert found.units == pytest.approx(1 / sum(one**2 for one in shown.values()))
    for group in range(groups):
        shares = [
            sum(case.weight[place] * case.member[document, group] for place, document in enumerate(one))
            for one in case.found.tolist()
        ]
        share = sum(case.omega * shares)
        assert found.share[group] == pytest.approx(share)
        assert found.target[group] == pytest.approx(sum(case.omega * targets[:, group]))
        gaps = np.array(shares) - targets[:, group]
        parts = case.omega * (gaps - sum(case.omega * gaps))
        observed = sum(parts**2) * q_effective / (q_effective - 1)
        explained = kappa * share * (1 - share)
        if kind == "candidates":
            explained = 0.0
            held = {
                unit: [
                    (case.omega[query] * list(map(owner.__getitem__, case.found[query])).count(unit), query)
                    for query in range(queries)
                ]
                for unit in a
            }
            for query in range(queries):
                own = targets[query, group]
                explained += case.omega[query] ** 2 * sum(
                    (w**2 - 2 * w * a[unit]) * own * (1 - own) for unit, w in of_query[query].items()
                )
            for unit, listed in held.items():
                mass = sum(weight for weight, _ in listed)
                if mass > 0:
                    e = sum(weight * targets[query, group] for weight, query in listed) / mass
                    explained += sum(case.omega**2) * a[unit] ** 2 * e * (1 - e)
            aim = found.target[group]
            explained *= share * (1 - share) / (aim * (1 - aim))
        excess = max(0.0, observed - explained)
        scaled = parts * math.sqrt(excess / sum(parts**2)) / (2 * math.sqrt(share * (1 - share)))
        assert found.residual[:, group] == pytest.approx(scaled, abs=1e-9)
        sizes = {unit: owner.count(unit) for unit in a}
        moved = [a[unit] - (0 if kind == "candidates" else sizes[unit] / count) for unit in a]
        spread = share * (1 - share)
        whole = max(sum(one**2 for one in moved), kappa)
        assert found.fades[group] == pytest.approx((kappa * spread + excess) / (whole * spread + excess))


def test_units_of_one_size_are_permuted_as_in_full_enumeration() -> None:
    """Six units: the shares that are drawn are those of the 720 permutations, as often as those."""
    found = np.array([np.random.default_rng(query).permutation(6)[:4] for query in range(15)])
    weight = np.array([0.4, 0.3, 0.2, 0.1])
    member = np.eye(2)[[0, 0, 1, 1, 1, 0]]
    lists = Lists(np.repeat(np.arange(15), 4), found.ravel(), np.tile(weight, 15))
    targets = np.tile(member.mean(axis=0), (15, 1))
    made = chance_of(lists, Labelled(member, np.ones(6)), targets)
    attention = np.zeros(6)
    for one in found:
        attention[one] += weight / 15
    every = np.array([member[list(order), 0] @ attention for order in itertools.permutations(range(6))])
    drawn = np.sin(made.noise[:, 0] + math.asin(math.sqrt(0.5))) ** 2
    values, counts = np.unique(every.round(9), return_counts=True)
    assert set(drawn.round(9)) == set(values)
    for value, count in zip(values, counts, strict=True):
        chance = count / 720
        rate = (drawn.round(9) == value).mean()
        assert abs(rate - chance) < 5 * math.sqrt(chance * (1 - chance) / 1999)


@pytest.mark.parametrize("kind", ["catalogue", "candidates"])
@pytest.mark.parametrize("units", ["own", "sizes", "mixed"])
def test_the_spread_of_draws_is_the_one_that_the_equations_give(kind: str, units: str) -> None:
    case = Case(5, units, documents=600, queries=40)
    found = case.chance(kind)
    count, groups = case.member.shape
    owner = np.arange(count) if case.unit is None else np.unique(case.unit, return_inverse=True)[1]
    sizes = np.bincount(owner)
    m = np.stack([np.bincount(owner, weights=column) / sizes for column in case.member.T], axis=1)
    own = np.zeros(count)
    expected = np.zeros((count, groups))
    held = np.zeros(count)
    for query, documents in enumerate(case.found):
        own[documents] += case.omega[query] * (case.weight - (1 / FOUND) * (kind == "candidates"))
        held[documents] += case.omega[query] / FOUND
        expected[documents] += case.omega[query] / FOUND * case.targets("candidates")[query]
    if kind == "catalogue":
        own -= 1 / count
    a = np.bincount(owner, weights=own)
    centre = found.target
    if kind == "catalogue":
        h = spread_of_size(a, sizes.astype(float))
        moved, carried = a / h, h[:, None] * (m - centre)
        units_spread = np.square(moved - moved.mean()).sum() * carried.var(axis=0, ddof=1)
    else:
        mass = np.bincount(owner, weights=held)
        seen = mass > 0
        e = np.stack([np.bincount(owner, weights=one) for one in expected.T], axis=1)[seen]
        e /= mass[seen, None]
        v = np.maximum(e * (1 - e), 1e-9)
        r, chance = (m[seen] - e) / np.sqrt(v), mass[seen] / mass[seen].sum()
        units_spread = (a[seen, None] ** 2 * v).sum(axis=0) * (chance @ r**2 - (chance @ r) ** 2)
    within = np.zeros(groups)
    for unit in range(len(sizes)):
        mine = owner == unit
        if mine.sum() > 1:
            apart = own[mine] - own[mine].mean()
            inner = case.member[mine] - m[unit]
            within += (apart**2).sum() * (inner**2).sum(axis=0) / (mine.sum() - 1)
    assert (within > 0).all() == (units == "mixed")
    shares = np.sin(np.clip(found.noise + g(centre), 0, math.pi / 2)) ** 2 - centre
    assert shares.std(axis=0) == pytest.approx(np.sqrt(units_spread + within), rel=0.08)
    assert abs(shares.mean(axis=0)).max() < 5 * shares.std() / math.sqrt(1999) + 0.02 * shares.std()


def test_an_equal_target_far_from_the_catalogue_leaves_intervals_as_wide_as_they_must_be() -> None:
    """A tenth of the documents, labels by chance: the share lies around a tenth, whatever the target is."""
    case, generator, missed = Case(3, "own", documents=300, queries=40, groups=2), np.random.default_rng(3), 0
    for _ in range(200):
        case.member = np.eye(2)[(generator.permutation(300) >= 30).astype(int)]
        lists = Lists(np.repeat(np.arange(40), FOUND), case.found.ravel(), np.tile(case.weight, 40))
        labels = Labelled(case.member, np.ones(300))
        (band,) = bands([chance_of(lists, labels, np.full((40, 2), 0.5), draws=499)])
        missed += not band.low[0] <= 0.1 <= band.high[0]
    assert 1 <= missed <= 20


def test_more_queries_never_remove_more_than_the_whole_variance() -> None:
    """Where all documents are found about equally often, their net attention is less than chance makes it."""
    generator = np.random.default_rng(0)
    found = np.array([generator.permutation(20)[:10] for _ in range(40)])
    lists = Lists(np.repeat(np.arange(40), 10), found.ravel(), np.full(400, 0.1))
    member = np.eye(2)[np.arange(20) % 2]
    chance = chance_of(lists, Labelled(member, np.ones(20)), np.full((40, 2), 0.5))
    assert chance.fades == pytest.approx(1.0)


def test_many_units_spread_as_a_permutation_of_all_of_them() -> None:
    generator = np.random.default_rng(2)
    weights = generator.pareto(1.5, 4000)[:, None]
    labels = np.eye(3)[generator.choice(3, 4000, p=[0.6, 0.3, 0.1])]
    drawn = dealt(generator, weights, labels, 1999)
    exact = np.square(weights - weights.mean()).sum() * labels.var(axis=0, ddof=1)
    assert drawn.std(axis=0) == pytest.approx(np.sqrt(exact), rel=0.12)
    assert drawn.sum(axis=1) == pytest.approx(0, abs=1e-2 * drawn.std())  # what one gets the others do not


def test_how_net_attention_spreads_among_sizes_is_found() -> None:
    generator = np.random.default_rng(4)
    n = generator.integers(1, 60, 3000).astype(float)
    for rho in (0.0, 0.3, 1.0):
        h = spread_of_size(generator.normal(size=3000) * np.sqrt(n + rho * n * (n - 1)), n)
        found = (h**2 - n)[n > 1] / (n * (n - 1))[n > 1]
        assert found.mean() == pytest.approx(rho, abs=0.1)
        assert np.ptp(found) == pytest.approx(0, abs=1e-9)
    assert (spread_of_size(np.ones(5), np.full(5, 7.0)) == 1).all()


def test_intervals_hold_together_and_are_the_same_each_time() -> None:
    one, other = Case(1, "own").chance("catalogue"), Case(1, "sizes").chance("catalogue")
    (alone,), (together, _) = bands([one]), bands([one, other])
    assert (together.high - together.low > alone.high - alone.low).all()
    for first, second in zip(bands([one, other]), bands([one, other]), strict=True):
        for left, right in zip(first, second, strict=True):
            np.testing.assert_array_equal(left, right)
    np.testing.assert_array_equal(one.noise, Case(1, "own").chance("catalogue").noise)
    wider, narrower = bands([one], 0.99)[0], bands([one], 0.8)[0]
    assert (wider.high - wider.low > narrower.high - narrower.low).all()


def test_of_two_groups_one_gets_what_the_other_does_not() -> None:
    (found,) = bands([Case(2, "equal", groups=2).chance("catalogue")])
    assert found.low[0] == pytest.approx(1 - found.high[1])
    assert found.high[0] == pytest.approx(1 - found.low[1])


def test_a_share_outside_what_would_have_been_shown_is_shown() -> None:
    found = Case(6, "own").chance("catalogue")
    (band,) = bands([found])
    noise_above = g(found.share) - g(band.low)
    assert g(band.shown_above) - g(found.target) == pytest.approx(noise_above)
    at_edge = np.sin(g(band.shown_below)) ** 2
    assert (at_edge < found.target).all()


@pytest.mark.skipif(not REFERENCE.exists(), reason="the reference is not beside this checkout")
@pytest.mark.parametrize("kind", ["catalogue", "candidates"])
@pytest.mark.parametrize("units", ["own", "equal", "sizes"])
def test_the_reference_gives_the_same(kind: str, units: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("fairshare", REFERENCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fairshare", module)
    spec.loader.exec_module(module)
    case = Case(7, units, documents=600, queries=60)
    query, place = np.repeat(np.arange(60), FOUND), np.tile(np.arange(FOUND), 60)
    part = module.part(
        query,
        case.found.ravel(),
        place,
        case.member,
        unit=case.unit,
        omega=case.omega,
        target=kind,
        cutoff=FIRST,
    )
    rows, _ = module.verdicts([part])
    found = case.chance(kind)
    (band,) = bands([found])
    assert found.share == pytest.approx(part.share)
    assert found.target == pytest.approx(part.target)
    assert (found.units, found.queries) == pytest.approx((part.units, part.queries))
    assert found.fades == pytest.approx(part.fades)
    for place, (_, _, low, high, _, below, above) in enumerate(rows):
        ours = [band.low[place], band.high[place], band.shown_below[place], band.shown_above[place]]
        assert ours == pytest.approx([low, high, below, above], abs=0.015)
