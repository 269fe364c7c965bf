"""What is wrong with a project file is named: keys, values of another type, and patterns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

Evenrank = Callable[..., SimpleNamespace]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.trec").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WRONG = {
    "[compare]\nseed = 1" + "0" * 5000: "evenrank.toml",
    "[compare]\nseed = 0x1" + "0" * 5000: "compare.seed",
    "[compare]\nseed = 1" + "0" * 4000: "compare.seed",
    "[targets]\na = {x = 1" + "0" * 400 + "}": "targets.a.x",
    "[targets]\na = [1e999]": "targets.a.0",
    '[engines.a]\naddress = "x.db"\nquery_by = [true]': "engines.a.query_by.0",
    '[engines.a]\naddress = "x.db"\nbody = {since = 1979-05-27}': "engines.a.body.since",
    '[engines.a]\naddress = "x.db"\npaging = {size = "ten"}': "engines.a.paging.size",
    '[engines.a]\naddress = "x.db"\npaging = 3': "engines.a.paging",
    f'[data]\nqrels = "{"n" * 256}"': "data.qrels",
    f'[data.runs]\n{"n" * 256} = "a.trec"': "data.runs",
    f"[engines.{'n' * 256}]\n": "engines",
    '[data]\nwords = "a\\u0000b"': "data.words",
    "[debias]\nseed = 1" + "0" * 4000: "debias.seed",
    "[debias.training]\nlearning_rate = 1" + "0" * 400: "debias.training.learning_rate",
    "[gate.measures.RR]\nallowed = true": "gate.measures.RR.allowed",
    "[report]\ntitle = 3": "report.title",
}


@pytest.mark.parametrize("written", WRONG, ids=lambda text: text[:40])
def test_values_are_typed_before_they_are_used(evenrank: Evenrank, folder: Path, written: str) -> None:
    (folder / "evenrank.toml").write_text(written + "\n")
    for command in ("evaluate", "doctor"):
        done = evenrank(command, *(["--project", "evenrank.toml"]))
        assert done.code == 1
        assert WRONG[written] in done.out + done.err
        assert "unexpected" not in done.err
        assert len(done.err) < 4000


@pytest.mark.parametrize("pattern", ["/etc/host*", "**x/*.trec", "no*such"])
def test_patterns_of_a_named_file_are_files_or_a_plain_error(
    evenrank: Evenrank, folder: Path, pattern: str
) -> None:
    (folder / "evenrank.toml").write_text(f'[data]\nruns = ["{pattern}"]\nqrels = "qrels.txt"\n')
    done = evenrank("evaluate", "--project", "evenrank.toml")
    assert done.code in (1, 2)
    assert "unexpected" not in done.err


def test_every_problem_of_a_file_is_named_at_once(evenrank: Evenrank, folder: Path) -> None:
    (folder / "evenrank.toml").write_text(
        '[data]\nrunss = 1\nby = 3\n[gate]\nalpa = 1\n[debias.joint]\nepoch = 1\n[engines.a]\nadress = "x"\n'
    )
    done = evenrank("evaluate", "--project", "evenrank.toml")
    assert done.code == 1
    for place, near in (
        ("data.runss", "runs"), ("gate.alpa", "alpha"), ("debias.joint.epoch", "epochs"),
        ("engines.a.adress", "address"), ("data.by", ""),
    ):  # fmt: skip
        (line,) = (one for one in done.err.splitlines() if f" {place}: " in one)
        assert near in line
