"""Verdicts: shares, targets and differences against slow oracles, decisions against what was planted."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audits import audited, partly, verdict_of, verdicts_by_group
from scipy.stats import binom
from shops import Shop, shop, slow_share

import evenrank as er
from evenrank import ParameterError, Run, audit
from evenrank.io.clicks import read_clicks

FAVOURED, LESS, NOT_SHOWN = "favoured", "less than its target", "not shown"


@pytest.mark.parametrize("target", ["catalogue", "candidates", "equal", "given"])
@pytest.mark.parametrize("labelled", [1.0, 0.8])
def test_shares_and_targets_are_those_of_an_oracle(
    biased: Shop, tmp_path: Path, target: str, labelled: float
) -> None:
    sizes = partly(biased.sizes, labelled)
    given = "size=small:0.3,large:0.7" if target == "given" else target
    found = verdict_of(tmp_path, biased.run, sizes, documents=biased.sizes, target=given, depth=30, cutoff=7)
    firsts = {query: biased.run.documents(query)[:7] for query in biased.run}
    for group in found.groups:
        catalogue = list(sizes.values()).count(group.value) / len(sizes)
        shares, candidates = [], []
        for query in biased.run.query_ids:
            shares.append(slow_share(firsts[query], sizes, group.value, attention=True))
            candidates.append(
                slow_share(biased.run.documents(query)[:30], sizes, group.value, attention=False)
            )
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
        assert (group.low, group.high) == pytest.approx(
            (group.share_low - group.target, group.share_high - group.target)
        )
    bare = [document not in sizes for documents in firsts.values() for document in documents]
    weights = np.tile(1 / np.log2(np.arange(7) + 2), 60)
    assert (found.target, found.tests, found.level) == (target, 2, 0.95)
    assert (found.unlabelled, found.ranked) == (sum(bare), 420)
    assert found.unseen == pytest.approx(weights[bare].sum() / weights.sum())


def test_a_planted_bias_is_found(biased: Shop, tmp_path: Path) -> None:
    found = verdict_of(tmp_path, biased.run, biased.sizes)
    assert verdicts_by_group(found) == {"large": FAVOURED, "small": LESS}
    assert found.shown
    assert [group.value for group in found.less] == ["small"]
    assert [group.value for group in found.favoured] == ["large"]
    assert found.lowest == found.group("small")


def test_an_interval_and_a_decision_never_contradict_each_other(tmp_path: Path) -> None:
    """With several attributes all intervals hold together; exactly those without the target are verdicts."""
    seen = set()
    for seed in range(4):
        made = shop(seed, lowered=0.25, products=400, queries=40, depth=20)
        generator = np.random.default_rng(seed)
        colours = dict(
            zip(made.sizes, generator.choice(["red", "green", "blue"], size=400).tolist(), strict=True)
        )
        found = audited(tmp_path / str(seed), made.run, {"size": made.sizes, "colour": colours}).verdicts
        assert [verdict.tests for verdict in found] == [5, 5]
        for verdict in found:
            for group in verdict.groups:
                excludes = group.share_low > group.target or group.share_high < group.target
                assert excludes == (group.decision in (FAVOURED, LESS))
                beyond = group.share < group.shown_below or group.share > group.shown_above
                assert excludes == beyond
                seen.add(group.decision)
    assert seen == {FAVOURED, LESS, NOT_SHOWN}


def test_labels_that_belong_to_a_few_sellers_are_counted_by_seller(biased: Shop, tmp_path: Path) -> None:
    """The same lists and labels: who has 40 documents with one label has one label and not forty."""
    sellers = {document: f"s{place // 40}" for place, document in enumerate(biased.sizes)}
    sizes = {document: "small" if int(seller[1:]) % 3 else "large" for document, seller in sellers.items()}
    alone = verdict_of(tmp_path / "plain", biased.run, sizes)
    together = verdict_of(tmp_path / "units", biased.run, sizes, units=sellers)
    assert (alone.unit, together.unit) == ("", "owner")
    assert together.units < 21 < alone.units
    one, other = alone.group("small"), together.group("small")
    assert (one.share, one.target) == (other.share, other.target)
    assert (one.queries_low, one.queries_high) == (other.queries_low, other.queries_high)
    assert other.share_high - other.share_low != one.share_high - one.share_low


@pytest.mark.parametrize("target", ["catalogue", "candidates"])
@pytest.mark.parametrize("sold", [False, True])
def test_the_order_of_the_labels_does_not_matter(
    biased: Shop, tmp_path: Path, target: str, sold: bool
) -> None:
    sellers = {document: f"s{place % 90}" for place, document in enumerate(biased.sizes)} if sold else None
    ends = []
    for name, sizes in (("one", dict(biased.sizes)), ("other", dict(reversed(biased.sizes.items())))):
        values = sorted(set(sizes.values()), reverse=name == "other")
        found = verdict_of(tmp_path / name, biased.run, sizes, units=sellers, values=values, target=target)
        ends.append((found.group("small").share_low, found.group("small").share_high))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_what_other_queries_would_give_is_the_interval_of_the_measure(biased: Shop, tmp_path: Path) -> None:
    group = verdict_of(tmp_path, biased.run, biased.sizes).group("small")
    row = er.evaluate(
        biased.run, "GroupShare(attr='seller_size', attention=log2, missing='none')@10", groups=biased.groups
    ).summary()
    own = next(one for one in row if one.column == "small")
    assert (own.low, own.high) == pytest.approx((group.queries_low, group.queries_high))


@pytest.mark.parametrize("target", ["catalogue", "candidates", "size=small:0.5,large:0.5"])
def test_what_can_be_reached_is_a_mean_of_what_each_list_can(tmp_path: Path, target: str) -> None:
    """Every second query finds one small document: the others cannot make up for it."""
    weights = np.array([1 / math.log2(rank + 2) for rank in range(4)])
    weights /= weights.sum()
    rows, sizes = [], {}
    for query in range(20):
        for place in range(8):
            rich = query % 2 == 0
            sizes[f"d{query}-{place}"] = "small" if place >= (2 if rich else 7) else "large"
            rows.append((f"q{query}", f"d{query}-{place}", float(-place)))
    lists = Run.build(*zip(*rows, strict=True), name="run")
    found = verdict_of(tmp_path, lists, sizes, cutoff=4, target=target)
    small = found.group("small")
    best = {"rich": 1.0, "poor": weights[0]}
    least = {"rich": 1 - weights[:2].sum(), "poor": 0.0}
    aim = {"catalogue": (7 / 16, 7 / 16), "candidates": (6 / 8, 1 / 8), "given": (0.5, 0.5)}[found.target]
    each = [min(max(one, least[kind]), best[kind]) for kind, one in zip(("rich", "poor"), aim, strict=True)]
    assert small.reachable == pytest.approx(np.mean(each))
    lacking = sum(best[kind] < one for kind, one in zip(("rich", "poor"), aim, strict=True))
    assert small.unreachable == 10 * lacking == {"catalogue": 10, "candidates": 0, "given": 10}[found.target]


def test_without_a_catalogue_the_target_is_what_was_found(biased: Shop, tmp_path: Path) -> None:
    found = verdict_of(tmp_path, biased.run, biased.sizes, catalogue=False)
    assert found.target == "candidates"
    assert all(math.isnan(group.catalogue) for group in found.groups)
    listed = {one for query in biased.run for one in biased.run.documents(query)}
    assert found.group("small").documents == sum(biased.sizes[one] == "small" for one in listed)


@pytest.mark.parametrize("catalogue", [True, False])
def test_the_target_of_an_attribute_has_the_names_of_the_commands(
    biased: Shop, tmp_path: Path, catalogue: bool
) -> None:
    for number, (given, kind) in enumerate(
        {
            "size=collection": "catalogue",
            "size=catalogue": "catalogue",
            "size=pool": "candidates",
            "size=small:0.4,large:0.6": "given",
        }.items()
    ):
        folder = tmp_path / str(number)
        found = verdict_of(folder, biased.run, biased.sizes, catalogue=catalogue, target=given)
        assert found.target == kind
    assert found.group("small").target == pytest.approx(0.4)
    with pytest.raises(ParameterError, match="fair"):
        verdict_of(tmp_path, biased.run, biased.sizes, target="fair")


def test_groups_by_query_have_no_catalogue(biased: Shop, tmp_path: Path) -> None:
    lines = [
        f"{query},{document},{biased.sizes[document]}\n"
        for query in biased.run
        for document in biased.run.documents(query)
    ]
    (tmp_path / "sizes.csv").write_text("query,document,size\n" + "".join(lines))
    given: dict[str, Any] = {"documents": str(tmp_path / "documents.csv"), "catalogue": False}
    own = [f"own={tmp_path / 'sizes.csv'}:column=size"]
    er.write_run(biased.run, tmp_path / "run.trec")
    (tmp_path / "documents.csv").write_text("id,text\nd1,x\n")
    given = {"documents": str(tmp_path / "documents.csv"), "groups": own}
    (found,) = audit(str(tmp_path / "run.trec"), tmp_path / "audit", **given).verdicts
    assert found.target == "candidates"
    with pytest.raises(ParameterError, match="own"):
        audit(str(tmp_path / "run.trec"), tmp_path / "audit", target="catalogue", **given)


def test_words_are_an_attribute(tmp_path: Path) -> None:
    """Of most words, where a document has two of them or more."""
    (tmp_path / "w.csv").write_text("word,group\nshe,female\nhe,male\n")
    texts = ["she she she he", "he he", "she", "she he she he", "none"]
    (tmp_path / "d.tsv").write_text("".join(f"d{place}\t{text}\n" for place, text in enumerate(texts)))
    (tmp_path / "r.trec").write_text("".join(f"q 0 d{place} {place} {5 - place} r\n" for place in range(5)))
    (found,) = audit(
        str(tmp_path / "r.trec"), tmp_path / "audit",
        documents=str(tmp_path / "d.tsv"), lexicon=str(tmp_path / "w.csv"),
    ).verdicts  # fmt: skip
    assert "w" in found.attribute
    assert [(group.value, group.catalogue) for group in found.groups] == [
        ("female", 0.2), ("neutral", 0.6), ("male", 0.2),
    ]  # fmt: skip


@pytest.mark.parametrize("target", ["catalogue", "candidates"])
def test_the_worst_queries_are_those_that_give_the_group_least_of_its_target(
    biased: Shop, tmp_path: Path, target: str
) -> None:
    rows = []  # large sellers first, but for one of a small seller at a rank of its own
    for number, query in enumerate(biased.run):
        order = sorted(biased.run.documents(query), key=lambda one: biased.sizes[one])
        order.insert(1 + number % 9, order.pop())
        rows += [(query, document, float(-place)) for place, document in enumerate(order)]
    run = Run.build(*zip(*rows, strict=True), name="shop")
    texts = {query: f"text of {query}" for query in run}
    found = verdict_of(tmp_path, run, biased.sizes, queries=texts, target=target)
    shares, candidates = (
        {
            query: slow_share(run.documents(query)[:depth], biased.sizes, "small", attention=depth == 10)
            for query in run
        }
        for depth in (10, 40)
    )
    catalogue = found.group("small").catalogue
    aims = candidates if target == "candidates" else dict.fromkeys(shares, catalogue)
    gaps = sorted(shares[query] - aims[query] for query in shares if shares[query] < candidates[query])
    assert [one.share - one.target for one in found.worst] == pytest.approx(gaps[:3])
    for one in found.worst:
        assert (one.share, one.text) == (pytest.approx(shares[one.query]), texts[one.query])
        assert one.candidates == pytest.approx(candidates[one.query])


def test_relevance_is_known_from_judgements_alone(biased: Shop, tmp_path: Path) -> None:
    found = verdict_of(tmp_path / "none", biased.run, biased.sizes).relevance
    assert (found.measure, found.queries) == ("", 0)
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {biased.run.documents(query)[1]} 1\n" for query in biased.run)
    )
    judged = verdict_of(tmp_path, biased.run, biased.sizes, qrels=str(tmp_path / "qrels.txt")).relevance
    assert (judged.measure, judged.queries, judged.clicks) == ("nDCG@10", 60, False)
    assert judged.value == pytest.approx(1 / math.log2(3))
    rows = [f"{query},{biased.run.documents(query)[1]},2,5,10\n" for query in biased.run]
    (tmp_path / "clicks.csv").write_text("query,document,rank,clicks,impressions\n" + "".join(rows))
    clicks = read_clicks(tmp_path / "clicks.csv")
    assert verdict_of(tmp_path, biased.run, biased.sizes, qrels=clicks).relevance.clicks


@pytest.mark.slow
@pytest.mark.parametrize("target", ["catalogue", "candidates"])
def test_without_a_bias_there_is_no_verdict(tmp_path: Path, target: str) -> None:
    """At most 5 of 100 shops, give or take what chance allows; of 200 more than 26 have a chance below 1e-5.

    The sellers of a shop without a bias have nothing to do with its lists, so one shop makes ten.
    """
    wrong = 0
    for seed in range(20):
        made = shop(seed)
        for labels in range(10):
            sizes = made.relabelled(1000 * seed + labels).sizes
            wrong += verdict_of(tmp_path / f"{seed}-{labels}", made.run, sizes, target=target).shown
    assert binom.sf(26, 200, 0.05) < 1e-5
    assert wrong <= 26


@pytest.mark.slow
def test_a_planted_bias_is_found_with_its_sign_and_size(tmp_path: Path) -> None:
    """The interval holds the share that very many queries of shops of the same kind have."""

    def small(seed: int) -> Any:
        made = shop(seed, lowered=0.5)
        return verdict_of(tmp_path / str(seed), made.run, made.sizes).group("small")

    truth = np.mean([small(seed).difference for seed in range(100, 130)])
    assert truth < -0.1
    found = [small(seed) for seed in range(30)]
    assert {one.decision for one in found} == {LESS}
    inside = sum(one.low <= truth <= one.high for one in found)
    assert inside >= 22  # of 30 at 95%: fewer have a chance below 1e-5
