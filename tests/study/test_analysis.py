"""From answers to tables: exclusions, the published regression, the effect of assignment, power, export."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_walks as walks

from evenrank.cli import main

pytestmark = pytest.mark.needs("jinja2")
SHIFT = "all assigned, unchanged if not answered"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that 24 simulated participants have answered, with what was exported of it."""
    folder = walks.write_study(tmp_path_factory.mktemp("study") / "study")
    assert main(["study", "simulate", str(folder), "--participants", "24", "--seed", "7"]) == 0
    for more in ([], ["--anonymous", "-o", str(folder / "released")]):
        assert main(["study", "export", str(folder), "--store", "simulated.sqlite", *more]) == 0
    return folder


@pytest.fixture
def tables(folder: Path, evenrank: Any) -> dict[str, list[dict[str, Any]]]:
    done = evenrank("study", "analyse", folder, "--store", "simulated.sqlite", "--format", "jsonl")
    found: dict[str, list[dict[str, Any]]] = {}
    for line in done.out.splitlines():
        row = json.loads(line)
        found.setdefault(row["table"], []).append(row)
    return found


def trials_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "export/trials.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def slope(rows: list[dict[str, str]], after: list[float], exposed: list[float]) -> float:
    design = np.column_stack([np.ones(len(rows)), [float(row["prior"]) for row in rows], exposed])
    found: float = np.linalg.lstsq(design, np.array(after), rcond=None)[0][2]
    return found


def test_the_published_regression_is_least_squares_by_hand(folder: Path, tables: Any) -> None:
    """For each corpus, for all trials and those with a click, with both encoders and both steps of DUO."""
    trials = trials_of(folder)
    seen = set()
    for row in tables["effect"]:
        kept = [
            trial for trial in trials
            if not trial["excluded"] and row["corpus"] in (trial["corpus"], "all corpora")
            and (row["trials"] == "all" or trial["clicked"] == "true")
        ]  # fmt: skip
        exposed = [float(trial[f"signed duo {row['encoder']} step {row['step']}"]) for trial in kept]
        after = [float(trial["posterior"]) for trial in kept]
        assert row["n"] == len(kept)
        assert row["slope"] == pytest.approx(slope(kept, after, exposed), abs=1e-10)
        assert row["questions"] == 3
        assert row["participants"] == len({trial["participant"] for trial in kept})
        seen.add((row["corpus"], row["trials"], row["encoder"], row["step"]))
    assert len(seen) == 3 * 2 * 2 * 2


def test_the_effect_of_assignment_takes_everybody(folder: Path, tables: Any) -> None:
    trials = [trial for trial in trials_of(folder) if "check" not in trial["excluded"]]
    rows = {(row["corpus"], row["trials"]): row for row in tables["assignment"]}
    whole = rows["all corpora", SHIFT]
    assert whole["n"] == len(trials)
    assert rows["all corpora", "answered"]["n"] == sum(trial["posterior"] != "" for trial in trials)
    after = [float(trial["posterior"] or trial["prior"]) for trial in trials]
    exposed = [float(trial["direction"]) for trial in trials]
    assert whole["effect"] == pytest.approx(slope(trials, after, exposed))
    assert whole["low"] < whole["effect"] < whole["high"]


def test_the_flow_adds_up(folder: Path, tables: Any) -> None:
    trials = trials_of(folder)
    assert any(trial["excluded"] for trial in trials)
    flow = {row["stage"]: row["participants"] for row in tables["flow"] if "stage" in row}
    assert flow["opened the first page"] == flow["agreed to take part"] == 24
    assert flow["finished"] + flow["have not finished"] == 24
    assert sum(row["assigned"] for row in tables["condition"]) == len(trials)


def test_a_study_that_nobody_has_answered_can_be_analysed(tmp_path: Path, serve: Any, evenrank: Any) -> None:
    folder = walks.write_study(tmp_path / "study")
    serve(folder).stop()
    done = evenrank("study", "analyse", folder, "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 0
    assert not [row for row in rows if row["table"] == "effect"]
    assert all(row["undefined"] for row in rows if row["table"] == "assignment")
    assert all(row["shift"] is None for row in rows if row["table"] == "condition")


@pytest.mark.slow
def test_power_is_the_size_of_the_test_without_an_effect_and_grows_with_participants(
    tmp_path: Path, evenrank: Any
) -> None:
    found = {}
    for planned in ("0.0", "0.5"):
        folder = walks.write_study(tmp_path / planned)
        walks.change(folder, slope=planned, slope_spread="0.0")
        done = evenrank("study", "power", folder, "--participants", "24", "--format", "jsonl", "--seed", "5")
        found[planned] = [json.loads(line) for line in done.out.splitlines()]
    for row in found["0.0"]:  # 500 studies
        assert row["power"] <= 0.05 + 5 * math.sqrt(0.05 * 0.95 / 500)
    fewer, usual, more, _ = found["0.5"]
    assert [row["participants"] for row in found["0.5"]] == [12, 24, 48, 24]
    assert fewer["power"] < usual["power"] < more["power"]
    assert fewer["width"] > usual["width"] > more["width"]


@pytest.mark.needs("altair")
@pytest.mark.slow
def test_the_page_loads_nothing_and_escapes_the_title(folder: Path, evenrank: Any) -> None:
    walks.change(folder, title='"<script>alert(1)</script>"')
    out = folder / "page.html"
    assert evenrank("study", "analyse", folder, "--store", "simulated.sqlite", "-o", out).code == 0
    page = out.read_text(encoding="utf-8")
    assert "<script" not in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 3
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_an_export_has_everything_and_an_anonymous_one_nobody(folder: Path, evenrank: Any) -> None:
    whole = "".join(path.read_text(encoding="utf-8") for path in (folder / "export").iterdir())
    released = {path.name: path.read_text(encoding="utf-8") for path in (folder / "released").iterdir()}
    assert set(released) == {"events.csv", "steps.jsonl", "study.json", "trials.csv"}
    people = {trial["participant"] for trial in trials_of(folder)}
    with walks.stored(folder / "simulated.sqlite") as store:
        codes = {code for (code,) in store.execute("SELECT code FROM standings")}
        seed = store.execute("SELECT value FROM settings WHERE name = 'seed'").fetchall()
    for secret in (*people, *codes, "several of them give reasons"):
        assert secret in whole
        assert not [name for name, text in released.items() if secret in text]
    steps = map(json.loads, released["steps.jsonl"].splitlines())
    assert all(isinstance(step["at"], float) for step in steps)  # no time of day
    assert (
        json.loads((folder / "export/study.json").read_text(encoding="utf-8"))["seed"] is None
    )  # it is open
    walks.change(folder, closed="true")
    closed = folder / "closed"
    assert evenrank("study", "export", folder, "--store", "simulated.sqlite", "-o", closed).code == 0
    assert [(json.loads((closed / "study.json").read_text(encoding="utf-8"))["seed"],)] == seed
