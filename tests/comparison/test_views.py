"""All pairs at once, how telling measures are, how they agree: the tables say what the statistics say."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from evenrank import Scores, compare, parse_measure
from evenrank.comparison import Comparison
from evenrank.comparison.all_pairs import correlation_table, power_table, tukey_tables
from evenrank.scores import OK, ScoresBlock
from evenrank.stats.tukey import randomised_tukey_hsd


def compared(seed: int = 0, systems: int = 4, queries: int = 20) -> tuple[Comparison, dict[str, np.ndarray]]:
    generator = np.random.default_rng(seed)
    levels = np.linspace(0.2, 0.7, systems)
    drawn = {
        measure: levels + generator.normal(0, noise, (queries, systems))
        for measure, noise in (("nDCG@10", 0.05), ("NDKL@10", 0.4))
    }
    blocks = []
    for measure, values in drawn.items():
        for place in range(systems):
            blocks.append(
                ScoresBlock(
                    f"s{place}",
                    parse_measure(measure),
                    tuple(map(str, range(queries))),
                    ("",),
                    values[:, [place]],
                    np.zeros((queries, 1), dtype=np.int16),
                    (OK, "infinite"),
                )
            )
    return compare(Scores(tuple(blocks))), drawn


def test_tukey_lists_all_pairs_the_better_one_first() -> None:
    comparison, drawn = compared()
    higher, lower = tukey_tables(comparison, trials=300)
    assert higher.title == f"nDCG@10 ↑, n = {len(drawn['nDCG@10'])}"
    hsd = randomised_tukey_hsd(drawn["nDCG@10"], trials=300, seed=0)
    means = drawn["nDCG@10"].mean(axis=0)
    assert len(higher.records) == 6
    for record in higher.records:
        one, other = int(record["system"][1]), int(record["other"][1])
        assert one > other  # higher is better, and levels rise
        assert record["difference"] == pytest.approx(means[one] - means[other])
        assert record["p"] == hsd.p_values[one, other]
    for record in lower.records:
        assert record["difference"] <= 0  # lower is better
    shown = {
        f"s{one}": ", ".join(
            f"s{other}" for other in range(one - 1, -1, -1) if hsd.p_values[one, other] < 0.05
        )
        for one in (3, 2, 1)
    }
    assert dict(higher.rows) == {system: beaten for system, beaten in shown.items() if beaten}
    assert "s0" in shown["s3"]
    text = higher.to_text()
    assert "s3" in text
    assert "300 trials" in text


def test_power_counts_pairs_and_puts_the_more_telling_measure_first() -> None:
    comparison, drawn = compared()
    sheet = power_table(comparison, trials=300)
    assert [row[-1] for row in sheet.rows] == [len(drawn["nDCG@10"])] * 2
    assert [record["measure"] for record in sheet.records] == ["nDCG@10", "NDKL@10"]
    for record in sheet.records:
        p = randomised_tukey_hsd(drawn[record["measure"]], trials=300, seed=0).p_values
        expected = int((p[np.triu_indices(4, 1)] < 0.05).sum())
        assert (record["differ"], record["pairs"]) == (expected, 6)
        assert record["share"] == pytest.approx(expected / 6)


def test_correlations_are_scipys() -> None:
    comparison, drawn = compared(systems=6)
    (record,) = correlation_table(comparison, "kendall").records
    means = [values.mean(axis=0) for values in drawn.values()]
    assert record["value"] == pytest.approx(stats.kendalltau(*means).statistic)
    (one,) = correlation_table(comparison, "pearson", over="queries", system="s2").records
    assert one["value"] == pytest.approx(stats.pearsonr(drawn["nDCG@10"][:, 2], drawn["NDKL@10"][:, 2])[0])
    assert one["n"] == 20


def test_rows_for_programs_are_the_records() -> None:
    comparison, _ = compared()
    sheet = power_table(comparison, trials=100)
    assert [json.loads(line) for line in sheet.to_jsonl().splitlines()] == list(sheet.records)
    head, first = sheet.to_tsv().splitlines()[:2]
    assert head.split("\t") == ["measure", "differ", "pairs", "share"]
    assert float(first.split("\t")[3]) == sheet.records[0]["share"]


def test_identical_systems_differ_nowhere() -> None:
    values = np.linspace(0, 1, 8)[:, None]
    status = np.zeros((8, 1), dtype=np.int16)
    ids = tuple(map(str, range(8)))
    blocks = tuple(
        ScoresBlock(name, parse_measure("nDCG@10"), ids, ("",), values, status, (OK, "infinite"))
        for name in ("a", "b", "c")
    )
    (sheet,) = tukey_tables(compare(Scores(blocks)), trials=50)
    assert sheet.rows == ()
    assert sheet.notes[0] == "no two systems are shown to differ"
    assert {record["p"] for record in sheet.records} == {1.0}


def test_a_correlation_over_three_systems_cannot_be_significant() -> None:
    draw = np.random.default_rng(3)
    ids = tuple(f"q{place}" for place in range(12))
    blocks = []
    for place in range(3):
        for measure in ("nDCG@10", "AP"):
            values = draw.random((12, 1)) / 10 + place / 4
            status = np.zeros((12, 1), dtype=np.int16)
            blocks.append(
                ScoresBlock(f"s{place}", parse_measure(measure), ids, ("",), values, status, (OK, "infinite"))
            )
    sheet = correlation_table(compare(Scores(tuple(blocks))), "spearman")
    assert sheet.rows[0][4] == "0.3333"
    assert "cannot be significant at alpha 0.05: with 3 points p is at least 0.3333" in sheet.notes
    assert "p: exact, from all orders of the points" in sheet.notes
    assert sheet.records[0]["least_p"] == pytest.approx(1 / 3)
