"""Runs made by hand: the order of their lists, what parts of them hold, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import DataError, ParameterError, Run

IDS = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)
LISTS = st.dictionaries(
    IDS,
    st.dictionaries(IDS, st.floats(allow_nan=False, allow_infinity=False) | st.integers(-2, 2), min_size=1),
    min_size=1,
)


def from_dict(lists, ties="trec", order=None) -> Run:
    rows = [(q, d, s) for q, inner in lists.items() for d, s in inner.items()]
    rows = rows if order is None else [rows[i] for i in order]
    return Run.build(*map(list, zip(*rows, strict=True)), ties=ties)


@given(LISTS)
def test_order_is_score_then_document_id_descending(lists) -> None:
    run = from_dict(lists)
    for query, inner in lists.items():
        expected = sorted(inner, key=lambda d: d.encode(), reverse=True)
        expected.sort(key=lambda d: -inner[d])
        assert run.documents(query) == expected
    assert set(run.query_ids) == set(lists)


@given(LISTS)
def test_ties_of_the_file_keep_the_order_of_appearance(lists) -> None:
    run = from_dict(lists, ties="file")
    for query, inner in lists.items():
        assert run.documents(query) == sorted(inner, key=lambda d: -inner[d])


@given(LISTS, st.randoms())
def test_scattered_rows_give_the_same_run(lists, random) -> None:
    total = sum(map(len, lists.values()))
    order = list(range(total))
    random.shuffle(order)
    assert from_dict(lists, order=order) == from_dict(lists)


@given(LISTS, st.integers(1, 5))
def test_head_and_select(lists, depth) -> None:
    run = from_dict(lists)
    head = run.head(depth)
    assert {q: head.documents(q) for q in head} == {q: run.documents(q)[:depth] for q in run}
    some = list(lists)[::2]
    assert {q: run.select(some).documents(q) for q in some} == {q: run.documents(q) for q in some}
    assert run.select([*some, "not there at all"]).query_ids == tuple(some)


@given(LISTS)
def test_tables_hold_what_the_run_holds(lists) -> None:
    run = from_dict(lists)
    assert run.to_dict() == lists
    frame = run.to_polars()
    assert frame.columns == ["query", "document", "rank", "score"]
    for query in run:
        part = frame.filter(frame["query"] == query)
        assert part["document"].to_list() == run.documents(query)
        assert part["rank"].to_list() == list(range(1, len(part) + 1))
    assert run.to_pandas()["document"].tolist() == frame["document"].to_list()


@given(LISTS)
def test_repeating_any_row_is_refused(lists) -> None:
    rows = [(q, d, s) for q, inner in lists.items() for d, s in inner.items()]
    with pytest.raises(DataError, match="twice"):
        Run.build(*map(list, zip(*rows, rows[len(rows) // 2], strict=True)))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_scores_are_finite(score: float) -> None:
    with pytest.raises(DataError, match="run:2: score"):
        Run.build(["q", "q"], ["a", "b"], [1.0, score])


def test_numbers_as_strings_differ_from_each_other() -> None:
    run = Run.build(["1", "01", "1"], ["007", "7", "7"], [1.0, 1.0, 2.0])
    assert run.to_dict() == {"1": {"7": 2.0, "007": 1.0}, "01": {"7": 1.0}}


def test_a_run_cannot_be_changed() -> None:
    run = Run.build(["q", "q"], ["a", "b"], [1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 5.0
    with pytest.raises(AttributeError):
        run.name = "other"


def test_a_wrong_tie_rule_or_depth() -> None:
    with pytest.raises(ParameterError, match=r"trec, file.*random"):
        Run.build(["q"], ["a"], [1.0], ties="random")
    with pytest.raises(ParameterError, match="depth"):
        Run.build(["q"], ["a"], [1.0]).head(0)
    with pytest.raises(KeyError, match="'p'"):
        Run.build(["q"], ["a"], [1.0]).documents("p")


def test_the_fingerprint_is_of_the_content() -> None:
    one = Run.build(["q", "q"], ["a", "b"], [1.0, 2.0], name="one", source="one.trec")
    same = Run.build(["q", "q"], ["b", "a"], [2.0, 1.0], name="two")
    other = Run.build(["q", "q"], ["a", "b"], [1.0, 3.0])
    moved = (
        Run.build(["q", "q"], ["ab", "c"], [1.0, 2.0]).fingerprint,
        Run.build(["q", "q"], ["a", "bc"], [1.0, 2.0]).fingerprint,
    )
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert moved[0] != moved[1]
    assert one.head(1).fingerprint != one.fingerprint
