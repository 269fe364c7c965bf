"""Who sees what: balanced blocks, orders of greatest and least DUO, and nothing to foresee."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_walks as walks

from evenrank.study.assignment import block, condition_of_slot
from evenrank.study.conditions import _duo, leaning_of, order_of
from evenrank.study.settings import Condition

THREE = [Condition(name, "corpus") for name in "abc"]


def test_counts_are_even_at_the_end_of_each_block() -> None:
    for question in ("q1", "q2"):
        counts: Counter[str] = Counter()
        for slot in range(300):
            counts[condition_of_slot("seed", question, slot, THREE)] += 1
            if slot % 3 == 2:
                assert max(counts.values()) - min(counts[name] for name in "abc") == 0
            assert max(counts.values()) - min(counts[name] for name in "abc") <= 1  # within a block too
    shares = [Condition("a", "c", share=2), Condition("b", "c")]
    assert Counter(block("seed", "q", 5, shares)) == {"a": 2, "b": 1}


def test_every_order_of_a_block_is_as_likely() -> None:
    """1,200 blocks: each of the 6 orders within 5 standard errors of 200."""
    seen = Counter(tuple(block("seed", "q", number, THREE)) for number in range(1200))
    assert len(seen) == 6
    assert all(abs(count - 200) < 5 * (1200 * 1 / 6 * 5 / 6) ** 0.5 for count in seen.values())


def test_who_sees_only_other_blocks_guesses_by_chance() -> None:
    """Guess each assignment from everything known of the question's earlier blocks and of other questions:
    what followed most often after the same three assignments. A right guess has the chance 1/3."""
    after: dict[tuple[str, ...], Counter[str]] = {}
    right = total = 0
    for question in (f"q{number}" for number in range(40)):
        known: list[str] = []
        for number in range(50):
            for place, condition in enumerate(block("seed", question, number, THREE)):
                context = (*known[-3:], str(place))
                seen = after.setdefault(context, Counter())
                guess = seen.most_common(1)[0][0] if seen else "a"
                right += guess == condition
                total += 1
                seen[condition] += 1
            known += block("seed", question, number, THREE)
    assert abs(right / total - 1 / 3) < 5 * (2 / 9 / total) ** 0.5


def test_seeds_questions_and_blocks_give_other_orders() -> None:
    usual = [block("seed", "q", number, THREE) for number in range(20)]
    assert usual != [block("other", "q", number, THREE) for number in range(20)]
    assert usual != [block("seed", "p", number, THREE) for number in range(20)]
    assert usual == [block("seed", "q", number, THREE) for number in range(20)]


@pytest.mark.parametrize("seed", range(6))
def test_orders_are_the_extreme_ones(seed: int) -> None:
    """Against every order of six documents: the largest DUO that leans to the side, and the smallest DUO."""
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=6)
    scores[:2] = abs(scores[0]), -abs(scores[1])
    every = np.array(list(permutations(range(6))))
    values, _ = _duo(1, signed=True).of_scores(scores[every], np.full(len(every), 6, dtype=np.int64))
    for sign in (1, -1):
        places = order_of(scores, True, sign)
        best = (sign * values).max()
        if best <= 0:
            assert places is None  # a side that is never the majority
        else:
            found = leaning_of([scores[place] for place in places], 1)
            assert found.signed == pytest.approx(sign * best, abs=1e-9)
        balanced = order_of(scores, False, sign)
        assert leaning_of([scores[place] for place in balanced], 1).duo == pytest.approx(0, abs=1e-9)
        assert scores[balanced[0]] * sign > 0
        assert sorted(balanced) == list(range(6))


def test_a_side_that_is_never_the_majority_has_no_order() -> None:
    assert order_of(np.array([1.0, 0.9, 0.8, 0.7, -1.0]), True, -1) is None
    assert order_of(np.array([1.0, 0.9, 0.8, 0.7, -1.0]), True, 1) is not None


def test_ten_documents_are_ordered_soon() -> None:
    """Every score its own, so no two sets are alike."""
    scores = np.random.default_rng(0).normal(size=10)
    found = leaning_of([scores[place] for place in order_of(scores, True, 1)], 1)
    assert found.signed == pytest.approx(1.0)


@pytest.mark.slow
def test_each_participant_gets_the_next_place(tmp_path: Path) -> None:
    """Twelve participants, six conditions: two rounds of each question, whatever order questions came in."""
    client: Any = walks.client_of(walks.write_study(tmp_path / "study", quote_words="0", minimum_words="0"))
    for _ in range(12):
        client.cookies.clear()
        walks.walk(client)
    counts = walks.rows(
        client, "SELECT question, condition, COUNT(*) FROM assignments GROUP BY question, condition"
    )
    assert len(counts) == 18
    assert {count for _, _, count in counts} == {2}
    seed = walks.rows(client, "SELECT value FROM settings WHERE name = 'seed'")[0][0]
    assert len(seed) == 64
    for question, slot, condition in walks.rows(client, "SELECT question, slot, condition FROM assignments"):
        conditions = client.study_server.study.settings.conditions
        assert condition_of_slot(f"{seed} 1", question, slot, conditions) == condition


@pytest.mark.slow
def test_a_run_can_be_a_condition(tmp_path: Path) -> None:
    from evenrank.errors import DataError
    from evenrank.study.conditions import load_study
    from evenrank.study.settings import read_settings

    folder = walks.write_study(tmp_path / "study")
    condition = '[[conditions]]\nname = "fair"\ncorpus = "natural"\nrun = "fair.trec"\n'
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(condition)
    with pytest.raises(DataError, match=r"fair\.trec: no such file: the run of condition 'fair'"):
        load_study(read_settings(folder))
    orders = {
        question: [f"{question}-n{rank}" for rank in (3, 1, 2)]
        for question in ("cars", "homework", "museums")
    }
    lines = [
        f"{question} Q0 {name} {rank} {9 - rank} x\n"
        for question, names in orders.items()
        for rank, name in enumerate(names)
    ]
    (folder / "fair.trec").write_text("".join(lines), encoding="utf-8")
    study = load_study(read_settings(folder))
    assert [one.id for one in study.lists["cars", "fair"].documents] == orders["cars"]
    assert study.conditions["fair"].direction == 0
    (folder / "fair.trec").write_text("".join(lines).replace("cars-n1", "elsewhere"), encoding="utf-8")
    with pytest.raises(DataError, match="question 'cars': document 'elsewhere' is not in corpus 'natural'"):
        load_study(read_settings(folder))
