"""What must hold for measures of groups beyond what is asked of every measure."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import group_oracles
import numpy as np
import pytest
from effort import some
from hypothesis import given
from hypothesis import strategies as st

from evenrank import (
    Attribute,
    DiversityQrels,
    Membership,
    ParameterError,
    Qrels,
    Run,
    RunSet,
    all_measures,
    evaluate,
    parse_measure,
)
from evenrank.data import pool_membership as pooled
from evenrank.evidence.align import Sources, align
from evenrank.measures.divergences import DISTANCES, SIMILAR
from evenrank.testing import check_measure, random_case

SIMILARITIES = "GF(attr='x') NDKL(attr='x') MinSkew(attr='x') MaxSkew(attr='x') AWRF(attr='x',distance='JSD')"


def distributions(size: int) -> st.SearchStrategy[np.ndarray]:
    counts = st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any)
    return counts.map(lambda row: np.array(row, dtype=float) / sum(row))


def pairs(low: int, high: int) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    return st.integers(low, high).flatmap(lambda size: st.tuples(distributions(size), distributions(size)))


@given(pairs(2, 2))
def test_nmd_is_rnod_for_two_values(both: tuple[np.ndarray, np.ndarray]) -> None:
    assert SIMILAR["NMD"](*both) == pytest.approx(float(SIMILAR["RNOD"](*both)), abs=1e-12)


@given(pairs(2, 6))
def test_divergences_are_bounded(both: tuple[np.ndarray, np.ndarray]) -> None:
    p, q = both
    for name, divergence in SIMILAR.items():
        assert 0 <= divergence(p, q) <= 1, name
        assert divergence(p, p) == 0, name
        if np.allclose(p, q):
            assert divergence(p, q) == pytest.approx(0, abs=1e-7), name
        else:
            assert divergence(p, q) > 0, name
    assert SIMILAR["JSD"](p, q) == pytest.approx(float(SIMILAR["JSD"](q, p)), abs=1e-12)
    if not (p * q).any():
        assert SIMILAR["JSD"](p, q) == pytest.approx(1)


def test_the_worst_there_is() -> None:
    first, last = np.eye(4)[0], np.eye(4)[3]
    assert [float(divergence(first, last)) for divergence in SIMILAR.values()] == [1, 1, 1, 1]
    assert [float(DISTANCES[name](first, last)) for name in ("L1", "JSD", "KL", "Hellinger")] == [
        2, 1, np.inf, 1,
    ]  # fmt: skip


@given(pairs(2, 5), st.randoms(use_true_random=False))
def test_divergences_from_the_slow_ones(both: tuple[np.ndarray, np.ndarray], random) -> None:
    p, q = both
    for name, divergence in {**DISTANCES, **SIMILAR}.items():
        slow = group_oracles.DIVERGENCES[name](p.tolist(), q.tolist())
        assert divergence(p, q) == pytest.approx(slow, abs=1e-9), name
    order = list(range(len(p)))
    random.shuffle(order)
    for name in DISTANCES:  # none of them sees an order
        assert DISTANCES[name](p[order], q[order]) == pytest.approx(float(DISTANCES[name](p, q)), abs=1e-12)
    for name in ("NMD", "RNOD"):  # a scale read from the other end
        assert SIMILAR[name](p[::-1], q[::-1]) == pytest.approx(float(SIMILAR[name](p, q)), abs=1e-12)


def mean_of(run: Run | RunSet, measure: str, **given: Any) -> float:
    return evaluate(run, measure, **given).mean(measure)


def a_run(labels: list[str], queries: int = 1) -> Run:
    names = [f"d{place}" for place in range(len(labels))]
    return Run.build(
        [f"q{query}" for query in range(queries) for _ in names],
        [names[(place + query) % len(names)] for query in range(queries) for place in range(len(names))],
        [-float(place) for _ in range(queries) for place in range(len(names))],
    )


def labelled(attribute: Attribute, labels: list[str]) -> Membership:
    return Membership.build(attribute, [f"d{place}" for place in range(len(labels))], labels)


labels_of_three = st.lists(st.sampled_from("abc"), min_size=1, max_size=12)


@given(labels_of_three, distributions(3), st.permutations("abc"))
def test_the_order_of_nominal_values_changes_nothing(labels, target, order) -> None:
    wanted = dict(zip("abc", target, strict=True))
    run, values = a_run(labels, 2), []
    for names in ("abc", order):
        groups = labelled(Attribute("x", tuple(names), target=wanted), labels)
        scores = evaluate(run, SIMILARITIES + " Skew(attr='x') ECE(attr='x')", groups=groups)
        table = next(iter(scores.to_dict().values()))
        values.append({name: by for name, by in table.items() if "Skew(" not in name or "M" in name})
        skew = scores.block("Skew(attr='x')")
        values[-1]["Skew"] = {value: skew.values[:, skew.columns.index(value)].tolist() for value in "abc"}
    for name, by in values[0].items():
        if "ECE" not in name:
            for key, value in by.items():
                assert values[1][name][key] == pytest.approx(value, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("div", ["NMD", "RNOD"])
def test_the_order_of_ordinal_values_matters(div: str) -> None:
    labels, run = list("aabc"), a_run(list("aabc"))
    wanted, values = {"a": 0.25, "b": 0.5, "c": 0.25}, {}
    for order in itertools.permutations("abc"):
        groups = labelled(Attribute("x", order, ordinal=True, target=wanted), labels)
        values[order] = mean_of(run, f"GF(div='{div}')", groups=groups)
    assert len({round(value, 12) for value in values.values()}) == 3  # six orders, two directions of each
    assert values["a", "b", "c"] == pytest.approx(values["c", "b", "a"], abs=1e-12)


def test_nmd_and_rnod_agree_for_a_binary_attribute() -> None:
    case = random_case(3, group_oracles.group_evidence)
    table = evaluate(
        case.run, "GF(attr='side',div='NMD') GF(attr='side',div='RNOD') GF(attr='side')",
        qrels=case.qrels, groups=case.evidence,
    )  # fmt: skip
    nmd, rnod, jsd = (table.block(measure).values for measure in table.measures)
    assert nmd == pytest.approx(rnod, abs=1e-12, nan_ok=True)
    assert not np.allclose(nmd, jsd, equal_nan=True)


@pytest.mark.parametrize("kind", ["pool", "present", "collection"])
def test_targets_from_documents_are_those_computed_by_hand(kind: str) -> None:
    run = a_run(list("aabcb"), 3)
    background = Run.build(
        ["q0", "q0", "q0", "q1", "q1"], ["d0", "d1", "d2", "d4", "unlabelled"], [3.0, 2, 1, 2, 1]
    )
    by_hand = {
        "pool": {"q0": (2 / 3, 1 / 3, 0), "q1": (0, 1, 0)},
        "present": {"q0": (1 / 2, 1 / 2, 0), "q1": (0, 1, 0)},
        "collection": dict.fromkeys(("q0", "q1", "q2"), (2 / 5, 2 / 5, 1 / 5)),
    }[kind]
    groups = labelled(Attribute("x", ("a", "b", "c"), target=kind), list("aabcb"))
    ours = evaluate(run, SIMILARITIES, groups=groups, background=background, missing="uniform")
    given = evaluate(run, SIMILARITIES, groups=groups.with_target(by_hand), missing="uniform")
    for measure in ours.measures:
        one, two = ours.block(measure), given.block(measure)
        assert one.values == pytest.approx(two.values, nan_ok=True)
        reasons = [[block.reasons[code] for code in block.status.ravel()] for block in (one, two)]
        assert reasons[0] == reasons[1]
    if kind != "collection":  # the background has no third query
        assert reasons[0][2] == "no target"


@pytest.mark.parametrize("target", group_oracles.NOMINAL_TARGETS, ids=repr)
@pytest.mark.parametrize("name", ["GF", "NDKL", "MinSkew", "ABR", "ECE"])
@pytest.mark.parametrize("cases", some([1, 4]))
def test_every_kind_of_target(name: str, target: object, cases: int) -> None:
    evidence = functools.partial(group_oracles.group_evidence, partial=True, only="origin", target=target)
    check_measure(f"{name}@4", oracle=group_oracles.GROUP_ORACLES[name], evidence=evidence, cases=cases)


@pytest.mark.parametrize("kind", ["present", "pool"])
def test_very_many_values_are_counted_by_query(monkeypatch, kind: str) -> None:
    """A set of companies is renumbered query by query: nothing else may change."""
    generator = np.random.default_rng(5)
    documents = [f"d{place}" for place in range(60)]
    attribute = Attribute("x", tuple(f"v{place}" for place in range(40)), target=kind)
    groups = Membership.build(
        attribute, documents[:50], [f"v{value}" for value in generator.integers(0, 40, 50)]
    )

    def some(name: str) -> Run:
        rows = [
            (f"q{q}", document, float(score))
            for q in range(12)
            for document, score in zip(
                generator.choice(documents, 8, replace=False), generator.random(8), strict=True
            )
        ]
        return Run.build(*map(list, zip(*rows, strict=True)), name=name)

    run, background = some("run"), some("background")
    measures = SIMILARITIES + " AWRF(attr='x') AWRF(attr='x',distance='Hellinger')"
    measures += " ABR(attr='x')" * (kind == "present")
    tables = []
    for most in (64, 8):
        monkeypatch.setattr(pooled, "_MOST_VALUES", most)
        scores = evaluate(run, measures, groups=groups, background=background, missing="uniform")
        tables.append([scores.block(measure).values for measure in scores.measures])
    for one, two in zip(*tables, strict=True):
        assert one == pytest.approx(two, abs=1e-12, nan_ok=True)
    with pytest.raises(ParameterError, match="has other values for every query"):
        evaluate(run, "ECE(attr='x')", groups=groups, background=background)
    if kind == "pool":
        with pytest.raises(ParameterError, match="counted together, and it needs each"):
            evaluate(run, "ABR(attr='x')", groups=groups, background=background)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("uvw")), min_size=1, max_size=10))
def test_combined_attributes_are_those_built_by_hand(labels: list[tuple[str, str]]) -> None:
    run = a_run(["d"] * len(labels), 2)
    first = labelled(Attribute("x", ("a", "b"), target=(0.25, 0.75)), [one for one, _ in labels])
    second = labelled(Attribute("y", ("u", "v", "w")), [two for _, two in labels])
    names = tuple(f"{one} & {two}" for one in "ab" for two in "uvw")
    target = [share / 3 for share in (0.25, 0.75) for _ in range(3)]
    by_hand = labelled(Attribute("xy", names, target=target), [f"{one} & {two}" for one, two in labels])
    for measure in ("GF", "NDKL", "MinSkew", "Skew", "ECE", "AWRF", "EE_L"):
        qrels = {"q0": {"d0": 1}, "q1": {"d0": 2}}
        ours = evaluate(run, f"{measure}(attr='x*y')", groups=[first, second], qrels=qrels)
        theirs = evaluate(run, f"{measure}(attr='xy')", groups=by_hand, qrels=qrels)
        one, two = (scores.block(scores.measures[0]) for scores in (ours, theirs))
        assert one.columns == two.columns
        assert one.values == pytest.approx(two.values, nan_ok=True)


def refused(measure: str, *groups: Membership) -> str:
    with pytest.raises(ParameterError) as caught:
        evaluate(a_run(list("abc")), measure, groups=groups)
    return str(caught.value)


@pytest.fixture
def gender() -> Membership:
    return labelled(Attribute("gender", ("f", "m")), ["f", "m", "f"])


@pytest.fixture
def colour() -> Membership:
    return labelled(Attribute("colour", ("red", "green", "blue")), ["red", "green", "blue"])


@pytest.fixture
def stars() -> Membership:
    return labelled(Attribute("stars", ("1", "2", "3"), ordinal=True), ["1", "2", "3"])


def test_which_attribute_must_be_said(gender: Membership, colour: Membership) -> None:
    assert refused("GF", gender, colour) == (
        "GF: there are several attributes, gender, colour: name one, as GF(attr='gender')"
    )
    assert refused("GF") == "GF needs groups: pass groups=, as read_groups gives"
    assert "needs groups of 'age'" in refused("GF(attr='age')", gender)
    assert "there are gender, colour" in refused("NDKL(attr='gender*age')", gender, colour)
    assert refused("GFR(attrs=' ')", gender) == "GFR(attrs=' '): attrs names no attribute; there are gender"
    assert "got 2 weights, but there are 3 parts, iRBU, GF(attr='gender'), GF(attr='colour')" in refused(
        "GFR(weights='0.5,0.5')", gender, colour
    )


@pytest.mark.parametrize("weights", ["1.5,-0.5", "-1,2", "0.5,0.4", "nan,1", "inf,-inf", "a,b", ""])
def test_weights_that_are_no_shares_are_refused(weights: str) -> None:
    with pytest.raises(ParameterError, match="GFR: weights must be numbers >= 0 that sum to 1"):
        all_measures()["GFR"](weights=weights)


def test_a_weight_may_be_0(gender: Membership) -> None:
    run, judged = a_run(list("abc")), {"q0": {"d0": 1}}
    with_it = mean_of(run, "GFR(weights='0,1')@2", groups=gender, qrels=judged)
    assert with_it == pytest.approx(mean_of(run, "GF@2", groups=gender, qrels=judged))


def test_the_name_nDKL_is_that_of_NDKL() -> None:
    assert parse_measure("nDKL(attr='x')@5") == parse_measure("NDKL(attr='x')@5")
    assert "nDKL" not in all_measures()  # a second spelling, not a second measure


@pytest.mark.parametrize("div", ["NMD", "RNOD"])
def test_distances_on_a_scale_need_a_scale(
    div: str, gender: Membership, colour: Membership, stars: Membership
) -> None:
    assert f"{div} needs values with an order, and 'colour' is nominal" in refused(f"GF(div='{div}')", colour)
    # a combination has no order, whatever it is made of
    assert "'gender*colour' is nominal" in refused(f"GF(attr='gender*colour',div='{div}')", gender, colour)
    assert "'stars' is ordinal, and combined values have no order" in refused(
        "GF(attr='gender*stars')", gender, stars
    )
    for allowed in (gender, stars):
        assert 0 < mean_of(a_run(list("abc")), f"GF(div='{div}')", groups=allowed) < 1


@pytest.mark.parametrize("measure", ["dGF", "OB", "Polarity"])
def test_polarity_needs_two_values(measure: str, gender: Membership, colour: Membership) -> None:
    assert "is for attributes of two values; 'colour' has 3: 'red', 'green', 'blue'" in refused(
        measure, colour
    )
    assert "'gender*colour' has 6" in refused(f"{measure}(attr='gender*colour')", gender, colour)
    other = Membership.build(Attribute("age", ("old", "young")), ["d0", "d1", "d2"], ["old"] * 3)
    assert "'gender*age' has 4" in refused(f"{measure}(attr='gender*age')", gender, other)


def test_polarity_has_the_sign_of_the_side(gender: Membership) -> None:
    run = a_run(list("abc"))
    for measure in ("dGF", "OB", "Polarity"):
        leaning = mean_of(run, measure, groups=gender)
        turned = labelled(Attribute("gender", ("m", "f")), ["f", "m", "f"])
        assert leaning > 0
        assert mean_of(run, measure, groups=turned) == pytest.approx(-leaning)


def test_a_mean_of_skews_says_how_many_it_is_over() -> None:
    """The list without f has minus infinity, which no mean can hold."""
    run = Run.build(["q0", "q0", "q0", "q1"], ["d0", "d1", "d2", "d1"], [3.0, 2, 1, 1])
    groups = labelled(Attribute("gender", ("f", "m"), target=(0.25, 0.75)), ["f", "m", "m"])
    scores = evaluate(run, "MinSkew", groups=groups)
    assert scores.to_dict()["run"]["MinSkew"] == {"q0": pytest.approx(np.log(8 / 9)), "q1": -np.inf}
    (row,) = scores.summary()
    assert (row.queries, row.defined, row.infinite) == (2, 1, 1)
    assert row.value == pytest.approx(np.log(8 / 9))
    assert re.search(r"MinSkew ↑ +-0\.1178 +undefined +1/2, 1 infinite\n", str(scores))
    assert "MinSkew: infinite for 1 of 2 queries, which the mean leaves out" in str(scores)


def test_the_extreme_over_queries_is_infinite_where_one_query_is() -> None:
    run = Run.build(["q0", "q0", "q0", "q1"], ["d0", "d1", "d2", "d1"], [3.0, 2, 1, 1])
    groups = labelled(Attribute("gender", ("f", "m"), target=(0.25, 0.75)), ["f", "m", "m"])
    scores = evaluate(run, "MinSkew(over='extreme') MaxSkew(over='extreme')", groups=groups)
    least, most = scores.summary()
    assert least.value == -np.inf
    assert np.isnan([least.low, least.high]).all()  # no interval of the finite ones holds it
    assert most.value == pytest.approx(np.log(4 / 3))
    assert "infinite for 1 of 2 queries, which the min takes into account" in str(scores)


def test_a_group_that_no_query_shows_has_the_worst_value_not_an_undefined_one() -> None:
    run = Run.build(["q0", "q1"], ["d1", "d1"], [1.0, 1.0])
    groups = labelled(Attribute("gender", ("f", "m"), target=(0.25, 0.75)), ["f", "m"])
    scores = evaluate(run, "Skew MinSkew", groups=groups)
    assert scores.mean("Skew", column="f") == -np.inf
    assert scores.mean("MinSkew") == -np.inf
    assert re.search(r"Skew\[f\] ± +-infinite +undefined +0/2, 2 infinite\n", str(scores))
    assert "infinite for 2 of 2 queries, so the mean is infinite, too" in str(scores)


def test_a_value_neither_there_nor_wanted_has_no_skew() -> None:
    run = Run.build(["q0", "q0", "q1"], ["d0", "d1", "d2"], [2.0, 1, 1])
    groups = labelled(Attribute("x", ("a", "b", "c"), target=(0.75, 0.25, 0)), ["a", "b", "c"])
    scores = evaluate(run, "Skew MinSkew MaxSkew", groups=groups)
    skew, least, most = (scores.block(measure) for measure in scores.measures)
    more, less = np.log(2), np.log(2 / 3)
    assert skew.values == pytest.approx(
        np.array([[less, more, np.nan], [-np.inf, -np.inf, np.inf]]), nan_ok=True
    )
    assert skew.reasons[skew.status[0, 2]] == "neither there nor wanted"
    assert least.values[:, 0] == pytest.approx([less, -np.inf])
    assert most.values[:, 0] == pytest.approx([more, np.inf])


@pytest.mark.parametrize("count", [7, 20])
def test_no_skew_is_0_and_not_below_or_above_it_by_rounding(count: int) -> None:
    """Seven equal shares of a seventh are a bit too small when added up, twenty of a twentieth too large."""
    values = [f"v{place:02}" for place in range(count)]
    even = labelled(Attribute("x", tuple(values), target=[1 / count] * count), values)
    scores = evaluate(a_run(values), "Skew MinSkew MaxSkew", groups=even)
    skew, least, most = (scores.block(measure).values[0] for measure in scores.measures)
    assert (np.sign(skew) == {7: -1, 20: 1}[count]).all()  # else this tests nothing
    assert skew == pytest.approx(np.zeros(count), abs=1e-15)
    assert least.tolist() == [min(skew[0], 0.0)]
    assert most.tolist() == [max(skew[0], 0.0)]


def test_measures_are_the_same_alone_and_together() -> None:
    """What one measure has computed may serve the next, if it is the same."""
    case = random_case(7, lambda *given: group_oracles.group_evidence(*given, partial=True))
    measures = []
    for name, variants in group_oracles.GROUP_VARIANTS.items():
        for arguments in variants:
            missing = "none" if name == "GroupShare" else "uniform"  # a share is of what is there
            asked = {"attr": "side", "missing": missing, **arguments}
            if name != "GFR" and arguments.get("missing") != "error":
                measure = all_measures()[name](**asked)
                measures += [measure, measure @ 2]
    options = {"qrels": case.qrels, "groups": case.evidence, "background": case.background}
    together = evaluate(case.run, measures, **options)
    for measure in together.measures:
        alone = evaluate(case.run, measure, **options).block(measure)
        assert alone.values == pytest.approx(together.block(measure).values, abs=1e-12, nan_ok=True), measure


def test_without_judgements_the_reader_is_that_of_rbp(gender: Membership, stars: Membership) -> None:
    run = a_run(list("abc"))
    bare = evaluate(run, "GFR@2 GF(attr='gender')@2 GF(attr='stars',div='RNOD')@2", groups=[gender, stars])
    sum_of = [bare.mean(measure) for measure in bare.measures]
    assert sum_of[0] == pytest.approx((sum_of[1] + sum_of[2]) / 2)
    told = "GF(attr='gender',decay='RBP')@2"
    assert mean_of(run, told, groups=gender) == pytest.approx(sum_of[1])
    judged = evaluate(
        run, "GFR@2 iRBU@2 GF(attr='gender')@2 GF(attr='stars',div='RNOD')@2", groups=[gender, stars],
        qrels={"q0": {"d0": 1, "d1": 3}},
    )  # fmt: skip
    values = [judged.mean(measure) for measure in judged.measures]
    assert values[0] == pytest.approx(sum(values[1:]) / 3)
    assert values[2] != pytest.approx(sum_of[1])


def test_the_largest_grade_of_all_parts(gender: Membership, stars: Membership) -> None:
    """Given once, it is that of relevance and of the readers who stop by it; one given there stays."""
    run, judged = a_run(list("abc")), {"q0": {"d0": 1, "d1": 2}}
    parts = "{}@2", "GF(attr='gender',max_grade=4)@2", "GF(attr='stars',div='RNOD',max_grade=4)@2"
    for relevance, own in (
        ("iRBU", "iRBU(max_grade=4)"),
        ("ERR(max_grade=3)", "ERR(max_grade=3)"),
        ("P", "P"),
    ):
        whole = f"GFR(relevance={relevance},max_grade=4)@2"
        measures = [whole, parts[0].format(own), *parts[1:]]
        scores = evaluate(run, measures, groups=[gender, stars], qrels=judged)
        values = [scores.mean(measure) for measure in scores.measures]
        assert values[0] == pytest.approx(sum(values[1:]) / 3, abs=1e-12)
        bare = mean_of(run, f"GFR(relevance={relevance})@2", groups=[gender, stars], qrels=judged)
        assert values[0] != pytest.approx(bare)


def test_intents_are_groups_of_a_query() -> None:
    """q0 has two intents, q1 three, and no document of q1 serves any: they are all alike there."""
    rows = [
        ("q0", "1", "d0", 1), ("q0", "2", "d0", 1), ("q0", "1", "d1", 2), ("q0", "2", "d2", 0),
        ("q1", "1", "d0", 0), ("q1", "2", "d1", 0), ("q1", "3", "d1", 0),
    ]  # fmt: skip
    groups = Membership.from_intents(DiversityQrels.build(*map(list, zip(*rows, strict=True))))
    scores = evaluate(a_run(list("abc"), 2), "GF(decay='log2')", groups=groups)
    weights = 1 / np.log2([2, 3, 4])
    near = [1, 1 - group_oracles.jsd([0.75, 0.25], [0.5, 0.5])]
    # d2 serves no intent, and is equally of both
    near.append(1 - group_oracles.jsd([2 / 3, 1 / 3], [0.5, 0.5]))
    values = scores.to_dict()["run"]["GF(decay='log2')"]
    assert values == {"q0": pytest.approx(np.average(near, weights=weights)), "q1": pytest.approx(1)}


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


@pytest.mark.parametrize("name", ["EE_L", "EE_D", "EE_R"])
def test_exposure_needs_the_rankings_gathered(name: str) -> None:
    measure = all_measures()[name]()
    run, sources = a_run(["a", "b"]), Sources({"relevance": Qrels.build(["q0"], ["d0"], [1])})
    with pytest.raises(ParameterError, match="the rankings were not gathered"):
        measure.evaluate(align(run, ["q0"], measure.needs - {"rankings.documents"}, sources))
    assert len(measure.evaluate(align(run, ["q0"], measure.needs, sources)).values) == 1


def test_expected_exposure_of_the_parts() -> None:
    """|e - e*|^2 = |e|^2 - 2 e.e* + |e*|^2, and a ranker that shuffles equals gives what is due."""
    orders = list(itertools.permutations(["a", "b", "c"]))
    fair = RunSet.build([Run.build(["q"] * 3, list(order), [3.0, 2, 1]) for order in orders])
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    assert mean_of(fair, "EE_L", qrels=qrels) == pytest.approx(0, abs=1e-12)
    one = evaluate(fair.runs[0], "EE_L EE_D EE_R", qrels=qrels)
    loss, disparity, relevance = (one.mean(measure) for measure in one.measures)
    due = 3 * np.mean(1 / np.log2([2, 3, 4])) ** 2
    assert loss == pytest.approx(disparity - 2 * relevance + due)
