"""Ctrl-C in a terminal, which all processes of a local cluster get: one line for a person, no tracebacks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs("distributed")

SCRIPT = """
import sys
from evenrank.scale import open_executor
try:
    print("starting", flush=True)
    with open_executor("dask", 2) as executor:
        print("ready", flush=True)
        sys.stdin.read()
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting", "ready"])
def test_processes_of_a_cluster_end_without_a_word(moment: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], start_new_session=True, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    while process.stdout.readline().strip() != moment:
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (130, "")
