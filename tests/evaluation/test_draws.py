"""Several rankings a query, some of which have no value: the others count, and their share is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import toys

from evenrank import Run, RunSet, evaluate, origin, read_groups
from evenrank.data.tables import DocumentTable
from evenrank.grammar import register, unregister

GROUP = DocumentTable.build("group", ["a", "b", "c", "d"], {"": [[1, 0], [1, 0], [0, 1], [0, 1]]})
NAMES = ("ok", "infinite", "absent")


@pytest.fixture(autouse=True)
def registered():
    for toy in toys.TOYS:
        register(toy)
    yield
    for toy in toys.TOYS:
        unregister("measure", toy.name)


def rankings(*firsts: str) -> RunSet:
    """q1 has one document in each ranking, which is of one group and lacks the other; q2 always has both."""
    return RunSet.build(
        [Run.build(["q1", "q2", "q2"], [first, "a", "c"], [1.0, 2.0, 1.0]) for first in firsts], name="drawn"
    )


@pytest.mark.parametrize("times", [1, 5, 50])
def test_more_draws_do_not_lose_queries(times: int) -> None:
    scores = evaluate(rankings(*"aacd" * times), "ToyColumns@2", evidence=[GROUP])
    block = scores.blocks[0]
    assert block.values == pytest.approx(np.array([[1.0, 1.0], [0.5, 0.5]]))
    assert (block.status == 0).all()
    assert block.shares == pytest.approx(np.array([[0.5, 0.5], [1.0, 1.0]]))
    (note,) = [text for text in scores.notes["drawn"] if "undefined in some" in text]
    assert note.startswith("ToyColumns@2: 1 of 2 ")
    assert f"{4 * times} rankings" in note
    assert "50%" in note


def test_a_query_that_no_ranking_defines_is_undefined_with_its_reason() -> None:
    scores = evaluate(rankings(*"ab"), "ToyColumns@2", evidence=[GROUP])
    rows = {row.column: row for row in scores.summary()}
    assert rows["right"].undefined == {"absent": 1}
    assert rows["left"].defined == 2
    assert not [text for text in scores.notes["drawn"] if "undefined in some" in text]


@pytest.mark.parametrize("draws", [25, 60])
def test_random_lists_keep_a_query_that_some_of_them_do_not_define(draws: int) -> None:
    """The draws that have a value count alike, however they were evaluated together."""
    run = Run.build(["q"] * 6, list("abcdef"), np.arange(6.0, 0, -1), name="r")
    group = DocumentTable.build(
        "group", list("abcdef"), {"": [[3, 1], [1, 1], [0, 1], [0, 1], [0, 1], [0, 1]]}
    )
    found = origin(run, "ToyColumns@1", evidence=[group], background=run, draws=draws)
    (block,) = (block for block in found.scores.blocks if block.run == "(background)")
    counts = np.isfinite(block.draws).sum(axis=0)
    assert (0 < counts[0] < draws, counts[1]) == (True, draws)
    assert block.values[0] == pytest.approx(np.nanmean(block.draws, axis=0))
    assert block.shares[0] == pytest.approx(counts / draws)
    assert (block.status == 0).all()


def test_a_random_order_without_a_value_is_left_out(tmp_path: Path) -> None:
    """Of q1, one document in three has no group, and lists that begin with it have no KL@1."""
    (tmp_path / "side.csv").write_text("document,side\na,left\nb,right\n", encoding="utf-8")
    run = Run.build(["q1", "q1", "q1", "q2", "q3"], list("axbxa"), [3.0, 2.0, 1.0, 1.0, 1.0], name="r")
    scores = evaluate(
        run,
        "RandomOrder(measure=KL(missing='none'),samples=50)@1",
        groups=read_groups(tmp_path / "side.csv", "side"),
    )
    mean, error = scores.to_dict()["r"].values()
    assert mean["q1"] == pytest.approx(np.log(2))
    assert error["q1"] == pytest.approx(0, abs=1e-12)
    assert scores.summary()[0].undefined == {"measure undefined": 1}
    (note,) = [text for text in scores.notes["r"] if "some of the orders" in text]
    assert "for 1 of 3 queries" in note  # q2 has no value at all, q3 has one in every order


def test_one_random_order_with_a_value_has_no_error(tmp_path: Path) -> None:
    """Of two draws, one begins with the document that has no group, for some of the seeds."""
    (tmp_path / "side.csv").write_text("document,side\na,left\nb,right\n", encoding="utf-8")
    groups = read_groups(tmp_path / "side.csv", "side")
    run = Run.build(["q1", "q1"], ["a", "x"], [2.0, 1.0], name="r")
    found = set()
    for seed in range(6):
        name = f"RandomOrder(measure=KL(missing='none'),samples=2,seed={seed})@1"
        mean, error = evaluate(run, name, groups=groups).summary()
        found.add((f"{mean.value:.3f}", *mean.undefined, *error.undefined))
    assert found == {
        ("0.693",),
        ("0.693", "one order has a value"),
        ("nan", "measure undefined", "measure undefined"),
    }


def test_an_infinite_ranking_makes_the_mean_infinite() -> None:
    one, two = (Run.build(["q"], [document], [1.0]) for document in "ab")
    scores = evaluate(RunSet.build([one, two]), "ToyInfinite", qrels={"q": {"a": 1, "b": 0}})
    assert scores.to_dict()["runs"]["ToyInfinite"] == {"q": np.inf}
