"""What of a project file does not apply to what was asked is left out, and stops no command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]

PROJECT = """
baseline = "dense"
[data]
runs = ["bm25.trec", "dense.trec"]
qrels = "qrels.txt"
queries = "asked.csv"
background = "dense"
[measures]
use = ["RR"]
cutoffs = [1, 2]
"""


@pytest.fixture
def project(files: Path) -> Path:
    (files / "asked.csv").write_text("query,topic\nq1,x\nq2,y\n")
    (files / "evenrank.toml").write_text(PROJECT)
    return files


def test_scores_are_compared_as_they_are(evenrank: Evenrank, project: Path) -> None:
    runs = {name: er.read_run(f"{name}.trec") for name in ("bm25", "dense")}
    er.evaluate(runs, "P@1", qrels="qrels.txt").write("scores.jsonl")
    done = evenrank("compare", "--scores", "scores.jsonl", "--format", "jsonl")
    assert done.code == 0, done.err
    assert {json.loads(line)["measure"] for line in done.out.splitlines()} == {"P@1"}
    assert evenrank("compare", "bm25", "--scores", "scores.jsonl").code == 2


@pytest.mark.needs("altair")
def test_one_run_has_no_baseline(evenrank: Evenrank, project: Path) -> None:
    for run in ("dense", "bm25"):
        done = evenrank("report", run, "-o", f"{run}.html")
        assert done.code == 0, done.err
        assert (project / f"{run}.html").exists()


@pytest.mark.needs("bm25s")
def test_a_command_without_runs_knows_those_of_the_file(evenrank: Evenrank, project: Path) -> None:
    """The background is a run's name, and counterfactual takes systems and no runs."""
    names = er.read_run("dense.trec").doc_ids.to_pylist() + er.read_run("bm25.trec").doc_ids.to_pylist()
    (project / "texts.tsv").write_text("".join(f"{name}\tshe is here\n" for name in sorted(set(names))))
    (project / "texts.csv").write_text("query,text\nq1,here\nq2,she\n")
    done = evenrank("counterfactual", "rank", "texts.tsv", "texts.csv", "--system", "bm25")
    assert done.code == 0, done.err
    assert "NFaiRR@10" in done.out
