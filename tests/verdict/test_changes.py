"""What changed against the baseline, and who stands at which rank, as a report shows it, by slow oracles."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import planted_shop
import pytest
from shops import slow_share

from evenrank import Membership, Run, compare
from evenrank.comparison import Comparison

pytestmark = pytest.mark.needs("altair", "vl_convert", "jinja2")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, str]:
    """The comparison, and its report."""
    path = tmp_path_factory.mktemp("changes") / "report.html"
    return planted_shop.shop_report(path), path.read_text(encoding="utf-8")


def sizes_of(run: Run) -> dict[str, str]:
    """A third of the products is large: those whose number three divides."""
    listed = {one for query in run for one in run.documents(query)}
    return {one: "small" if int(one[1:]) % 3 else "large" for one in listed}


def points(text: str) -> list[float]:
    return [float(one) for one in re.findall(r"[-+]?\d+(?:\.\d+)?(?=[%) ])", text)]


def test_a_report_tells_the_mean_of_differences(shown: tuple[Comparison, str]) -> None:
    comparison, page = shown
    live, new = (comparison.inputs.runs[name] for name in ("live", "new"))
    before, after = (
        np.array([slow_share(run.documents(q)[:10], sizes_of(run), "small", attention=True) for q in live])
        for run in (live, new)
    )
    (told,) = {text for text in re.split("[<>]", page) if text.strip().startswith("new gives small")}
    was, now, gained = 100 * before.mean(), 100 * after.mean(), 100 * (after - before).mean()
    spread = 100 * 1.96 * (after - before).std(ddof=1) / np.sqrt(len(before))
    numbers = [round(now), 10, round(was), round(gained, 1)]
    found = points(told)
    assert found[:4] == numbers
    assert found[-2:] == pytest.approx([gained - spread, gained + spread], abs=0.15 * spread)


def test_a_report_counts_who_stands_at_each_rank(shown: tuple[Comparison, str]) -> None:
    comparison, page = shown
    run = comparison.inputs.runs["live"]
    sizes = sizes_of(run)
    titles = list(dict.fromkeys(re.findall(r"<title>(rank \d+: [^<]*)</title>", page)))
    assert len(titles) == 10
    for rank, title in enumerate(titles):
        small = 100 * np.mean([sizes[run.documents(query)[rank]] == "small" for query in run])
        (told,) = re.findall(r"small ([\d.]+)%", title)
        assert float(told) == pytest.approx(small, abs=0.51)


def told(path: Path, pushes: dict[str, float]) -> str:
    """The text of a report on systems that put large sellers first, each by so much."""
    chance = np.random.default_rng(3)
    products = [f"p{place}" for place in range(1200)]
    sizes = {product: "small" if place % 3 else "large" for place, product in enumerate(products)}
    runs = {}
    for name, push in pushes.items():
        found = [(place // 30, one, chance.normal() + push * (sizes[one] == "large"))
                 for place, one in enumerate(products)]  # fmt: skip
        rows = [(f"q{query}", one, float(score)) for query, one, score in found]
        runs[name] = Run.build(*zip(*rows, strict=True), name=name)
    compare(runs, "GF@10", groups=Membership.from_labels("size", sizes)).report(path)
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", path.read_text(encoding="utf-8")))


def test_a_report_names_who_gives_more_and_who_less_of_several_systems(tmp_path: Path) -> None:
    text = told(tmp_path / "r.html", {"live": 2.0, "new": 0.3, "worse": 6.0, "same": 2.0})
    (sentence,) = re.findall(r"Of 3 other systems, .*? points remain", text)
    assert re.findall(r"(more|less) than live \((\w+) \d+%\)", sentence) == [
        ("more", "new"),
        ("less", "worse"),
    ]
    assert "for 1 no difference" in sentence
    text = told(tmp_path / "r.html", {"live": 2.0, "new": 0.3, "same": 2.0})
    (sentence,) = re.findall(r"Of 2 other systems, .*? points remain", text)
    assert re.findall(r"(more|less) than live \((\w+) \d+%\)", sentence) == [("more", "new")]


def test_a_report_names_a_single_system_of_which_nothing_is_shown(tmp_path: Path) -> None:
    text = told(tmp_path / "r.html", {"live": 2.0, "same": 2.0})
    (sentence,) = re.findall(r"No difference is shown: same gives small .*? points remain", text)
    low, high = map(float, re.findall(r"([-+][\d.]+) to ([-+][\d.]+) points remain", sentence)[0])
    assert low < 0 < high
    assert "Of 1 other" not in text


def test_a_report_names_the_group_where_nothing_is_shown_of_several_systems(tmp_path: Path) -> None:
    text = told(tmp_path / "r.html", {"live": 2.0, "same": 2.0, "again": 2.0})
    (sentence,) = re.findall(r"No difference is shown .*? points remain", text)
    assert "small (size)" in sentence
    assert "same gives" not in sentence


def test_a_report_begins_with_the_attribute_of_the_largest_difference(tmp_path: Path) -> None:
    """Of three sizes one gets what the two others lack; of two colours one lacks what the other gets."""
    chance = np.random.default_rng(3)
    products = [f"p{place}" for place in range(1200)]
    sizes = {product: ("large", "small", "tiny")[place % 3] for place, product in enumerate(products)}
    colours = {product: ("red", "blue")[place // 3 % 2] for place, product in enumerate(products)}
    push = {"large": 1.5, "red": 0.8}
    rows = [(f"q{place // 30}", one, chance.normal() + push.get(sizes[one], 0) + push.get(colours[one], 0))
            for place, one in enumerate(products)]  # fmt: skip
    run = Run.build(*zip(*rows, strict=True), name="live")
    groups = [Membership.from_labels("colour", colours), Membership.from_labels("size", sizes)]
    compare({"live": run, "same": run}, "GF(attr='size')@10", groups=groups).report(tmp_path / "r.html")
    text = re.sub("<[^>]+>", " ", (tmp_path / "r.html").read_text(encoding="utf-8"))
    places = [text.index(f"{name} is favoured") for name in ("large", "red")]
    assert places == sorted(places)
