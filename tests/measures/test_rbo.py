"""Rank-biased overlap: the published example, other tools, what it promises, how a second run is given."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_oracles import bounds, extrapolated

from evenrank import DataError, ParameterError, Run, evaluate, write_run
from evenrank.cli import main


def run_of(*lists: str, name: str = "run") -> Run:
    """One query a list; every letter is a document."""
    rows = [(f"q{q}", d, -float(r)) for q, letters in enumerate(lists) for r, d in enumerate(letters)]
    return Run.build(*map(list, zip(*rows, strict=True)), name=name)


def rbo(one: str, two: str, measure: str = "RBO") -> float:
    return evaluate(run_of(one), measure, against=run_of(two)).mean(measure)


def test_the_weight_of_the_top() -> None:
    """With p = 0.9 the first ten ranks have 86% of the weight; 0.98 gives the first fifty about the same."""
    letters = "".join(map(chr, range(200, 300)))
    ten = rbo(letters, letters, "RBO(form='min')@10")
    assert ten == pytest.approx(0.86, abs=0.005)
    assert rbo(letters, letters, "RBO(p=0.98, form='min')@50") == pytest.approx(ten, abs=0.005)


@pytest.mark.parametrize(
    ("one", "two", "p", "value"),
    [
        ("abcdefg", "zcavwxy", 0.9, 0.288217285714),
        ("abcdefghijklmnopqrstuvwxyz", "kxcnarvmwyp", 0.99, 0.529391747453),
        ("abcde", "bacde", 0.9, 0.9),
        ("abcdefgh", "hb", 0.8, 0.4262144),
        ("a", "bcda", 0.95, 0.21434375),
        ("abcdefghij", "ajbkc", 0.98, 0.688812925546),
    ],
)
def test_values_of_the_package_rbo(one: str, two: str, p: float, value: float) -> None:
    """rbo 0.1.3, ``RankingSimilarity(one, two).rbo_ext(p)``, for lists of equal and of unequal length."""
    assert rbo(one, two, f"RBO(p={p})") == pytest.approx(value, abs=1e-11)


@pytest.mark.parametrize(
    ("one", "two", "p", "value"),
    [
        ("abcdefg", "zcavwxy", 0.9, 0.290512033705),
        ("abcde", "bacde", 0.9, 0.75580571903),
        ("abcde", "abced", 0.8, 0.96192289386),
        ("abcdefghij", "jihgfedcba", 0.85, 0.20127848274),
        ("abcdefghij", "ajbkclemdn", 0.9, 0.62301557551),
        ("abcdef", "abcdef", 0.9, 1.0),
        ("abcdef", "uvwxyz", 0.5, 0.0),
    ],
)
def test_values_of_lenskit(one: str, two: str, p: float, value: float) -> None:
    """LensKit 2025.8.1 divides by the weight of the ranks seen; ours lets the last agreement go on below.
    The two coincide where that is the mean agreement, and always after this change of weights."""
    depth = len(one)
    last = len(set(one) & set(two)) / depth
    assert rbo(one, two, f"RBO(p={p})@{depth}") == pytest.approx(
        value * (1 - p**depth) + last * p**depth, abs=1e-11
    )


LISTS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, min_size=1, max_size=14).map("".join)
PERSISTENCE = st.floats(0.05, 0.95).map(lambda value: round(value, 3))


@given(LISTS, PERSISTENCE)
def test_identical_lists_have_one_and_disjoint_lists_none(letters: str, p: float) -> None:
    assert rbo(letters, letters, f"RBO(p={p})") == pytest.approx(1, abs=1e-12)
    assert rbo(letters, letters.upper(), f"RBO(p={p})") == 0


@given(LISTS, LISTS, PERSISTENCE)
def test_bounds_order_and_symmetry(one: str, two: str, p: float) -> None:
    ext, low, rest = (rbo(one, two, f"RBO(p={p}, form={form!r})") for form in ("ext", "min", "res"))
    assert 0 <= low <= ext + 1e-12
    assert ext <= low + rest + 1e-12 <= 1 + 2e-12
    assert rbo(two, one, f"RBO(p={p})") == pytest.approx(ext, abs=1e-12)
    assert ext == pytest.approx(extrapolated(list(one), list(two), p), abs=1e-9)
    least, most = bounds(list(one), list(two), p)
    assert (low, low + rest) == pytest.approx((least, most), abs=1e-9)


@given(LISTS, LISTS, PERSISTENCE)
def test_seeing_more_narrows_the_bounds(one: str, two: str, p: float) -> None:
    """Webber et al. 2010, Section 4.2: the lower bound never falls and the residual never grows by depth."""
    low = [rbo(one, two, f"RBO(p={p}, form='min')@{k}") for k in range(1, 15)]
    rest = [rbo(one, two, f"RBO(p={p}, form='res')@{k}") for k in range(1, 15)]
    assert all(b >= a - 1e-12 for a, b in pairwise(low))
    assert all(b <= a + 1e-12 for a, b in pairwise(rest))


def test_a_query_that_the_second_run_lacks() -> None:
    scores = evaluate(run_of("ab", "ab"), "RBO RBO(form='res')", against=run_of("ab"))
    assert scores.to_dict()["run"]["RBO"] == {"q0": pytest.approx(1), "q1": 0.0}
    assert scores.to_dict()["run"]["RBO(form='res')"]["q1"] == 1
    assert any("1 of 2 queries have an empty list in one of the two runs" in n for n in scores.notes["run"])


def test_two_empty_lists_are_undefined() -> None:
    scores = evaluate(run_of("ab"), "RBO", against=run_of("ab"), queries=["q0", "q9"])
    (row,) = scores.summary()
    assert (row.defined, row.undefined) == (1, {"both lists are empty": 1})


def test_queries_of_the_second_run_alone_are_told() -> None:
    scores = evaluate(run_of("ab"), "RBO", against=run_of("ab", "cd", name="other"))
    assert "1 query in run 'other' but not in this one (left out): 'q1'" in scores.notes["run"]


def test_runs_without_a_common_query_are_refused() -> None:
    other = Run.build(["x1"], ["a"], [1.0], name="other")
    with pytest.raises(DataError, match=r"'other'.*'x1'"):
        evaluate(run_of("ab"), "RBO", against=other)


def test_parameters() -> None:
    with pytest.raises(ParameterError, match=r"RBO.*p "):
        evaluate(run_of("ab"), "RBO(p=1.0)", against=run_of("ab"))
    with pytest.raises(ParameterError, match="against="):
        evaluate(run_of("ab"), "RBO")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "one.trec", tmp_path / "two.trec"
    write_run(run_of("abcdefg", "ab"), one)
    write_run(run_of("zcavwxy", "ab"), two)
    code = main(
        ["evaluate", str(one), "--against", str(two), "-m", "RBO", "--view", "queries", "--format", "tsv"]
    )
    assert code == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    value = dict(zip(lines[0], lines[1], strict=True))["value"]
    assert float(value) == pytest.approx(0.288217285714, abs=1e-9)
    assert main(["evaluate", str(one), "-m", "RBO"]) == 2
    assert "--against FILE" in capsys.readouterr().err
