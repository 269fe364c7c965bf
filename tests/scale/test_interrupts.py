"""Ctrl-C in a terminal, which all processes of a local cluster get: one line for a person, no tracebacks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from collections_in_formats import rows, write

pytestmark = pytest.mark.needs("distributed")

SCRIPT = """
import sys
import evenrank
def ready(*_):
    print("ready", flush=True)
    sys.stdin.read()
if __name__ == "__main__":
    source, output = sys.argv[1:]
    try:
        print("starting", flush=True)
        evenrank.scan(source, "gender-en", output, on="dask", threads=2, progress=ready)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting", "ready"])
def test_processes_of_a_cluster_end_without_a_word(tmp_path: Path, moment: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    source = write(tmp_path / "c.tsv", rows(300))
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(source), str(tmp_path / "o.parquet")],
        start_new_session=True, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    while process.stdout.readline().strip() != moment:
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (130, "")
    assert not (tmp_path / "o.parquet").exists()
