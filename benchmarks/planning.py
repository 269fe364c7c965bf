"""What a scan of 8.8 million, a billion and a hundred billion documents needs, and what lost workers cost.

    python benchmarks/planning.py --price 0.05 --network 100

Rates are measured here, on one core, with real passages in TSV, JSONL.gz and Parquet; everything else is
arithmetic with the assumptions that are printed: ``--price`` of a core hour, megabytes a second that a core
gets from a store (``--network``), bytes of a web document. The simulation gives tasks to whichever worker is
free next, as Dask and Spark do. Times of tasks vary by chance, some workers are slow, and workers are lost at
times that are drawn; their task begins anew on another worker.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
PASSAGES = 120_000
SIZES = {"8.8M passages": (8_841_823, 346), "1B web documents": (10**9, 0), "100B web documents": (10**11, 0)}


class Rate(NamedTuple):
    """Of one core: bytes of text a second, how many bytes of it one byte on the disk holds, and bytes out."""

    text: float
    packed: float
    counts: float


def measured(folder: Path) -> dict[str, Rate]:
    from cluster_inputs import make_tsv, repeated

    import evenrank as er
    from evenrank.evidence.scan import scan_file

    rows = [row for block in repeated(PASSAGES) for row in block]
    ids, texts = [str(one) for one, _ in rows], [text.decode() for _, text in rows]
    make_tsv(folder / "c.tsv", PASSAGES)
    lines = "".join(
        json.dumps({"id": one, "text": text}) + "\n" for one, text in zip(ids, texts, strict=True)
    )
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(lines.encode(), 6))
    pq.write_table(pa.table({"id": ids, "text": texts}), folder / "c.parquet", compression="zstd")
    size = sum(len(text) for _, text in rows)
    found = {}
    lexicon = er.read_lexicon("gender-en")
    for name in ("c.tsv", "c.jsonl.gz", "c.parquet"):
        seconds = []
        for _ in range(4):  # the first one loads the kernel
            begin = time.process_time()
            scan_file(folder / name, lexicon, folder / "o.parquet", threads=1)
            seconds.append(time.process_time() - begin)
        counts = (folder / "o.parquet").stat().st_size / PASSAGES
        packed = size / (folder / name).stat().st_size
        found[name.partition(".")[2]] = Rate(size / min(seconds), packed, counts)
    return found


def makespan(
    workers: int,
    tasks: int,
    task_seconds: float,
    generator: np.random.Generator,
    *,
    spread: float = 0.2,
    slow_share: float = 0.0,
    slow_factor: float = 4.0,
    losses_an_hour: float = 0.0,
    restart: float = 60.0,
) -> tuple[float, int]:
    """Seconds until all tasks are done, and how many were begun more than once.

    ``losses_an_hour`` is the chance of each worker; another one takes its place after ``restart`` seconds.
    """
    own = task_seconds * generator.lognormal(-(spread**2) / 2, spread, tasks)  # with a mean of task_seconds
    speed = np.where(generator.random(workers) < slow_share, slow_factor, 1.0)
    mean = 3600 / losses_an_hour if losses_an_hour else np.inf
    dies = generator.exponential(mean, workers) if losses_an_hour else np.full(workers, np.inf)
    free = [(0.0, worker) for worker in range(workers)]
    heapq.heapify(free)
    waiting = [(0.0, place) for place in range(tasks)]  # from when on it can be begun
    again, end = 0, 0.0
    while waiting:
        free_at, worker = heapq.heappop(free)
        lost_at, place = heapq.heappop(waiting)
        begin = max(free_at, lost_at)  # nobody can take a task before its worker is lost
        finish = begin + own[place] * speed[worker]
        if dies[worker] < finish:
            again += dies[worker] > begin
            heapq.heappush(waiting, (max(dies[worker], begin), place))
            back = max(dies[worker], begin) + restart
            dies[worker] = back + generator.exponential(mean)
            speed[worker] = slow_factor if generator.random() < slow_share else 1.0
            heapq.heappush(free, (back, worker))
            continue
        end = max(end, finish)
        heapq.heappush(free, (finish, worker))
    return end, again


def simulated(draws: int = 20) -> list[dict[str, Any]]:
    """How much longer than without waste: work divided by the number of workers."""
    work, workers = 1000 * 3600.0, 1000  # an hour of a thousand workers
    cases: dict[str, dict[str, float]] = {
        "nothing goes wrong": {},
        "1% of workers 4 times slower": {"slow_share": 0.01},
        "each worker is lost once in 10 hours": {"losses_an_hour": 0.1},
        "each worker is lost once an hour": {"losses_an_hour": 1.0},
        "both: 1% slow, lost once in 10 hours": {"slow_share": 0.01, "losses_an_hour": 0.1},
    }
    rows = []
    for case, settings in cases.items():
        for task_seconds in (10.0, 60.0, 600.0):
            tasks = int(work / task_seconds)
            if tasks > 400_000:
                continue
            found = [
                makespan(workers, tasks, task_seconds, np.random.default_rng(seed), **settings)
                for seed in range(draws if tasks < 100_000 else min(draws, 3))
            ]
            rows.append(
                {
                    "case": case,
                    "task": task_seconds,
                    "time": float(np.mean([end for end, _ in found]) / (work / workers)),
                    "again": float(np.mean([again for _, again in found]) / tasks),
                }
            )
    return rows


def plan(rate: Rate, documents: int, bytes_each: int, price: float, network: float) -> dict[str, float]:
    """Core hours and bytes; a core that fetches does not count, so that both are paid."""
    text = float(documents * bytes_each)
    fetched = text / rate.packed
    counting, fetching = text / rate.text / 3600, fetched / (network * 1e6) / 3600
    return {
        "text": text,
        "fetched": fetched,
        "counts": documents * rate.counts,
        "counting": counting,
        "fetching": fetching,
        "price": (counting + fetching) * price,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--price", type=float, default=0.05, help="of a core hour")
    parser.add_argument("--network", type=float, default=100.0, help="MB/s that a core gets from a store")
    parser.add_argument("--web-bytes", type=int, default=4000, help="of the text of a web document")
    parser.add_argument("--simulate", action="store_true", help="only the simulation")
    parser.add_argument("--draws", type=int, default=20, help="of the simulation")
    arguments = parser.parse_args()
    if not arguments.simulate:
        with tempfile.TemporaryDirectory(prefix="planning-") as folder:
            rates = measured(Path(folder))
        for name, rate in rates.items():
            print(
                f"{name}: {rate.text / 1e6:.0f} MB of text a core second, "
                f"{rate.packed:.2f} bytes of text for each byte that is stored, "
                f"{rate.counts:.1f} bytes of counts a document"
            )
        for what, (documents, size) in SIZES.items():
            for name, rate in rates.items():
                found = plan(rate, documents, size or arguments.web_bytes, arguments.price, arguments.network)
                print(what, name, {key: round(value, 3) for key, value in found.items()})
    for row in simulated(arguments.draws):
        print(
            f"{row['case']}, tasks of {row['task']:.0f} s: {row['time']:.3f} times the time, "
            f"{row['again']:.2%} of tasks again"
        )


if __name__ == "__main__":
    main()
