"""Commands that are killed and given again: a few of the kills that benchmarks/kills.py does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks/kills.py"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and pidfd_open")
def test_nothing_is_lost_or_wrong(tmp_path: Path) -> None:
    """Killed before counted changes of the file system, so that the same seed does the same every time."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", "20", "--seed", "5", "--no-times", "--commands",
         "scan,swap,rerank,evaluate"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    total = next(line for line in done.stdout.splitlines() if line.startswith("| all |"))
    kills, damaged, resumed, anew, errors, wrong, lost = (int(cell) for cell in total.split("|")[2:9])
    assert (kills, wrong, lost) == (20, 0, 0)
    assert damaged >= 8
    assert resumed + anew + errors == kills
    assert resumed >= 3
