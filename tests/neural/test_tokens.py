"""Tokens of pairs: the same however they are made, kept without copying all of them every time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from evenrank.neural import PairTokens
from evenrank.neural.ahead import ahead
from evenrank.neural.tokens import SeparateTokens

pytestmark = pytest.mark.needs("torch")

TEXTS = [f"{'word ' * (place % 7 + 1)}{place}" for place in range(300)]


class _Words:
    """A tokenizer whose tokens are lengths of words."""

    pad_token_id = 99

    def __call__(self, *sides: list[str], **_: object) -> dict[str, list[list[int]]]:
        rows = [[len(word) for text in texts for word in text.split()] for texts in zip(*sides, strict=True)]
        return {"input_ids": rows, "token_type_ids": [[0] * len(row) for row in rows]}


def _tokens() -> PairTokens:
    def texts(rows: np.ndarray) -> tuple[list[str], ...]:
        return [f"q{row}" for row in rows], [TEXTS[row] for row in rows]

    return PairTokens(_Words(), texts, len(TEXTS), 64)


def test_pairs_prepared_in_any_order_have_the_same_tokens() -> None:
    at_once, one_by_one = _tokens(), _tokens()
    at_once.prepare(np.arange(300))
    for row in np.random.default_rng(0).permutation(300):
        one_by_one.prepare(np.array([row]))
    for rows in (np.array([5, 3, 3, 299]), np.arange(300)):
        first, second = at_once.batch(rows), one_by_one.batch(rows)
        assert first.keys() == second.keys()
        assert all((first[name] == second[name]).all() for name in first)
    assert first["input_ids"][7].tolist()[:4] == [2, 4, 1, 99]  # q7, word, 7, then padding


def test_columns_grow_a_few_times_not_with_every_batch() -> None:
    tokens, seen = _tokens(), []
    for row in range(300):
        tokens.prepare(np.array([row]))
        if not seen or seen[-1] is not tokens._columns:
            seen.append(tokens._columns)
    assert len(seen) < 12


def test_a_prepared_batch_does_not_wait_for_one_that_is_being_prepared() -> None:
    tokens = _tokens()
    tokens.prepare(np.arange(10))
    with tokens._making:
        worker = threading.Thread(target=tokens.batch, args=(np.arange(10),), daemon=True)
        worker.start()
        worker.join(60)
        assert not worker.is_alive()


def test_texts_apart_are_prepared_on_both_sides() -> None:
    tokens = SeparateTokens(
        _Words(), lambda rows: ([f"q{r}" for r in rows], [TEXTS[r] for r in rows]), 300, 64
    )
    tokens.prepare(np.arange(20))
    known = [own for _, own in tokens._sides.values()]
    assert all((own._rows[:20] >= 0).all() and (own._rows[20:] < 0).all() for own in known)


def test_ahead_prepares_the_next_item_while_one_is_worked_on() -> None:
    began = threading.Event()

    def prepare(item: int) -> None:
        if item == 1:
            began.set()

    for item in ahead([0, 1], prepare):
        if item == 0:
            assert began.wait(60)  # without asking for the next one


def test_an_error_of_the_preparation_is_raised() -> None:
    def prepare(item: int) -> None:
        if item == 1:
            raise ValueError("no")

    worked: list[int] = []
    with pytest.raises(ValueError, match="no"):
        worked.extend(ahead([0, 1, 2], prepare))
    assert worked == [0]
