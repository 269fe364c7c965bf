"""The slider: its lists are those of the re-ranker, and its numbers those of the measures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pages
import planted_shop
import pytest

import evenrank as er

SHARE = "GroupShare(attr='size',attention=log2)@10"


def slider_of(path: Path) -> dict[str, Any]:
    """What the page holds for the slider: for each query its documents, and lists and words by step."""
    (held,) = [e for e in pages.elements(pages.parsed(path)) if e.get("id") == "whatif-data"]
    found: dict[str, Any] = json.loads(held.text)
    return found


def lists_of(query: dict[str, Any], step: int) -> list[str]:
    return [query["documents"][place][0] for place in query["lists"][step]]


def percents(words: str) -> tuple[float, float]:
    """Of "small 17%, nDCG@10 0.5256": the share and the value."""
    share, value = re.fullmatch(r"small ([\d.]+)%, nDCG@10 ([\d.]+)", words).groups()  # type: ignore[union-attr]
    return float(share) / 100, float(value)


def test_every_step_is_the_re_ranker_with_a_target_in_between(shop_report: Path, shop_audit: Any) -> None:
    inputs = planted_shop.shop_comparison().inputs
    (groups,) = inputs.groups
    verdict = shop_audit.verdicts[0]
    slider = slider_of(shop_report)
    strengths = [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert slider["strengths"][1:] == [f"{strength:.0%}" for strength in strengths[1:]]
    live = inputs.runs["live"].head(100)
    asked = [pages.text_of(e) for e in pages.elements(pages.parsed(shop_report)) if e.tag.endswith("option")]
    ids = {text: query for query, text in planted_shop.shop_texts().items()}
    queries = [ids[text] for text in asked if text in ids][: len(slider["queries"])]
    assert len(queries) == 40
    assert queries[:3] == [one.query for one in verdict.worst]
    shares = []
    for place, strength in enumerate(strengths):
        aim = {one.value: (1 - strength) * one.share + strength * one.target for one in verdict.groups}
        made = live
        if strength:
            made = er.rerank(live, verdict.advice.method, groups=groups.with_target(aim))
        scores = er.evaluate(made, [SHARE, "nDCG@10"], groups=groups, qrels=inputs.qrels)
        mean = scores.mean(SHARE, column="small"), scores.mean("nDCG@10")
        assert percents(slider["words"][place]) == pytest.approx(mean, abs=0.0051)
        shares.append(mean[0])
        of_queries = scores.to_dict()[scores.runs[0]]
        for query, held in zip(queries, slider["queries"], strict=True):
            assert lists_of(held, place) == made.documents(query)[:10]
            own = of_queries[f"{SHARE}[small]"][query], of_queries["nDCG@10"][query]
            assert percents(held["words"][place]) == pytest.approx(own, abs=0.0051)
    assert shares == sorted(shares)


@pytest.mark.parametrize("kind", ["catalogue", "equal"])
def test_the_last_step_is_what_the_card_advises(kind: str, tmp_path: Path) -> None:
    found = planted_shop.shop_audit(tmp_path, kind)
    advice = found.verdicts[0].advice
    page = found.folder / "report.html"
    (section,) = [e for e in pages.elements(pages.parsed(page)) if e.get("id") == "whatif"]
    assert advice.method in pages.text_of(section)
    first, *_, last = map(percents, slider_of(page)["words"])
    assert last[0] == pytest.approx(advice.after, abs=0.0051)
    assert last[1] - first[1] == pytest.approx(advice.cost, abs=1.1e-4)


def test_nothing_to_try_where_no_group_is_below_its_target(tmp_path: Path) -> None:
    lists = {f"q{q}": {f"d{(d + q) % 20}": -float(d) for d in range(20)} for q in range(20)}
    groups = er.Membership.from_labels("side", {f"d{d}": "ab"[d % 2] for d in range(20)})
    comparison = er.compare({"one": lists, "same": lists}, "GF@10", groups=groups)
    comparison.report(tmp_path / "r.html")
    root = pages.parsed(tmp_path / "r.html")
    assert not [e for e in pages.elements(root) if e.get("id") == "whatif"]


def test_the_slider_moves_lists_and_numbers(browser: Any, shop_report: Path) -> None:
    slider = slider_of(shop_report)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(shop_report.as_uri())
    page.focus("#strength")
    for key, step in (("Home", 0), ("End", -1)):
        page.keyboard.press(key)
        worst = slider["queries"][0]
        assert page.locator("#strength-all").inner_text() == slider["words"][step]
        assert page.locator("#strength-one").inner_text() == worst["words"][step]
        shown = page.locator("#whatif-lists .side").nth(1).locator(".name").all_inner_texts()
        assert shown == lists_of(worst, step)
    page.close()


def test_hostile_names_run_nothing_in_the_slider(browser: Any, tmp_path: Path) -> None:
    planted_shop.shop_comparison(names=pages.PAYLOADS).report(tmp_path / "r.html")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto((tmp_path / "r.html").as_uri())
    page.focus("#strength")
    page.keyboard.press("End")
    assert page.evaluate("window.hurt") is None
    assert pages.PAYLOADS[0] + "small" in page.locator("#whatif").inner_text()
    page.close()
