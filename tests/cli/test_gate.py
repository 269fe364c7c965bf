"""The command ``gate``: its exit codes, and a file of rules that names the evidence too."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]

QUERIES = 40
RULES = """
[gate.measures."nDCG@10"]
allowed = 0.05
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Production has the relevant document first, or second for every fifth query; the worse run last."""
    (tmp_path / "data").mkdir()
    orders = {
        "production": lambda place: "rabcd" if place % 5 else "arbcd",
        "same": lambda place: "rabdc" if place % 5 else "arbcd",
        "worse": lambda place: "abcdr" if place % 3 else "abrcd",
    }
    for name, order in orders.items():
        lines = [
            f"q{place} Q0 {document}{place} {rank} {9 - rank} x\n"
            for place in range(QUERIES)
            for rank, document in enumerate(order(place))
        ]
        (tmp_path / f"data/{name}.trec").write_text("".join(lines))
    (tmp_path / "data/qrels.txt").write_text("".join(f"q{place} 0 r{place} 1\n" for place in range(QUERIES)))
    groups = [f"{document}{place},{document}\n" for place in range(QUERIES) for document in "rabcd"]
    (tmp_path / "data/groups.csv").write_text("document,letter\n" + "".join(groups))
    (tmp_path / "gate.toml").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


SAID = "evenrank: project file: gate.toml\n"


def gate(evenrank: Evenrank, run: str, *more: object) -> SimpleNamespace:
    fixed = ["--baseline", "data/production.trec", "--project", "gate.toml", "--qrels", "data/qrels.txt"]
    return evenrank("gate", f"data/{run}.trec", *fixed, *more)


def test_it_passes_with_0_and_fails_with_3(evenrank: Evenrank, runs: Path) -> None:
    passed = gate(evenrank, "same")
    assert (passed.code, passed.err) == (0, SAID)
    assert passed.out.startswith("same: gate passed: 1 measure\n")
    failed = gate(evenrank, "worse")
    assert failed.code == 3
    assert failed.out.startswith("worse: gate failed: nDCG@10\n")
    assert "FAIL: worse" in failed.out
    assert "lost most on: q1 1.0000 → 0.3869, q2 " in failed.out


def test_labels(evenrank: Evenrank, runs: Path) -> None:
    failed = gate(evenrank, "worse", "--rename", "nDCG@10=Quality")
    assert failed.out.startswith("worse: gate failed: Quality\n")
    assert "Quality lost most on: q1" in failed.out
    assert "Quality stands for nDCG@10" in failed.out
    (row,) = map(
        json.loads,
        gate(evenrank, "worse", "--rename", "nDCG@10=Quality", "--format", "jsonl").out.splitlines(),
    )
    assert row["measure"] == "nDCG@10"


def test_a_run_beside_itself_is_an_error(evenrank: Evenrank, runs: Path) -> None:
    """Also as a copy with other scores: every rule would pass, whatever the run is like."""
    lines = (runs / "data/production.trec").read_text().splitlines()
    copied = [line.split() for line in lines]
    (runs / "data/copy.trec").write_text(
        "".join(f"{query} Q0 {doc} {rank} {-int(rank)} y\n" for query, _, doc, rank, _, _ in copied)
    )
    for name in ("production", "copy"):
        outcome = gate(evenrank, name)
        assert (outcome.code, outcome.out) == (2, "")
        assert f"data/{name}.trec: has the same lists as its baseline data/production.trec" in outcome.err


def test_formats(evenrank: Evenrank, runs: Path) -> None:
    (row,) = map(json.loads, gate(evenrank, "worse", "--format", "jsonl").out.splitlines())
    assert (row["measure"], row["failed"], row["finding"], row["queries"]) == ("nDCG@10", True, "worse", 40)
    assert row["losses"][0]["baseline"] == 1.0
    comment = gate(evenrank, "worse", "--format", "markdown")
    assert comment.code == 3
    assert comment.out.startswith("**worse: gate failed: nDCG@10**\n")


def test_the_file_may_name_everything(
    evenrank: Evenrank, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths start from the file's folder, wherever the command is run."""
    (runs / "data/gate.toml").write_text(
        RULES
        + '[gate.measures."GF@5"]\n'
        + '[data]\nqrels = "qrels.txt"\n[groups]\nletter = "groups.csv:values=r,a,b,c,d"\n'
        + '[targets]\nletter = "targets.csv"\n'
    )
    (runs / "data/targets.csv").write_text("value,share\nr,0.2\na,0.2\nb,0.2\nc,0.2\nd,0.2\n")
    text = (runs / "data/gate.toml").read_text()
    (runs / "data/gate.toml").write_text('baseline = "production.trec"\n' + text)
    (runs / "elsewhere").mkdir()
    monkeypatch.chdir(runs / "elsewhere")
    outcome = evenrank("gate", "../data/worse.trec", "--project", "../data/gate.toml")
    assert outcome.code == 3
    assert "GF@5" in outcome.out
    (runs / "elsewhere/none.txt").write_text("q0 0 zzz 1\n")
    other = evenrank("gate", "../data/worse.trec", "--project", "../data/gate.toml", "--qrels", "none.txt")
    assert "too few queries" in other.out  # the command line goes first


