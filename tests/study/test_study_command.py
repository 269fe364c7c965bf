"""``evenrank study``: the whole way by commands, and what is said when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import study_walks as walks


@pytest.mark.needs("jinja2")
def test_from_nothing_to_an_analysis(tmp_path: Path, evenrank: Any) -> None:
    folder = str(tmp_path / "pilot")
    assert evenrank("study", "new", folder).code == 0
    again = evenrank("study", "new", folder)
    assert (again.code, "is there already and is not empty" in again.err) == (1, True)
    checked = evenrank("study", "check", folder)
    assert checked.out.startswith("3 questions, 6 conditions")
    early = evenrank("study", "analyse", folder)
    assert (early.code, "nobody has taken part yet" in early.err) == (1, True)
    assert evenrank("study", "simulate", folder, "--participants", "8").code == 0
    lines = evenrank("study", "analyse", folder, "--store", "simulated.sqlite", "--format", "jsonl").out
    tables = {json.loads(line)["table"] for line in lines.splitlines()}
    assert tables == {"flow", "condition", "effect", "assignment"}
    status = evenrank("study", "status", folder, "--store", "simulated.sqlite")
    assert "agreed to take part" in status.out
    mixed = evenrank("study", "simulate", folder, "--store", "study.sqlite")
    assert (mixed.code, "kept apart" in mixed.err) == (2, True)


@pytest.mark.needs("jinja2")
@pytest.mark.slow
def test_simulated_answers_follow_the_seed(tmp_path: Path, evenrank: Any) -> None:
    """Opinions are drawn from the seed; who is assigned to what is not."""
    folder = walks.write_study(tmp_path / "study")
    found = []
    for name in ("a.sqlite", "b.sqlite"):
        evenrank("study", "simulate", str(folder), "--participants", "3", "--store", name, "--seed", "5")
        evenrank("study", "export", str(folder), "--store", name, "-o", str(tmp_path / name[0]))
        steps = (tmp_path / name[0] / "steps.jsonl").read_text(encoding="utf-8").splitlines()
        found.append(sorted(json.loads(line)["answers"]["opinion"] for line in steps if '"prior"' in line))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "{folder}", "--anonymous"], "unknown option --anonymous; study export has it"),
        (["status", "{folder}", "--participants", "3"], "study simulate, study power have it"),
        (["check", "{folder}", "extra"], "unrecognized arguments: extra"),
        (["analyse", "{folder}", "-o", "page.txt"], "end in .html"),
        (["delete", "{folder}"], "arguments are required: ID"),
    ],
)
def test_wrong_usage(tmp_path: Path, evenrank: Any, arguments: list[str], said: str) -> None:
    folder = walks.write_study(tmp_path / "study")
    outcome = evenrank("study", *(word.format(folder=folder) for word in arguments))
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
