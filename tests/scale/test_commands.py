"""``--on``, as a user gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collections_in_formats import rows, write


def test_a_command_that_needs_no_cluster_says_which_do(evenrank: Callable[..., Any]) -> None:
    outcome = evenrank("measures", "--on", "dask")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "evenrank: --on: measures does not run on a cluster; scan, counterfactual --swap-only, polarise and "
        "retrieve do\n"
    )


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("hadoop", "--on is dask, dask://HOST:PORT or spark"),
        ("dask://", "dask, dask://HOST:PORT or spark"),
        ("dask://here", "a scheduler of Dask is named as dask://HOST:PORT, got 'dask://here'"),
    ],
)
def test_what_is_no_cluster_is_refused(
    tmp_path: Path, evenrank: Callable[..., Any], on: str, message: str
) -> None:
    source = write(tmp_path / "c.tsv", rows(3))
    out = tmp_path / "o.parquet"
    outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", out, "--on", on)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.slow
def test_a_scheduler_that_is_running(tmp_path: Path, client: Any, evenrank: Callable[..., Any]) -> None:
    source = write(tmp_path / "c.tsv", rows(200))
    address = client.scheduler.address.replace("tcp://", "dask://")
    for out, more in (("plain", []), ("dask", ["--on", address])):
        outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", f"{tmp_path}/{out}.parquet", *more)
        assert outcome.code == 0
    assert f"Dask shows the work at {client.dashboard_link}" in outcome.err
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()
    outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", f"{tmp_path}/counts/")
    assert f"wrote {tmp_path}/counts/: 200 documents" in outcome.err
    assert sorted(path.name for path in (tmp_path / "counts").iterdir()) == [
        "_evenrank.json", "part-00000.parquet",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dask", "spark"])
def test_a_cluster_on_this_machine(
    tmp_path: Path, evenrank: Callable[..., Any], request: pytest.FixtureRequest, on: str
) -> None:
    if on == "spark":
        request.getfixturevalue("session")  # which becomes the active one
    source = write(tmp_path / "c.tsv", rows(200))
    for out, more in (("plain", []), (on, ["--on", on, "--threads", "2"])):
        outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", f"{tmp_path}/{out}.parquet", *more)
        assert outcome.code == 0, outcome.err
    assert (tmp_path / f"{on}.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()


@pytest.mark.needs("distributed")
@pytest.mark.slow
def test_workers_of_a_cluster_of_ours_keep_their_memory_and_one_thread_each() -> None:
    """Dask's own setting has each block of a file read into pages that must be cleared first. That libraries
    of linear algebra take one thread in each worker is a setting of Dask's, too, and stays."""
    from evenrank.scale import open_executor

    def setting(name: str) -> int:
        import os

        return int(os.environ.get(name, -1))

    names = ["MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    with open_executor("dask", 1) as executor:
        assert dict(executor.run(setting, names)) == {0: 1 << 27, 1: 1, 2: 1, 3: 1}