def test_without_runs_every_run_but_the_baseline_is_tested(
    evenrank: Evenrank, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runs / "data/evenrank.toml").write_text(
        'baseline = "production"\n' + RULES + '[data]\nruns = ["*.trec"]\nqrels = "qrels.txt"\n'
    )
    monkeypatch.chdir(runs / "data")
    outcome = evenrank("gate")
    assert outcome.code == 3
    assert (outcome.out.count("gate passed"), outcome.out.count("gate failed")) == (1, 1)
    assert evenrank("gate", "same").code == 0
    assert evenrank("gate", "production").code == 2


def test_what_is_missing_is_said(evenrank: Evenrank, runs: Path) -> None:
    bare = evenrank("gate", "data/same.trec", "--project", "gate.toml", "--qrels", "data/qrels.txt")
    assert bare.code == 2
    assert "name the run to compare with: --baseline BASE" in bare.err
    (runs / "gate.toml").unlink()
    assert gate(evenrank, "same").code == 1
    none = evenrank("gate", "data/same.trec", "--baseline", "data/production.trec")
    assert (none.code, "[gate] table of a project file" in none.err) == (2, True)


def test_who_stops_reading_does_not_open_the_gate(runs: Path) -> None:
    """``evenrank gate .. | head -0`` under pipefail still fails."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "evenrank", "gate", "data/worse.trec", "--qrels", "data/qrels.txt",
               "--project", "gate.toml"]  # fmt: skip
    done = subprocess.run(
        [*command, "--baseline", "data/production.trec"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (3, SAID.encode())


def test_the_workflow_calls_the_command_as_it_is(evenrank: Evenrank, runs: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    workflow = (root / "docs/examples/gate-workflow.yml").read_text(encoding="utf-8")
    (command,) = re.findall(r"^ +evenrank (gate .*?) >>", workflow, re.MULTILINE | re.DOTALL)
    words = shlex.split(command.replace("\\\n", " "))
    assert words[words.index("--project") + 1] == "ranking/evenrank.toml"
    (runs / "ranking").mkdir()
    (runs / "ranking/evenrank.toml").write_text(
        RULES + 'baseline = "../data/production.trec"\n[data]\nqrels = "../data/qrels.txt"\n'
    )
    asked = [word if not word.endswith(".trec") else "data/worse.trec" for word in words]
    found = evenrank(*asked)
    assert "--help)" not in found.err


LIMIT = "GroupShare(attr='letter')@1[r]"


def test_limits_need_no_baseline(evenrank: Evenrank, runs: Path) -> None:
    """The relevant document is first for four of five queries of production, for none of the worse run."""
    (runs / "gate.toml").write_text(f'[gate]\nlimits = ["{LIMIT} >= 0.5"]\n')
    fixed = ["--project", "gate.toml", "--groups", "letter=data/groups.csv"]
    passed, failed = (evenrank("gate", f"data/{run}.trec", *fixed) for run in ("production", "worse"))
    assert (passed.code, failed.code) == (0, 3)
    assert "FAIL: beyond" in failed.out
    assert "baseline" not in failed.out
    assert "letter: r is 20% of the documents found but gets 0% of the first place" in failed.err


def test_a_share_lies_within_its_own_bounds(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 of 120 lists hold no document with a label: neither the rule's value nor the verdict counts them."""
    monkeypatch.chdir(tmp_path)
    pairs = [(query, place) for query in range(120) for place in range(20)]
    chance = random.Random(1)
    labels = [f"{q}x{p},{'small' if chance.random() < 0.4 else 'large'}\n" for q, p in pairs if q < 90]
    Path("groups.csv").write_text("document,size\n" + "".join(labels))
    Path("run.trec").write_text("".join(f"q{q} Q0 {q}x{p} {p + 1} {20 - p} x\n" for q, p in pairs))
    rule = "GroupShare(attr='size')@10[small]"
    Path("gate.toml").write_text(f'[groups]\nsize = "groups.csv"\n[gate]\nlimits = ["{rule} >= 0.2"]\n')
    found = evenrank("gate", "run.trec", "--project", "gate.toml", "--format", "jsonl")
    (row,) = map(json.loads, found.out.splitlines())
    assert row["low"] <= row["value"] <= row["high"]
    assert row["queries"] == 90


