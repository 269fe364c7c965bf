"""What Spark says when something goes wrong, and whose session it is."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from collections_in_formats import rows, write

from evenrank import Lexicon
from evenrank.errors import DataError, EvenrankError, RemoteError
from evenrank.evidence.scan import scan_file
from evenrank.scale import open_executor
from evenrank.scale.spark import ATTEMPTS, SparkExecutor

pytestmark = pytest.mark.slow

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
OWN = """
import threading
from evenrank.scale import open_executor

def use():
    with open_executor("spark", 1) as executor:
        assert sorted(executor.run(abs, [-1, -2])) == [(0, 1), (1, 2)]

if __name__ == "__main__":
    with open_executor("spark", 1) as executor:
        other = threading.Thread(target=use)
        other.start()
        other.join()
        print(sorted(executor.run(abs, [-3])))
    from pyspark import SparkContext
    print(SparkContext._active_spark_context)
"""


def counting(folder: Path, raised: Exception, times: int) -> Any:
    """A task that notes each attempt, and fails in the first ones."""

    # it is sent to workers as it stands, so that they need not find this file
    def fail(task: int) -> int:
        import uuid

        (folder / f"{task}-{uuid.uuid4().hex}").touch()
        if len(list(folder.glob(f"{task}-*"))) <= times:
            raise raised
        return task

    return fail


def test_a_bug_in_a_task_is_raised_as_it_is_and_not_repeated(tmp_path: Path, session: Any) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug") as caught:
        list(SparkExecutor(session).run(counting(tmp_path, ZeroDivisionError("a bug"), 9), [1]))
    assert "in fail" in str(caught.value.__cause__)  # where it happened, in the worker
    assert len(list(tmp_path.iterdir())) == 1


def test_the_error_of_data_is_raised_as_it_is(tmp_path: Path, session: Any) -> None:
    with pytest.raises(DataError, match=r"^c.tsv:4: no tab$"):
        list(SparkExecutor(session).run(counting(tmp_path, DataError("c.tsv:4: no tab"), 9), [1]))


def test_a_full_disk_is_tried_again_and_then_named(tmp_path: Path, session: Any) -> None:
    full = OSError(28, "No space left on device", "/shared/part")
    with pytest.raises(EvenrankError, match=r"worker of Spark could not do its task: .*No space.*was kept"):
        list(SparkExecutor(session).run(counting(tmp_path, full, 99), [1, 2]))
    (tmp_path / "again").mkdir()
    found = SparkExecutor(session).run(counting(tmp_path / "again", full, 1), [1, 2])
    assert sorted(found) == [(0, 1), (1, 2)]
    assert len(list((tmp_path / "again").iterdir())) == 4


def test_a_store_that_does_not_answer_is_asked_again_and_then_named(tmp_path: Path, session: Any) -> None:
    away = RemoteError("s3://docs/c.tsv: cannot be read: 503 Slow Down")
    with pytest.raises(RemoteError, match=r"s3://docs/c.tsv: cannot be read: 503 Slow Down"):
        list(SparkExecutor(session).run(counting(tmp_path, away, 99), [1]))
    assert len(list(tmp_path.iterdir())) == ATTEMPTS
    (tmp_path / "again").mkdir()
    assert list(SparkExecutor(session).run(counting(tmp_path / "again", away, 1), [1])) == [(0, 1)]


def test_an_error_that_cannot_be_sent_is_described(session: Any) -> None:
    def fail(task: int) -> int:
        class Held(Exception):
            def __init__(self, one: int, other: int) -> None:
                super().__init__("it holds two")

        raise Held(1, 2)

    with pytest.raises(RuntimeError, match="Held: it holds two"):
        list(SparkExecutor(session).run(fail, [1]))


def test_workers_that_lack_a_module_are_not_lost_ones(session: Any) -> None:
    with pytest.raises(EvenrankError, match=r"worker of Spark failed before .*ModuleNotFound"):
        list(SparkExecutor(session).run(_of_this_module, [1, 2]))


def _of_this_module(task: int) -> int:
    return task


def test_a_task_that_kills_every_worker_ends_as_lost_workers(session: Any) -> None:
    def die(task: int) -> int:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(EvenrankError, match=r"workers were lost again and again.*Python worker exited"):
        list(SparkExecutor(session).run(die, [1]))


def test_a_job_that_somebody_cancels_is_not_repeated(tmp_path: Path, session: Any) -> None:
    folder = tmp_path

    def wait(task: int) -> int:
        import time
        import uuid

        (folder / uuid.uuid4().hex).touch()
        while True:
            time.sleep(0.05)

    def cancel() -> None:
        while not list(folder.iterdir()):
            time.sleep(0.01)
        session.sparkContext.cancelAllJobs()

    other = threading.Thread(target=cancel)
    other.start()
    with pytest.raises(EvenrankError, match=r"Spark ended the job: \S* ?Job \d+ cancelled.*was kept"):
        list(SparkExecutor(session).run(wait, [1]))
    other.join()
    assert len(list(folder.iterdir())) == 1


def test_what_a_worker_has_imported_is_no_garbage_to_look_through(session: Any) -> None:
    def frozen(task: int) -> int:
        import gc

        return gc.get_freeze_count()

    # two rounds: the workers of the first one are used again
    found = [count for _ in range(2) for _, count in SparkExecutor(session).run(frozen, [1, 2])]
    assert max(found) > 10_000


def test_the_session_of_another_thread_is_used_and_not_stopped(tmp_path: Path, session: Any) -> None:
    source = write(tmp_path / "c.tsv", rows(200))
    scan_file(source, LEXICON, tmp_path / "plain.parquet")
    links: list[Any] = []

    def use() -> None:
        with open_executor("spark", 1) as executor:
            links.append(executor._context.applicationId)  # type: ignore[attr-defined]
            scan_file(source, LEXICON, tmp_path / "spark.parquet", on=executor)

    other = threading.Thread(target=use)
    other.start()
    other.join()
    assert links == [session.sparkContext.applicationId]
    assert session.sparkContext.parallelize([1, 2], 2).collect() == [1, 2]
    assert (tmp_path / "spark.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()


def test_a_session_of_ours_ends_with_its_last_user(session: Any, tmp_path: Path) -> None:
    """In a process of its own, in which there is no session yet."""
    script = tmp_path / "own.py"
    script.write_text(OWN)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[(0, 3)]", "None"]
