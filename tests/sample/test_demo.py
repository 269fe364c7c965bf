"""What a newcomer sees: ``evenrank init --demo``, and the commands that need no options in its folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

import evenrank as er

Evenrank = Callable[..., SimpleNamespace]
DEMO = (
    "documents.jsonl", "queries.csv", "qrels.txt", "groups.csv", "bm25.trec", "fairer.trec", "evenrank.toml",
)  # fmt: skip


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evenrank: Evenrank) -> Path:
    monkeypatch.chdir(tmp_path)
    done = evenrank("init", "--demo")
    assert done.code == 0, done.err
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_files_are_those_of_the_sample(demo: Path) -> None:
    assert names(demo) == sorted(DEMO)
    for name in DEMO:
        assert (demo / name).read_bytes() == files("evenrank.sample").joinpath(name).read_bytes()


@pytest.mark.parametrize("name", DEMO)
def test_nothing_is_written_where_a_file_of_that_name_is(
    tmp_path: Path, evenrank: Evenrank, name: str
) -> None:
    (tmp_path / name).write_text("mine")
    done = evenrank("init", "--demo", str(tmp_path))
    assert (done.code, name in done.err) == (1, True)
    assert names(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("fails", range(1, len(DEMO) + 1))
def test_nothing_is_left_where_writing_fails(
    tmp_path: Path, evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    replace, moved = Path.replace, []

    def full(path: Path, target: Path) -> Path:
        moved.append(target)
        if len(moved) == fails:
            raise OSError(28, "No space left on device")
        return replace(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        assert evenrank("init", "--demo", str(tmp_path)).code == 1
    assert names(tmp_path) == []
    assert evenrank("init", "--demo", str(tmp_path)).code == 0


def test_the_audit_names_a_group_the_fix_and_its_cost(demo: Path, evenrank: Evenrank) -> None:
    done = evenrank("audit")
    assert done.code == 0
    found = json.loads((demo / "audit/latest/summary.json").read_text())["verdicts"]
    decisions = {
        verdict["system"]: [(group["value"], group["decision"]) for group in verdict["groups"]]
        for verdict in found
    }
    assert decisions == {
        "bm25": [("freelance", "less than its target"), ("staff", "favoured")],
        "fairer": [("freelance", "not shown"), ("staff", "not shown")],
    }
    bm25, fairer = found
    shares = [verdict["groups"][0]["share"] for verdict in found]
    assert [round(share, 2) for share in [bm25["groups"][0]["target"], *shares]] == [0.51, 0.37, 0.50]
    assert fairer.get("advice") is None
    advice = bm25["advice"]
    assert advice["cost_measure"] == "nDCG@10"
    assert -0.02 < advice["cost"] < 0 < advice["cost_high"]


def test_the_command_of_the_audit_makes_the_fairer_run_under_a_new_name(
    demo: Path, evenrank: Evenrank
) -> None:
    before = Path("fairer.trec").read_bytes()
    evenrank("audit")
    found = json.loads((demo / "audit/latest/summary.json").read_text())["verdicts"]
    command = found[0]["advice"]["command"]
    assert command[-1] not in DEMO
    assert evenrank(*shlex.split(shlex.join(command[1:]))).code == 0
    made, shipped = er.read_run(command[-1]), er.read_run("fairer.trec")
    assert {query: list(rows) for query, rows in made.to_dict().items()} == {
        query: list(rows) for query, rows in shipped.to_dict().items()
    }
    assert (demo / "fairer.trec").read_bytes() == before


@pytest.mark.needs("altair", "vl_convert")
def test_comparison_gate_and_report_agree_with_the_audit(demo: Path, evenrank: Evenrank) -> None:
    compared = evenrank("compare", "--format", "jsonl")
    rows = [json.loads(line) for line in compared.out.splitlines()]
    verdicts = {row["measure"]: row["verdict"] for row in rows if row.get("baseline")}
    assert verdicts == {"nDCG@10": "no difference shown", "AWRF(attr='author')@10": "better"}
    gated = evenrank("gate", "--format", "jsonl")
    assert gated.code == 0
    assert [json.loads(line)["finding"] for line in gated.out.splitlines()] == ["safe", "safe"]
    assert evenrank("report").code == 0
    page = (demo / "report.html").read_text(encoding="utf-8")
    assert page.index("51%") < page.index("37%") < page.index("<svg")


def test_messages_beside_a_comparison_are_few_and_fit(
    demo: Path, evenrank: Evenrank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes no reading is counted; --notes has it, the groups for one."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = evenrank("compare").err.splitlines()
    assert len(lines) <= 4
    assert max(map(len, lines)) <= 80
    assert "groups of" not in "".join(lines)
    assert lines[-1].endswith("note: --notes")
    assert "groups of 'author'" in evenrank("compare", "--notes").err
