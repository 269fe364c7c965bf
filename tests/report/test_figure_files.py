"""Every figure is written as a file: whole, without a network, and no name in it steers anything."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import HOSTILE, made
from effort import some

import evenrank as er
from evenrank.errors import ParameterError
from evenrank.reporting import figures

pytestmark = pytest.mark.needs("altair", "vl_convert")

CUTOFFS = ("AP", "P@1", "P@2", "RR@1", "RR@2", "R@1", "R@2")


def scores() -> er.Scores:
    """Runs and queries with every hostile name, whose values differ."""
    generator = np.random.default_rng(2)
    count = len(HOSTILE)
    return made(
        {run: {name: generator.random(count).tolist() for name in CUTOFFS} for run in HOSTILE}, HOSTILE
    )


def groups() -> er.Membership:
    labels = {f"d{place}": HOSTILE[place % 3] for place in range(12)}
    return er.Membership.from_labels(er.Attribute("x", HOSTILE[:3]), labels)


def lists() -> er.Run:
    return er.read_run({HOSTILE[4]: {f"d{n}": 9.0 - n for n in range(12)}}, name=HOSTILE[0])


def tradeoff() -> Any:
    return er.tradeoff(lists(), ["DetCons"], "NDKL@6 GF@6", groups=groups())


def shares() -> Any:
    own = er.evaluate({HOSTILE[3]: lists()}, "GroupShare@2", groups=groups())
    return figures.shares_figure(own, own.measures[0], by_query=True)


def correlations() -> Any:
    matrix, *_ = er.compare(scores()).correlations("kendall")
    return figures.correlation_figure(matrix, HOSTILE)


FIGURES: dict[str, Callable[[], Any]] = {
    "bars": lambda: figures.bars_figure(scores(), "AP"),
    "bars of queries": lambda: figures.bars_figure(scores(), "AP", runs=HOSTILE[:2], by_query=True),
    "scatter": lambda: figures.scatter_figure(scores(), "AP", "P@1"),
    "scatter of queries": lambda: figures.scatter_figure(scores(), "AP", "P@1", run=HOSTILE[0]),
    "cloud": lambda: figures.cloud_figure(scores(), "AP", "P@1", families={HOSTILE[0]: list(HOSTILE[:3])}),
    "cutoffs": lambda: figures.cutoff_figure(scores()),
    "origin": lambda: figures.origin_figure(
        {HOSTILE[2]: scores()}, HOSTILE[:2], improved=[(HOSTILE[3], HOSTILE[4])]
    ),
    "power": lambda: figures.power_figure(dict.fromkeys(HOSTILE, np.linspace(1, 0, 9))),
    "correlations": correlations,
    "shares": shares,
    "polarity": lambda: figures.polarity_figure(
        dict.fromkeys(HOSTILE, er.Polarity.build(["a", "b"], [1.0, -1.0]))
    ),
    "ranks": lambda: figures.ranks_figure(tradeoff()),
    "plane": lambda: figures.plane_figure(tradeoff()),
}


@pytest.mark.parametrize("kind", FIGURES)
def test_no_name_steers_a_figure(tmp_path: Path, kind: str) -> None:
    chart = FIGURES[kind]()
    json.dumps(chart.to_dict(), allow_nan=False)
    figures.save_figure(chart, tmp_path / "x.svg")
    drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "<script" not in drawn
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]


@pytest.mark.parametrize("kind", some(list(FIGURES)))
def test_no_name_steers_a_page_which_needs_no_network(tmp_path: Path, kind: str) -> None:
    figures.save_figure(FIGURES[kind](), tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<script") == page.count("</script>") == 3  # the data, the library, the call
    assert "<script>alert(1)" not in page
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert policy.count("'sha256-") >= 2
    assert not re.search(r"src=|href=|http:|https:", re.sub(r"(?s)<script.*?</script>", "", page))


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_pictures(tmp_path: Path, suffix: str, begins: bytes) -> None:
    figures.save_figure(FIGURES["cutoffs"](), tmp_path / f"x{suffix}")
    assert (tmp_path / f"x{suffix}").read_bytes().startswith(begins)


def test_a_format_that_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=re.escape("curves.gif")):
        figures.save_figure(FIGURES["cutoffs"](), tmp_path / "curves.gif")
    assert list(tmp_path.iterdir()) == []
