"""From answers to tables: exclusions, the published regression, errors by cluster, assignment, simulation."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_walks as walks

from evenrank.stats.clusters import clustered_coefficient
from evenrank.study.analysis import analyse_study
from evenrank.study.bots import simulate
from evenrank.study.power import planned_power
from evenrank.study.records import FAILED_CHECK, NO_OPINION, dwell_of, trials_of
from evenrank.study.settings import Planned
from evenrank.study.simulation import draw_answers, simulate_studies
from evenrank.web.steps import Event


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A study that 24 simulated participants have answered."""
    pytest.importorskip("jinja2", reason="Jinja2 is not installed")
    client = walks.client_of(walks.write_study(tmp_path_factory.mktemp("study") / "study"))
    simulate(client.study_server, 24, 7)
    return client


def found(client: Any) -> Any:
    study = client.study_server.study
    return analyse_study(client.study_server.store, list(study.conditions))


def all_trials(client: Any) -> Any:
    with client.study_server.store.reading() as transaction:
        return trials_of(transaction)


def test_every_row_has_its_corpus_behaviour_encoder_and_step(client: Any) -> None:
    rows = {(row.corpus, row.trials, row.encoder, row.step) for row in found(client).effects}
    corpora, behaviours = ("natural", "synthetic", "all corpora"), ("all", "clicked")
    expected = {
        (corpus, behaviour, encoder, step)
        for corpus in corpora
        for behaviour in behaviours
        for encoder in ("labels", "graded")
        for step in (1, 2)
    }  # fmt: skip
    assert rows == expected


def test_the_published_regression_is_least_squares_by_hand(client: Any) -> None:
    """Every row against lstsq on the answers themselves, straight from the table of steps."""
    trials = all_trials(client)
    for row in found(client).effects:
        kept = [
            trial for trial in trials
            if trial.posterior is not None and trial.passed is not False
            and row.corpus in (trial.corpus, "all corpora") and (row.trials == "all" or trial.clicked)
        ]  # fmt: skip
        duo = [trial.shown["leanings"][row.encoder][str(row.step)][1] for trial in kept]
        design = np.column_stack([np.ones(len(kept)), [trial.prior for trial in kept], duo])
        slope = np.linalg.lstsq(design, np.array([trial.posterior for trial in kept], float), rcond=None)[0][
            2
        ]
        assert row.published.size == len(kept)
        assert row.published.coefficient == pytest.approx(slope, abs=1e-10)
        assert row.clustered.coefficient == pytest.approx(slope, abs=1e-10)
        assert row.clustered.clusters[1] == 3


def test_the_effect_of_assignment_takes_everybody(client: Any) -> None:
    trials = [trial for trial in all_trials(client) if trial.passed is not False]
    rows = {(row.corpus, row.trials): row for row in found(client).assignment}
    whole = rows["all corpora", "all assigned, unchanged if not answered"]
    assert whole.size == len(trials)
    assert rows["all corpora", "answered"].size == sum(trial.posterior is not None for trial in trials)
    after = [trial.prior if trial.posterior is None else trial.posterior for trial in trials]
    design = np.column_stack(
        [np.ones(len(trials)), [trial.prior for trial in trials], [trial.direction for trial in trials]]
    )
    names = [[trial.participant for trial in trials], [trial.question for trial in trials]]
    assert whole.clustered[:6] == pytest.approx(clustered_coefficient(after, design, 2, names)[:6])


def test_exclusions_have_reasons_and_the_flow_adds_up(client: Any) -> None:
    analysis = found(client)
    trials = all_trials(client)
    reasons = dict(analysis.excluded)
    assert set(reasons) <= {FAILED_CHECK, NO_OPINION}
    assert reasons[NO_OPINION] > 0
    kept = analysis.trials - sum(reasons.values())
    row = next(row for row in analysis.effects if (row.corpus, row.trials) == ("all corpora", "all"))
    assert row.published.size == kept
    flow = {row.stage: row.people for row in analysis.flow}
    assert flow["opened the first page"] == flow["agreed to take part"] == 24
    assert flow["finished"] + flow["have not finished"] == 24
    assert sum(row.assigned for row in analysis.conditions) == len(trials)
    assert "There are 3 questions" in analysis.notes[0]


def test_an_empty_study_can_be_analysed(tmp_path: Path) -> None:
    client = walks.client_of(walks.write_study(tmp_path / "study"))
    analysis = found(client)
    assert (analysis.trials, analysis.effects) == (0, ())
    assert all(row.clustered.undefined for row in analysis.assignment)
    assert all(math.isnan(row.shift) for row in analysis.conditions)


def test_dwell_is_time_in_sight() -> None:
    def event(number: int, kind: str, rank: int | None, at: int, page: str = "a") -> Event:
        return Event(page, number, 5, kind, rank, at)

    told = [
        event(1, "shown", None, 0), event(2, "open", 1, 1000), event(3, "open", 2, 2000),
        event(4, "close", 1, 4000), event(5, "hidden", None, 5000), event(6, "visible", None, 60_000),
        event(7, "leave", None, 61_000), event(1, "open", 1, 500, "b"), event(2, "leave", None, 1500, "b"),
    ]  # fmt: skip
    assert dwell_of(told) == pytest.approx({1: 3 + 1, 2: 2 + 1 + 1})


