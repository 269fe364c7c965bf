"""The log of answers: whole records, whatever happened to the process; what is in it is not asked again."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from misbehaving import MisbehavingServer, silent, unpacked

from evenrank.engines import Answers, ask, open_engine
from evenrank.errors import DataError

QUERIES = {f"q{number}": f"é text {number}" for number in range(3)}


class Function:
    """An engine in Python, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, log: Path, count: int = 3) -> Answers:
        def search(text: str, depth: int) -> list[str]:
            self.asked.append(text)
            return [f"{text} {place}" for place in range(2)]

        return ask(open_engine(search, name="mine"), dict(list(QUERIES.items())[:count]), log=log)


def test_a_file_cut_anywhere_holds_the_answers_before_the_cut(tmp_path: Path) -> None:
    engine, sizes = Function(), []
    for count in (1, 2, 3):
        answers = engine.ask(tmp_path, count)
        (path,) = tmp_path.iterdir()
        sizes.append(path.stat().st_size)
    whole = path.read_bytes()
    assert engine.asked == list(QUERIES.values())
    for cut in {*range(0, len(whole), 7), *sizes, *(size - 1 for size in sizes)}:
        path.write_bytes(whole[:cut])
        for kept in (sum(size <= cut for size in sizes), 3):  # the second time all is there again
            engine.asked.clear()
            assert engine.ask(tmp_path).run.to_dict() == answers.run.to_dict()
            assert engine.asked == list(QUERIES.values())[kept:], cut


def test_other_tools_read_it(tmp_path: Path) -> None:
    Function().ask(tmp_path)
    (path,) = tmp_path.iterdir()
    records = [json.loads(line) for line in unpacked(path).splitlines()]
    assert [one["text"] for one in records if "text" in one] == list(QUERIES.values())


@pytest.mark.parametrize(
    "spoil", [lambda content: content[:40] + b"?" + content[41:], lambda _: b"something else"]
)
def test_damage_is_an_error_and_nothing_is_cut(spoil, tmp_path: Path) -> None:
    engine = Function()
    engine.ask(tmp_path)
    (path,) = tmp_path.iterdir()
    damaged = spoil(path.read_bytes())
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=path.name):
        engine.ask(tmp_path)
    assert path.read_bytes() == damaged


def test_two_do_not_write_the_same_log(tmp_path: Path) -> None:
    refused = []

    def another(done: int, total: int) -> None:
        with pytest.raises(DataError, match=tmp_path.name):
            ask(open_engine(lambda text, depth: ["x"], name="mine"), QUERIES, log=tmp_path)
        refused.append(done)

    ask(open_engine(lambda text, depth: ["d"], name="mine"), QUERIES, log=tmp_path, progress=another)
    assert refused == [1, 2, 3]


def test_a_full_disk_leaves_whole_records(tmp_path: Path) -> None:
    engine = Function()
    engine.ask(tmp_path, 1)
    (path,) = tmp_path.iterdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limits[1]))
    try:
        with pytest.raises(OSError, match=path.name):
            engine.ask(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    engine.asked.clear()
    assert len(engine.ask(tmp_path).run) == 3
    assert engine.asked == list(QUERIES.values())[1:]


def test_an_interrupted_engine_is_asked_only_for_the_rest(tmp_path: Path) -> None:
    queries = {f"q{at}": f"text {at}" for at in range(12)}

    def interrupt(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with MisbehavingServer().running() as server:
        with pytest.raises(KeyboardInterrupt, match="6 of 12"):
            ask(server.engine(), queries, log=tmp_path, progress=interrupt)
        assert server.asked == [f"text {at}" for at in range(6)]  # the sixth was on its way
        assert len(ask(server.engine(), queries, log=tmp_path).run) == 12
        assert server.asked == list(queries.values())  # each once


def test_a_killed_process_loses_no_answer(tmp_path: Path) -> None:
    """Killed while the sixth query waits for its answer: the five before it are on disk."""
    with MisbehavingServer().running() as server:
        queries = {f"q{at}": f"text {at}" for at in range(10)}
        server.behaviours = {"text 5": silent}
        code = (
            "import json, sys; from evenrank.engines import ask\n"
            "table, queries, log = json.loads(sys.argv[1])\n"
            "ask({**table, 'rate': 1e9}, queries, log=log, progress=lambda done, total: print(done, "
            "flush=True))\n"
        )
        arguments = json.dumps([{**server.engine(), "rate": 1}, queries, str(tmp_path)])
        process = subprocess.Popen([sys.executable, "-c", code, arguments], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "5":
                break
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
        server.behaviours, server.asked = {}, []
        answers = ask(server.engine(), queries, log=tmp_path)
        assert server.asked == [f"text {at}" for at in range(5, 10)]
        assert len(answers.run) == 10
