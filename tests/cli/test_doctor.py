"""``evenrank doctor``: it is well here, and it notices when something is not."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evenrank import __version__, parse_measure

Evenrank = Callable[..., SimpleNamespace]


RR = type(parse_measure("RR"))


def test_all_is_well_here(evenrank: Evenrank) -> None:
    outcome = evenrank("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith(f"Python {platform.python_version()} (")
    assert lines[1] == f"evenrank {__version__}"
    assert ["numpy", np.__version__] in [line.split() for line in lines]
    assert "self-check: 5 measures on a tiny run have the known values" in lines
    assert lines[-1] == "all is well"


def test_a_wrong_value_is_noticed(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = RR.compute

    def a_little_more(self: Any, evidence: Any) -> Any:
        found = usual(self, evidence)
        return replace(found, values=found.values + 1e-9)

    monkeypatch.setattr(RR, "compute", a_little_more)
    outcome = evenrank("doctor")
    assert outcome.code == 1
    assert "problem: RR of query q1 is 0.50000000" in outcome.out
    assert "all is well" not in outcome.out


def test_an_evaluation_that_fails_is_noticed(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, evidence: object) -> None:
        raise RuntimeError("no kernel")

    monkeypatch.setattr(RR, "compute", broken)
    outcome = evenrank("doctor")
    assert outcome.code == 1
    assert "problem: the self-check failed: RuntimeError: no kernel" in outcome.out


def test_what_is_missing_or_too_old(evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [
        "numpy>=99.1",
        "evenrank-needs-this>=1",
        "nowhere>=2.0; extra == 'far'",
        "pytest; extra == 'near'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: declared)
    outcome = evenrank("doctor")
    assert outcome.code == 1
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert f"numpy {np.__version__} is too old, 99.1 or later is needed" in lines
    assert "evenrank-needs-this is not installed" in lines
    assert "far nowhere is not installed: pip install '.[far]' in the checkout of evenrank" in lines
    assert "near installed" in lines
    assert "self-check: not run, since a dependency is missing or too old" in lines
    assert sum(line.startswith("problem: ") for line in lines) == 2  # extras are no problem


CPU_LINE = "pip install torch --index-url https://download.pytorch.org/whl/cpu"


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ({}, f"torch: not installed; for a machine without a GPU install the CPU build first: {CPU_LINE}"),
        ({"torch": "2.13.0+cpu"}, "torch: 2.13.0+cpu, the CPU build"),
        ({"torch": "2.13.0"}, "torch: 2.13.0, the CPU build"),
        ({"torch": "2.13.0+cu130"}, "torch: 2.13.0+cu130, the build with GPU libraries (several GB); "),
        ({"torch": "2.13.0+rocm7"}, "torch: 2.13.0+rocm7, the build with GPU libraries (several GB); "),
        (
            {"torch": "2.13.0", "nvidia-cublas-cu12": "12.8"},
            "torch: 2.13.0, the build with GPU libraries (several GB); ",
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_which_torch(
    evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], expected: str
) -> None:
    usual = metadata.version

    def version(package: str) -> str:
        if package == "torch" or package.startswith("nvidia-"):
            if package not in installed:
                raise metadata.PackageNotFoundError(package)
            return installed[package]
        return usual(package)

    monkeypatch.setattr(metadata, "version", version)
    outcome = evenrank("doctor")
    (line,) = [line for line in outcome.out.splitlines() if line.startswith("torch: ")]
    assert (
        line == expected
        if expected.endswith(("build", CPU_LINE))
        else line == (f"{expected}the CPU build is smaller and does the same without a GPU: {CPU_LINE}")
    )
    assert outcome.code == 0  # torch is an extra: whatever it is, it is no problem


def test_queries_of_a_project_without_runs_are_not_empty(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("queries.csv").write_text("query,text\nq1,lamp\n")
    Path("evenrank.toml").write_text('[data]\nqueries = "queries.csv"\n')
    problems = [line for line in evenrank("doctor").out.splitlines() if line.startswith("problem: ")]
    assert len(problems) == 1
    assert "data" in problems[0]  # the runs are missing, and nothing else


def test_a_gate_takes_its_run_from_the_command(
    evenrank: Evenrank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("groups.csv").write_text("document,size\na,small\nb,large\n")
    gate = "[gate]\nlimits = [\"GroupShare(attr='size')@10[small] >= 0.3\"]\n"
    Path("evenrank.toml").write_text(f'[groups]\nsize = "groups.csv"\n{gate}')
    found = evenrank("doctor")
    assert found.code == 0, found.out
