"""Scoring runs against the counts of many documents, of which only the ranked ones are read.

    python benchmarks/counts_by_need.py --write

The counts are made up: as many documents as ``--documents``, called 0, 1, 2, .., as MS MARCO's passages are,
in parts of a million. The runs are the published ones of
TREC Deep Learning where they are at hand, else drawn. ``evenrank evaluate`` runs in a fresh process for each
way, round after round, and the medians are compared with those of a file that holds nothing but the rows that
are needed. All ways must print the same values, or nothing is reported. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
RUNS = HERE.parents[1] / "shared/data/msmarco_trecdl"
PART = 1_000_000
PASSAGES = 8_841_823  # of MS MARCO
MEASURES = ["NFaiRR@10", "RaB@10", "NFaiRR@100"]
MEASURED = """
import sys, time
begin, used = time.perf_counter(), time.process_time()
from evenrank.cli import main
code = main(sys.argv[1:])
seconds, used = time.perf_counter() - begin, time.process_time() - used
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(f"MEASURED {seconds} {used} {peak}", file=sys.stderr)
sys.exit(code)
"""


def runs(folder: Path, documents: int) -> list[Path]:
    """The published runs, or drawn ones where there are fewer documents than MS MARCO has passages."""
    found = sorted([*RUNS.glob("runs_rankllm/*.trec"), *RUNS.glob("runs_cpjku_dl19fair/*.run")])
    if found and documents >= PASSAGES:
        return found
    generator = np.random.default_rng(1)
    paths = []
    for number in range(22):
        path = folder / f"drawn-{number}.trec"
        lines = [
            f"{query} Q0 {document} {rank + 1} {200 - rank} drawn\n"
            for query in range(50)
            for rank, document in enumerate(generator.choice(min(documents, PASSAGES), 160, replace=False))
        ]
        path.write_text("".join(lines))
        paths.append(path)
    return paths


def large_run(folder: Path, documents: int, queries: int) -> Path:
    """Queries x 1,000 documents, each anywhere in the collection."""
    path = folder / "large.trec"
    generator = np.random.default_rng(2)
    with path.open("w") as file:
        for query in range(queries):
            drawn = np.unique(generator.integers(0, documents, 1000))
            generator.shuffle(drawn)
            file.writelines(
                f"{query} Q0 {doc} {rank + 1} {2000 - rank} l\n" for rank, doc in enumerate(drawn)
            )
    return path


def counts_table(begin: int, end: int, schema: pa.Schema) -> pa.RecordBatch:
    from evenrank.io.counts import counts_batch

    generator = np.random.default_rng(begin)
    ids = pa.array(np.arange(begin, end)).cast(pa.large_string())
    lengths = generator.integers(20, 100, end - begin).astype(np.int32)
    groups = np.minimum(generator.poisson(0.4, (end - begin, 2)), 9).astype(np.int32)
    return counts_batch(schema, ids, lengths, groups)


def make_counts(folder: Path, documents: int, wanted: list[str]) -> tuple[Path, Path]:
    """The folder, and a file with the wanted rows alone."""
    from evenrank.io.counts import CountsWriter, counts_schema
    from evenrank.io.counts_folder import write_parts
    from evenrank.io.lexicons import read_lexicon

    schema = counts_schema(read_lexicon("gender-en"), "word", source={"name": "made up"})
    counts, needed = folder / "counts", folder / "needed.parquet"
    value_set, kept, parts = pa.array(wanted, pa.large_string()), [], []
    for number, begin in enumerate(range(0, documents, PART)):
        batch = counts_table(begin, min(begin + PART, documents), schema)
        path = folder / f"{number}.parquet"
        with path.open("wb") as file:
            writer = CountsWriter(file, schema)
            for at in range(0, len(batch), 1 << 17):
                writer.write(batch.slice(at, 1 << 17))
            writer.close()
        parts.append((path, len(batch)))
        kept.append(pa.Table.from_batches([batch]).filter(pa.compute.is_in(batch.column(0), value_set)))
    write_parts(counts, parts, {"name": "made up"})
    pq.write_table(pa.concat_tables(kept).cast(schema), needed)
    return counts, needed


def forget(path: Path) -> None:
    """Ask the system to drop what it keeps of files in memory, so that they are read from the disk."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    for file in files:
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Measured(NamedTuple):
    seconds: float
    used: float  # of the processor, by all threads
    peak: float  # MB
    printed: str


