"""What chance does to shares: verdicts against slow oracles, full enumeration and the reference."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from audits import audited, verdict_of

from evenrank import Run

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
        self.codes = generator.integers(0, groups, documents)
        if self.unit is not None and units != "mixed":
            self.codes = self.codes[self.unit]
        self.member = np.eye(groups)[self.codes]
        merit = generator.normal(size=documents)
        noise = generator.normal(size=(queries, documents))
        self.found = np.argsort(-(merit + noise), axis=1)[:, :FOUND]
        weight = np.array([1 / math.log2(2 + place) if place < FIRST else 0.0 for place in range(FOUND)])
        self.weight = weight / weight.sum()

    @property
    def owner(self) -> np.ndarray:
        return (
            np.arange(len(self.codes)) if self.unit is None else np.unique(self.unit, return_inverse=True)[1]
        )

    def targets(self, kind: str) -> np.ndarray:
        if kind == "candidates":
            return self.member[self.found].mean(axis=1)
        share = self.member.mean(axis=0) if kind == "catalogue" else np.full(self.member.shape[1], 1 / 3)
        return np.tile(share, (len(self.found), 1))

    def verdict(self, folder: Path, kind: str) -> Any:
        labels = {f"d{place}": f"g{code}" for place, code in enumerate(self.codes.tolist())}
        units = None if self.unit is None else {f"d{n}": f"u{unit}" for n, unit in enumerate(self.unit)}
        values = [f"g{code}" for code in range(self.member.shape[1])]
        return verdict_of(
            folder, run_of(self.found), labels, units=units, values=values, target=kind, cutoff=FIRST,
            depth=FOUND,
        )  # fmt: skip


def run_of(lists: np.ndarray) -> Run:
    rows = [(f"q{query}", f"d{document}", float(-rank))
            for query, one in enumerate(lists.tolist()) for rank, document in enumerate(one)]  # fmt: skip
    return Run.build(*zip(*rows, strict=True), name="run")


def kappa_of(net: np.ndarray) -> float:
    """How much the net attention (Q, U) of units differs between queries, as the equations have it."""
    return float(np.square(net - net.mean(axis=0)).sum()) / len(net) ** 2


@pytest.mark.parametrize("kind", ["catalogue", "candidates", "equal"])
@pytest.mark.parametrize("units", ["own", "equal", "sizes", "mixed"])
def test_what_does_not_depend_on_draws_is_that_of_a_slow_oracle(
    tmp_path: Path, kind: str, units: str
) -> None:
    case = Case(7, units, documents=120)
    queries, (count, groups) = len(case.found), case.member.shape
    owner, targets = case.owner, case.targets(kind)
    sizes = np.bincount(owner)
    known = np.arange(count)  # candidates are dealt among the documents that are found
    known = known[np.isin(known, case.found)] if kind == "candidates" else known
    of_unit = np.zeros((len(sizes), groups))
    for unit in np.unique(owner[known]):
        of_unit[unit] = case.member[known[owner[known] == unit]].mean(axis=0)
    shown, net = np.zeros((queries, count)), np.zeros((queries, count))  # by query and document
    for query in range(queries):
        for place, document in enumerate(case.found[query].tolist()):
            shown[query, document] = case.weight[place]
            net[query, document] = case.weight[place] - (1 / FOUND if kind == "candidates" else 0)
    by_unit = np.array([net[:, owner == unit].sum(axis=1) for unit in range(len(sizes))]).T
    of_all = np.array([shown[:, owner == unit].sum(axis=1) for unit in range(len(sizes))]).T.mean(axis=0)
    a = by_unit.mean(axis=0)
    moved = a - (0 if kind == "candidates" else sizes / count)
    own = net.mean(axis=0) - (0 if kind == "candidates" else 1 / count)
    found = case.verdict(tmp_path, kind)
    assert (found.queries, found.units) == (queries, pytest.approx(1 / np.square(of_all).sum()))
    for group in range(groups):
        shares = shown @ case.member[:, group]
        share, aim = shares.mean(), targets[:, group].mean()
        between = of_all @ of_unit[:, group] ** 2 - (of_all @ of_unit[:, group]) ** 2
        inner = case.member[:, group] - of_unit[owner, group]
        within = shown.mean(axis=0) @ inner**2
        explained = kappa_of(by_unit) * between
        if kind == "candidates":
            explained = 0.0
            for query in range(queries):
                chance = targets[query, group] * (1 - targets[query, group])
                explained += sum(by_unit[query] ** 2 - 2 * by_unit[query] * a) * chance / queries**2
            for unit in range(len(sizes)):
                held = [(owner[one] == unit).sum() for one in case.found]
                if sum(held):
                    expected = np.average(targets[:, group], weights=held)
                    explained += a[unit] ** 2 * expected * (1 - expected) / queries
            explained *= between / (aim * (1 - aim))
        explained += kappa_of(net) * within
        gaps = shares - targets[:, group]
        excess = max(0.0, gaps.var(ddof=1) / queries - explained)
        shared = kappa_of(by_unit) * between + kappa_of(net) * within
        whole = max(sum(moved**2), kappa_of(by_unit)) * between + sum(own**2) * within
        one = found.groups[group]
        assert (one.share, one.target) == (pytest.approx(share), pytest.approx(aim))
        assert one.fades == pytest.approx((shared + excess) / (whole + excess))


ANGLE = 0.035  # of an end of an interval on the scale of arcsin sqrt: six standard errors of the quantile


def scaled(share: Any) -> Any:
    return np.arcsin(np.sqrt(np.clip(share, 0, 1)))


@pytest.mark.parametrize("kind", ["catalogue", "candidates"])
@pytest.mark.parametrize("each", [1, 2])
def test_an_interval_is_that_of_all_orders_of_labels(tmp_path: Path, kind: str, each: int) -> None:
    """Ten units, half of them of one group, and the same list for all queries: chance is what labels they
    have. Against the catalogue these are the 252 ways to deal them; against what is found each unit draws."""
    labels = np.repeat([0, 1, 1, 0, 0, 1, 0, 1, 1, 0], each)
    count = len(labels)
    order = np.arange(count)
    weight = 1 / np.log2(order + 2)
    weight /= weight.sum()
    net = weight.reshape(10, each).sum(axis=1) - 0.1
    if kind == "catalogue":
        dealt = [sum(net[list(chosen)]) for chosen in itertools.combinations(range(10), 5)]
    else:
        dealt = [net @ chosen for chosen in itertools.product([0, 1], repeat=10)]
    noise = scaled(0.5 + np.array(dealt)) - scaled(0.5)
    up, down = np.quantile(noise, 0.975), -np.quantile(noise, 0.025)
    widened = max(1.0, np.quantile(np.maximum(noise / up, -noise / down), 0.95, method="higher"))
    found = verdict_of(
        tmp_path, run_of(np.tile(order, (15, 1))), {f"d{n}": "ab"[one] for n, one in enumerate(labels)},
        units={f"d{n}": f"u{n // each}" for n in order}, values=["a", "b"], target=kind, cutoff=count,
    )  # fmt: skip
    other = found.group("b")
    assert other.share == pytest.approx(weight @ labels)
    expected = [scaled(other.share) - widened * up, scaled(other.share) + widened * down]
    assert scaled([other.share_low, other.share_high]) == pytest.approx(expected, abs=ANGLE)
    shown = [scaled(0.5) - widened * down, scaled(0.5) + widened * up]
    assert scaled([other.shown_below, other.shown_above]) == pytest.approx(shown, abs=ANGLE)


def test_labels_that_differ_within_a_unit_are_dealt_within_it_too(tmp_path: Path) -> None:
    """Three units of one group, three of the other, four with a label of each: 4,200 ways to deal them;
    in each the labels within units move the share by a normal amount."""
    pairs = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0], [0, 1], [1, 1], [1, 0], [0, 0], [1, 1]])
    order = np.arange(20)
    weight = 1 / np.log2(order + 2)
    weight /= weight.sum()
    own = weight.reshape(10, 2) - 0.05
    dealt = []
    for ones in itertools.combinations(range(10), 3):
        rest = [unit for unit in range(10) if unit not in ones]
        for mixed in itertools.combinations(rest, 4):
            dealt.append(own[list(ones)].sum() + own[list(mixed)].sum() / 2)
    within = sum(
        np.square(one - one.mean()).sum() * np.square(labels - labels.mean()).sum()
        for one, labels in zip(own, pairs, strict=True)
    )
    normal = NormalDist(0, math.sqrt(within))
    between = scaled(0.5 + np.array(dealt)) - scaled(0.5)  # the slope of the scale is 1 at a half
    noise = np.add.outer(between, [normal.inv_cdf((n + 0.5) / 99) for n in range(99)]).ravel()
    labels = {f"d{n}": "ab"[one] for n, one in enumerate(pairs.ravel())}
    units = {f"d{n}": f"u{n // 2}" for n in order}
    found = verdict_of(tmp_path, run_of(np.tile(order, (15, 1))), labels, units=units, cutoff=20).group("b")
    down, up = np.quantile(noise, [0.025, 0.975])
    expected = [scaled(found.share) - up, scaled(found.share) - down]
    assert scaled([found.share_low, found.share_high]) == pytest.approx(expected, abs=ANGLE)


def test_few_queries_that_differ_make_intervals_wider_than_many_would(tmp_path: Path) -> None:
    """Each list has documents of its own, all of one group: what is drawn again is queries, 13 of them."""
    lists = np.arange(130).reshape(13, 10)
    labels = {f"d{n}": "ab"[n // 10 % 2] for n in range(130)}
    found = verdict_of(tmp_path, run_of(lists), labels, target="equal").group("a")
    weight = 1 / np.log2(np.arange(10) + 2)
    weight /= weight.sum()
    share = 7 / 13
    between = share * (1 - share)
    kappa = kappa_of(np.kron(np.eye(13), weight))
    excess = between / 12 - kappa * between
    draw = np.random.default_rng(0)
    moved = np.tile(weight, 13) / 13 - 1 / 130
    dealt = draw.permuted(np.tile(np.repeat([1.0, 0.0], [70, 60]), (20_000, 1)), axis=1) @ moved
    noise = scaled(share + dealt) - scaled(share)
    noise += draw.standard_t(12, 20_000) * math.sqrt(excess) / (2 * math.sqrt(between))
    width = np.quantile(noise, 0.975) - np.quantile(noise, 0.025)
    assert scaled(found.share_high) - scaled(found.share_low) == pytest.approx(width, abs=0.03)


def test_an_equal_target_far_from_the_catalogue_leaves_intervals_as_wide_as_they_must_be(
    tmp_path: Path,
) -> None:
    """A tenth of the documents, labels by chance: the share lies around a tenth, whatever the target is."""
    case, generator, missed = Case(3, "own", documents=300, queries=40, groups=2), np.random.default_rng(3), 0
    for place in range(20):
        case.codes = (generator.permutation(300) >= 30).astype(int)
        rare = case.verdict(tmp_path / str(place), "equal").group("g0")
        missed += not rare.share_low <= 0.1 <= rare.share_high
    assert missed <= 6  # more have a chance below 1e-4 at 5%


def test_more_queries_never_remove_more_than_the_whole_variance(tmp_path: Path) -> None:
    """Where all documents are found about equally often, their net attention is less than chance makes it."""
    lists = np.array([np.roll(np.arange(20), query)[:10] for query in range(40)])
    labels = {f"d{n}": "ab"[n % 2] for n in range(20)}
    found = verdict_of(tmp_path, run_of(lists), labels, target="equal")
    assert [group.fades for group in found.groups] == pytest.approx([1.0, 1.0])


def test_thousands_of_units_spread_as_a_permutation_of_all_of_them(tmp_path: Path) -> None:
    """So many are not all dealt; the same list for all queries leaves chance to the labels alone."""
    count = 1600
    order = np.random.default_rng(2).permutation(count)
    labels = {f"d{n}": "ab"[n % 4 == 0] for n in range(count)}
    found = verdict_of(tmp_path, run_of(np.tile(order, (13, 1))), labels, cutoff=count, depth=count)
    weight = 1 / np.log2(np.arange(count) + 2)
    weight /= weight.sum()
    spread = math.sqrt(np.square(weight - 1 / count).sum() * 0.25 * 0.75 * count / (count - 1))
    rare = found.group("b")
    expected = 2 * 1.96 * spread / (2 * math.sqrt(0.25 * 0.75))
    assert scaled(rare.share_high) - scaled(rare.share_low) == pytest.approx(expected, rel=0.12)


def test_of_two_groups_one_gets_what_the_other_does_not(tmp_path: Path) -> None:
    one, other = Case(2, "equal", documents=120, groups=2).verdict(tmp_path, "catalogue").groups
    assert one.share_low == pytest.approx(1 - other.share_high)
    assert one.share_high == pytest.approx(1 - other.share_low)


def test_intervals_hold_together_and_are_the_same_each_time(tmp_path: Path) -> None:
    case, other = Case(1, "own", documents=120), Case(2, "own", documents=120)
    size = {f"d{place}": f"g{code}" for place, code in enumerate(case.codes.tolist())}
    colour = {f"d{place}": f"c{code}" for place, code in enumerate(other.codes.tolist())}
    asked = {"cutoff": FIRST, "depth": FOUND}
    (alone,) = audited(tmp_path / "one", run_of(case.found), {"size": size}, **asked).verdicts
    both = [audited(tmp_path / name, run_of(case.found), {"size": size, "colour": colour}, **asked).verdicts
            for name in ("two", "three")]  # fmt: skip
    assert both[0][0].groups == both[1][0].groups
    for together, single in zip(both[0][0].groups, alone.groups, strict=True):
        assert together.share_high - together.share_low > single.share_high - single.share_low


@pytest.mark.needs("shared")
@pytest.mark.parametrize("kind", ["catalogue", "candidates"])
@pytest.mark.parametrize("units", ["own", "equal", "sizes", "many"])
def test_the_reference_gives_the_same(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch, kind: str, units: str
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("fairshare", shared / "prototypes/verdict/fairshare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "fairshare", module)
    spec.loader.exec_module(module)
    many = units == "many"
    case = Case(7, "own" if many else units, documents=2400 if many else 600, queries=60)
    query, place = np.repeat(np.arange(60), FOUND), np.tile(np.arange(FOUND), 60)
    part = module.part(
        query, case.found.ravel(), place, case.member, unit=case.unit, target=kind, cutoff=FIRST
    )
    rows, _ = module.verdicts([part])
    found = case.verdict(tmp_path, kind)
    assert found.units == pytest.approx(part.units)
    for group, (share, target, low, high, _, below, above) in zip(found.groups, rows, strict=True):
        assert (group.share, group.target) == (pytest.approx(share), pytest.approx(target))
        ours = [group.share_low, group.share_high, group.shown_below, group.shown_above]
        assert ours == pytest.approx([low, high, below, above], abs=0.025)
    assert [group.fades for group in found.groups] == pytest.approx(part.fades)


@pytest.mark.parametrize("missing", [1, 40])
def test_a_document_without_a_unit_is_one_of_its_own(tmp_path: Path, missing: int) -> None:
    """Also where a unit has the name of its id."""
    case = Case(3, "equal", documents=120)
    labels = {f"d{place}": f"g{code}" for place, code in enumerate(case.codes.tolist())}
    units = {f"d{place}": f"d{unit}" for place, unit in enumerate(case.unit.tolist())}
    without = np.random.default_rng(1).choice(case.found[:, :FIRST].ravel(), missing)
    named = units | {f"d{place}": f"alone {place}" for place in without}
    found, expected = (
        verdict_of(tmp_path / name, run_of(case.found), labels, units=own, cutoff=FIRST, depth=FOUND)
        for name, own in (("blank", units | {f"d{place}": "" for place in without}), ("named", named))
    )
    assert found.units == pytest.approx(expected.units)
    for one, other in zip(found.groups, expected.groups, strict=True):
        assert one.share == pytest.approx(other.share)
        # units are dealt in another order, and so by chance to others
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.03)
