"""What changed against the baseline, and who stands at which rank, as a report shows it, by slow oracles."""

from __future__ import annotations

import re

import numpy as np
import planted_shop
import pytest
from shops import slow_share

from evenrank import Run
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