def measured(words: Path, names: list[Path], measures: list[str], background: bool = True) -> Measured:
    """One ``evaluate`` in a process of its own."""
    options = ["--words", str(words), "-m", ",".join(measures), "--format", "tsv"]
    options += ["--background", str(names[0])] if background else []
    command = [sys.executable, "-c", MEASURED, "evaluate", *map(str, names), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    line = next(line for line in done.stderr.split("\n") if line.startswith("MEASURED"))
    seconds, used, peak = map(float, line.split()[1:])
    return Measured(seconds, used, peak / 1024, done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=50_000_000)
    parser.add_argument("--queries", type=int, default=7000, help="of the large run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    from evenrank import read_run

    with tempfile.TemporaryDirectory(prefix="counts-by-need-") as name:
        folder = Path(name)
        names = runs(folder, arguments.documents)
        rows = sum(1 for path in names for _ in path.open())
        wanted = sorted({doc for path in names for doc in read_run(path).doc_ids.to_pylist()})
        begin = time.perf_counter()
        counts, needed = make_counts(folder, arguments.documents, wanted)
        print(f"made {arguments.documents:,} rows in {time.perf_counter() - begin:.0f} s", flush=True)
        base = "only the needed rows, one file"
        ways = {base: needed, "folder": counts}
        found: dict[str, list[Measured]] = {way: [] for way in ways}
        measured(needed, names, MEASURES)  # modules are compiled and in memory
        for _ in range(arguments.rounds):
            for way, path in ways.items():
                found[way].append(measured(path, names, MEASURES))
        for way, path in ways.items():
            forget(path)
            found[f"{way}, from the disk"] = [measured(path, names, MEASURES)]
        if len({one.printed for several in found.values() for one in several}) != 1:
            raise SystemExit("the ways do not print the same values")
        seconds = {way: statistics.median(one.seconds for one in several) for way, several in found.items()}
        used = {way: statistics.median(one.used for one in several) for way, several in found.items()}
        lines = [
            f"| {way} | {seconds[way]:.2f} | {seconds[way] / seconds[base]:.2f} | {used[way]:.2f} | "
            f"{used[way] / used[base]:.2f} | {max(one.peak for one in several):.0f} |"
            for way, several in found.items()
        ]
        print("\n".join(lines), flush=True)
        run = large_run(folder, arguments.documents, arguments.queries)
        large = []
        for measure in ("FaiRR@10", "FaiRR@1000"):
            one = measured(counts, [run], [measure], background=False)
            large.append(f"| {measure} | {one.seconds:.1f} | {one.used:.1f} | {one.peak:.0f} |")
            print(large[-1], flush=True)
    text = f"""# Reading counts by need

Made by `python benchmarks/counts_by_need.py --write` on {platform.machine()}, {os.cpu_count()} cores,
Python {platform.python_version()}, Arrow {pa.__version__}.
Aim: below 600 MB.

{len(names)} runs with {rows:,} rows and {len(wanted):,} different documents, scored with
{", ".join(MEASURES)} (background: the first run) against the counts of {arguments.documents:,} documents.
Seconds are the median of {arguments.rounds} fresh processes, in turn, on a machine that is shared; seconds of
the processor are those of all threads. "From the disk" is one process after the system was asked to forget
the files.

| counts | seconds | times the first | of the processor | times the first | peak MB |
|---|---|---|---|---|---|
{chr(10).join(lines)}

One run of {arguments.queries:,} queries x 1,000 documents, which are drawn from the whole
collection, in one process each:

| measure | seconds | of the processor | peak MB |
|---|---|---|---|
{chr(10).join(large)}
"""
    print(text)
    if arguments.write:
        page = HERE / "counts_by_need.md"
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
