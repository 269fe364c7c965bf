"""Requests ahead: what is sent while an answer is written down, what is not, and what is kept at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from misbehaving import MisbehavingServer

from evenrank.engines import ask
from evenrank.engines.asking import AskingInterrupted
from evenrank.engines.sending import Batch, Fetched, RequestsAhead
from evenrank.errors import RemoteError

SECONDS = 20  # until a condition must hold


class Recorded:
    """A fetch that tells which batches it was given, and how many at a time."""

    def __init__(self, failing: tuple[str, ...] = ()) -> None:
        self.asked: list[str] = []
        self.most = 0
        self._failing, self._now, self._changed = failing, 0, threading.Condition()

    def __call__(self, batch: Batch) -> Fetched:
        ((query, _),) = batch
        with self._changed:
            self._now += 1
            self.most = max(self.most, self._now)
            self.asked.append(query)
            self._changed.notify_all()
            self._now -= 1
        return [RemoteError("no")] if query in self._failing else [{"query": query}]

    def wait_for(self, query: str) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: query in self.asked, SECONDS)


def batches(count: int) -> Iterator[Batch]:
    return iter([[(f"q{number}", "text")] for number in range(count)])


def test_the_next_request_is_sent_before_an_answer_is_used() -> None:
    fetch = Recorded()
    sent = RequestsAhead(fetch, batches(5), 1)
    for place, (batch, fetched) in enumerate(sent):
        assert fetched == [{"query": batch[0][0]}]
        if place < 4:
            assert fetch.wait_for(f"q{place + 1}")  # while this answer is not used yet
    sent.close()
    assert (fetch.asked, fetch.most) == ([f"q{number}" for number in range(5)], 1)


def test_nothing_is_sent_after_a_failure_until_the_next_is_asked_for() -> None:
    fetch = Recorded(failing=("q1",))
    sent = RequestsAhead(fetch, batches(5), 1)
    found = iter(sent)
    next(found)
    next(found)
    sent.close()
    assert fetch.asked == ["q0", "q1"]
    assert list(sent.rest(SECONDS)) == []


def test_answers_to_what_was_sent_are_not_lost() -> None:
    fetch = Recorded()
    sent = RequestsAhead(fetch, batches(9), 3)
    found = iter(sent)
    (first, _) = next(found)
    sent.close()
    rest = [batch for batch, _ in sent.rest(SECONDS)]
    assert sorted([first, *rest]) == [[(f"q{number}", "text")] for number in range(4)]


def test_an_interrupted_engine_is_asked_only_for_the_rest(tmp_path: Path) -> None:
    queries = {f"q{at}": f"text {at}" for at in range(12)}

    def interrupt(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with MisbehavingServer().running() as server:
        with pytest.raises(AskingInterrupted, match=r"6 of 12 queries kept in .*: the same command goes on"):
            ask(server.engine(), queries, log=tmp_path, progress=interrupt)
        assert server.asked == [f"text {at}" for at in range(6)]  # the sixth was on its way
        assert len(ask(server.engine(), queries, log=tmp_path).run) == 12
        assert server.asked == list(queries.values())  # each once
