"""Comparisons as tables for papers and as files."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import polars
import pytest
from drawn import made

from evenrank import ParameterError, compare
from evenrank.comparison import Comparison

LOW = np.linspace(0.1, 0.5, 12)
HIGH = LOW + 0.3 + np.tile([0.0, 0.01, -0.01], 4)


def compared(*names: str, baseline: str | list[str] | None = None) -> Comparison:
    """Systems that alternate between low and high values, on a measure that rises and one that falls."""
    runs = {
        name: dict.fromkeys(("nDCG@10", "NDKL@10"), HIGH if place % 2 else LOW)
        for place, name in enumerate(names)
    }
    return compare(made(runs), baseline=baseline)


def rows_of(table: str) -> dict[str, list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0]: row[1:] for row in cells}


def test_the_best_is_bold_and_letters_name_who_is_beaten_by_direction() -> None:
    rows = rows_of(compared("low", "high").to_table().to_markdown())
    assert rows["system"] == ["nDCG@10 ↑", "NDKL@10 ↓", "n"]
    assert rows["low<sup>a</sup>"] == [f"{LOW.mean():.4f}", f"**{LOW.mean():.4f}**", str(len(LOW))]
    assert rows["high"] == [
        f"**{HIGH.mean():.4f}**<sup>a</sup>",
        f"{HIGH.mean():.4f}<sub>a</sub>",
        str(len(LOW)),
    ]


def test_several_baselines_have_several_letters() -> None:
    comparison = compared("low", "high", "again", "more", baseline=["low", "high"])
    rows = rows_of(comparison.to_table().to_markdown())
    assert rows["more"][0] == f"**{HIGH.mean():.4f}**<sup>a</sup>"
    assert rows["again"][0] == f"{LOW.mean():.4f}<sub>b</sub>"


def test_more_systems_than_letters() -> None:
    names = [f"s{place}" for place in range(30)]
    comparison = compared(*names, baseline=names[:28])
    assert "s27<sup>ab</sup>" in comparison.to_table().to_markdown()
    assert comparison.to_table().to_latex().count("\\\\\n") == 31
    rows = [json.loads(line) for line in comparison.to_table().to_jsonl().splitlines()]
    assert len(rows) == len(comparison.pairs) == 2 * (28 * 30 - 28 * 29 // 2)
    for text in (comparison.to_table().to_tsv(), repr(comparison)):
        assert all(name in text for name in names)
        assert "nan" not in text


def test_latex_is_a_whole_tabular_with_names_neutralised() -> None:
    table = compared(r"low_\input{x}", "high & mighty").to_table().to_latex()
    assert r"\begin{tabular}{lrrr}" in table
    assert r"high \& mighty" in table
    assert r"\input" not in "".join(line for line in table.splitlines() if not line.startswith("%"))
    assert rf"\textbf{{{HIGH.mean():.4f}}}\textsuperscript{{a}}" in table
    assert rf"{HIGH.mean():.4f}\textsubscript{{a}}" in table
    assert r"nDCG@10 $\uparrow$ & NDKL@10 $\downarrow$" in table


def test_csv_holds_no_formula_and_every_digit() -> None:
    comparison = compared("=HYPERLINK(1)", "@sum", "+1", "-1", "plain")
    rows = list(csv.DictReader(io.StringIO(comparison.to_table().to_csv())))
    assert {row["baseline"] for row in rows} == {"'=HYPERLINK(1)"}
    assert [row["system"] for row in rows[:4]] == ["'@sum", "'+1", "'-1", "plain"]
    assert float(rows[0]["difference"]) == comparison.pairs[0].difference


def read(path: Path) -> list[dict[str, object]]:
    match path.suffix:
        case ".parquet":
            return polars.read_parquet(path).to_dicts()
        case ".gz" | ".jsonl":
            text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            return [json.loads(line) for line in text.splitlines()]
    return polars.read_csv(path, separator="," if path.suffix == ".csv" else "\t").to_dicts()


@pytest.mark.parametrize("name", ["c.csv", "c.tsv", "c.jsonl", "c.parquet", "c.jsonl.gz"])
def test_files_hold_a_row_for_each_pair(name: str, tmp_path: Path) -> None:
    comparison = compared("low", "high", "third")
    comparison.write(tmp_path / name)
    rows = read(tmp_path / name)
    assert list(rows[0])[:6] == ["measure", "system", "baseline", "difference", "low", "high"]
    assert [row["difference"] for row in rows] == [pair.difference for pair in comparison.pairs]
    shown = {"": "no difference shown"}
    assert [row["verdict"] for row in rows] == [
        shown.get(pair.verdict, pair.verdict) for pair in comparison.pairs
    ]


def test_the_name_tells_the_format(tmp_path: Path) -> None:
    comparison = compared("low", "high")
    comparison.write(tmp_path / "t.tex")
    comparison.write(tmp_path / "t.md")
    assert (tmp_path / "t.tex").read_text() == comparison.to_table().to_latex()
    assert (tmp_path / "t.md").read_text() == comparison.to_table().to_markdown()
    with pytest.raises(ParameterError, match=r"t\.xlsx"):
        comparison.write(tmp_path / "t.xlsx")


@pytest.mark.parametrize("others", [1, 5])
def test_where_nothing_is_shown_of_some_systems_the_table_has_what_remains_possible(others: int) -> None:
    """One system is better for every query, the others differ from the baseline by chance alone."""
    names = [f"s{place}" for place in range(others)]
    moved = {
        name: LOW + 0.05 * np.tile([1.0, -1.0, 0.3, -0.3], 3) + place / 1000
        for place, name in enumerate(names)
    }
    runs = {"low": LOW, "high": HIGH, **moved}
    found = compare(made({name: {"nDCG@10": values} for name, values in runs.items()}), baseline="low")
    unshown = [pair for pair in found.pairs if not pair.verdict]
    assert {pair.system for pair in unshown} == set(names)
    text = " ".join(repr(found).split())
    for end in (min(pair.low for pair in unshown), max(pair.high for pair in unshown)):
        assert f"{end:+.4f}" in text
