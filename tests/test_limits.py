"""A test that hangs, or whose process is lost, fails with its name and its place, and the run ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIMIT = 3  # seconds
STUCK = {
    "in Python": "time.sleep(1000)",
    "in a child": 'subprocess.run(["sleep", "1000"])',
    "in C, where no signal arrives": "sum(itertools.repeat(0))",
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
}


@contextmanager
def started(folder: Path, lines: list[str], *options: str) -> Iterator[subprocess.Popen[str]]:
    """A run of the tests in these lines, under the settings and the conftest of all tests."""
    shutil.copy(ROOT / "tests/conftest.py", folder)
    (folder / "test_it.py").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    with subprocess.Popen(
        [*command, *options, str(folder)], env=outside | {"PYTHONPATH": str(ROOT / "tests/support")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the processes that it started


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each run of a stuck test prints before it fails; all at once, since they mostly wait."""
    options = [f"--timeout={LIMIT}", "-n", "1", "--max-worker-restart=0"]
    with ExitStack() as stack:
        runs = {}
        for way, stuck in STUCK.items():
            lines = ["import itertools, os, signal, subprocess, time", "def test_stuck():", f"    {stuck}"]
            lines += ["def test_after():", "    pass"]
            folder = tmp_path_factory.mktemp("stuck")
            runs[way] = stack.enter_context(started(folder, lines, *options))
        out = {way: process.communicate()[0] for way, process in runs.items()}
    assert {process.returncode for process in runs.values()} == {1}
    return out


@pytest.mark.parametrize("way", STUCK)
def test_a_hang_is_a_failure_with_a_name(way: str, printed: dict[str, str]) -> None:
    assert re.search(r"^FAILED \S*test_it\.py::test_stuck", printed[way], re.MULTILINE)
    if way != "killed":  # the place: the line that does not end
        assert re.search(r'test_it\.py(:3:|", line 3 in test_stuck)', printed[way])
    if way in ("in Python", "in a child"):  # the process lives, and does the next test
        assert "1 passed" in printed[way]


def test_the_import_of_a_test_file_has_a_limit(tmp_path: Path) -> None:
    with started(
        tmp_path, ["import time", "time.sleep(1000)"], "-p", "no:xdist", "-o", "timeout=0.5"
    ) as process:
        out, _ = process.communicate()
    assert process.returncode == 1
    assert 'test_it.py", line 2 in <module>' in out


def test_what_a_test_needs_is_named_where_it_is_not_here(tmp_path: Path) -> None:
    lines = ["import nothing_of_this_name", 'pytestmark = pytest.mark.needs("nothing_of_this_name")']
    lines += ["def test_it():", "    pass"]
    with started(tmp_path, ["import pytest", *lines], "-rs", "-p", "no:xdist") as process:
        out, _ = process.communicate()
    assert process.returncode == 5  # no test was found
    assert "needs nothing_of_this_name" in out

    lines = ['@pytest.mark.needs("sys", "nothing_of_this_name")', "def test_lacks():", "    assert False"]
    lines += ['@pytest.mark.needs("sys")', "def test_has():", "    pass"]
    with started(tmp_path, ["import pytest", *lines], "-rs", "-p", "no:xdist") as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    assert "1 passed, 1 skipped" in out
    assert "needs nothing_of_this_name" in out
