"""The small table of systems and measures: its numbers, its order, and intervals that tests contradict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pages
import planted_shop
import pytest

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
