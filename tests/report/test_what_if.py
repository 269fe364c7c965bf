"""The slider: its lists are those of the re-ranker, and its numbers those of the measures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pages
import planted_shop
import pytest

import evenrank as er
from evenrank.report.page import write_report
from evenrank.report.page.safe import name
from evenrank.report.page.sections.provenance import provenance_section
from evenrank.report.page.sections.shares import shares_section
from evenrank.report.page.sections.systems import systems_section
from evenrank.report.page.sections.verdicts import verdicts_section
from evenrank.report.page.sections.what_if import what_if_section
from evenrank.verdict.findings import findings_of
from evenrank.verdict.judge import share_measure
from evenrank.verdict.sentences import percent
from evenrank.verdict.what_if import STEPS, what_if


def test_every_step_is_the_re_ranker_with_a_target_in_between() -> None:
    inputs = planted_shop.shop_comparison().inputs
    (verdict,) = findings_of(inputs, baseline="live").of("live")
    found = what_if(verdict, inputs)
    assert found is not None
    live = inputs.runs["live"].head(100)
    for query in live:
        assert found.steps[0].run.documents(query) == live.documents(query)
    share = {group.value: group.share for group in verdict.groups}
    target = {group.value: group.target for group in verdict.groups}
    (groups,) = inputs.groups
    for strength, step in zip(STEPS[1:], found.steps[1:], strict=True):
        aim = {value: (1 - strength) * share[value] + strength * target[value] for value in share}
        made = er.rerank(live, found.method, groups=groups.with_target(aim))
        assert step.run.documents("q7") == made.documents("q7")
        again = er.evaluate(made, [share_measure("size", 10), "nDCG@10"], groups=groups, qrels=inputs.qrels)
        assert step.share == pytest.approx(again.mean(share_measure("size", 10), column="small"))
        assert step.value == pytest.approx(again.mean("nDCG@10"))
    shares = [step.share for step in found.steps]
    assert shares == sorted(shares)


@pytest.mark.parametrize("kind", ["catalogue", "candidates", "equal"])
def test_the_last_step_is_what_the_card_advises(kind: str) -> None:
    inputs = planted_shop.shop_comparison().inputs
    (verdict,) = findings_of(inputs, baseline="live", target=kind).of("live")
    assert verdict.advice is not None
    found = what_if(verdict, inputs)
    assert found is not None
    assert found.method == verdict.advice.method
    assert found.steps[-1].share == pytest.approx(verdict.advice.after)
    assert found.steps[-1].value - found.steps[0].value == pytest.approx(verdict.advice.cost)


@pytest.mark.parametrize("name", ["DetGreedy", "DetConstSort"])
def test_the_slider_takes_the_method_that_is_advised(name: str) -> None:
    inputs = planted_shop.shop_comparison().inputs
    (verdict,) = findings_of(inputs, baseline="live").of("live")
    assert verdict.advice is not None
    method = f"{name}(attr='size',top=10)@100"
    other = replace(verdict, advice=replace(verdict.advice, method=method))
    found = what_if(other, inputs)
    assert found is not None
    assert found.method == method
    live = inputs.runs["live"].head(100)
    (groups,) = inputs.groups
    target = {group.value: group.target for group in verdict.groups}
    made = er.rerank(live, method, groups=groups.with_target(target))
    assert [found.steps[-1].run.documents(q) for q in live] == [made.documents(q) for q in live]


def test_nothing_to_try_where_no_group_is_below_its_target(tmp_path: Path) -> None:
    comparison = planted_shop.shop_comparison()
    (verdict,) = findings_of(comparison.inputs, baseline="live").of("live")
    even = replace(verdict, groups=tuple(replace(group, decision="not shown") for group in verdict.groups))
    assert what_if(even, comparison.inputs) is None


def test_the_slider_moves_lists_and_numbers(browser: Any, shop_report: Path) -> None:
    inputs = planted_shop.shop_comparison().inputs
    (verdict,) = findings_of(inputs, baseline="live").of("live")
    found = what_if(verdict, inputs)
    assert found is not None
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(shop_report.as_uri())
    page.focus("#strength")
    page.keyboard.press("End")
    last = found.steps[-1]
    assert (
        page.locator("#strength-all").inner_text() == f"small {percent(last.share)}, nDCG@10 {last.value:.4f}"
    )
    worst = verdict.worst[0].query
    for key, step in (("Home", found.steps[0]), ("End", last)):
        page.keyboard.press(key)
        own = step.shares[found.queries.index(worst)], step.relevance[found.queries.index(worst)]
        shown = page.locator("#strength-one").inner_text()
        assert shown == f"small {percent(own[0])}, nDCG@10 {own[1]:.4f}"
    assert (
        page.locator("#whatif-lists .side").nth(1).locator(".name").all_inner_texts()
        == (last.run.documents(worst)[:10])
    )
    page.keyboard.press("Home")
    assert (
        page.locator("#whatif-lists .side").nth(1).locator(".name").all_inner_texts()
        == (found.steps[0].run.documents(worst)[:10])
    )
    page.close()


def test_hostile_names_in_the_card_the_bars_and_the_slider(browser: Any, tmp_path: Path) -> None:
    """Every payload is in the names of queries and documents, some in those of groups and systems."""
    plain = [re.sub(r"\W", "-", payload) for payload in pages.PAYLOADS]
    seen: list[Any] = []
    for kind, names in (("bad", pages.PAYLOADS), ("good", plain)):
        path = tmp_path / f"{kind}.html"
        comparison = planted_shop.shop_comparison(names=names)
        texts = {query: f"{query} asked" for query in next(iter(comparison.inputs.runs.values()))}
        comparison.report(path, query_texts=texts)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(path.as_uri())
        page.focus("#strength")
        page.keyboard.press("End")
        assert page.evaluate("window.hurt") is None
        parts = ("#verdicts", "#shares", "#whatif", "#matrix")
        seen.append(
            [
                page.locator(part).evaluate("e => Array.from(e.querySelectorAll('*'), x => x.tagName)")
                for part in parts
            ]
        )
        text = page.locator("#whatif").inner_text()
        page.close()
        if kind == "bad":
            options = pages.text_of(pages.parsed(path))
            for payload in names:
                assert re.sub(r"\s+", " ", name(payload)) in re.sub(r"\s+", " ", options)
            assert names[0] + "small" in text
    assert seen[0] == seen[1]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(pages.PAYLOADS), 3))
def test_every_payload_as_a_group_a_system_and_a_command(first: int, tmp_path: Path) -> None:
    """Names are turned, so that every payload stands once in every field that names reach."""
    made = [verdicts_section, shares_section, systems_section, what_if_section, provenance_section]
    tags = []
    for kind in ("bad", "good"):
        names = [*pages.PAYLOADS[first:], *pages.PAYLOADS[:first]]
        names = names if kind == "bad" else [re.sub(r"\W", "-", payload) for payload in names]
        comparison = planted_shop.shop_comparison(names=names)
        inputs = comparison.inputs
        own = findings_of(inputs, baseline=comparison.baselines[0])
        found = [
            replace(
                verdict,
                advice=None if verdict.advice is None else replace(verdict.advice, command=tuple(names)),
            )
            for verdict in own.verdicts
        ]
        path = tmp_path / f"{kind}.html"
        write_report(
            path, comparison.scores, comparison=comparison, inputs=inputs, sections=made, verdicts=found,
            command=" ".join(names),
        )  # fmt: skip
        tags.append([element.tag for element in pages.elements(pages.parsed(path))])
    assert tags[0] == tags[1]
