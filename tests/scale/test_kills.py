"""Workers and drivers that are killed: the output is the same, and only what was in flight is done again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from attempts import Attempts, attempts, deaths
from collections_in_formats import rows, write

from evenrank import Lexicon
from evenrank.evidence.scan import scan_file
from evenrank.io.counts_folder import read_counts_folder
from evenrank.scale import open_executor

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES = {"block_bytes": 1 << 13, "partition_bytes": 1 << 14}
WORKERS = 2
PATIENCE = 600  # seconds until what does nothing is given up; a slow machine is no error
SCRIPT = """
import sys
from pathlib import Path
from attempts import Attempts
from evenrank.data.lexicon import Lexicon
from evenrank.evidence.scan import scan_file
from evenrank.scale import open_executor
lexicon = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
source, output, noted = sys.argv[1:]
def permitted(done, total, unit):
    sys.stdin.buffer.read(1)  # it never ends before it is killed; what workers do meanwhile is theirs
with open_executor("dask", 2) as executor:
    scan_file(source, lexicon, output, on=Attempts(executor, Path(noted)), progress=permitted,
              block_bytes=1 << 13, partition_bytes=1 << 14)
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With its counts beside it, from a scan without a cluster."""
    folder = tmp_path_factory.mktemp("kills")
    source = write(folder / "c.tsv", rows(6000))
    scan_file(source, LEXICON, folder / "plain.parquet", **SIZES)
    scan_file(source, LEXICON, f"{folder}/plain/", **SIZES)
    return source


def partitions(source: Path) -> int:
    return len(read_counts_folder(source.with_name("plain")).parts)


def check(source: Path, output: Path) -> None:
    if output.is_dir():
        plain = source.with_name("plain")
        assert (output / "_evenrank.json").read_text() == (plain / "_evenrank.json").read_text()
        read_counts_folder(output).check()
    else:
        assert output.read_bytes() == source.with_name("plain.parquet").read_bytes()
    assert not output.with_name(output.name + ".parts").exists()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
@pytest.mark.parametrize("seed", [1, 2])
def test_workers_that_are_killed(
    collection: Path, tmp_path: Path, request: pytest.FixtureRequest, engine: str, seed: int
) -> None:
    generator = random.Random(seed)
    total = partitions(collection)
    when = {place: generator.choice(["before", "after"]) for place in generator.sample(range(total), 2)}
    output = generator.choice(["out.parquet", "out/"])
    noted = tmp_path / "noted"
    with open_executor(request.getfixturevalue(engine)) as executor:
        on = Attempts(executor, noted, when)
        scan_file(collection, LEXICON, f"{tmp_path}/{output}", on=on, **SIZES)
    check(collection, tmp_path / output)
    assert deaths(noted) == 2
    # a death loses what its worker did, and a local session of Spark ends the job with all that is in flight
    assert attempts(noted) <= total + 2 * (1 if engine == "client" else WORKERS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_driver_that_is_killed(collection: Path, tmp_path: Path, client: Any, seed: int) -> None:
    generator = random.Random(seed)
    total = partitions(collection)
    output = tmp_path / generator.choice(["out.parquet", "out"])
    name = f"{output}/" if output.name == "out" else str(output)
    noted = tmp_path / "noted"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(collection), name, str(noted)], stdin=subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "support"), **_environment()},
    )  # fmt: skip
    wanted = generator.randrange(1, total)
    until = time.monotonic() + PATIENCE
    while len(list(tmp_path.glob("*.parts/part-*.json"))) < wanted:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    assert not output.exists()
    with open_executor(client) as executor:
        summary = scan_file(collection, LEXICON, name, on=Attempts(executor, noted), **SIZES)
    check(collection, output)
    assert summary.found > 0
    assert attempts(noted) <= total + WORKERS


def _environment() -> dict[str, str]:
    import os

    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


@pytest.mark.slow
def test_a_worker_of_an_earlier_scan_with_other_settings_is_not_read(
    collection: Path, tmp_path: Path
) -> None:
    """Its files have other names, so that it cannot spoil those of the scan that is going on."""
    output = tmp_path / "out.parquet"
    folder = tmp_path / "out.parquet.parts"
    seen: list[str] = []

    class Late:
        name, link = "late", None

        def run(self, work: Any, tasks: Any) -> Any:
            for place, task in enumerate(tasks):
                done = work(task)
                seen.extend(path.name for path in folder.glob("part-00000-*.json"))
                stale = folder / f"part-{place:05d}-{'0' * 16}.arrow"
                stale.write_bytes(b"stale")
                stale.with_suffix(".json").write_text(json.dumps(done))
                yield place, done

    scan_file(collection, LEXICON, output, on=Late(), **SIZES)
    check(collection, output)
    assert seen


@pytest.mark.needs("distributed")
@pytest.mark.slow
def test_a_cluster_without_workers_is_not_waited_for_without_end(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work is kept, and a cluster of our own gets its workers back."""
    import distributed

    from evenrank.errors import EvenrankError
    from evenrank.scale import dask

    monkeypatch.setattr(dask, "LOOK", 0.1)
    monkeypatch.setattr(dask, "ALONE", 0.3)
    output = tmp_path / "out.parquet"
    with (
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        with pytest.raises(EvenrankError, match=r"no worker for .* what is finished was kept"):
            scan_file(collection, LEXICON, output, on=found, **SIZES)
        revived = dask.DaskExecutor(found, lambda: cluster.scale(1))
        monkeypatch.setattr(dask, "ALONE", PATIENCE)
        scan_file(collection, LEXICON, output, on=revived, **SIZES)
    check(collection, output)
