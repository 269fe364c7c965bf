"""The first screen answers five questions: who is favoured, by how much, is it sure, where, what to do?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pages
import planted_shop
import pytest

import evenrank as er
from evenrank import Run, compare

SCREENS = [{"width": 1440, "height": 900}]
PHONE = {"width": 390, "height": 844}

# each question, and what of the card answers it
ANSWERS: Mapping[str, tuple[str, str]] = {
    "who is favoured?": (".answer", r"large is favoured"),
    "by how much?": (".answer", r"small is \d+% of .+ but gets \d+% of the attention in the first 10 places"),
    "is it sure?": (".card", r"How sure\? The 95% interval, over 40 queries.*, excludes the target"),
    "which queries?": (".worst", r"question number \d+"),
    "what should I do?": (".try", r"Det\w+\(.+\)\S* .*gives small \d+% instead of \d+%"),
    "at which cost?": (".try", r"nDCG@10 by -?0\.\d+"),
    "what changed?": (
        ".card",
        r"Against live: new gives small \d+% of the attention in the first 10 places instead of \d+%",
    ),
    "relevance?": (".card", r"Relevance: nDCG@10 is 0\.\d+"),
}


def in_words(root: Any, selector: str) -> str:
    (found,) = pages.by_class(root, selector.removeprefix("."))
    return pages.text_of(found)


@pytest.mark.parametrize("question", ANSWERS)
def test_the_card_answers(shop_report: Path, question: str) -> None:
    selector, answer = ANSWERS[question]
    assert re.search(answer, in_words(pages.parsed(shop_report), selector)), question


def test_every_answer_is_on_the_first_screen(browser: Any, shop_report: Path) -> None:
    for size, room in ((SCREENS[0], 900), (PHONE, None)):
        page = browser.new_page(viewport=size)
        page.goto(shop_report.as_uri())
        for selector in {selector for selector, _ in ANSWERS.values()}:
            box = page.locator(selector).first.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size["width"], selector
            if room is not None:
                assert box["y"] + box["height"] <= room, selector
        page.close()


def test_names_of_bars_are_not_broken_on_a_phone(browser: Any, sample_report: Any) -> None:
    """However long the remark beside a name is."""
    page = browser.new_page(viewport=PHONE)
    page.goto(sample_report.path.as_uri())
    page.evaluate(
        "document.querySelectorAll('.bar-note').forEach(note => note.textContent = 'remark '.repeat(20))"
    )
    heights = [name.bounding_box()["height"] for name in page.locator(".bar-name").all()]
    page.close()
    assert len(heights) >= 2
    assert max(heights) < 50


def test_the_card_says_what_the_verdict_says(shop_report: Path, shop_audit: Any) -> None:
    verdict = shop_audit.verdicts[0]
    (small,) = [one for one in verdict.groups if one.value == "small"]
    answer = in_words(pages.parsed(shop_report), ".answer")
    target, share = round(100 * small.target), round(100 * small.share)
    ends = [round(100 * (end - small.target)) for end in (small.share_low, small.share_high)]
    assert [int(number) for number in re.findall(r"\d+(?=%)", answer)][:2] == [target, share]
    assert "{} to {}".format(*ends) in answer
    texts = [
        pages.text_of(e) for e in pages.by_class(pages.parsed(shop_report), "worst")[0].iter(f"{pages.HTML}a")
    ]
    assert texts == [planted_shop.shop_texts()[one.query] for one in verdict.worst]


def test_the_card_comes_first(shop_report: Path) -> None:
    root = pages.parsed(shop_report)
    sections = [e.get("id") for e in pages.elements(root) if e.tag == f"{pages.HTML}section"]
    assert sections[:4] == ["verdicts", "shares", "systems", "whatif"]


def test_relevance_that_nobody_judged_is_said_to_be_unknown(tmp_path: Path) -> None:
    planted_shop.shop_comparison(judged=False).report(tmp_path / "r.html")
    card = in_words(pages.parsed(tmp_path / "r.html"), ".card")
    assert "Relevance: Relevance is not known: the favoured documents may be the better ones or not." in card
    assert "new documents into the first 10" in card


def test_without_groups_the_card_says_what_cannot_be_concluded(tmp_path: Path) -> None:
    runs = {
        name: Run.build(["q", "q", "r"], documents, [2.0, 1.0, 1.0], name=name)
        for name, documents in (("one", ["a", "b", "c"]), ("two", ["b", "a", "d"]))
    }
    comparison = compare(runs, "P@1", qrels={"q": {"b": 1}, "r": {"c": 2}})
    comparison.report(tmp_path / "r.html", query_texts={"q": "why is it so?", "r": "<b>what</b>"})
    card = in_words(pages.parsed(tmp_path / "r.html"), ".card")
    assert "--groups" in card
    assert "is favoured:" not in card
    assert "why is it so? 0.0000" in card
    scores = {name: er.evaluate(run, "P@1", qrels={"q": {"b": 1}}) for name, run in runs.items()}
    compare(scores).report(tmp_path / "s.html")
    assert "is favoured:" not in in_words(pages.parsed(tmp_path / "s.html"), ".card")


def test_no_difference_shown_is_a_verdict(tmp_path: Path) -> None:
    run = planted_shop.shop_comparison().inputs.runs["new"]
    labels = {d: ("a", "b")[int(d[1:]) % 2] for query in run for d in run.documents(query)}
    groups = er.Membership.from_labels("side", labels)
    comparison = compare({"one": run, "same": run}, "GF@10", groups=groups)
    comparison.report(tmp_path / "r.html")
    card = in_words(pages.parsed(tmp_path / "r.html"), ".card")
    assert "No group is shown to be favoured" in card
    assert "includes the target" in card
    assert "would have been shown. More queries would" in card
    assert "No difference is shown: same gives" in card
    assert "No group is shown to get less than its target" in card


def test_the_card_has_the_whole_command_to_try_and_no_folder_of_the_machine(shop_audit: Any) -> None:
    path = shop_audit.folder / "report.html"
    advised = shop_audit.verdicts[0].advice.command
    names = [re.sub(r"/\S*/", "", word) for word in advised]
    assert shlex.split(in_words(pages.parsed(path), ".command")) == names
    assert names != list(advised)
    assert str(shop_audit.folder.parent) not in path.read_text(encoding="utf-8")


def test_bars_are_the_shares_and_marks_the_targets(shop_report: Path, shop_audit: Any) -> None:
    bars = {
        pages.text_of(row).split()[0]: row for row in pages.by_class(pages.parsed(shop_report), "bar-row")
    }
    assert len(shop_audit.verdicts) == 2
    for verdict in shop_audit.verdicts:
        system = verdict.system
        at = 0.0
        parts = [e for e in pages.elements(bars[system]) if e.get("class", "") in ("g0", "g1")]
        for part, group in zip(parts, verdict.groups, strict=True):
            start, width = (float(part.get(name).rstrip("%")) for name in ("x", "width"))
            assert start == pytest.approx(at, abs=0.011)
            assert width == pytest.approx(100 * group.share, abs=0.006)
            at = start + width
        assert at == pytest.approx(100, abs=0.02)
        targets = [e for e in pages.elements(bars[system]) if e.get("class") == "target"]
        assert [float(mark.get("x").rstrip("%")) for mark in targets] == pytest.approx(
            [100 * verdict.groups[0].target] * 2, abs=0.006
        )
        interval = next(e for e in pages.elements(bars[system]) if e.get("class") == "interval")
        assert float(interval.get("x").rstrip("%")) == pytest.approx(
            100 * verdict.groups[0].share_low, abs=0.006
        )


CROSSED = """() => {
  const box = element => element.getBoundingClientRect();
  const numbers = [...document.querySelectorAll(".bar text")];
  const marks = [...document.querySelectorAll(".bar .target, .bar .interval")];
  const meet = (a, b) => a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
  return {
    numbers: numbers.length, marks: marks.length,
    crossed: marks.filter(mark => numbers.some(number => meet(box(mark), box(number)))).length,
  };
}"""


def test_no_mark_crosses_a_number(browser: Any, tmp_path: Path) -> None:
    """Half of what is found is small, but nothing in the first 10: 100% of large is written at 50%."""
    labels = {f"{size}{n}": size for size in ("large", "small") for n in range(40)}
    lists = {
        f"q{n}": {
            f"{size}{(n + i) % 40}": -i - 10.0 * (size == "small")
            for size in ("large", "small")
            for i in range(10)
        }
        for n in range(40)
    }
    groups = er.read_groups(labels, "size", values=["small", "large"])
    runs = {"run": er.read_run(lists), "same": er.read_run(lists)}
    compare(runs, "GF@10", groups=groups).report(tmp_path / "r.html")
    page = browser.new_page(viewport=SCREENS[0])
    page.goto((tmp_path / "r.html").as_uri())
    found = page.evaluate(CROSSED)
    page.close()
    assert found["numbers"] >= 2
    assert found["marks"] >= 2
    assert found["crossed"] == 0
