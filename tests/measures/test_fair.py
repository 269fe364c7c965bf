"""FAIR and its companions on lists that can be computed by hand; targets; skew over queries."""

from __future__ import annotations

from math import inf, log, log2

import pytest

import evenrank as er
from evenrank import Attribute, DiversityQrels, Membership, ParameterError, parse_measure

RUN = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0}}
QRELS = {"q": {"a": 1, "c": 2, "d": 1}}
LABELS = {"a": "x", "b": "x", "c": "y", "d": "x"}
SIDE = Membership.from_labels(Attribute("side", ("x", "y")), LABELS)


def score(measure: str, *, groups: Membership = SIDE, qrels=QRELS, run=RUN, **more) -> float:
    return er.evaluate(run, measure, qrels=qrels, groups=groups, **more).mean(measure)


def test_equation_6() -> None:
    first, second, third = log(2), log(2), (2 / 3) * log(4 / 3) + (1 / 3) * log(2 / 3)
    gains = 1 / (first + 1) + 1 / log2(4) / (third + 1)  # a serves x, b nothing, c serves y
    ideal = 1 + 1 / log2(3) + 0.5 / log2(4)
    assert score("FAIR@3") == pytest.approx(gains / ideal)
    assert score("KL@3") == pytest.approx(third)
    weights = [1, 1 / log2(3), 1 / log2(4)]
    near = [1 / (1 + apart) for apart in (first, second, third)]
    expected = sum(w * n for w, n in zip(weights, near, strict=True)) / sum(weights)
    assert score("nDRKL@3") == pytest.approx(expected)


def test_too_few_of_a_group() -> None:
    """y should have 0, 1, 1, 2 documents among the first 1, 2, 3, 4 and has 0, 0, 1, 1."""
    assert score("InfeasibleIndex") == 2
    assert score("InfeasibleCount") == 2
    four = {"q": {"a": 4.0, "b": 3.0, "d": 2.0, "e": 1.0}}
    three = Membership.from_labels(Attribute("side", ("x", "y", "z")), {**LABELS, "e": "x"})
    thirds = three.with_target((0.0, 0.5, 0.5))
    assert score("InfeasibleIndex", run=four, groups=thirds) == 3  # of ranks 2, 3, 4
    assert score("InfeasibleCount", run=four, groups=thirds) == 6
    assert score("InfeasibleIndex", groups=SIDE.with_target((0.1 + 0.2, 0.7))) == 3  # 1 of y by rank 2


@pytest.mark.parametrize(
    ("irm", "own"),
    [
        ("nDCG", "nDCG"),
        ("nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')"),
        ("RBP", "RBP(normalized=True)"),
        ("RBP(p=0.5,rel=2)", "RBP(p=0.5,rel=2,normalized=True)"),
        ("AP", "AP"),
        ("AP(rel=2)", "AP(rel=2)"),
    ],
)
def test_a_list_as_wanted_has_the_relevance_measure(irm: str, own: str) -> None:
    even = Membership.from_labels(Attribute("side", ("x", "y")), dict.fromkeys("abcd", "?"), even=["?"])
    for cutoff in (2, 4, 10):
        fair = score(f"FAIR(irm={irm})@{cutoff}", groups=even)
        relevant = 1 if "rel=2" in irm else 3
        most = min(relevant, cutoff) / relevant if irm.startswith("AP") else 1  # M of a list of k documents
        assert fair == pytest.approx(score(f"{own}@{cutoff}") / most)
    whole = score("FAIR(irm=AP,whole=True)@3", groups=even)
    assert whole == pytest.approx(score("AP@3"))


def test_relevance_from_the_ranking() -> None:
    """Grades 1/log2(1 + r) as they are; without judgements that is the default."""
    told = er.evaluate(RUN, "FAIR(irm=nDCG)@2", groups=SIDE)
    apart = log(2)
    gains = (1 + 1 / log2(3) ** 2) / (apart + 1)
    assert told.mean("FAIR(irm=nDCG)@2") == pytest.approx(gains / (1 + 1 / log2(3) ** 2))
    assert "FAIR(irm=nDCG)@2 was computed as FAIR(attr='side',irm=nDCG,pseudo=True)@2" in told.notes["run"]
    assert score("FAIR(irm=nDCG,pseudo=True)@2") == told.mean("FAIR(irm=nDCG)@2")


def test_reachable_divides_by_the_greedy_order() -> None:
    """Of the best order of its documents, a list has 1."""
    greedy = {"q": {"c": 4.0, "a": 3.0, "d": 2.0, "b": 1.0}}
    assert score("FAIR(reachable=True)@3", run=greedy) == pytest.approx(1)
    assert score("FAIR(reachable=True)@3") < 1
    assert score("FAIR@3", run=greedy) < 1  # one document cannot be of both groups


