"""What Spark says when something goes wrong, and whose session it is.

Tasks that fail are calls of an encoder, which is the user's: it is sent to workers as it stands.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from collections_in_formats import rows, write

from evenrank import DataError, EvenrankError, Lexicon, polarise
from evenrank.evidence.scan import scan_file

pytestmark = pytest.mark.slow

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
OWN = """
import sys, threading
import evenrank

source, folder = sys.argv[1:]
others = []

def scan(name, progress=None):
    evenrank.scan(source, "gender-en", f"{folder}/{name}.parquet", on="spark", threads=1, progress=progress)

def meanwhile(*_):
    if not others:
        others.append(threading.Thread(target=scan, args=("other",)))
        others[0].start()
        others[0].join()

if __name__ == "__main__":
    scan("one", meanwhile)
    from pyspark import SparkContext
    print(SparkContext._active_spark_context)
"""


def encoded(encode: Callable[[Sequence[str]], Any], session: Any = None) -> Any:
    return polarise({"q": dict(rows(40))}, encoder=encode, on=session).scores


def failing(folder: Path, raised: Exception, times: int) -> Any:
    """It notes each attempt, and fails in the first ones."""

    def fail(texts: Sequence[str]) -> Any:
        import uuid

        (folder / uuid.uuid4().hex).touch()
        if len(list(folder.iterdir())) <= times:
            raise raised
        return np.array([[len(text), text.count("e"), 1] for text in texts], float)

    return fail


def test_a_bug_in_a_task_is_raised_as_it_is_and_not_repeated(tmp_path: Path, session: Any) -> None:
    with pytest.raises(ZeroDivisionError, match="a bug") as caught:
        encoded(failing(tmp_path, ZeroDivisionError("a bug"), 99), session)
    assert "in fail" in str(caught.value.__cause__)  # where it happened, in the worker
    assert len(list(tmp_path.iterdir())) == 1


def test_the_error_of_data_is_raised_as_it_is(tmp_path: Path, session: Any) -> None:
    with pytest.raises(DataError, match=r"^c.tsv:4: no tab$"):
        encoded(failing(tmp_path, DataError("c.tsv:4: no tab"), 99), session)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_is_tried_again_and_then_named(tmp_path: Path, session: Any) -> None:
    full = OSError(28, "No space left on device", "/shared/part")
    (tmp_path / "always").mkdir()
    with pytest.raises(EvenrankError, match=r"No space left on device.*was kept"):
        encoded(failing(tmp_path / "always", full, 99), session)
    (tmp_path / "once").mkdir()
    found = encoded(failing(tmp_path / "once", full, 1), session)
    assert np.array_equal(found, encoded(failing(tmp_path / "once", full, 1)))


def test_an_error_that_cannot_be_sent_is_described(session: Any) -> None:
    def fail(texts: Sequence[str]) -> Any:
        class Held(Exception):
            def __init__(self, one: int, other: int) -> None:
                super().__init__("it holds two")

        raise Held(1, 2)

    with pytest.raises(RuntimeError, match="Held: it holds two"):
        encoded(fail, session)


def test_workers_that_lack_a_module_are_not_lost_ones(session: Any) -> None:
    with pytest.raises(EvenrankError, match="ModuleNotFound"):
        encoded(_of_this_module, session)


def _of_this_module(texts: Sequence[str]) -> Any:
    return np.ones((len(texts), 3))


def test_a_task_that_kills_every_worker_ends_as_lost_workers(session: Any) -> None:
    def die(texts: Sequence[str]) -> Any:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(EvenrankError, match="workers were lost again and again"):
        encoded(die, session)


def test_a_job_that_somebody_cancels_is_not_repeated(tmp_path: Path, session: Any) -> None:
    folder = tmp_path

    def wait(texts: Sequence[str]) -> Any:
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
    with pytest.raises(EvenrankError, match=r"Job \d+ cancelled.*was kept"):
        encoded(wait, session)
    other.join()
    assert len(list(folder.iterdir())) == 1


def test_the_session_of_another_thread_is_used_and_not_stopped(tmp_path: Path, session: Any) -> None:
    from pyspark import SparkContext

    source = write(tmp_path / "c.tsv", rows(200))
    scan_file(source, LEXICON, tmp_path / "plain.parquet")

    def use() -> None:
        scan_file(source, LEXICON, tmp_path / "spark.parquet", on="spark", threads=1)

    other = threading.Thread(target=use)
    other.start()
    other.join()
    assert SparkContext._active_spark_context is session.sparkContext
    assert session.sparkContext.parallelize([1, 2], 2).collect() == [1, 2]
    assert (tmp_path / "spark.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()


def test_a_session_of_ours_ends_with_its_last_user(session: Any, tmp_path: Path) -> None:
    """In a process of its own, in which there is no session yet."""
    script, source = tmp_path / "own.py", write(tmp_path / "c.tsv", rows(200))
    script.write_text(OWN)
    done = subprocess.run(
        [sys.executable, str(script), str(source), str(tmp_path)], capture_output=True, text=True,
        env=dict(os.environ), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "None"
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()
