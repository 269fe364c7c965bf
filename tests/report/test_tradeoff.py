"""Figures of trade-offs show the scores, and the command draws what it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn import layers, marks, rows

import evenrank as er
from evenrank import Membership, tradeoff
from evenrank.errors import ParameterError
from evenrank.reporting.figures import cloud_figure, plane_figure, ranks_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")

QUERIES, DOCUMENTS = 9, 24
METHODS = ["MMR(lam={0,0.4,0.8})", "DetCons", "Oracle", "Random"]


def run(name: str = "bm25") -> er.Run:
    generator = np.random.default_rng(5)
    lists = {f"q{q}": {f"d{d}": float(generator.random()) for d in range(DOCUMENTS)} for q in range(QUERIES)}
    return er.read_run(lists, name=name)


def groups(values: tuple[str, ...] = ("left", "right")) -> Membership:
    return Membership.from_labels("side", {f"d{d}": values[d % 2] for d in range(DOCUMENTS)})


def qrels() -> er.Qrels:
    return er.read_qrels(
        {f"q{q}": {f"d{d}": (d * 7 + q) % 3 for d in range(DOCUMENTS)} for q in range(QUERIES)}
    )


def made(methods: Any = METHODS, measures: str = "nDCG@6 NDKL@6", name: str = "bm25", **more: Any) -> Any:
    return tradeoff(run(name), methods, measures, groups=groups(), qrels=qrels(), **more)


def panels(chart: Any) -> list[dict[str, Any]]:
    whole = chart.to_dict()
    return [{"data": whole.get("data"), **panel} for panel in whole["concat"]]


def test_a_line_a_method_and_a_panel_a_measure() -> None:
    found = made(repeat=6)
    summary = {(row.run, row.measure): row for row in found.by_rank().summary()}
    drawn = panels(ranks_figure(found))
    assert [panel["title"]["text"] for panel in drawn] == [["nDCG ↑"], ["NDKL ↓"]]
    names = {variant.name: variant.name for variant in found.variants}
    names["Oracle"] = "Oracle (reads the judgements)"
    real = {shown: name for name, shown in names.items()}
    for measure, panel in zip(("nDCG", "NDKL"), drawn, strict=True):
        assert [layer["mark"]["type"] for layer in panel["layer"]] == ["area", "line", "point"]
        assert any(row["low"] is not None for row in panel["data"]["values"])
        for layer in panel["layer"]:
            plotted = layer.get("data", panel["data"])["values"]
            assert {(row["run"], row["cutoff"]) for row in plotted} == {
                (shown, rank) for shown in real for rank in range(1, 7)
            }
            for row in plotted:
                wanted = summary[real[row["run"]], f"{measure}@{row['cutoff']}"]
                ends = (wanted.low, wanted.high) if wanted.low == wanted.low else (None, None)
                assert (row["value"], row["low"], row["high"]) == (wanted.value, *ends)
            across = layer["encoding"]["x"]
            assert across["title"] == "rank position"
            assert across["scale"].get("type", "linear") == "linear"


def test_what_reads_the_judgements_is_a_family_of_its_own_in_the_cloud() -> None:
    scores = made(["Oracle", "DetCons", "MMR(lam=0.4)"]).scores
    for families in (None, {"all": ["Oracle", "DetCons"]}):
        (points,) = marks(layers(cloud_figure(scores, "NDKL@6", "nDCG@6", families=families)), "point")
        family = {row["run"]: row["family"] for row in rows(points)}
        assert [name for name in family if family[name] == family["Oracle"]] == ["Oracle"]
    plain = made(["Oracle", "DetCons"], "NDKL@6 dGF@6").scores  # that no judgement scores
    (points,) = marks(layers(cloud_figure(plain, "NDKL@6", "dGF@6")), "point")
    assert len({row["family"] for row in rows(points)}) == 1


def test_curves_end_at_the_scores() -> None:
    found = made(["MMR(lam=0)", "Random"], repeat=4)
    by_rank = found.by_rank()
    assert [repr(measure) for measure in by_rank.measures] == [
        f"{name}@{rank}" for name in ("nDCG", "NDKL") for rank in range(1, 7)
    ]
    for measure in found.measures:
        for variant in found.variants:
            assert by_rank.mean(measure, variant.name) == found.scores.mean(measure, variant.name)


def test_many_ranks_have_few_marks() -> None:
    (panel,) = panels(ranks_figure(made(["DetCons"], "nDCG@24")))
    line, points = (layer.get("data", panel["data"])["values"] for layer in panel["layer"][1:])
    assert len(line) == 2 * 24
    ranks = sorted({row["cutoff"] for row in points})
    assert len(ranks) <= 11
    assert (ranks[0], ranks[-1]) == (1, 24)


def test_fewer_queries_at_some_ranks_are_said() -> None:
    some = Membership.from_labels(
        "side", {f"d{d}": "left" if d % 2 else "right" for d in range(0, DOCUMENTS, 3)}
    )
    found = tradeoff(run(), "Random", "nDRKL@6 nDCG@6", groups=some, qrels=qrels())
    first, second = panels(ranks_figure(found))
    counts = {row.defined for row in found.by_rank().summary() if row.measure.startswith("nDRKL")}
    assert len(counts) > 1
    assert first["title"]["subtitle"][-1] == f"over {min(counts)} to {max(counts)} queries"
    assert second["title"]["subtitle"] == ["higher is better"]


def test_points_of_the_plane_are_the_scores() -> None:
    found = made(repeat=6)
    (points,) = marks(layers(plane_figure(found)), "point")
    plotted = {row["method"]: row for row in rows(points)}
    original, *others = [variant.name for variant in found.variants]
    assert list(plotted) == [*others, original]  # drawn last, so that no point hides it
    front = found.front()
    assert 1 < len(front) < len(plotted)
    for name, row in plotted.items():
        assert (row["x"], row["y"]) == tuple(found.scores.mean(measure, name) for measure in found.measures)
        assert row["front"] == (name in front)
        assert (row["fill"] == "white") == (name not in front)
        shapes = {"bm25": "diamond", "Oracle": "triangle"}
        assert row["shape"] == shapes.get(name, "circle")


def test_other_measures_can_be_chosen() -> None:
    found = made(measures="AP nDCG@6 NDKL@6 P@3")
    (points,) = marks(layers(plane_figure(found, "P@3", "NDKL@6")), "point")
    assert len(rows(points)) == len(found.variants)
    for row in rows(points):
        wanted = (found.scores.mean("P@3", row["method"]), found.scores.mean("NDKL@6", row["method"]))
        assert (row["x"], row["y"]) == wanted
        assert row["front"] == (
            row["method"] in found.front([er.parse_measure(m) for m in ("P@3", "NDKL@6")])
        )


def test_the_dashed_line_bounds_what_the_front_beats() -> None:
    """Every point of its corners is beaten or met by a point of the front, and joins two of them."""
    found = made()
    lines = list(marks(layers(plane_figure(found)), "line"))
    dashed = [layer for layer in lines if "strokeDash" in layer["mark"]]
    (edge,) = dashed
    path = [(row["x"], row["y"]) for row in sorted(rows(edge), key=lambda row: row["place"])]
    best = {(found.scores.mean("nDCG@6", name), found.scores.mean("NDKL@6", name)) for name in found.front()}
    assert set(path[::2]) == best
    for (left, right), (first, second) in zip(
        path[1::2], zip(path[::2], path[2::2], strict=False), strict=True
    ):
        assert left == min(first[0], second[0])  # more nDCG is better, so this is the worse
        assert right == max(first[1], second[1])  # less NDKL is better
    (family,) = [layer for layer in lines if "strokeDash" not in layer["mark"]]
    swept = [(row["x"], row["y"]) for row in sorted(rows(family), key=lambda row: row["place"])]
    assert swept == [
        (found.scores.mean("nDCG@6", name), found.scores.mean("NDKL@6", name))
        for name in ("MMR(lam=0)", "MMR(lam=0.4)", "MMR(lam=0.8)")
    ]


def test_what_is_signed_has_no_edge() -> None:
    chart = plane_figure(made(measures="nDCG@6 dGF@6"))
    assert not [layer for layer in marks(layers(chart), "line") if "strokeDash" in layer["mark"]]


@pytest.mark.parametrize("measures", ["AP", "nDCG@1 AP"])
def test_nothing_to_draw_by_rank(measures: str) -> None:
    with pytest.raises(ParameterError, match="values by rank need a measure with a cut-off of 2 or more"):
        ranks_figure(made(["DetCons"], measures))
    with pytest.raises(ParameterError, match="-m must name two"):
        plane_figure(made(["DetCons"], "AP"))
