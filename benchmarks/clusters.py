"""A scan on Dask and on Spark beside the same scan in one process, and what kills cost.

    python benchmarks/clusters.py --write
    python benchmarks/clusters.py --write --only speed

Real passages are repeated with new ids. Every way scans the same file on the same cores, one after another in
each round, and the fastest rounds are compared: what else runs on a machine only adds time. Processor time is
that of all processes of a way, Java included. The slope is what the passages between the smaller and the
larger file take. The fixed cost is apart: the time until a cluster has started, and what the first scan on it
takes longer than the next ones, in which workers import what they need and load the compiled kernel. Every
way must give the same file, byte for byte, or nothing is reported. A kill ends a worker at a task that a seed
draws, or the process that plans the work when a number of parts that a seed draws is there. ``--write``
keeps the figures in clusters.json and writes clusters.md from all that are kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cluster_inputs import WORKERS, Spent, make_formats, make_tsv, measured, same
from cluster_page import page
from cluster_texts import swaps, vectors

import evenrank as er
from evenrank.evidence.scan import scan_file
from evenrank.scale import open_executor

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests/support"))
LEXICON = "gender-en"
KILLS = 10
SCRIPT = """
import sys
from pathlib import Path
from attempts import Attempts
import evenrank as er
from evenrank.evidence.scan import scan_file
from evenrank.scale import open_executor
source, output, noted, size = sys.argv[1:]
def permitted(done, total, unit):
    sys.stdin.buffer.read(1)  # it does not end before it is killed
with open_executor("dask", 2) as executor:
    scan_file(source, er.read_lexicon("gender-en"), output, on=Attempts(executor, Path(noted)),
              progress=permitted, partition_bytes=int(size))
