"""Which systems each measure calls better, with measures that conclude the same in one group."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from evenrank import Scores, compare, parse_measure
from evenrank.comparison import Comparison
from evenrank.comparison.conclusion_table import conclusion_table
from evenrank.scores import OK, ScoresBlock
from evenrank.stats.tukey import randomised_tukey_hsd

SYSTEMS = ("base", "base-uc", "rating", "rating-uc")
MEANS = {  # in the manner of Table 3 of gfr-2022: which pairs differ follows from the gaps
    "nDCG@10": (0.404, 0.479, 0.404, 0.479),
    "AP": (0.495, 0.545, 0.445, 0.506),
    "RR": (0.500, 0.575, 0.501, 0.576),
    "ARaB@10": (0.9, 0.1, 0.1, 0.9),
}


def drawn(queries: int = 60) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(7)
    found = {}
    for name, means in MEANS.items():
        noise = generator.normal(0, 0.02, (queries, len(SYSTEMS)))
        found[name] = np.array(means) + noise - noise.mean(axis=0)
    return found


def compared(names: tuple[str, ...] = tuple(MEANS)[:3]) -> tuple[Comparison, dict[str, np.ndarray]]:
    values = {name: column for name, column in drawn().items() if name in names}
    blocks = [
        ScoresBlock(
            system,
            parse_measure(name),
            tuple(map(str, range(len(column)))),
            ("",),
            column[:, [place]],
            np.zeros((len(column), 1), dtype=np.int16),
            (OK, "infinite"),
        )
        for name, column in values.items()
        for place, system in enumerate(SYSTEMS)
    ]
    return compare(Scores(tuple(blocks))), values


def beaten(values: np.ndarray) -> set[tuple[int, int]]:
    """The definition: the pairs of which the first has the higher mean and p is below 0.05."""
    p = randomised_tukey_hsd(values, trials=400, seed=0).p_values
    means = values.mean(axis=0)
    return {
        (one, two)
        for one, two in itertools.permutations(range(len(SYSTEMS)), 2)
        if p[one, two] < 0.05 and means[one] > means[two]
    }


def test_measures_with_equal_conclusions_share_a_row() -> None:
    comparison, values = compared()
    sheet = conclusion_table(comparison, trials=400)
    pairs = [beaten(column) for column in values.values()]
    assert pairs[0] == pairs[2] != pairs[1]
    assert [(record["group"], record["measure"]) for record in sheet.records] == [
        (1, "nDCG@10"),
        (1, "RR"),
        (2, "AP"),
    ]
    assert [record["differ"] for record in sheet.records] == [len(pairs[0]), len(pairs[2]), len(pairs[1])]
    assert len(pairs[0]) == 4
    first = sheet.rows[0]
    assert first[0] == "nDCG@10, RR"
    assert first[1] == "4 of 6"
    shown = {line.split(" >> ")[0]: set(line.split(" >> ")[1].split(", ")) for line in first[2].split("; ")}
    assert shown == {"base-uc": {"base", "rating"}, "rating-uc": {"base", "rating"}}
    assert first[3] == "2 tied"
    assert sorted(sheet.records[0]["top"]) == ["base-uc", "rating-uc"]


def test_the_top_is_who_beats_most_and_one_alone_is_named() -> None:
    comparison, values = compared(("AP",))
    (record,) = conclusion_table(comparison, trials=400).records
    wins = [sum(one == place for one, _ in beaten(values["AP"])) for place in range(4)]
    assert wins.count(max(wins)) == 1
    assert record["top"] == [SYSTEMS[int(np.argmax(wins))]]
    assert conclusion_table(comparison, trials=400).rows[0][3] == "base-uc"


def test_where_nothing_differs_all_systems_are_tied() -> None:
    values = np.linspace(0, 1, 8)[:, None]
    ids, status = tuple(map(str, range(8))), np.zeros((8, 1), dtype=np.int16)
    blocks = tuple(
        ScoresBlock(name, parse_measure(measure), ids, ("",), values, status, (OK, "infinite"))
        for measure in ("nDCG@10", "NDKL@10")
        for name in ("a", "b", "c")
    )
    sheet = conclusion_table(compare(Scores(blocks)), trials=50)
    assert sheet.rows == (("nDCG@10, NDKL@10", "0 of 3", "no two systems are shown to differ", "3 tied"),)


def test_a_measure_that_calls_no_system_better_stands_alone_and_has_no_top() -> None:
    comparison, _ = compared(("ARaB@10",))
    (row,) = conclusion_table(comparison, trials=400).rows
    assert "<>" in row[2]
    assert ">>" not in row[2]
    assert row[3] == ""


def test_a_measure_without_a_common_query_says_so() -> None:
    ids, status = ("q1", "q2"), np.zeros((2, 1), dtype=np.int16)
    blocks = tuple(
        ScoresBlock(name, parse_measure("nDCG@10"), (query,), ("",), np.ones((1, 1)), status[:1], (OK,))
        for name, query in zip(("a", "b"), ids, strict=True)
    )
    (row,) = conclusion_table(compare(Scores(blocks)), trials=50).rows
    assert row[2] == "undefined: no query has a defined value for every system"
    assert row[3] == ""


@pytest.mark.parametrize("trials", [100, 400])
def test_the_note_names_the_test(trials: int) -> None:
    comparison, _ = compared()
    (note, *_) = conclusion_table(comparison, trials=trials).notes
    assert f"{trials} trials" in note
    assert "alpha 0.05" in note
