"""A scan on Dask and on Spark beside the same scan in one process, and what kills cost.

    python benchmarks/clusters.py --write

Real passages are repeated with new ids. Every way scans the same file on the same cores, round after round,
and the fastest rounds are compared: what else runs on a machine only adds time. Processor time is that of all
processes of a way, Java included. The fixed cost is the time until a cluster has started, and what the first
scan on it takes longer than the next ones: workers load the compiled kernel. Every way must give the same
file, byte for byte, or nothing is reported. A kill ends a worker at a task that a seed draws, or the process
that plans the work when a number of parts that a seed draws is there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import evenrank as er
from evenrank.evidence.scan import scan_file
from evenrank.scale import open_executor

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests/support"))
PASSAGES = HERE.parents[1] / "shared/data/msmarco_trecdl/passages.tsv"
LEXICON = "gender-en"
WORKERS = 2
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


def passages() -> list[bytes]:
    lines = PASSAGES.read_bytes().split(b"\n")[:-1]
    return [line.partition(b"\t")[2] for line in lines]


def repeated(count: int) -> Iterator[list[tuple[int, bytes]]]:
    texts, done = passages(), 0
    while done < count:
        own = texts[: count - done]
        yield [(done + place, text) for place, text in enumerate(own)]
        done += len(own)


def make_tsv(path: Path, count: int) -> Path:
    with path.open("wb") as file:
        for block in repeated(count):
            file.write(b"".join(b"%d\t%s\n" % row for row in block))
    return path


def make_formats(folder: Path, count: int) -> list[Path]:
    """TSV, JSONL.gz in ten shards, and Parquet."""
    shards = folder / "shards"
    shards.mkdir()
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(folder / "c.parquet", schema, compression="zstd") as writer:
        lines_of: list[list[bytes]] = [[] for _ in range(10)]
        for number, block in enumerate(repeated(count)):
            ids, texts = [str(one) for one, _ in block], [text.decode() for _, text in block]
            writer.write_table(pa.table([ids, texts], schema=schema))
            lines = (json.dumps({"id": one, "text": text}) for one, text in zip(ids, texts, strict=True))
            lines_of[number % 10].append(("\n".join(lines) + "\n").encode())
    for number, own in enumerate(lines_of):
        (shards / f"s{number}.jsonl.gz").write_bytes(gzip.compress(b"".join(own), 1))
    return [make_tsv(folder / "c.tsv", count), shards, folder / "c.parquet"]


def processor_seconds() -> float:
    """Of this process and everything that it started and that is still running."""
    own = os.getpid()
    parents: dict[int, list[int]] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(entry.name)
            parents.setdefault(int(fields[1]), []).append(pid)
            # with those of children that have ended
            spent[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    total, waiting = 0.0, [own]
    while waiting:
        pid = waiting.pop()
        total += spent.get(pid, 0.0)
        waiting += parents.get(pid, [])
    return total


def timed(source: Path, output: Path, on: Any) -> tuple[float, float]:
    cpu, begin = processor_seconds(), time.perf_counter()
    scan_file(source, er.read_lexicon(LEXICON), output, on=on, threads=WORKERS)
    return time.perf_counter() - begin, processor_seconds() - cpu


def same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def speed(folder: Path, counts: list[int], rounds: int) -> dict[str, Any]:
    files = {count: make_tsv(folder / f"p{count}.tsv", count) for count in counts}
    result: dict[str, Any] = {"bytes": {str(count): path.stat().st_size for count, path in files.items()}}
    timed(files[counts[0]], folder / "local.parquet", None)  # the kernel is compiled and loaded
    clusters, started = {}, {}
    with open_executor_stack() as stack:
        for name in ("dask", "spark"):
            begin = time.perf_counter()
            clusters[name] = stack.enter_context(open_executor(name, WORKERS))
            begun = time.perf_counter() - begin
            first = timed(files[counts[0]], folder / f"{name}.parquet", clusters[name])[0]
            started[name] = {"start": begun, "first": first}
        ways = {"local": None, **clusters}
        for count, path in files.items():
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name, on in ways.items():
                    found[name].append(timed(path, folder / f"{name}.parquet", on))
                    print(f"{count:,} {name}: {found[name][-1][0]:.2f} s", file=sys.stderr)
            for name in clusters:
                if not same(folder / "local.parquet", folder / f"{name}.parquet"):
                    raise SystemExit(f"{name} gave another file")
            result[str(count)] = {
                name: {
                    "seconds": min(wall for wall, _ in own), "processor": min(cpu for _, cpu in own),
                }
                for name, own in found.items()
            }  # fmt: skip
    for name, own in started.items():
        own["first"] -= result[str(counts[0])][name]["seconds"]
    result["fixed"] = started
    return result


def open_executor_stack() -> Any:
    from contextlib import ExitStack

    return ExitStack()


def equality(folder: Path, count: int) -> dict[str, bool]:
    """Byte-equal files from one process, Dask and Spark."""
    found = {}
    sources = make_formats(folder, count)
    with open_executor("dask", WORKERS) as dask, open_executor("spark", WORKERS) as spark:
        for source in sources:
            for name, on in (("local", None), ("dask", dask), ("spark", spark)):
                scan_file(str(source), er.read_lexicon(LEXICON), folder / f"{name}.parquet", on=on)
                if on is not None:
                    equal = same(folder / "local.parquet", folder / f"{name}.parquet")
                    found[f"{source.name} {name}"] = equal
    return found


def kills(folder: Path, count: int) -> dict[str, list[dict[str, Any]]]:
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
    return {"partitions": total, "workers": workers, "drivers": drivers}  # type: ignore[dict-item]


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


def swaps_and_vectors(folder: Path, texts: int, encoded: int) -> dict[str, Any]:
    """The same swap and the same vectors of MiniLM through Dask."""
    from evenrank.counterfactuals.swap.files import swap_file
    from evenrank.systems.dense import Dense

    source = make_tsv(folder / "s.tsv", texts)
    documents = {str(one): text.decode() for block in repeated(encoded) for one, text in block}
    result: dict[str, Any] = {"texts": texts, "encoded": encoded}
    with open_executor("dask", WORKERS) as dask:
        for name, on in (("local", None), ("dask", dask)):
            swap_file(source, folder / f"{name}.tsv", "gender-en", on=on, threads=WORKERS)
        result["swap equal"] = same(folder / "local.tsv", folder / "dask.tsv")
        vectors = {}
        for name, on in (("local", None), ("dask", dask)):
            system = Dense("minilm", on=on)
            begin = time.perf_counter()
            system.index(documents)
            result[f"encoding {name}"] = time.perf_counter() - begin
            vectors[name] = system._vectors
        result["vectors equal"] = bool(np.array_equal(vectors["local"], vectors["dask"]))
        result["largest difference"] = float(np.abs(vectors["local"] - vectors["dask"]).max())
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures to clusters.json")
    parser.add_argument("--counts", default="5000000,20000000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="speed,equality,kills,vectors")
    parser.add_argument("--encoded", type=int, default=100_000)
    parser.add_argument("--killed", type=int, default=500_000, help="passages of the scans that are killed")
    parser.add_argument(
        "--equal", type=int, default=1_000_000, help="passages of the files that are compared"
    )
    arguments = parser.parse_args()
    path = HERE / "clusters.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    for name in arguments.only.split(","):
        folder = Path(tempfile.mkdtemp(prefix="clusters-"))
        try:
            if name == "speed":
                found[name] = speed(
                    folder, [int(one) for one in arguments.counts.split(",")], arguments.rounds
                )
            elif name == "equality":
                found[name] = equality(folder, arguments.equal)
            elif name == "kills":
                found[name] = kills(folder, arguments.killed)
            else:
                found[name] = swaps_and_vectors(folder, 100_000, arguments.encoded)
            print(json.dumps({name: found[name]}, indent=1))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if arguments.write:
            path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
