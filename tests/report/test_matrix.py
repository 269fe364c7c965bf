"""The small table of systems and measures: its numbers, its order, and intervals that tests contradict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pages
import planted_shop
import pytest

import evenrank as er
from evenrank import all_measures, parse_measure
from evenrank.measures import Direction
from evenrank.report.page.measure_pictures import LISTS, picture_of
from evenrank.report.page.sections.systems import OF_ITSELF
from evenrank.report.page.system_tables import contradiction, marked
from evenrank.tables import number


def rows_of(root: Any) -> list[list[str]]:
    (table,) = [e for e in pages.elements(root) if e.get("id") == "matrix"]
    rows = [row for row in table.iter(f"{pages.HTML}tr") if row[0].get("scope") == "row"]
    return [[pages.text_of(cell) for cell in row] for row in rows]


def test_cells_have_the_values_and_what_is_shown(shop_report: Path) -> None:
    comparison = planted_shop.shop_comparison()
    scores = comparison.scores
    rows = {row[0].removesuffix(" baseline"): row[1:] for row in rows_of(pages.parsed(shop_report))}
    for system in ("live", "new"):
        assert rows[system][0].startswith(number(scores.mean("GF@10", system)))
        assert rows[system][1].startswith(number(scores.mean("nDCG@10", system)))
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


@pytest.mark.parametrize(
    ("low", "high", "verdict", "words"),
    [
        (0.1, 0.2, "", "corrected for all of them nothing is shown"),
        (-0.2, -0.1, "", "corrected for all of them nothing is shown"),
        (-0.1, 0.2, "better", "the interval includes 0"),
        (0.1, 0.2, "better", ""),
        (-0.1, 0.2, "", ""),
        (float("nan"), float("nan"), "", ""),
    ],
)
def test_an_interval_and_a_test_that_seem_to_contradict_each_other_say_so(
    low: float, high: float, verdict: str, words: str
) -> None:
    pair = planted_shop.shop_comparison().pairs[0]
    note = contradiction(replace(pair, low=low, high=high, verdict=verdict, reason=None))
    assert (words in note) if words else note == ""


@pytest.mark.parametrize(
    ("p", "verdict", "words"),
    [
        (0.01, "", "no difference shown once corrected"),
        (0.2, "", "no difference shown"),
        (0.001, "better", "+ better"),
    ],
)
def test_a_cell_says_what_only_the_correction_undoes(p: float, verdict: str, words: str) -> None:
    pair = planted_shop.shop_comparison().pairs[0]
    assert marked(replace(pair, p_value=p, verdict=verdict, reason=None), 0.05) == words


def test_every_row_of_a_report_that_seems_to_contradict_itself_says_so(sample_report: Any) -> None:
    root = pages.parsed(sample_report.path)
    expected = [pair for pair in sample_report.comparison.pairs if contradiction(pair)]
    assert len(pages.by_class(root, "contradiction")) == len(expected)


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


@pytest.mark.parametrize("name", sorted(all_measures()))
def test_every_measure_with_a_better_side_has_a_picture(name: str) -> None:
    measure = all_measures()[name]()
    one_way = measure.direction in (Direction.HIGHER, Direction.LOWER)
    if measure.family in LISTS and one_way:
        picture = picture_of(measure)
        assert picture is not None
        assert len(picture.bad) == len(picture.good) == 5
        assert picture.bad != picture.good
    if measure.direction in (Direction.NONE, Direction.DISTANCE):
        assert picture_of(measure) is None


def test_a_column_of_shares_says_why_its_intervals_are_not_those_of_the_card(tmp_path: Path) -> None:
    inputs = planted_shop.shop_comparison().inputs
    comparison = er.compare(inputs, "GroupShare@10 nDCG@10", baseline="live")
    comparison.report(tmp_path / "shares.html")
    (matrix,) = [e for e in pages.elements(pages.parsed(tmp_path / "shares.html")) if e.get("id") == "matrix"]
    heads = [pages.text_of(cell) for cell in matrix.iter(f"{pages.HTML}th")]
    shares = [head for head in heads if "GroupShare" in head]
    assert shares
    assert all(OF_ITSELF in head for head in shares)
    assert not [head for head in heads if "nDCG" in head and OF_ITSELF in head]


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
