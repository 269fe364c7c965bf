"""Errors by clusters of participants and of questions: against the definition, with whole matrices."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evenrank.cli import main

pytestmark = pytest.mark.needs("jinja2")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers that 30 simulated participants gave to three questions, and what was made of them."""
    folder = tmp_path_factory.mktemp("clusters")
    mine, store = str(folder / "mine"), str(folder / "mine/simulated.sqlite")
    assert main(["study", "new", mine]) == 0
    assert main(["study", "simulate", mine, "--participants", "30", "--seed", "5"]) == 0
    assert main(["study", "export", mine, "--store", store, "-o", str(folder / "out")]) == 0
    return folder


def analysed(study: Path, capsys: pytest.CaptureFixture[str], table: str) -> list[dict[str, Any]]:
    store = str(study / "mine/simulated.sqlite")
    assert main(["study", "analyse", str(study / "mine"), "--store", store, "--format", "jsonl"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return [row for row in rows if row["table"] == table]


def trials(study: Path) -> list[dict[str, str]]:
    with (study / "out/trials.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def root_inverse(matrix: Any) -> Any:
    values, vectors = np.linalg.eigh(matrix)
    return vectors @ np.diag(values**-0.5) @ vectors.T


def one_way(y: Any, x: Any, groups: Any) -> tuple[float, float]:
    """CR2 and its degrees of freedom, as Pustejovsky and Tipton (2018) print them, with N by N matrices."""
    bread = np.linalg.inv(x.T @ x)
    hat = x @ bread @ x.T
    residual = y - hat @ y
    meat, columns = 0.0, []
    for group in np.unique(groups):
        own = groups == group
        adjusted = root_inverse(np.eye(own.sum()) - hat[np.ix_(own, own)])
        weights = adjusted @ x[own] @ bread[:, 2]
        meat += float(weights @ residual[own]) ** 2
        columns.append((np.eye(len(y)) - hat)[:, own] @ weights)
    products = np.stack(columns) @ np.stack(columns).T
    return meat, np.trace(products) ** 2 / (products**2).sum()


def assert_clustered(
    row: dict[str, Any], slope: float, kept: list[dict[str, str]], given: list[float]
) -> None:
    """Variances of both kinds of clusters add up without that of their intersection, which are the trials."""
    after = [float(trial["posterior"] or trial["prior"]) for trial in kept]
    y, prior = np.array(after), [float(trial["prior"]) for trial in kept]
    x = np.column_stack([np.ones(len(kept)), prior, given])
    people, questions = (np.array([trial[name] for trial in kept]) for name in ("participant", "question"))
    (one, one_freedom), (two, two_freedom) = (one_way(y, x, groups) for groups in (people, questions))
    both, _ = one_way(y, x, np.arange(len(y)))
    assert row["n"] == len(kept)
    assert slope == pytest.approx(np.linalg.lstsq(x, y, rcond=None)[0][2], abs=1e-10)
    assert row["error"] == pytest.approx(math.sqrt(max(one + two - both, one, two)), rel=1e-8)
    assert row["freedom"] == pytest.approx(min(one_freedom, two_freedom), rel=1e-7)
    assert (row["participants"], row["questions"]) == (len(np.unique(people)), len(np.unique(questions)))
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(slope) / row["error"], row["freedom"]))
    half = stats.t.ppf(0.975, row["freedom"]) * row["error"]
    assert (row["low"], row["high"]) == pytest.approx((slope - half, slope + half))


def test_the_effect_of_what_was_seen(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    effects = analysed(study, capsys, "effect")
    assert len(effects) == 3 * 2 * 2 * 2
    for row in effects:
        kept = [
            trial
            for trial in trials(study)
            if not trial["excluded"] and row["corpus"] in (trial["corpus"], "all corpora")
            if row["trials"] == "all" or trial["clicked"] == "true"
        ]
        column = f"signed duo {row['encoder']} step {row['step']}"
        assert_clustered(row, row["slope"], kept, [float(trial[column]) for trial in kept])


def test_the_effect_of_assignment_takes_who_did_not_answer(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    effects = analysed(study, capsys, "assignment")
    assert len(effects) == 3 * 2
    for row in effects:
        kept = [
            trial
            for trial in trials(study)
            if row["corpus"] in (trial["corpus"], "all corpora")
            if trial["posterior"] or row["trials"] != "answered"
            if "check" not in trial["excluded"]
        ]
        assert_clustered(row, row["effect"], kept, [float(trial["direction"]) for trial in kept])


def test_one_participant_is_one_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = str(tmp_path / "mine")
    assert main(["study", "new", mine]) == 0
    assert main(["study", "simulate", mine, "--participants", "1", "--seed", "5"]) == 0
    for row in analysed(tmp_path, capsys, "effect") + analysed(tmp_path, capsys, "assignment"):
        assert row["undefined"]
        assert (row["error"], row["p"], row["low"]) == (None, None, None)
