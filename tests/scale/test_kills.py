"""Workers, schedulers and drivers that are killed: the output is the same, and what was finished is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backwards import InRounds
from collections_in_formats import rows, write

import evenrank as er
from evenrank import EvenrankError, Lexicon
from evenrank.evidence.scan import scan_file

pytestmark = pytest.mark.slow

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 14}
PATIENCE = 600  # seconds until what does nothing is given up; a slow machine is no error
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
SCRIPT = """
import sys
from evenrank import Lexicon
from evenrank.evidence.scan import scan_file
def permitted(done, total, unit):
    sys.stdin.buffer.read(1)  # it never ends before it is killed; what workers do meanwhile is theirs
if __name__ == "__main__":
    lexicon = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
    source, output = sys.argv[1:]
    scan_file(source, lexicon, output, on="dask", threads=2, progress=permitted,
              block_bytes=1 << 13, partition_bytes=1 << 14)
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With its counts beside it, from a scan without a cluster."""
    folder = tmp_path_factory.mktemp("kills")
    source = write(folder / "c.tsv", rows(6000))
    for output in ("out.parquet", "out/"):
        scan_file(source, LEXICON, f"{folder}/{output}", **SIZES)
    return source


def check(source: Path, output: Path) -> None:
    plain = source.with_name(output.name)
    if output.is_dir():
        names = sorted(path.name for path in plain.iterdir())
        assert sorted(path.name for path in output.iterdir()) == names
        assert all((output / name).read_bytes() == (plain / name).read_bytes() for name in names)
    else:
        assert output.read_bytes() == plain.read_bytes()
    assert not output.with_name(output.name + ".parts").exists()
    assert len(er.read_counts(output)) == 6000


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_a_worker_of_dask_that_is_killed_between_parts(
    collection: Path, tmp_path: Path, client: Any, output: str
) -> None:
    killed: list[int] = []

    def progress(done: int, total: int | None, unit: str) -> None:
        if not killed and done > (total or 0) // 3:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    scan_file(collection, LEXICON, f"{tmp_path}/{output}", on=client, progress=progress, **SIZES)
    assert killed
    check(collection, tmp_path / output)


@pytest.mark.parametrize("engine", ["client", "session"])
def test_a_worker_that_is_killed_within_a_task(
    tmp_path: Path, request: pytest.FixtureRequest, engine: str
) -> None:
    mark = tmp_path / "died"

    # it is sent to workers as it stands, so that they need not find this file
    def encode(texts: Sequence[str]) -> Any:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([[len(text), text.count("e"), 1] for text in texts], float)

    texts = {"q": dict(rows(1500))}
    found = er.polarise(texts, encoder=encode, on=request.getfixturevalue(engine))
    assert mark.exists()
    assert np.array_equal(found.scores, er.polarise(texts, encoder=encode).scores)


@pytest.mark.parametrize(("output", "wanted"), [("out.parquet", 3), ("out/", 1), ("out/", 11)])
def test_a_driver_that_is_killed(
    collection: Path, tmp_path: Path, client: Any, output: str, wanted: int
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(collection), f"{tmp_path}/{output}"],
        stdin=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    until = time.monotonic() + PATIENCE
    while len(list(tmp_path.glob("*.parts/part-*.json"))) < wanted:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    assert not (tmp_path / output).exists()
    summary = scan_file(collection, LEXICON, f"{tmp_path}/{output}", on=client, **SIZES)
    check(collection, tmp_path / output)
    assert summary.found > 0


@pytest.mark.needs("distributed")
def test_a_scheduler_that_is_lost_is_one_error_and_its_parts_are_kept(
    collection: Path, tmp_path: Path
) -> None:
    import distributed

    output, address = tmp_path / "out.parquet", tmp_path / "scheduler.json"

    def start(name: str, *options: str) -> Any:
        command = [sys.executable, "-m", f"distributed.cli.{name}", "--scheduler-file", str(address)]
        return subprocess.Popen(
            [*command, "--no-dashboard", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        )  # fmt: skip

    started = [start("dask_scheduler", "--port", "0")]
    try:
        while not address.exists():
            assert started[0].poll() is None
            time.sleep(0.05)
        started.append(start("dask_worker", "--no-nanny", "--nthreads", "1"))
        with (
            distributed.Client(scheduler_file=str(address), timeout=60) as client,
            pytest.raises(EvenrankError, match=r"scheduler was lost.* was kept"),
        ):
            scan_file(collection, LEXICON, output, on=client, progress=lambda *_: started[0].kill(), **SIZES)
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert not output.exists()
    assert scan_file(collection, LEXICON, output, on=InRounds(), **SIZES).found > 0
    check(collection, output)


def test_what_a_worker_of_an_earlier_scan_writes_late_is_not_read(collection: Path, tmp_path: Path) -> None:
    """Its files have other names, so that it cannot spoil those of the scan that is going on."""
    output = tmp_path / "out.parquet"

    class Late(InRounds):
        def behind(self, place: int) -> None:
            (record,) = (tmp_path / "out.parquet.parts").glob(f"part-{place:05d}-*.json")
            stale = record.with_name(f"part-{place:05d}-{'0' * 16}.json")
            stale.write_bytes(record.read_bytes())
            stale.with_suffix(".arrow").write_bytes(b"stale")

    scan_file(collection, LEXICON, output, on=Late(), **SIZES)
    check(collection, output)
