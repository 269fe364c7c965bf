"""Power curves and maps of correlations draw what the comparison computed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from drawn import layers, made, marks, rows

from evenrank import compare
from evenrank.errors import ParameterError
from evenrank.reporting.figures import correlation_figure, power_figure

pytestmark = pytest.mark.needs("altair", "vl_convert")


def comparison() -> object:
    generator = np.random.default_rng(0)
    queries = generator.normal(0, 0.1, 20)
    return compare(
        made(
            {
                f"run {n}": {
                    "nDCG@10": (0.05 * n + queries + generator.normal(0, 0.05, 20)).tolist(),
                    "AP": (0.01 * n + queries + generator.normal(0, 0.2, 20)).tolist(),
                    "RR": generator.random(20).tolist(),
                }
                for n in range(7)
            }
        )
    )


def test_curves_are_the_p_values_of_all_pairs() -> None:
    curves = comparison().power(trials=200)  # type: ignore[attr-defined]
    chart = power_figure(curves)
    (line,) = marks(layers(chart), "line")
    assert len(rows(line)) == 3 * 21
    drawn: dict[str, list[float]] = {}
    for row in rows(line):
        drawn.setdefault(row["measure"].partition(":")[0], []).append(row["p"])
        assert row["pair"] == len(drawn[row["measure"].partition(":")[0]])
    assert drawn == {name: curve.tolist() for name, curve in curves.items()}
    below = {name: int((curve < 0.05).sum()) for name, curve in curves.items()}
    order = line["encoding"]["color"]["scale"]["domain"]
    assert order == [f"{n}: {c} of 21" for n, c in sorted(below.items(), key=lambda item: -item[1])]
    assert line["encoding"]["x"]["title"] == "pairs of systems, from the largest p to the smallest"
    assert line["encoding"]["y"]["title"] == "p of randomised Tukey HSD"
    assert line["encoding"]["y"]["scale"] == {"type": "sqrt", "domain": [0, 1]}
    (rule,) = marks(layers(chart), "rule")
    assert rows(rule) == [{"p": 0.05}]


def test_marks_are_on_their_lines_and_not_too_many() -> None:
    curve = np.linspace(1, 0, 210)
    (points,) = marks(layers(power_figure({"AP": curve}, alpha=0.01)), "point")
    assert 10 <= len(rows(points)) <= 15
    assert all(row["p"] == curve[row["pair"] - 1] for row in rows(points))
    assert rows(points)[-1]["pair"] == 210
    (rule,) = marks(layers(power_figure({"AP": curve}, alpha=0.01)), "rule")
    assert rows(rule) == [{"p": 0.01}]


def test_measures_without_pairs_are_left_out() -> None:
    (line,) = marks(layers(power_figure({"AP": [0.2], "RR": []})), "line")
    assert [row["measure"] for row in rows(line)] == ["AP: 0 of 1"]
    with pytest.raises(ParameterError, match="a p-value for some pair"):
        power_figure({"RR": []})


def test_cells_are_the_correlations() -> None:
    matrix, names, _ = comparison().correlations("kendall")  # type: ignore[attr-defined]
    chart = correlation_figure(matrix, names)
    (cells,) = marks(layers(chart), "rect")
    assert len(rows(cells)) == 3
    place = {name: number for number, name in enumerate(names)}
    for row in rows(cells):
        at = place[row["first"]], place[row["second"]]
        assert at[0] < at[1]
        assert (row["value"], row["low"], row["high"]) == (
            matrix.values[at], matrix.low[at], matrix.high[at],
        )  # fmt: skip
        assert (row["n"], row["text"]) == (7, f"{matrix.values[at]:.3f}")
    assert chart.to_dict()["title"]["text"] == "How measures agree: Kendall's tau"
    assert chart.to_dict()["title"]["subtitle"] == ["over systems, n = 7, with 95% intervals"]
    texts = list(marks(layers(chart), "text"))
    assert len(texts) == 2
    assert cells["encoding"]["x"]["sort"] == list(names[:-1])
    assert cells["encoding"]["y"]["sort"] == list(names[1:])


PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/touche22-gfr.md"


@pytest.mark.slow
def test_figure_2_and_table_1_of_gfr_on_touche(shared: Path) -> None:
    """21 runs are 210 pairs, each line has them all, and the page has their counts."""
    import evenrank as er
    from evenrank import read_groups

    folder = shared / "data/touche22_task2"
    runs = {path.stem: er.read_run(path) for path in sorted((folder / "runs").glob("*.txt"))}
    stance = read_groups(
        folder / "qrels/touche-task2-2022-stance.qrels", "stance",
        values=["FIRST", "SECOND", "NEUTRAL"], even=["NO"],
    )  # fmt: skip
    own = compare(
        runs, "nDCG@5 ERR@5 iRBU@5 GF@5 GFR@5", groups=stance,
        qrels=er.read_qrels(folder / "qrels/touche-task2-2022-relevance.qrels"),
    )  # fmt: skip
    curves = own.power()
    (line,) = marks(layers(power_figure(curves)), "line")
    assert len(rows(line)) == 5 * 210
    assert not any(math.isnan(row["p"]) for row in rows(line))
    matrix, names, _ = own.correlations("kendall")
    text = (
        PAGE.read_text(encoding="utf-8").partition("## Figure 2 and Table 1")[2].partition("## The report")[0]
    )
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "@5 |" in line
    ]
    assert [row[0] for row in shown] == sorted(curves, key=lambda name: -int((curves[name] < 0.05).sum()))
    for name, count, share, agreement in shown:
        differ = int((curves[name] < 0.05).sum())
        assert (count, share) == (str(differ), f"{differ / 210:.0%}")
        at = names.index(name), names.index("GF@5")
        known = f"{matrix.values[at]:.3f} [{matrix.low[at]:.3f}, {matrix.high[at]:.3f}]"
        assert agreement == ("" if name == "GF@5" else known)
