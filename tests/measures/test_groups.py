"""What must hold for measures of groups beyond what is asked of every measure."""

from __future__ import annotations

import functools
import itertools
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
    Run,
    all_measures,
    evaluate,
    parse_measure,
)
from evenrank.testing import check_measure, random_case

SIMILARITIES = "GF(attr='x') NDKL(attr='x') MinSkew(attr='x') MaxSkew(attr='x') AWRF(attr='x',distance='JSD')"


def mean_of(run: Run, measure: str, **given: Any) -> float:
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


@pytest.mark.parametrize("size", [2, 5])
def test_the_worst_there_is(size: int) -> None:
    """One document of one end of a scale where only the other end is wanted; and what is wanted is 0."""

    def far(place: int) -> list[float]:
        names, target = [f"v{n}" for n in range(size)], np.eye(size)[-1]
        groups = labelled(Attribute("x", tuple(names), ordinal=True, target=target), [names[place]])
        measures = [f"GF(div={div},decay=log2)@1" for div in ("JSD", "NMD", "RNOD", "MAX")]
        measures += [f"AWRF(attr=x,distance={one})@1" for one in ("L1", "JSD", "KL", "Hellinger")]
        scores = evaluate(a_run(["d"]), measures, groups=groups)
        return [scores.block(measure).values[0, 0] for measure in scores.measures]

    assert far(0) == [0, 0, 0, 0, 2, 1, np.inf, 1]
    assert far(-1) == [1, 1, 1, 1, 0, 0, 0, 0]


def distributions(size: int) -> st.SearchStrategy[np.ndarray]:
    counts = st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any)
    return counts.map(lambda row: np.array(row, dtype=float) / sum(row))


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
def test_a_set_of_very_many_values_is_that_of_the_values_that_are_there(kind: str) -> None:
    """Such as companies: those that no document has change nothing, however many they are."""
    generator = np.random.default_rng(5)
    documents = [f"d{place}" for place in range(60)]
    labels = [f"v{value}" for value in generator.integers(0, 40, 50)]

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
    missing = "uniform" if kind == "present" else "drop"  # uniform is over all values, whoever has them
    tables = []
    for count in (40, 200):
        attribute = Attribute("x", tuple(f"v{place}" for place in range(count)), target=kind)
        groups = Membership.build(attribute, documents[:50], labels)
        scores = evaluate(run, measures, groups=groups, background=background, missing=missing)
        tables.append([scores.block(measure).values for measure in scores.measures])
    for one, two in zip(*tables, strict=True):
        assert one == pytest.approx(two, abs=1e-12, nan_ok=True)
    for measure in ["ECE"] + ["ABR"] * (kind == "pool"):  # they look at each value of all queries
        with pytest.raises(ParameterError, match=measure):
            evaluate(run, f"{measure}(attr='x')", groups=groups, background=background)


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
    both = gender, colour
    for measure, groups, named in [
        ("GF", both, ["GF(attr='gender')", "colour"]),
        ("GF", (), ["groups="]),
        ("GF(attr='age')", (gender,), ["age"]),
        ("NDKL(attr='gender*age')", both, ["age", "gender", "colour"]),
        ("GFR(attrs=' ')", (gender,), ["attrs", "gender"]),
        ("GFR(weights='0.5,0.5')", both, ["weights", "iRBU", "GF(attr='gender')", "GF(attr='colour')"]),
    ]:
        said = refused(measure, *groups)
        assert all(name in said for name in named), said


@pytest.mark.parametrize("weights", ["1.5,-0.5", "-1,2", "0.5,0.4", "nan,1", "inf,-inf", "a,b", ""])
def test_weights_that_are_no_shares_are_refused(weights: str) -> None:
    with pytest.raises(ParameterError, match="weights"):
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
    for measure, groups, named in [
        (f"GF(div='{div}')", (colour,), (div, "'colour'")),
        # a combination has no order, whatever it is made of
        (f"GF(attr='gender*colour',div='{div}')", (gender, colour), (div, "'gender*colour'")),
        ("GF(attr='gender*stars')", (gender, stars), ("'stars'",)),
    ]:
        said = refused(measure, *groups)
        assert all(name in said for name in named), said
    for allowed in (gender, stars):
        assert 0 < mean_of(a_run(list("abc")), f"GF(div='{div}')", groups=allowed) < 1


@pytest.mark.parametrize("measure", ["dGF", "OB", "Polarity"])
def test_polarity_needs_two_values(measure: str, gender: Membership, colour: Membership) -> None:
    assert "'colour'" in refused(measure, colour)
    assert "'gender*colour'" in refused(f"{measure}(attr='gender*colour')", gender, colour)
    other = Membership.build(Attribute("age", ("old", "young")), ["d0", "d1", "d2"], ["old"] * 3)
    assert "'gender*age'" in refused(f"{measure}(attr='gender*age')", gender, other)


def test_polarity_has_the_sign_of_the_side(gender: Membership) -> None:
    run = a_run(list("abc"))
    for measure in ("dGF", "OB", "Polarity"):
        leaning = mean_of(run, measure, groups=gender)
        turned = labelled(Attribute("gender", ("m", "f")), ["f", "m", "f"])
        assert leaning > 0
        assert mean_of(run, measure, groups=turned) == pytest.approx(-leaning)


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
