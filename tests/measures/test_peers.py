"""Measures that other tools have: their own output where they are installed, and what must hold anyway."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenrank as er
from evenrank import Attribute, Membership, ParameterError, RunSet, parse_measure

ORDER = "abcdefghij"
RUN = {"q": {document: -float(place) for place, document in enumerate(ORDER)}}
LABELS = dict(zip(ORDER, "xyxxzyyxzx", strict=True))
SIDE = Membership.from_labels(Attribute("side", ("x", "y", "z")), LABELS)
QRELS = {"q": dict(zip(ORDER, [1, 0, 1, 0, 1, 1, 0, 0, 1, 1], strict=True))}


def score(measure: str, run=RUN, **known) -> float:
    return er.evaluate(run, measure, **known).mean(measure)


# FairRankTune 0.0.7 on the list above: EXP, EXPU and, with exposure times relevance as clicks, EXPRU
FAIR_RANK_TUNE = {"EXP": 0.6783302146, "EXPU": 0.2604688710, "EXPRU": 0.5767394167}


@pytest.mark.parametrize("name", sorted(FAIR_RANK_TUNE))
def test_exposure_ratios_of_fair_rank_tune(name: str) -> None:
    assert score(name, groups=SIDE, qrels=QRELS) == pytest.approx(FAIR_RANK_TUNE[name], abs=1e-9)


@pytest.mark.needs("FairRankTune", "pandas")
def test_exposure_ratios_where_fair_rank_tune_is_installed() -> None:
    import pandas
    from FairRankTune.Metrics import EXP as peer

    ranking, relevance = pandas.DataFrame({0: list(ORDER)}), [QRELS["q"][d] for d in ORDER]
    graded = pandas.DataFrame({0: relevance})
    clicks = pandas.DataFrame({0: [g / log2(1 + i) for i, g in enumerate(relevance, 1)]})
    theirs = {
        "EXP": peer.EXP(ranking, LABELS, "MinMaxRatio")[0],
        "EXPU": peer.EXPU(ranking, LABELS, graded, "MinMaxRatio")[0],
        "EXPRU": peer.EXPRU(ranking, LABELS, graded, clicks, "MinMaxRatio")[0],
    }
    for name, value in theirs.items():
        assert score(name, groups=SIDE, qrels=QRELS) == pytest.approx(value), name


def test_ndkl_of_fair_rank_tune() -> None:
    """FairRankTune 0.0.7 takes the whole list as the target, and adds 1e-7 to every share."""
    as_listed = SIDE.with_target((0.5, 0.3, 0.2))
    assert score("NDKL", groups=as_listed) == pytest.approx(0.2452594675, abs=1e-5)


def test_exposure_ratio_needs_every_group_and_its_relevance() -> None:
    short = {"q": dict.fromkeys("abc", 1.0)}
    reasons = er.evaluate(short, "EXP", groups=SIDE).summary()[0].undefined
    assert dict(reasons) == {"a value is absent": 1}
    none_of_y = {"q": {"a": 1, "e": 1}}
    for name in ("EXPU", "EXPRU"):
        reasons = er.evaluate(RUN, name, groups=SIDE, qrels=none_of_y).summary()[0].undefined
        assert dict(reasons) == {"a group has no relevant document": 1}


def test_under_exposure_is_half_of_the_distance() -> None:
    for attention in ("log2", "rbp(p=0.5)", "uniform"):
        half = score(f"UnderExposure(attention={attention})@4", groups=SIDE)
        assert half == pytest.approx(score(f"AWRF(attention={attention})@4", groups=SIDE) / 2)
        assert half > 0


def test_equal_exposure_has_no_gini() -> None:
    assert score("Gini", run={"q": {"a": 1.0}, "r": {"b": 1.0}, "s": {"c": 1.0}}) == 0


TWO_LISTS = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 2.0, "d": 1.0}}
# LensKit 2025.8.1, ExposureGini(n=2, items=3) with LogRankWeight and GeometricRankWeight(0.8): three
# documents stand among the first two of a list
LENSKIT = {"Gini@2": 0.2798139, "Gini(attention=rbp(p=0.8))@2": 0.2222222}


@pytest.mark.parametrize("name", sorted(LENSKIT))
def test_gini_of_lenskit(name: str) -> None:
    assert score(name, run=TWO_LISTS) == pytest.approx(LENSKIT[name], abs=1e-6)


@pytest.mark.needs("lenskit")
def test_gini_where_lenskit_is_installed() -> None:
    from lenskit.data import ItemList
    from lenskit.metrics.ranking import ExposureGini, GeometricRankWeight, LogRankWeight

    weights = {"Gini@2": LogRankWeight(offset=1), "Gini(attention=rbp(p=0.8))@2": GeometricRankWeight(0.8)}
    for name, weight in weights.items():
        metric = ExposureGini(n=2, items=3, weight=weight)
        lists = [ItemList(item_ids=list(listed), ordered=True) for listed in TWO_LISTS.values()]
        theirs = metric.global_aggregate([metric.compute_list_data(listed, None) for listed in lists])
        assert score(name, run=TWO_LISTS) == pytest.approx(float(theirs), abs=1e-6), name


# Exposures by target_exposures and treatment_exposures of expeval (diazf/expeval, individual.py at d943b3e),
# for rbp with p = 0.8. Both were transcribed without their bounds and their other user model; the three sums
# over the exposures follow the definitions in its comments. The program itself was not run.
EXPEVAL = {"EE_D": 2.36044416, "EE_R": 2.34782848, "EE_L": 0.12626048}


@pytest.mark.parametrize("name", sorted(EXPEVAL))
def test_expected_exposure_by_the_exposures_of_expeval(name: str) -> None:
    """Its exposure at rank i is p**(i - 1), ours sums to 1 over all ranks: (1 - p) times that, squared."""
    orders = ("abcde", "dcabe")
    runs = [er.read_run({"q": {d: -float(i) for i, d in enumerate(order)}}) for order in orders]
    qrels = {"q": dict(zip("abcde", [2, 1, 1, 0, 0], strict=True))}
    measure = f"{name}(attention=rbp(p=0.8))"
    ours = er.evaluate(RunSet(tuple(runs), name="both"), measure, qrels=qrels).mean(measure)
    assert ours == pytest.approx(EXPEVAL[name] * (1 - 0.8) ** 2)


def test_one_value_for_all_queries() -> None:
    scores = er.evaluate(TWO_LISTS, ["Gini@2", "Gini(by=groups)@2"], groups=SIDE)
    assert scores.block("Gini@2").query_ids == ("all",)
    assert scores.block("Gini(by=groups)@2").query_ids == ("q", "r")
    rows = scores.summary()
    assert rows[0].interval_note == "no interval: it is one value for all queries together"
    with pytest.raises(ParameterError, match="one value for all queries and cannot be part of a sum"):
        er.evaluate(TWO_LISTS, "0.5*Gini@2 + 0.5*Gini(by=groups)@2", groups=SIDE)
    with pytest.raises(ParameterError, match=r"RandomOrder.* is one value for all queries"):
        er.evaluate(TWO_LISTS, "RandomOrder(measure=Gini)@2")
    with pytest.raises(ParameterError, match="not a measure of one list"):
        er.explain(er.read_run(TWO_LISTS), "Gini@2", "q")


def test_amortised_by_hand() -> None:
    """x is owed all and gets 1 and 0: what it lacks in r it does not get back in q."""
    two = Membership.from_labels(Attribute("side", ("x", "y")), {"a": "x", "b": "y"})
    run, qrels = {"q": {"a": 1.0}, "r": {"b": 1.0}}, {"q": {"a": 1}, "r": {"a": 2}}
    assert score("Amortised", run=run, groups=two, qrels=qrels) == pytest.approx(2)
    made_up = {"q": {"b": 1}, "r": {"a": 2}}  # too much in one query, too little in the other
    assert score("Amortised", run=run, groups=two, qrels=made_up) == pytest.approx(0)
    nothing = er.evaluate(run, "Amortised", groups=two, qrels={"q": {"a": 1}, "r": {"a": 0}})
    assert nothing.mean("Amortised") == 0
    assert any("1 of 2 queries have no ranked document of a group" in note for note in nothing.notes["run"])


def p_values(name: str, observed: int, others: int, share: float, cutoff: int) -> float:
    """Of x, in a list with some documents of x before others of y."""
    documents = [f"d{place:02}" for place in range(observed + others)]
    run = {"q": {document: -float(place) for place, document in enumerate(documents)}}
    labels = dict(zip(documents, "x" * observed + "y" * others, strict=True))
    attribute = Attribute("side", ("x", "y"), target=(share, 1 - share))
    scores = er.evaluate(run, f"{name}@{cutoff}", groups=Membership.from_labels(attribute, labels))
    return scores.mean(scores.measures[0], column="x")


def test_count_tests_are_those_of_scipy() -> None:
    from scipy import stats

    for observed, number, share in [(0, 10, 0.5), (3, 10, 0.2), (7, 9, 0.35), (10, 10, 1.0), (2, 2, 0.0)]:
        expected = stats.binomtest(observed, number, share).pvalue
        found = p_values("BinomialTest", observed, number - observed, share, number)
        assert found == pytest.approx(expected)
    for members, others, drawn in [(10, 10, 9), (2, 8, 5), (1, 11, 6), (3, 4, 3)]:
        observed = min(members, drawn)
        table = [[observed, drawn - observed], [members - observed, others - drawn + observed]]
        expected = stats.fisher_exact(table).pvalue
        assert p_values("HypergeometricTest", members, others, 0.5, drawn) == pytest.approx(expected)


def test_counts_need_whole_documents() -> None:
    soft = Membership.from_matrix(Attribute("side", ("x", "y")), ["a", "b"], [[0.5, 0.5], [1.0, 0.0]])
    scores = er.evaluate({"q": {"a": 2.0, "b": 1.0}}, ["BinomialTest", "HypergeometricTest@1"], groups=soft)
    assert {tuple(row.undefined) for row in scores.summary()} == {("fractional membership",)}


def test_how_often_a_fair_list_fails_the_test_of_fa_ir() -> None:
    """The published figures: 13% of fair lists at k = 10 and 34% at k = 100, unadjusted, p = 0.5."""
    two = Membership.from_labels(Attribute("side", ("x", "y")), dict(zip(ORDER, "xxxxxyxyyy", strict=True)))
    name = "FA_IR_Test(attr='side',protected='y',p=0.5)@10"
    scores = er.evaluate(RUN, name, groups=two)
    assert scores.mean(name) == 0  # m(4) is 1, and the first four have none
    assert (
        f"{name}: m-table for 'y', p = 0.5, ranks 1 to 10: 0 0 0 1 1 1 2 2 3 3; "
        "a fair list fails with probability 0.13" in scores.notes["run"]
    )
    deep = er.evaluate(RUN, name.replace("@10", "@100"), groups=two)
    assert any("fails with probability 0.34" in note for note in deep.notes["run"])
    adjusted = er.evaluate(RUN, name.replace(",p=0.5", ",p=0.5,adjust=True"), groups=two)
    assert any("0 0 0 0 1 1 1 2 2 3; a fair list fails" in note for note in adjusted.notes["run"])
    with pytest.raises(ParameterError, match="'w' is not a value of 'side': 'x', 'y'"):
        score("FA_IR_Test(protected='w')@10", groups=two)


def test_the_largest_difference_of_a_group() -> None:
    """Of x, y, x: x has 1, 1/2, 2/3 where a third is due, z none."""
    far = [2 / 3, 1 / 3, 1 / 3]
    decay = [0.15 * 0.85**i for i in range(3)]
    expected = sum(w * (1 - d) for w, d in zip(decay, far, strict=True))
    assert score("GF(div=MAX)@3", groups=SIDE) == pytest.approx(expected)


def test_products() -> None:
    run, qrels = {"q": {"b": 2.0, "a": 1.0}, "r": {"b": 1.0}}, {"q": {"a": 1}, "s": {"a": 1}}
    product = er.evaluate(run, "nDCG@2 * RR * GF@2", qrels=qrels, groups=SIDE)
    own = er.evaluate(run, ["nDCG@2", "RR", "GF@2"], qrels=qrels, groups=SIDE)
    expected = np.prod([own.block(name).values[:, 0] for name in ("nDCG@2", "RR", "GF@2")], axis=0)
    assert product.blocks[0].values[:, 0] == pytest.approx(expected, nan_ok=True)
    assert parse_measure("nDCG@2*RR").range() == (0.0, 1.0)
    assert parse_measure("KL*InfeasibleIndex").range() == (0.0, np.inf)


def test_zero_times_infinity_is_undefined() -> None:
    skewed = SIDE.with_target((0.0, 1.0, 0.0))
    assert score("KL*KL", groups=skewed) == np.inf
    exact = er.evaluate({"q": {"b": 1.0}}, "KL*MaxSkew", groups=skewed)
    assert exact.mean("KL*MaxSkew") == 0
    scores = er.evaluate({"q": {"a": 2.0}}, "InfeasibleCount@1*KL", groups=SIDE.with_target((0.0, 0.5, 0.5)))
    assert dict(scores.summary()[0].undefined) == {"0 times infinity": 1}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nDCG@10*KL", "a product of measures that point different ways means nothing: .*better\\)$"),
        ("nDCG@10*AWRF@10", r"write AWRF\(distance='JSD',fairness=True\)@10, where higher is better"),
        ("Skew*Skew", "neither end is better"),
        ("MinSkew*nDCG", "can be below 0"),
        ("(nDCG + RR)*AP", "a product is of single measures|is not of the form"),
        ("nDCG@5*0.5", "a weight is a number and stands first"),
        ("nDCG@5*P", "P needs a cut-off"),
    ],
)
def test_products_that_mean_nothing(name: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        parse_measure(name)


def test_groups_as_intents_and_judgements_by_intent_agree() -> None:
    """One label each: the same judgements written by intent."""
    by_intent = {"q": {value: {d: g for d, g in QRELS["q"].items() if LABELS[d] == value} for value in "xyz"}}
    intents = er.read_qrels(by_intent, diversity=True)
    for name in ("alpha_nDCG", "ERR_IA", "NRBP", "I_rec"):
        grouped = score(f"{name}(attr=side)@4", groups=SIDE, qrels=QRELS)
        assert grouped == pytest.approx(score(f"{name}@4", intents=intents)), name


@given(
    grades=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    intents=st.lists(st.integers(0, 3), min_size=12, max_size=12),
    cutoff=st.integers(1, 12),
)
def test_d_ndcg_of_one_intent_each_is_ndcg(grades: list[int], intents: list[int], cutoff: int) -> None:
    """With hard membership and equally likely intents the global gain of a document is its gain over their
    number, the same number for all, which the ideal has too."""
    documents = [f"d{place:02}" for place in range(len(grades))]
    run = {"q": {document: -float(place) for place, document in enumerate(documents)}}
    graded = {"q": dict(zip(documents, grades, strict=True))}
    rows = [
        (str(intent), document, grade)
        for intent, (document, grade) in zip(intents, graded["q"].items(), strict=False)
    ]
    by_intent: dict[str, dict[str, int]] = {}
    for intent, document, grade in rows:
        by_intent.setdefault(intent, {})[document] = grade
    plain = er.evaluate(run, f"nDCG(dcg='exp-log2')@{cutoff}", qrels=graded).blocks[0]
    global_gain = er.evaluate(
        run, f"D_nDCG@{cutoff}", intents=er.read_qrels({"q": by_intent}, diversity=True)
    ).blocks[0]
    assert plain.values == pytest.approx(global_gain.values, nan_ok=True)
    assert [plain.reasons[code] for code in plain.status[0]] == [
        global_gain.reasons[code] for code in global_gain.status[0]
    ]


def test_versions_of_the_same_document() -> None:
    """Two contents in two versions each, and one without its other version, which does not count."""
    labels = {"f1": "female", "m1": "male", "f2": "female", "m2": "male", "f3": "female"}
    gender = Membership.from_labels(Attribute("gender", ("female", "male")), labels)
    content = Membership.from_labels(Attribute("content", ("1", "2", "3")), {d: d[1] for d in labels})
    run = {"q": {"f3": 5.0, "m1": 4.0, "f1": 3.0, "f2": 2.0, "m2": 1.0}}
    known = {"groups": [gender, content]}
    assert score("PairPreference(pair=content)", run=run, **known) == 0  # one each
    expected = (1 / log2(4) + 1 / log2(5)) / (1 / log2(3) + 1 / log2(6))
    assert score("VersionExposure(pair=content)", run=run, **known) == pytest.approx(log(expected))
    everything = score("PairPreference(attr=gender)", run=run, **known)  # each of three against both
    assert everything == pytest.approx((4 - 2) / 6)
    alone = er.evaluate({"q": {"f3": 1.0, "m1": 0.5}}, "PairPreference(pair=content)", **known)
    assert dict(alone.summary()[0].undefined) == {"no pair": 1}