@pytest.mark.parametrize(
    "name", ["FAIR@2", "FAIR(reachable=True)@2", "FAIR(pseudo=True)@2", "FAIR(irm=RBP,missing='drop')@3"]
)
def test_an_explanation_adds_up(name: str) -> None:
    """Also where documents below the cut-off decide what the sum is divided by."""
    found = er.explain(er.read_run(RUN), name, "q", qrels=QRELS, groups=SIDE)
    assert sum(document.adds for document in found.documents) == pytest.approx(found.value)
    assert found.value == pytest.approx(score(name))
    assert found.best is not None
    order = [*found.best.documents, *(d for d in RUN["q"] if d not in found.best.documents)]
    again = {"q": {document: -float(place) for place, document in enumerate(order)}}
    assert found.best.value == pytest.approx(score(name, run=again))


def test_ranks_without_a_group_are_not_divided_and_counted() -> None:
    part = Membership.from_labels(Attribute("side", ("x", "y")), {"b": "x", "c": "y"})
    scores = er.evaluate(RUN, ["FAIR(irm=nDCG)@3", "nDRKL@3"], qrels=QRELS, groups=part)
    gains = 1 + 2 / log2(4) / (0 + 1)  # at rank 3 one of each
    assert scores.mean("FAIR(irm=nDCG)@3") == pytest.approx(gains / (2 + 1 / log2(3) + 1 / 2))
    near = (1 / log2(3) / (1 + log(2)) + 1 / 2) / (1 / log2(3) + 1 / 2)
    assert scores.mean("nDRKL@3") == pytest.approx(near)
    said = "\n".join(scores.notes["run"])
    assert "no document down to 1 of the ranks has a group: not divided" in said
    assert "no document down to 1 of the ranks has a group: left out" in said
    assert (
        "1 of 3 ranked documents in the first 3 ranks have no groups of 'side': "
        "counted as belonging to no group" in said
    )


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("FAIR(irm=P@5)", "no sum over ranks"),
        ("FAIR(irm=nDCG@5)@10", "the cut-off is its own"),
        ("FAIR(irm=nDCG(judged_only=True))", "judged_only"),
        ("FAIR(irm=ERR_IA(normalized=False))@5", "by intents, not groups"),
        ("FAIR(irm=KL,whole=True)", "relevance or diversity"),
        ("FAIR(irm=AP,whole=True,pseudo=True)", "needs judgements"),
        ("FAIR(irm=AP,whole=True,reachable=True)", "needs judgements"),
        ("FAIR(irm=AP,pseudo=True)@5", "needs judgements"),
        ("FAIR(weight=0.2,part=fairness)", "not both"),
        ("FAIR(irm=alpha_nDCG(attr=side))", "the attribute is its own"),
        ("FAIR(weight=0.2,reachable=True)", "without whole= and reachable="),
        ("FAIR(part=utility,whole=True,irm=AP)", "without whole= and reachable="),
        ("FAIR(div=ratio,reachable=True)", "distances between shares"),
        ("FAIR(weight=1.2)", "weight must be a number"),
        ("FAIR(irm=ERR_IA)", "needs a cut-off"),
        ("FAIR(irm=P,whole=True)", "needs a cut-off"),
        ("FAIR(target=nobody)", "target must be one of"),
    ],
)
def test_what_is_refused(name: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        parse_measure(name)


def test_distances_that_see_an_order_need_one() -> None:
    three = Membership.from_labels(Attribute("side", ("x", "y", "z")), LABELS)
    with pytest.raises(ParameterError, match="NMD needs values with an order"):
        score("FAIR(div=NMD)", groups=three)


POOL = {"q": {"a": 3.0, "b": 2.0, "c": 1.0, "e": 0.5}}


def test_target_by_relevance() -> None:
    """x: grades 1 and 0 of a and b; y: grade 2 of c. What is not judged counts as 0."""
    pool = er.read_run(POOL)
    by_relevance = SIDE.with_target("relevance")
    apart = log(1 / (0.5 / 2.5))
    assert score("KL@1", groups=by_relevance, background=pool) == pytest.approx(apart)
    assert score("KL(target=relevance)@1", background=pool) == pytest.approx(apart)
    assert score("KL(target=pool)@1", background=pool) == pytest.approx(log(1 / (2 / 3)))
    assert score("KL@1", background=pool) == pytest.approx(log(2))  # the attribute's own is as it was
    soft = Membership.from_matrix(Attribute("side", ("x", "y")), ["a", "c"], [[0.5, 0.5], [0.25, 0.75]])
    x, y = (1 * 0.5 + 2 * 0.25) / 0.75, (1 * 0.5 + 2 * 0.75) / 1.25
    expected = 0.5 * log(0.5 / (x / (x + y))) + 0.5 * log(0.5 / (y / (x + y)))
    assert score("KL(target=relevance)@1", groups=soft, background=pool) == pytest.approx(expected)
    below = {"q": {"a": 1, "c": -2}}
    assert score("KL(target=relevance)@1", qrels=below, background=pool) == pytest.approx(0)


def test_targets_of_measures_in_one_evaluation() -> None:
    names = [f"KL(target={rule})@3" for rule in ("uniform", "present", "pool", "collection", "relevance")]
    scores = er.evaluate(RUN, names, qrels=QRELS, groups=SIDE, background=er.read_run(POOL))
    for name in names:
        rule = name.partition("=")[2].partition(")")[0]
        other = SIDE.with_target(rule)
        assert scores.mean(name) == score("KL@3", groups=other, background=er.read_run(POOL)), rule
    assert len({round(scores.mean(name), 9) for name in names[2:]}) == 3


def test_a_combination_takes_a_target_whatever_its_parts_have() -> None:
    size = Membership.from_labels(Attribute("size", ("s", "l")), dict(zip("abcd", "slsl", strict=True)))
    both = [SIDE.with_target("pool"), size.with_target("collection")]
    name = "KL(attr='side*size',target='uniform')@1"
    assert er.evaluate(RUN, name, groups=both).mean(name) == pytest.approx(log(4))
    with pytest.raises(ParameterError, match="targets of different kinds"):
        er.evaluate(RUN, "KL(attr='side*size')@1", groups=both)


def test_a_target_by_relevance_that_cannot_be() -> None:
    with pytest.raises(ParameterError, match="'relevance' needs judgements: pass qrels="):
        er.evaluate(RUN, "KL(target=relevance)", groups=SIDE)
    with pytest.raises(ParameterError, match="not one set for all: give a run as background"):
        score("KL(target=relevance)", background=["a", "b"])
    scores = er.evaluate(RUN, "KL(target=relevance)", groups=SIDE, qrels={"q": {"zz": 1}})
    assert dict(scores.summary()[0].undefined) == {"no target": 1}
    ordinal = Membership.from_labels(Attribute("stars", ("x", "y"), ordinal=True), LABELS)
    with pytest.raises(ParameterError, match="'present' is for values without an order"):
        score("KL(target=present)", groups=ordinal)
    with pytest.raises(ParameterError, match=r"needs groups of 'other': pass groups=; there are side"):
        score("KL(attr='other',target='pool')")


def test_uniform_is_over_the_values_that_a_query_has() -> None:
    """Intents differ in number: a query has its own two of the three places."""
    intents = DiversityQrels.build(
        ["q", "q", "r", "r", "r"], ["1", "2", "1", "2", "3"], ["a", "c", "a", "b", "c"], [1] * 5
    )
    groups = Membership.from_intents(intents).with_target("uniform")
    run = {"q": {"a": 1.0}, "r": {"a": 1.0}}
    apart = er.evaluate(run, "KL@1", groups=groups).block("KL@1").values[:, 0]
    assert apart == pytest.approx([log(2), log(3)])


def test_skew_over_queries() -> None:
    run = {"q": {"a": 2.0, "c": 1.0}, "r": {"a": 3.0, "c": 2.0, "b": 1.0}, "s": {"a": 1.0}}
    names = ["MinSkew", "MaxSkew", "MinSkew(over='extreme')", "MaxSkew(over='extreme')"]
    scores = er.evaluate(run, names, groups=SIDE)
    low, high = log((1 / 3) / 0.5), log((2 / 3) / 0.5)
    values = [scores.mean(name) for name in names]
    assert values == pytest.approx([low / 2, (high + log(2)) / 3, -inf, log(2)])
    rows = scores.summary()
    assert [row.aggregation for row in rows] == ["mean", "mean", "min", "max"]
    assert [row.infinite for row in rows] == [1, 0, 1, 0]


EVEN = Membership.from_labels(Attribute("side", ("x", "y")), dict.fromkeys("abcd", "?"), even=["?"])


def test_err_is_divided_by_that_of_the_judged_documents() -> None:
    """Grades 1, 0, 2, 1 of at most 2: stop with 1/4, 0, 3/4, 1/4; best is 3/4 at the top, then 1/4, 1/4."""
    best = 3 / 4 + 1 / 4 * 1 / 4 / 2 + 1 / 4 * 3 / 4 * 1 / 4 / 3
    own = 1 / 4 + 3 / 4 * 3 / 4 / 3
    assert score("FAIR(irm=ERR)@3", groups=EVEN) == pytest.approx(own / best)
    apart = (2 / 3) * log(4 / 3) + (1 / 3) * log(2 / 3)
    divided = 1 / 4 / (log(2) + 1) + 3 / 4 * 3 / 4 / 3 / (apart + 1)
    assert score("FAIR(irm=ERR)@3") == pytest.approx(divided / best)


def test_judgements_are_needed_for_precision_at_every_rank() -> None:
    with pytest.raises(ParameterError, match=r"irm=AP needs judgements \(qrels=\)"):
        er.evaluate(RUN, "FAIR(irm=AP)@3", groups=SIDE)


def test_distances_of_counts_and_of_attention() -> None:
    """x, x, y with half a document added to both: 1.5/1, 2.5/1.5, 2.5/2 (y: 0.5/1, 0.5/1.5, 1.5/2)."""
    near = [1 / 2, 1 / 3, 1 / (4 / 3)]
    assert score("FAIR(div=ratio,part=fairness)@3") == pytest.approx(sum(near) / 3)
    top = 1 + 1 / log2(3)
    y = (1 / 2) / (top + 1 / 2)
    near = [1 / 1.5, 1 / 1.5, 1 / (1 + 2 * (0.5 - y) ** 2)]
    assert score("FAIR(div=exposure,part=fairness)@3") == pytest.approx(sum(near) / 3)


def test_no_smoothing_is_infinitely_far_and_says_so() -> None:
    scores = er.evaluate(RUN, "FAIR(div=ratio,smoothing=0,part=fairness)@3", groups=SIDE)
    assert scores.mean("FAIR(div=ratio,smoothing=0,part=fairness)@3") == pytest.approx((1 / 1.5) / 3)
    assert any("smoothing=0 makes the distance infinite" in note for note in scores.notes["run"])


def test_the_weight_goes_from_fairness_to_utility() -> None:
    both, utility, fairness = (score(f"FAIR(part={part})@3") for part in ("both", "utility", "fairness"))
    for weight, expected in [
        (0, fairness),
        (0.25, (both + fairness) / 2),
        (0.5, both),
        (0.75, (both + utility) / 2),
        (1, utility),
    ]:
        assert score(f"FAIR(weight={weight})@3") == pytest.approx(expected), weight
    assert er.evaluate(RUN, "FAIR(weight=0)@3", groups=SIDE).mean("FAIR(weight=0)@3") == fairness
    columns = er.evaluate(RUN, "FAIR(part=columns)@3", qrels=QRELS, groups=SIDE)
    assert [row.value for row in columns.summary()] == pytest.approx([both, utility, fairness])


def test_fairness_alone_is_undefined_for_its_own_reason() -> None:
    run = {"q": RUN["q"], "r": {"z": 1.0}}
    scores = er.evaluate(run, "FAIR(part=columns,irm=nDCG)@3", qrels={**QRELS, "r": {"z": 1}}, groups=SIDE)
    assert [dict(row.undefined) for row in scores.summary()] == [{}, {}, {"no document has a group": 1}]


def notes_of(runs, measure: str, *, qrels, groups=SIDE) -> str:
    scores = er.evaluate(runs, measure, qrels=qrels, groups=groups)
    return "\n".join(note for notes in scores.notes.values() for note in notes)


def test_relevance_that_looks_at_the_same_groups_is_shown() -> None:
    twice = "alpha_nDCG itself rewards documents of new groups of 'side'"
    assert twice in notes_of({"run": er.read_run(RUN)}, "FAIR@3", qrels=QRELS)
    assert "itself rewards" not in notes_of({"run": er.read_run(RUN)}, "FAIR(irm=nDCG)@3", qrels=QRELS)


def test_feasibility_in_short() -> None:
    """The first list lacks y at ranks 2 and 4, the second at no rank."""
    runs = {**RUN, "r": {"a": 2.0, "c": 1.0}}
    scores = er.evaluate(runs, ["InfeasibleIndex", "FeasibleDepth"], groups=SIDE)
    assert scores.block("FeasibleDepth").values[:, 0].tolist() == [1.0, 2.0]
    assert (
        "InfeasibleIndex(attr='side'): 1 of 2 lists are infeasible: some group has fewer documents than its "
        "target requires at 2 ranks in all; every list is feasible down to rank 1" in scores.notes["run"]
    )