def test_the_last_audit_is_the_baseline(evenrank: Evenrank, runs: Path) -> None:
    for date, run in (("2026-01-01T00-00-00Z", "worse"), ("2026-02-01T00-00-00Z", "production")):
        folder = runs / "audit" / date / "runs"
        folder.mkdir(parents=True)
        (folder.parent / "summary.json").write_text("{}")
        (folder / "engine.trec").write_text((runs / f"data/{run}.trec").read_text())
    (runs / "audit/2026-03-01T00-00-00Z").mkdir()  # not an audit: it has no summary
    fixed = ["--project", "gate.toml", "--qrels", "data/qrels.txt"]
    found = evenrank("gate", "data/worse.trec", *fixed)
    assert found.code == 3
    assert "audit/2026-02-01T00-00-00Z/runs/engine.trec, of the last audit before this run" in found.err
    (runs / "audit/2026-02-01T00-00-00Z/runs/other.trec").write_text("q0 Q0 a 1 1 x\n")
    found = evenrank("gate", "data/worse.trec", *fixed)
    assert (found.code, "say which is the baseline, --baseline FILE" in found.err) == (2, True)
    assert evenrank("gate", "engine=data/worse.trec", *fixed).code == 3


def test_a_run_that_was_audited_is_compared_with_the_audit_before(evenrank: Evenrank, runs: Path) -> None:
    dates = {"production": "2026-01-01T00-00-00Z", "worse": "2026-02-01T00-00-00Z"}
    for run, date in dates.items():
        folder = runs / "audit" / date / "runs"
        folder.mkdir(parents=True)
        (folder.parent / "summary.json").write_text("{}")
        (folder / "engine.trec").write_text((runs / f"data/{run}.trec").read_text())
    fixed = ["--project", "gate.toml", "--qrels", "data/qrels.txt"]
    for gated in (f"audit/{dates['worse']}/runs/engine.trec", "data/worse.trec"):
        found = evenrank("gate", gated, *fixed)
        assert found.code == 3, found.err
        assert f"baseline: audit/{dates['production']}/runs/engine.trec, of the last audit" in found.err
    first = evenrank("gate", f"audit/{dates['production']}/runs/engine.trec", *fixed)
    assert (first.code, first.out) == (2, "")
    assert "is the audit of this run itself, and there is no earlier audit" in first.err