def test_simulated_answers_are_as_described() -> None:
    """Blocks balance every question, and least squares on a huge study finds what was planted."""
    plan = Planned(participants=4000, questions=6, slope=0.3, slope_spread=0.0, noise=0.5)
    drawn = draw_answers(plan, (1.0, -1.0, 0.0, 0.0), 6, np.random.default_rng(0))
    for question in range(6):
        own = drawn.signed[drawn.questions == question]
        assert [(own == value).sum() for value in (1, -1, 0)] == [1000, 1000, 2000]
    design = np.column_stack([np.ones(len(drawn.prior)), drawn.prior, drawn.signed])
    slopes = np.linalg.lstsq(design, drawn.posterior, rcond=None)[0]
    error = 0.9 / math.sqrt(24_000 * 0.5)  # residuals have a standard deviation below .9
    assert abs(slopes[2] - 0.3) < 5 * error
    assert abs(slopes[1] - 0.7) < 5 * error
    fewer = draw_answers(plan, (1.0, -1.0), 2, np.random.default_rng(0))
    assert set(np.bincount(fewer.participants)) == {2}


@pytest.mark.slow
@pytest.mark.parametrize(("participants", "questions"), [(60, 10), (200, 10), (200, 40)])
def test_intervals_cover_the_planted_slope(participants: int, questions: int) -> None:
    """400 studies: within 5 standard errors of .95 and inside what plain errors miss by far at 200 x 10."""
    plan = Planned(participants=participants, questions=questions)
    covered = simulate_studies(plan, (1.0, -1.0, 0.0, 0.0), studies=400, seed=3)
    assert abs(covered.corrected - 0.95) < 5 * covered.error
    assert covered.plain < covered.corrected - 0.05
    none = simulate_studies(replace(plan, slope=0.0), (1.0, -1.0, 0.0, 0.0), studies=400, seed=4)
    assert none.found < 0.05 + 5 * none.error


@pytest.mark.needs("altair")
@pytest.mark.slow
def test_tables_and_page(client: Any, tmp_path: Path) -> None:
    """The page is one file that loads nothing, and its texts are escaped."""
    from evenrank.study.page import write_analysis
    from evenrank.study.tables import assignment_table, conditions_table, effects_table, flow_table

    analysis = found(client)
    tables = [
        flow_table(analysis.flow, analysis.excluded, analysis.trials), conditions_table(analysis),
        effects_table(analysis), assignment_table(analysis),
    ]  # fmt: skip
    record = tables[2].to_records()[0]
    assert {"corpus", "encoder", "step", "slope", "ols_p", "p", "freedom", "participants"} <= set(record)
    settings = replace(client.study_server.study.settings, title="<script>alert(1)</script>")
    write_analysis(analysis, tables, settings, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 3
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_export_has_everything_and_anonymous_export_nobody(client: Any, tmp_path: Path) -> None:
    from evenrank.study.export import export_study

    server = client.study_server
    settings = server.study.settings
    export_study(settings, server.store, tmp_path / "all", anonymous=False)
    export_study(settings, server.store, tmp_path / "released", anonymous=True)
    assert sorted(path.name for path in (tmp_path / "released").iterdir()) == [
        "events.csv", "steps.jsonl", "study.json", "trials.csv",
    ]  # fmt: skip
    people = [name for (name,) in walks.rows(client, "SELECT participant FROM participants")]
    codes = [code for (code,) in walks.rows(client, "SELECT code FROM standings")]
    released = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "released").iterdir())
    whole = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "all").iterdir())
    for secret in (*people, *codes, "several of them give reasons"):
        assert secret in whole
        assert secret not in released
    steps = (tmp_path / "released/steps.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(isinstance(json.loads(line)["at"], float) for line in steps)  # no time of day
    lines = (tmp_path / "all/trials.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) - 1 == len(all_trials(client))
    about = json.loads((tmp_path / "all/study.json").read_text(encoding="utf-8"))
    assert about["seed"] is None  # the study is open
    export_study(replace(settings, closed=True), server.store, tmp_path / "closed", anonymous=True)
    seed = json.loads((tmp_path / "closed/study.json").read_text(encoding="utf-8"))["seed"]
    assert [(seed,)] == walks.rows(client, "SELECT value FROM settings WHERE name = 'seed'")


def test_power_by_counting_studies() -> None:
    """The share of simulated studies whose own analysis finds the slope, with the same draws; it grows with
    the participants, and without a slope it is the size of the test."""
    plan = Planned(participants=24, questions=12, slope=0.4)
    leanings = (1.0, -1.0)
    rows = planned_power(plan, leanings, 12, studies=40, seed=5)
    assert [(one.participants, one.questions) for one, _ in rows] == [(12, 12), (24, 12), (48, 12), (24, 24)]
    generator = np.random.default_rng(5)
    found = 0
    for _ in range(40):
        drawn = draw_answers(plan, leanings, 12, generator)
        design = np.column_stack([np.ones(len(drawn.prior)), drawn.prior, drawn.signed])
        found += (
            clustered_coefficient(drawn.posterior, design, 2, [drawn.participants, drawn.questions]).p < 0.05
        )
    assert rows[1][1].found == found / 40
    assert rows[0][1].found <= rows[2][1].found
    assert rows[2][1].width < rows[0][1].width
    none = planned_power(replace(plan, slope=0.0), leanings, 12, studies=40, seed=5)[1][1]
    assert none.found <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / 40)


def test_power_from_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from evenrank.cli import main

    folder = walks.write_study(tmp_path / "study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenrank.cli.study.STUDIES", 3)
        assert main(["study", "power", str(folder), "--participants", "10", "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["participants"] for row in rows] == [5, 10, 20, 10]
    assert all(0 <= row["power"] <= 1 and row["width"] > 0 for row in rows)
