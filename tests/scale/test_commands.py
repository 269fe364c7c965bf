"""``--on``, as a user gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from collections_in_formats import rows, write

Evenrank = Callable[..., Any]


def test_a_command_that_needs_no_cluster_says_which_do(tmp_path: Path, evenrank: Evenrank) -> None:
    outcome = evenrank("measures", "--on", "dask")
    assert (outcome.code, outcome.out) == (2, "")
    assert all(name in outcome.err for name in ("scan", "counterfactual", "polarise", "retrieve"))
    documents, queries = write(tmp_path / "d.tsv", rows(3)), write(tmp_path / "q.tsv", rows(3))
    outcome = evenrank(
        "retrieve", "BM25", "--documents", documents, "--queries", queries, "-o", tmp_path / "r.trec",
        "--on", "dask",
    )  # fmt: skip
    assert outcome.code == 2
    assert "--on" in outcome.err
    assert not (tmp_path / "r.trec").exists()


@pytest.mark.parametrize("on", ["hadoop", "dask://", "dask://here"])
def test_what_is_no_cluster_is_refused(tmp_path: Path, evenrank: Evenrank, on: str) -> None:
    source, out = write(tmp_path / "c.tsv", rows(3)), tmp_path / "o.parquet"
    outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", out, "--on", on)
    assert outcome.code == 2
    assert "dask://HOST:PORT" in outcome.err
    assert not out.exists()


@pytest.mark.slow
def test_a_scheduler_that_is_running(tmp_path: Path, client: Any, evenrank: Evenrank) -> None:
    source = write(tmp_path / "c.tsv", rows(200))
    address = client.scheduler.address.replace("tcp://", "dask://")
    for out, more in (("plain", []), ("dask", ["--on", address])):
        outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", f"{tmp_path}/{out}.parquet", *more)
        assert outcome.code == 0
    assert client.dashboard_link in outcome.err
    assert (tmp_path / "dask.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("on", ["dask", "spark"])
def test_a_cluster_on_this_machine(
    tmp_path: Path, evenrank: Evenrank, request: pytest.FixtureRequest, on: str
) -> None:
    if on == "spark":
        request.getfixturevalue("session")  # which becomes the active one
    source = write(tmp_path / "c.tsv", rows(200))
    for out, more in (("plain", []), (on, ["--on", on, "--threads", "2"])):
        outcome = evenrank("scan", source, "--lexicon", "gender-en", "-o", f"{tmp_path}/{out}.parquet", *more)
        assert outcome.code == 0, outcome.err
    assert (tmp_path / f"{on}.parquet").read_bytes() == (tmp_path / "plain.parquet").read_bytes()
