"""The driver of the benchmarks: none is left out, and old and new are really two."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
DRIVER = {"bench", "operations"}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("bench")


def quick(old: Path | str, *options: str) -> tuple[int, dict[str, list[str]]]:
    """The exit code, and the rows of the table by their names."""
    words = [sys.executable, str(BENCHMARKS / "bench.py"), "quick", str(old), "--scale", "0.004", *options]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = [line[2:].removesuffix(" |") for line in done.stdout.splitlines() if line.startswith("| ")]
    return done.returncode, {name: cells for name, *cells in (line.split(" | ") for line in lines[1:])}


def test_every_script_is_in_the_table(bench: Any) -> None:
    files = {path.stem: path.read_text(encoding="utf-8") for path in BENCHMARKS.glob("*.py")}
    scripts = {name for name, text in files.items() if 'if __name__ == "__main__":' in text}
    assert scripts - DRIVER == set(bench.SCRIPTS)
    for name in files.keys() - scripts:  # what is no script is used by one
        used = re.compile(rf"^(from|import) {name}\b", re.MULTILINE)
        assert any(used.search(text) for other, text in files.items() if other != name), name
    left_out = {name for name, script in bench.SCRIPTS.items() if not script.quick and not script.full}
    assert not left_out


def test_the_list_in_the_readme_is_the_table(bench: Any) -> None:
    assert "\n".join(bench.table_of_scripts()) in (BENCHMARKS / "README.md").read_text(encoding="utf-8")


def test_the_same_sources_give_a_ratio_and_the_same_result() -> None:
    code, rows = quick(ROOT, "--only", "read judgements", "--rounds", "2")
    assert (code, set(rows)) == (0, {"read judgements"})
    old, new, ratio, spread, *_, remark = rows["read judgements"]
    assert min(map(float, (old, new, ratio))) > 0
    low, high = map(float, spread.split(" to "))
    assert low <= float(ratio) <= high
    assert remark == ""


def test_the_old_sources_are_those_of_the_old_tree(tmp_path: Path) -> None:
    """A package that says other things than this one."""
    package = tmp_path / "src/evenrank"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def read_qrels(path):\n    return [path] * sum(range(2000))\n")
    code, rows = quick(tmp_path, "--only", "read judgements", "--rounds", "1")
    assert (code, rows["read judgements"][-1]) == (0, "another result")
    assert float(rows["read judgements"][2]) > 0
    _, rows = quick(tmp_path, "--only", "read a run, TREC", "--rounds", "1")
    assert rows["read a run, TREC"][-1].startswith("works now")


def test_a_script_runs_with_old_and_new(tmp_path: Path) -> None:
    code, rows = quick(ROOT, "--only", "audits.py")
    assert (code, set(rows), rows["audits.py"][-1]) == (0, {"audits.py"}, "runs")
    assert float(rows["audits.py"][2]) > 0


def test_what_fails_now_fails_the_driver(bench: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    known = bench.SCRIPTS["audits"]
    monkeypatch.setitem(bench.SCRIPTS, "audits", known._replace(quick=((),)))
    assert bench.quick(str(ROOT), "audits.py", 1, 0.004, False) == 1
    monkeypatch.setitem(bench.SCRIPTS, "audits", known._replace(needs=("no_such_package",)))
    assert bench.quick(str(ROOT), "audits.py", 1, 0.004, False) == 0
    assert "no_such_package" in capsys.readouterr().out


def test_an_unknown_commit_is_refused() -> None:
    assert quick("no-such-commit")[0] == 1
