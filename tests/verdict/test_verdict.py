"""Verdicts: shares and differences against slow oracles, decisions against what was planted."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, t
from shops import Shop, shop

import evenrank as er
from evenrank import (
    Attribute,
    Inputs,
    Lexicon,
    Membership,
    Run,
    RunSet,
    WordCounts,
    read_groups,
    read_qrels,
    rerank,
)
from evenrank.errors import DataError, ParameterError
from evenrank.verdict import Verdict, advised, describe, describe_all, verdicts, without_verdict
from evenrank.verdict.advice import methods_for
from evenrank.verdict.sentences import (
    describe_advice,
    describe_relevance,
    describe_small_groups,
    describe_worst,
)
from evenrank.verdict.sureness import describe_no_advice, describe_sureness
from evenrank.verdict.value import FAVOURED, LESS, NOT_SHOWN, TOO_FEW


@pytest.fixture(scope="module")
def biased() -> Shop:
    return shop(7, lowered=1.0, products=800, queries=60, depth=40)


def verdict_of(made: Shop, **options: object) -> Verdict:
    (found,) = verdicts(made.run, groups=made.groups, **{"catalogue": True, **options})
    return found


def slow_share(documents: list[str], sizes: dict[str, str], value: str, *, attention: bool) -> float:
    """The share of attention, or of documents, of those that have a label; every document keeps its place."""
    weights = {
        document: 1 / math.log2(rank + 1) if attention else 1.0
        for rank, document in enumerate(documents, 1)
        if document in sizes
    }
    own = [weight for document, weight in weights.items() if sizes[document] == value]
    return sum(own) / sum(weights.values())


@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
@pytest.mark.parametrize("labelled", [1.0, 0.8])
def test_shares_and_targets_are_those_of_an_oracle(biased: Shop, target: str, labelled: float) -> None:
    kept = np.random.default_rng(1).random(len(biased.sizes)) < labelled
    sizes = {one: size for (one, size), keep in zip(biased.sizes.items(), kept, strict=True) if keep}
    groups = Membership.from_labels(Attribute("s", ("small", "large"), target=(0.3, 0.7)), sizes)
    (found,) = verdicts(biased.run, groups=groups, target=target, catalogue=True, depth=30, cutoff=7)
    for group in found.groups:
        catalogue = list(sizes.values()).count(group.value) / len(sizes)
        shares, candidates = [], []
        for query in biased.run.query_ids:
            documents = biased.run.documents(query)[:30]
            shares.append(slow_share(documents[:7], sizes, group.value, attention=True))
            candidates.append(slow_share(documents, sizes, group.value, attention=False))
        aims = {
            "catalogue": [catalogue] * 60,
            "candidates": candidates,
            "equal": [0.5] * 60,
            "given": [{"small": 0.3, "large": 0.7}[group.value]] * 60,
        }[target]
        assert group.share == pytest.approx(np.mean(shares))
        assert group.candidates == pytest.approx(np.mean(candidates))
        assert group.catalogue == pytest.approx(catalogue)
        assert group.target == pytest.approx(np.mean(aims))
        assert group.difference == pytest.approx(np.mean(np.subtract(shares, aims)))
        assert group.ratio == pytest.approx(np.mean(shares) / np.mean(aims))
        assert group.documents == list(sizes.values()).count(group.value)
    assert found.tests == 2
    assert bool(found.notes) == (labelled < 1)


def test_a_planted_bias_is_found(biased: Shop) -> None:
    found = verdict_of(biased)
    assert {group.value: group.decision for group in found.groups} == {"large": FAVOURED, "small": LESS}
    assert found.less[0].value == "small"
    assert found.favoured[0].value == "large"
    sentence = describe(found)
    assert sentence.startswith("seller_size: small is 6")
    assert "% of the catalogue but gets " in sentence
    assert " of the attention in the first 10 places (95% interval " in sentence
    assert "; large is favoured: " in sentence
    assert "discriminat" not in sentence


def test_an_interval_and_a_decision_never_contradict_each_other() -> None:
    """With several attributes all intervals hold together; exactly those without the target are verdicts."""
    seen = set()
    for seed in range(8):
        made = shop(seed, lowered=0.25, products=400, queries=40, depth=20)
        generator = np.random.default_rng(seed)
        colours = dict(
            zip(made.sizes, generator.choice(["red", "green", "blue"], size=400).tolist(), strict=True)
        )
        groups = [made.groups, Membership.from_labels("colour", colours)]
        found = verdicts(made.run, groups=groups, catalogue=True)
        assert [verdict.tests for verdict in found] == [5, 5]
        for verdict in found:
            for group in verdict.groups:
                excludes = group.share_low > group.target or group.share_high < group.target
                assert excludes == (group.decision in (FAVOURED, LESS))
                beyond = group.share < group.shown_below or group.share > group.shown_above
                assert excludes == beyond
                seen.add(group.decision)
        alone = verdicts(made.run, groups=groups[0], catalogue=True)[0].group("small")
        together = found[0].group("small")
        assert together.high - together.low > alone.high - alone.low
    assert seen == {FAVOURED, LESS, NOT_SHOWN}


def test_groups_that_are_too_small_and_few_queries_get_no_verdict(biased: Shop) -> None:
    few = replace_some(biased.sizes, "medium", 3)
    (found,) = verdicts(biased.run, groups=Membership.from_labels("seller_size", few), catalogue=True)
    assert (found.group("medium").decision, found.group("medium").documents) == (TOO_FEW, 3)
    assert found.group("medium").share_low == 0 < found.group("medium").target
    assert found.group("small").decision == LESS
    assert "medium (3)" in describe_small_groups(found)
    for count, enough in ((11, False), (12, True)):
        queries = list(biased.run.query_ids[:count])
        (found,) = verdicts(biased.run, groups=biased.groups, queries=queries, catalogue=True)
        assert ({group.decision for group in found.groups} == {TOO_FEW}) is not enough
        assert math.isnan(found.group("small").share_low) is not enough


def test_few_documents_that_get_all_attention_allow_no_verdict(biased: Shop) -> None:
    """Seven documents stand first in every list: whatever they are, they say nothing about the others."""
    first = list(biased.sizes)[:7]
    rows = [
        (query, document, float(-place))
        for query in biased.run
        for place, document in enumerate([*first, *biased.run.documents(query)])
        if place < 7 or document not in first
    ]
    (found,) = verdicts(Run.build(*zip(*rows, strict=True)), groups=biased.groups, catalogue=True, cutoff=7)
    assert found.units == pytest.approx(6.4, abs=0.5)
    assert {group.decision for group in found.groups} == {TOO_FEW}


def test_labels_that_belong_to_a_few_sellers_are_counted_by_seller(biased: Shop) -> None:
    """The same lists and labels: who has 40 documents with one label has one label and not forty."""
    sellers = {document: f"s{place // 40}" for place, document in enumerate(biased.sizes)}
    sizes = {document: "small" if int(seller[1:]) % 3 else "large" for document, seller in sellers.items()}
    plain = read_groups(sizes, "size")
    by_seller = read_groups(sizes, "size", unit=sellers)
    (alone,), (together,) = (verdicts(biased.run, groups=one, catalogue=True) for one in (plain, by_seller))
    assert (alone.unit, together.unit) == ("", "unit")
    assert together.units < 21 < alone.units
    one, other = alone.group("small"), together.group("small")
    assert (one.share, one.target) == (other.share, other.target)
    assert (one.queries_low, one.queries_high) == (other.queries_low, other.queries_high)
    assert other.share_high - other.share_low != one.share_high - one.share_low


@pytest.mark.parametrize("target", ["catalogue", "candidates"])
def test_the_order_of_the_labels_does_not_matter(biased: Shop, target: str) -> None:
    sellers = {document: f"s{place % 90}" for place, document in enumerate(biased.sizes)}
    sizes, turned = dict(biased.sizes), dict(reversed(biased.sizes.items()))
    for unit, other in ((None, None), (sellers, dict(reversed(sellers.items())))):
        groups = read_groups(sizes, "size", values=["small", "large"], unit=unit)
        others = read_groups(turned, "size", values=["small", "large"], unit=other)
        (one,), (same,) = (
            verdicts(biased.run, groups=which, catalogue=True, target=target) for which in (groups, others)
        )
        assert one.group("small").share_low == pytest.approx(same.group("small").share_low, abs=1e-9)
        assert one.group("small").share_high == pytest.approx(same.group("small").share_high, abs=1e-9)


def test_what_other_queries_would_give_is_the_interval_of_the_measure(biased: Shop) -> None:
    group = verdict_of(biased).group("small")
    row = er.evaluate(
        biased.run, "GroupShare(attr='seller_size', attention=log2, missing='none')@10", groups=biased.groups
    ).summary()
    own = next(one for one in row if one.column == "small")
    assert (own.low, own.high) == pytest.approx((group.queries_low, group.queries_high))


@pytest.mark.parametrize("target", ["catalogue", "candidates", "given"])
def test_what_can_be_reached_is_a_mean_of_what_each_list_can(target: str) -> None:
    """Every second query finds one small document: the others cannot make up for it."""
    weights = np.array([1 / math.log2(rank + 2) for rank in range(4)])
    weights /= weights.sum()
    rows, sizes = [], {}
    for query in range(20):
        for place in range(8):
            rich = query % 2 == 0
            sizes[f"d{query}-{place}"] = "small" if place >= (2 if rich else 7) else "large"
            rows.append((f"q{query}", f"d{query}-{place}", float(-place)))
    groups = Membership.from_labels(Attribute("size", ("small", "large"), target=(0.5, 0.5)), sizes)
    (found,) = verdicts(
        Run.build(*zip(*rows, strict=True)), groups=groups, catalogue=True, cutoff=4, target=target
    )
    small = found.group("small")
    best = {"rich": 1.0, "poor": weights[0]}
    least = {"rich": 1 - weights[:2].sum(), "poor": 0.0}
    aim = {"catalogue": (7 / 16, 7 / 16), "candidates": (6 / 8, 1 / 8), "given": (0.5, 0.5)}[target]
    each = [min(max(one, least[kind]), best[kind]) for kind, one in zip(("rich", "poor"), aim, strict=True)]
    assert small.reachable == pytest.approx(np.mean(each))
    lacking = sum(best[kind] < one for kind, one in zip(("rich", "poor"), aim, strict=True))
    assert small.unreachable == 10 * lacking == {"catalogue": 10, "candidates": 0, "given": 10}[target]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("catalogue", [True, False])
def test_lists_without_labelled_documents_get_no_verdict(biased: Shop, catalogue: bool) -> None:
    elsewhere = Membership.from_labels("seller_size", {"x": "small", "y": "large"})
    (found,) = verdicts(biased.run, groups=elsewhere, catalogue=catalogue)
    assert describe(found) == "seller_size: no verdict: no query has a list with a document of any group."
    assert Verdict.from_json(found.to_json()).queries == 0


def replace_some(sizes: dict[str, str], value: str, count: int) -> dict[str, str]:
    return {**sizes, **dict.fromkeys(list(sizes)[:count], value)}


def test_without_a_catalogue_the_target_is_what_was_found(biased: Shop) -> None:
    (found,) = verdicts(biased.run, groups=biased.groups)
    assert found.target == "candidates"
    assert all(math.isnan(group.catalogue) for group in found.groups)
    listed = {one for query in biased.run for one in biased.run.documents(query)}
    assert found.group("small").documents == sum(biased.sizes[one] == "small" for one in listed)
    (found,) = verdicts(biased.run, groups=biased.groups, documents="products.jsonl")
    assert found.target == "catalogue"
    (found,) = verdicts(biased.run, groups=biased.groups.with_target("collection"))
    assert found.target == "catalogue"
    (found,) = verdicts(biased.run, groups=biased.groups.with_target({"small": 0.4, "large": 0.6}))
    assert (found.target, found.group("small").target) == ("given", pytest.approx(0.4))
    with pytest.raises(ParameterError, match="a target must be one of catalogue, candidates, equal, given"):
        verdicts(biased.run, groups=biased.groups, target="fair")


def test_groups_by_query_have_no_catalogue(biased: Shop) -> None:
    labels = {
        query: {document: biased.sizes[document] for document in biased.run.documents(query)}
        for query in biased.run.query_ids
    }
    groups = Membership.from_labels("seller_size", labels)
    (found,) = verdicts(biased.run, groups=groups, documents="products.jsonl")
    assert found.target == "candidates"
    with pytest.raises(ParameterError, match="no share of the catalogue"):
        verdicts(biased.run, groups=groups, target="catalogue")


def test_words_are_an_attribute() -> None:
    lexicon = Lexicon.build("gender", {"female": ["she"], "male": ["he"]})
    counts = [(3, 1), (0, 2), (1, 0), (2, 2), (0, 0)]
    ids = [f"d{place}" for place in range(5)]
    words = WordCounts.build(ids, [10] * 5, counts, lexicon)
    run = Run.build(["q"] * 5, ids, [5.0, 4.0, 3.0, 2.0, 1.0])
    (found,) = verdicts(run, words=words)
    assert found.attribute == "words of gender"
    assert [(group.value, group.catalogue) for group in found.groups] == [
        ("female", 0.2), ("neutral", 0.6), ("male", 0.2),
    ]  # fmt: skip


def test_whatever_gets_no_verdict_is_named_with_the_reason(biased: Shop) -> None:
    many = {one: f"brand {place % 65}" for place, one in enumerate(biased.sizes)}
    sides = {
        query: {"for": {biased.run.documents(query)[0]: 1}, "against": {biased.run.documents(query)[1]: 1}}
        for query in biased.run.query_ids
    }
    brands, just = (
        Membership.from_labels("brand", many),
        Membership.from_labels("brand", {one: f"brand {place % 64}" for place, one in enumerate(many)}),
    )
    intents = Membership.from_intents(read_qrels(sides, diversity=True), "side")
    inputs = Inputs.of(biased.run, groups=[brands, intents, biased.groups])
    assert [verdict.attribute for verdict in verdicts(inputs)] == ["seller_size"]
    assert without_verdict(inputs) == [
        "brand: no verdict: it has 65 groups, and a verdict takes at most 64",
        "side: no verdict: its groups are intents, which differ from query to query",
    ]
    assert without_verdict(Inputs.of(biased.run, groups=[just, biased.groups])) == []
    several = Inputs.of({"drawn": RunSet.build([biased.run, biased.run], name="drawn")}, groups=biased.groups)
    assert verdicts(several) == ()
    assert without_verdict(several) == [
        "drawn: no verdict: it has several lists for a query, and a verdict is on one"
    ]


def test_the_worst_queries_are_those_that_give_the_group_least(biased: Shop) -> None:
    found = verdict_of(biased)
    shares = {
        query: slow_share(biased.run.documents(query)[:10], biased.sizes, "small", attention=True)
        for query in biased.run.query_ids
    }
    assert [one.share for one in found.worst] == pytest.approx(sorted(shares.values())[:3])
    texts = {query: f"text of {query}" for query in shares}
    (told,) = verdicts(biased.run, groups=biased.groups, catalogue=True, query_texts=texts)
    assert f"“text of {found.worst[0].query}”" in describe_worst(told)


def test_documents_without_a_label_keep_their_places(biased: Shop) -> None:
    """Labels that are missing at random do not move a share by more than the error of its mean."""
    whole = verdict_of(biased, target="equal").group("small")
    kept = np.random.default_rng(5).random(len(biased.sizes)) < 0.75
    sizes = {one: size for (one, size), keep in zip(biased.sizes.items(), kept, strict=True) if keep}
    groups = Membership.from_labels(Attribute("s", ("small", "large")), sizes)
    (found,) = verdicts(biased.run, groups=groups, target="equal", catalogue=True)
    small = found.group("small")
    assert abs(small.share - whole.share) < (small.share_high - small.share_low) * 1.25  # 5 standard errors
    assert f"({found.unlabelled} of 600 documents in the first places have no group): " in describe(found)


def test_too_many_documents_without_a_label_allow_no_verdict(biased: Shop) -> None:
    kept = np.random.default_rng(5).random(len(biased.sizes)) < 0.5
    sizes = {one: size for (one, size), keep in zip(biased.sizes.items(), kept, strict=True) if keep}
    (found,) = verdicts(biased.run, groups=Membership.from_labels("s", sizes), catalogue=True)
    assert {group.decision for group in found.groups} == {TOO_FEW}
    assert describe(found).startswith(f"s: no verdict: {found.unlabelled} of 600 documents in the first 10")
    assert "more than 33% is too much" in describe(found)


def test_worst_queries_give_less_than_chance_and_only_where_something_is_shown(biased: Shop) -> None:
    assert all(one.share < min(one.target, one.candidates) for one in verdict_of(biased).worst)
    even = shop(3, products=300, queries=40, depth=20)
    found = verdict_of(even)
    assert (found.shown, found.worst, describe_worst(found)) == (False, (), "")


def test_no_advised_method_reads_judgements(biased: Shop) -> None:
    qrels = {query: {biased.run.documents(query)[20]: 1} for query in biased.run.query_ids}
    inputs = Inputs.of(biased.run, groups=biased.groups, qrels=qrels)
    for method in methods_for("seller_size", 10, 40):
        (settled,), _, _ = inputs.settle([method])
        assert not any("relevance" in need for need in settled.needs)


def test_relevance_is_said_and_its_lack_too(biased: Shop) -> None:
    assert "is not known" in describe_relevance(verdict_of(biased).relevance)
    qrels = {query: {biased.run.documents(query)[0]: 1} for query in biased.run.query_ids}
    found = verdict_of(biased, qrels=qrels).relevance
    assert (found.measure, found.value, found.queries) == ("nDCG@10", 1.0, 60)
    assert describe_relevance(found).startswith("relevance: nDCG@10 is 1.0")
    clicked = describe_relevance(verdict_of(biased, qrels=qrels, clicks=True).relevance)
    assert (
        "follow position as well as relevance: FILE:clicks:eta=N sets how far they are corrected" in clicked
    )


def test_advice_is_the_cheapest_method_that_closes_the_gap(biased: Shop) -> None:
    inputs = Inputs.of(biased.run, groups=biased.groups)
    (found,) = advised(verdicts(inputs, catalogue=True, depth=40), inputs)
    advice = found.advice
    assert advice is not None
    assert advice.tried == tuple(map(repr, methods_for("seller_size", 10, 40)))
    aimed = biased.groups.with_target("collection")
    want = found.group("small").target
    left, cost = {}, {}
    for method in advice.tried:
        made = rerank(biased.run, method, groups=aimed)
        lists = [(made.documents(query)[:10], biased.run.documents(query)[:10]) for query in biased.run]
        left[method] = abs(
            np.mean([slow_share(new, biased.sizes, "small", attention=True) for new, _ in lists]) - want
        )
        cost[method] = np.mean([len(set(new) - set(old)) for new, old in lists])
    gap = want - found.group("small").share
    good = [method for method in advice.tried if left[method] <= 0.1 * gap]
    best = min(good, key=lambda method: cost[method]) if good else min(left, key=lambda method: left[method])
    assert advice.method == best
    assert advice.cost == pytest.approx(cost[best])
    assert advice.gain_low < advice.gain < advice.gain_high
    assert advice.gain == pytest.approx(advice.after - advice.before)
    assert f"to try: {best} --target seller_size=catalogue gives small" in describe_advice(found)


def test_advice_tells_what_it_costs_in_relevance(biased: Shop) -> None:
    qrels = {query: {biased.run.documents(query)[0]: 1} for query in biased.run.query_ids}
    inputs = Inputs.of(biased.run, groups=biased.groups, qrels=qrels)
    (found,) = advised(verdicts(inputs, catalogue=True, depth=40), inputs)
    assert found.advice is not None
    assert found.advice.cost_measure == "nDCG@10"
    assert found.advice.cost <= 0
    assert "and changes nDCG@10 by" in describe_advice(found)


@pytest.mark.parametrize("seed", [0, 5])
def test_advice_is_tested_on_the_same_queries_and_not_against_how_queries_differ(seed: int) -> None:
    """A gap that is shown may be narrower than the interval of the share, and can be closed all the same."""
    made = shop(seed, lowered=0.4, products=800, queries=60, depth=40)
    inputs = Inputs.of(made.run, groups=made.groups)
    (found,) = advised(verdicts(inputs, catalogue=True, depth=40), inputs)
    lowest, advice = found.less[0], found.advice
    assert -lowest.difference < lowest.share_high - lowest.share_low  # what was asked of a gain before
    assert advice is not None
    changed = rerank(made.run, advice.method, groups=made.groups.with_target("collection"))
    new, old = (
        np.array(
            [slow_share(run.documents(query)[:10], made.sizes, "small", attention=True) for query in run]
        )
        for run in (changed, made.run)
    )
    own = new - old
    spread = t.ppf(1 - 0.05 / 2, 59) * own.std(ddof=1) / math.sqrt(60)
    assert advice.gain == pytest.approx(own.mean())
    assert advice.gain_low == pytest.approx(own.mean() - spread, abs=0.01)
    assert advice.gain_low > 0


def test_where_no_method_helps_those_that_were_tried_are_named(biased: Shop) -> None:
    """Lists without a document of the group: no order gives it more."""
    rows = [
        (query, document, float(-place))
        for query in biased.run
        for place, document in enumerate(biased.run.documents(query))
        if biased.sizes[document] == "large"
    ]
    inputs = Inputs.of(Run.build(*zip(*rows, strict=True), name="large"), groups=biased.groups)
    (found,) = advised(verdicts(inputs, catalogue=True, depth=40), inputs)
    assert (found.less[0].value, found.less[0].share, found.advice) == ("small", 0.0, None)
    assert describe_no_advice(found).startswith(
        "Re-ranking the first 40 documents does not help: none of DetGreedy, DetCons and DetConstSort gives "
        "small clearly more"
    )


def test_nothing_is_advised_where_nothing_is_shown() -> None:
    made = shop(3, products=300, queries=40, depth=20)
    inputs = Inputs.of(made.run, groups=made.groups)
    (found,) = advised(verdicts(inputs, catalogue=True), inputs)
    assert (found.shown, found.advice, describe_advice(found)) == (False, None, "")
    lowest = found.lowest
    assert lowest is not None
    for text in (describe(found), describe_sureness(found), describe_no_advice(found)):
        assert f"{100 * lowest.shown_below:.0f}%" in text
        assert f"{100 * lowest.shown_above:.0f}%" in text
        assert "More queries would " in text


def test_a_verdict_goes_to_json_and_back(biased: Shop) -> None:
    inputs = Inputs.of({"one": biased.run, "two": biased.run}, groups=biased.groups)
    found = advised(verdicts(inputs), inputs)
    for verdict in found:
        text = json.dumps(verdict.to_json(), allow_nan=False)
        back = Verdict.from_json(json.loads(text))
        assert json.dumps(back.to_json()) == text
        assert describe(back) == describe(verdict)
        assert math.isnan(back.groups[0].catalogue)
    assert [line.split(",")[0] for line in describe_all(found)] == ["one", "two"]
    with pytest.raises(DataError, match="no verdict of this version"):
        Verdict.from_json({"kind": "other"})
    whole = found[0].to_json()
    with pytest.raises(DataError, match=r"summary\.json: is not a whole verdict"):
        Verdict.from_json({name: value for name, value in whole.items() if name != "groups"}, "summary.json")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["catalogue", "candidates"])
def test_without_a_bias_there_is_no_verdict(target: str) -> None:
    """At most 5 of 100 shops, give or take what chance allows; of 400 more than 44 have a chance below 1e-6.

    The sellers of a shop without a bias have nothing to do with its lists, so one shop makes ten.
    """
    wrong = 0
    for seed in range(40):
        made = shop(seed)
        for labels in range(10):
            wrong += verdict_of(made.relabelled(1000 * seed + labels), target=target).shown
    assert binom.sf(44, 400, 0.05) < 1e-6
    assert wrong <= 44


@pytest.mark.slow
def test_a_planted_bias_is_found_with_its_sign_and_size() -> None:
    """The interval holds the share that very many queries of shops of the same kind have."""
    truth = np.mean(
        [verdict_of(shop(seed, lowered=0.5)).group("small").difference for seed in range(100, 130)]
    )
    assert truth < -0.1
    inside = 0
    for seed in range(30):
        found = verdict_of(shop(seed, lowered=0.5)).group("small")
        assert found.decision == LESS
        inside += found.low <= truth <= found.high
    assert inside >= 22  # of 30 at 95%: fewer have a chance below 1e-5
