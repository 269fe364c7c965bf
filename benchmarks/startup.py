"""A command for two measures on the demo, beside the same in ir_measures' own command

    python benchmarks/startup.py [--rounds 20]

Nearly all of it is start-up: 44 queries are scored in milliseconds. What is compared is the processor time of
the processes, in turn, by the median. evenrank also prints an interval of each mean, for which it loads
scipy.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURES = "nDCG@10 RR@10"
COMMANDS = {
    "evenrank": ("evaluate", "--no-project", "bm25.trec", "--qrels", "qrels.txt", "-m", MEASURES),
    "ir_measures": ("qrels.txt", "bm25.trec", MEASURES),
}


def seconds(tool: str, arguments: tuple[str, ...], folder: str) -> float:
    """Processor time of a command whose modules are compiled, as those of an installed package are."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    own["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(Path(sys.executable).with_name(tool)), *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=own)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        seconds("evenrank", ("init", "--demo"), folder)
        for tool, arguments in COMMANDS.items():
            seconds(tool, arguments, folder)
        times: dict[str, list[float]] = {tool: [] for tool in COMMANDS}
        for _ in range(rounds):
            for tool, arguments in COMMANDS.items():
                times[tool].append(seconds(tool, arguments, folder))
    medians = {tool: statistics.median(found) for tool, found in times.items()}
    for tool, median in medians.items():
        print(f"{tool}: {median:.3f} s, {median / medians['ir_measures']:.2f} times ir_measures")


if __name__ == "__main__":
    main()
