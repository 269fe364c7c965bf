"""The small table of systems and measures: its numbers, its order, and intervals that tests contradict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pages
import planted_shop
from drawn import made

from evenrank import compare, parse_measure


def rows_of(root: Any) -> list[list[str]]:
    (table,) = [e for e in pages.elements(root) if e.get("id") == "matrix"]
    rows = [row for row in table.iter(f"{pages.HTML}tr") if row[0].get("scope") == "row"]
    return [[pages.text_of(cell) for cell in row] for row in rows]


def test_cells_have_the_values_and_what_is_shown(shop_report: Path) -> None:
    comparison = planted_shop.shop_comparison()
    scores = comparison.scores
    rows = {row[0].removesuffix(" baseline"): row[1:] for row in rows_of(pages.parsed(shop_report))}
    for system in ("live", "new"):
        assert rows[system][0].startswith(f"{scores.mean('GF@10', system):.4f}")
        assert rows[system][1].startswith(f"{scores.mean('nDCG@10', system):.4f}")
    assert comparison.pairs[0].verdict == "better"
    assert rows["new"][0].endswith("+ better")
    assert "better" not in rows["live"][0]


def test_best_first_and_sorted_by_a_click(browser: Any, shop_report: Path) -> None:
    page = browser.new_page()
    page.goto(shop_report.as_uri())
    scores = planted_shop.shop_comparison().scores
    for column, measure in ((0, "GF@10"), (1, "nDCG@10")):
        page.locator("#matrix button").nth(column).click()
        order = sorted(("live", "new"), key=lambda name: -scores.mean(measure, name))
        names = [name.split()[0] for name in page.locator("#matrix tbody th").all_inner_texts()]
        assert names == order
        assert page.locator("#matrix [aria-sort]").count() == 1
    page.close()


def test_every_row_that_seems_to_contradict_itself_says_so(tmp_path: Path) -> None:
    """An interval is of one comparison, a verdict is corrected for all of them."""
    chance = np.random.default_rng(4)
    values = chance.random(20)
    runs = {"base": {"AP": values.tolist()}}
    for place in range(12):
        runs[f"run {place}"] = {"AP": (values + chance.normal(0.05, 0.1, 20)).tolist()}
    comparison = compare(made(runs))
    comparison.report(tmp_path / "r.html")
    contradict = [pair for pair in comparison.pairs if (pair.low <= 0 <= pair.high) == bool(pair.verdict)]
    assert 0 < len(contradict) < len(comparison.pairs)
    shown = pages.by_class(pages.parsed(tmp_path / "r.html"), "contradiction")
    assert len(shown) == len(contradict)


def test_a_measure_is_explained_by_a_sentence_and_a_picture(browser: Any, shop_report: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(shop_report.as_uri())
    heads, tip = page.locator("#matrix thead th"), page.locator("#tip-1")
    assert tip.is_hidden()
    heads.nth(2).scroll_into_view_if_needed()
    heads.nth(2).hover()
    assert tip.is_visible()
    assert tip.inner_text().startswith(parse_measure("nDCG@10").summary()[:40])
    assert tip.locator("rect.hi").count() == tip.locator("rect.lo").count() == 5
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.mouse.move(0, 0)
    assert tip.is_hidden()
    page.locator("#matrix button").nth(1).focus()
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    assert page.locator("#matrix button").nth(1).get_attribute("aria-describedby") == "tip-1"
    page.close()


def test_the_drawings_lie_on_one_axis_from_low_to_high(shop_report: Path) -> None:
    scores = planted_shop.shop_comparison().scores
    (table,) = [e for e in pages.elements(pages.parsed(shop_report)) if e.get("id") == "matrix"]
    rows = [row for row in table.iter(f"{pages.HTML}tr") if row[0].get("scope") == "row"]
    found: dict[str, list[tuple[float, ...]]] = {}
    for row in rows:
        for cell in row[1:]:
            drawn = {e.get("class", "dot"): e for e in pages.elements(cell) if e.get("x1") or e.get("cx")}
            low, high = (float(drawn["interval"].get(end)) for end in ("x1", "x2"))
            at, base = float(drawn["dot"].get("cx")), float(drawn["base"].get("x1"))
            assert low <= at <= high
            found.setdefault(pages.text_of(row[0]).split()[0], []).append((at, base))
    for column, measure in enumerate(("GF@10", "nDCG@10")):
        places = {system: found[system][column][0] for system in found}
        assert sorted(places, key=lambda system: places[system]) == sorted(
            places, key=lambda system: scores.mean(measure, system)
        )
        assert {found[system][column][1] for system in found} == {places["live"]}  # the baseline's own place