"""


def scanned(source: Path, output: Path, on: Any) -> Spent:
    with measured() as spent:
        scan_file(source, er.read_lexicon(LEXICON), output, on=on, threads=WORKERS)
    return spent


def speed(folder: Path, counts: list[int], rounds: int) -> dict[str, Any]:
    files = {count: make_tsv(folder / f"p{count}.tsv", count) for count in counts}
    result: dict[str, Any] = {
        "bytes": {str(count): path.stat().st_size for count, path in files.items()},
        "rounds": rounds,
        "load before": os.getloadavg()[0],
    }
    scanned(files[counts[0]], folder / "local.parquet", None)  # the kernel is compiled and loaded
    ways: dict[str, Any] = {"local": None}
    fixed: dict[str, dict[str, dict[str, float]]] = {}
    with ExitStack() as stack:
        for name in ("dask", "spark"):
            with measured() as start:
                ways[name] = stack.enter_context(open_executor(name, WORKERS))
            first = scanned(files[counts[0]], folder / f"{name}.parquet", ways[name])
            fixed[name] = {"start": start.to_dict(), "first": first.to_dict()}
        for count, path in files.items():
            result[str(count)] = _rounds(folder, path, ways, rounds)
    smaller = result[str(counts[0])]
    for name, own in fixed.items():
        own["first"] = {kind: own["first"][kind] - smaller[name][kind] for kind in own["first"]}
    result["fixed"] = fixed
    result["slope"] = _slopes(smaller, result[str(counts[-1])], (counts[-1] - counts[0]) / 1e6)
    return result


def _rounds(folder: Path, path: Path, ways: dict[str, Any], rounds: int) -> dict[str, Any]:
    """The least time of every way on one file."""
    found: dict[str, list[Spent]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, on in ways.items():
            spent = scanned(path, folder / f"{name}.parquet", on)
            found[name].append(spent)
            seconds = f"{spent.seconds:.2f} s, {spent.processor:.2f} s of processors"
            print(f"{path.name} {name}: {seconds}", file=sys.stderr)
            if not same(folder / "local.parquet", folder / f"{name}.parquet"):
                raise SystemExit(f"{name} gave another file")
    return {
        name: Spent(min(one.seconds for one in own), min(one.processor for one in own)).to_dict()
        for name, own in found.items()
    }


def _slopes(smaller: Any, larger: Any, millions: float) -> dict[str, dict[str, float]]:
    """Seconds a million passages between two sizes."""
    return {
        name: {kind: (larger[name][kind] - smaller[name][kind]) / millions for kind in larger[name]}
        for name in larger
    }


def equality(folder: Path, count: int) -> dict[str, Any]:
    """Byte-equal files from one process, Dask and Spark."""
    found: dict[str, bool] = {}
    sources = make_formats(folder, count)
    with open_executor("dask", WORKERS) as dask, open_executor("spark", WORKERS) as spark:
        for source in sources:
            for name, on in (("local", None), ("dask", dask), ("spark", spark)):
                scan_file(str(source), er.read_lexicon(LEXICON), folder / f"{name}.parquet", on=on)
                if on is not None:
                    equal = same(folder / "local.parquet", folder / f"{name}.parquet")
                    found[f"{source.name} {name}"] = equal
    return {"passages": count, "files": found}


def kills(folder: Path, count: int) -> dict[str, Any]:
    """Ten deaths of a worker and ten of the process that plans: the file, and how much was done twice."""
    from attempts import Attempts, attempts

    source, size = make_tsv(folder / "k.tsv", count), 1 << 23
    plain = folder / "plain.parquet"
    lexicon = er.read_lexicon(LEXICON)
    scan_file(source, lexicon, plain)
    total = -(-source.stat().st_size // size)
    workers, drivers = [], []
    with open_executor("dask", WORKERS) as executor:
        for seed in range(KILLS):
            generator = random.Random(seed)
            noted = folder / f"noted-worker-{seed}"
            when = {generator.randrange(total): generator.choice(["before", "after"])}
            on = Attempts(executor, noted, when)
            scan_file(source, lexicon, folder / "o.parquet", on=on, partition_bytes=size)
            equal = same(plain, folder / "o.parquet")
            workers.append(
                {"task": next(iter(when.items())), "equal": equal, "again": attempts(noted) - total}
            )
        for seed in range(KILLS):
            generator = random.Random(100 + seed)
            noted, output = folder / f"noted-driver-{seed}", folder / f"d{seed}.parquet"
            wanted = generator.randrange(1, total)
            _kill_driver([str(source), str(output), str(noted), str(size)], output, wanted)
            scan_file(source, lexicon, output, on=Attempts(executor, noted), partition_bytes=size)
            equal = same(plain, output)
            drivers.append({"parts": wanted, "equal": equal, "again": attempts(noted) - total})
            print(f"killed the driver after {wanted} of {total} parts: {drivers[-1]}", file=sys.stderr)
    return {"passages": count, "partitions": total, "workers": workers, "drivers": drivers}


def _kill_driver(arguments: list[str], output: Path, wanted: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent / "tests/support")}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments], stdin=subprocess.PIPE, env=environment
    )
    parts = output.with_name(output.name + ".parts")
    while len(list(parts.glob("part-*.json"))) < wanted:
        if process.poll() is not None:
            raise SystemExit("the driver ended before it was killed")
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write clusters.json and clusters.md")
    parser.add_argument("--counts", default="5000000,20000000")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="speed,equality,kills,swap,vectors")
    parser.add_argument("--texts", type=int, default=100_000, help="texts that are swapped and encoded")
    parser.add_argument("--killed", type=int, default=500_000, help="passages of the scans that are killed")
    parser.add_argument(
        "--equal", type=int, default=1_000_000, help="passages of the files that are compared"
    )
    arguments = parser.parse_args()
    path = HERE / "clusters.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    counts = [int(count) for count in arguments.counts.split(",")]
    work: dict[str, Callable[[Path], Any]] = {
        "speed": lambda folder: speed(folder, counts, arguments.rounds),
        "equality": lambda folder: equality(folder, arguments.equal),
        "kills": lambda folder: kills(folder, arguments.killed),
        "swap": lambda folder: swaps(folder, arguments.texts),
        "vectors": lambda folder: vectors(arguments.texts),
    }
    for name in arguments.only.split(","):
        folder = Path(tempfile.mkdtemp(prefix="clusters-"))
        try:
            found[name] = work[name](folder)
            print(json.dumps({name: found[name]}, indent=1))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if arguments.write:
            path.write_text(json.dumps(found, indent=1) + "\n")
            (HERE / "clusters.md").write_text(page(found))


if __name__ == "__main__":
    main()
