"""The queries in a browser: sorted, filtered, searched, linked to, and two lists beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pages
import pytest

SHOWN = "details.query .value"


@pytest.fixture
def page(browser: Any, sample_report: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(120_000)
    made = context.new_page()
    made.goto(sample_report.path.as_uri())
    made.locator("details.query").first.wait_for()
    yield made
    context.close()


def differences(sample_report: Any) -> dict[str, float]:
    after, before = (sample_report.comparison.scores.block("NFaiRR@10", name) for name in ("fairer", "bm25"))
    old = dict(zip(before.query_ids, before.values[:, 0].tolist(), strict=True))
    return {q: v - old[q] for q, v in zip(after.query_ids, after.values[:, 0].tolist(), strict=True)}


def test_it_starts_closed_and_sorts_by_change(page: Any, sample_report: Any) -> None:
    assert page.locator("details.query[open]").count() == 0
    page.select_option("#choose-sort", "risen")
    changes = differences(sample_report)
    texts = sample_report.sample.queries
    first = max(changes, key=lambda query: changes[query])
    assert page.locator(".question").first.inner_text() == texts[first]
    assert page.locator("details.query .shown").first.get_attribute("class") == "shown better"
    page.select_option("#choose-sort", "fallen")
    first = min(changes.values())
    shown = page.locator("details.query .shown").first.inner_text()
    assert float(shown) == pytest.approx(first, abs=6e-5)


def test_brushing_the_histogram_filters(page: Any, sample_report: Any) -> None:
    values = sample_report.comparison.scores.block("NFaiRR@10", "fairer").values[:, 0].round(4)
    bins = pages.data_of(pages.parsed(sample_report.path))["bins"][0]
    system = 1
    assert sum(bins["counts"][system]) == len(values)
    page.locator("#bins").scroll_into_view_if_needed()
    box = page.locator("#bins").bounding_box()
    last = len(bins["counts"][system])
    page.mouse.move(box["x"] + box["width"] * 12.5 / last, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 15.5 / last, box["y"] + 20, steps=4)
    page.mouse.up()
    expected = sum(bins["counts"][system][12:16])
    assert 0 < expected < len(values)
    assert page.locator("details.query").count() == expected
    low, high = bins["edges"][12], bins["edges"][16]
    shown = [float(text) for text in page.locator(SHOWN).all_inner_texts()]
    assert all(low <= value < high for value in shown)
    assert "r=12-15" in page.url
    page.locator("#range-all").click()
    assert page.locator("details.query").count() == 44
    page.focus("#range-from")  # the same with keys alone
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert page.locator("details.query").count() == sum(bins["counts"][system][12:])


def test_a_link_opens_a_query_as_it_was_seen(page: Any, browser: Any, sample_report: Any) -> None:
    page.select_option("#choose-measure", label="nDCG@10")
    page.select_option("#choose-sort", "best")
    item = page.locator("details.query").nth(7)
    item.locator("summary").click()
    item.locator(".permalink").wait_for()
    link, asked = item.locator(".permalink").get_attribute("href"), item.locator(".question").inner_text()
    again = browser.new_page(viewport={"width": 1440, "height": 900})
    again.goto(sample_report.path.as_uri() + link)
    again.locator("details.query[open] .document").first.wait_for()
    assert again.locator("details.query[open] .question").all_inner_texts() == [asked]
    assert again.locator("#choose-measure").input_value() == "2"
    assert again.evaluate("document.activeElement.tagName") == "SUMMARY"
    again.close()


def test_documents_are_searched_too(page: Any, sample_report: Any) -> None:
    page.fill("#find", "Zieliński")
    page.wait_for_function(
        "() => /^[1-9]\\d* of 44 queries$/.test(document.getElementById('found').textContent)"
    )
    asked = set(page.locator(".question").all_inner_texts())
    runs, sample = sample_report.comparison.inputs.runs, sample_report.sample
    holding = {
        sample.queries[query]
        for run in runs.values()
        for query in run
        if any("Zieliński" in sample.documents[d] for d in run.documents(query)[:10])
    }
    assert asked == holding


def test_two_lists_beside_each_other(page: Any, sample_report: Any) -> None:
    runs = sample_report.comparison.inputs.runs
    texts = {text: query for query, text in sample_report.sample.queries.items()}
    page.select_option("#choose-sort", "risen")
    item = page.locator("details.query").first
    item.locator("summary").click()
    item.locator(".moves path").first.wait_for()
    query = texts[item.locator(".question").inner_text()]
    before, after = (runs[name].documents(query)[:10] for name in ("bm25", "fairer"))
    sides = item.locator(".side")
    assert sides.nth(0).locator(".name").all_inner_texts() == before
    assert sides.nth(1).locator(".name").all_inner_texts() == after
    assert item.locator(".moves path").count() == len({*before} & {*after})
    assert item.locator(".came .name").all_inner_texts() == [d for d in after if d not in before]
    assert item.locator(".gone .name").all_inner_texts() == [d for d in before if d not in after]
    deep = runs["bm25"].documents(query)
    for rank, (document, row) in enumerate(
        zip(after, sides.nth(1).locator(".document").all(), strict=True), 1
    ):
        old = deep.index(document) + 1
        expected = "= same" if old == rank else f"was {old}"
        assert expected in row.locator(".moved").inner_text()
    assert not any(text.endswith((" 0", " +0.0000")) for text in item.locator(".effect").all_inner_texts())


def test_keys_go_from_query_to_query(page: Any) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.parentElement.dataset.query") == "1"
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.locator("details.query[open] .document").first.wait_for()
    assert page.locator("details.query[open]").first.get_attribute("data-query") == "0"


def test_categories_filter(browser: Any, tmp_path: Path) -> None:
    import planted_shop

    from evenrank import Inputs, compare

    inputs = planted_shop.shop_comparison().inputs
    kinds = {query: ("toys" if place % 4 else "books") for place, query in enumerate(inputs.runs["live"])}
    compare(Inputs.of(inputs, categories=kinds), "GF@10").report(tmp_path / "r.html")
    page = browser.new_page()
    page.goto((tmp_path / "r.html").as_uri())
    page.select_option("#choose-category", label="books")
    assert page.locator("details.query").count() == 10
    page.close()


def test_the_words_above_the_queries_follow_what_is_chosen(page: Any) -> None:
    lead = page.locator("#queries .lead")
    assert "where they stood in the list of bm25" in lead.inner_text()
    page.select_option("#choose-system", label="bm25")
    assert "stood in" not in lead.inner_text()  # beside it stands the same list
    page.select_option("#choose-beside", label="fairer")
    assert "of bm25, lowest first" in lead.inner_text()
    assert "where they stood in the list of fairer" in lead.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})  # there lists are compared with the baseline
    page.wait_for_function("() => !document.querySelector('#queries .lead').textContent.includes('stood in')")
