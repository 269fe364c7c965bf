"""Counting the words of a lexicon in a million passages, beside the published loop and reading the file.

    python benchmarks/scan.py --write

All ways meet the same documents in one process, round after round, and the medians are compared. The loop
is what the published code does, in our words: lower case, split on blanks, count, look every token up in
the set of each group, compute the neutrality, write a line. It runs on a tenth of the documents in each
round, since it is slow, and its time is scaled up. Reading the file is mapping it and touching every byte.
Ours goes from the file to a finished Parquet file of counts, ids checked. What it counts with the same
tokeniser must be what the loop counts, or nothing is reported. Memory is the peak of a fresh process.
"""

from __future__ import annotations

import argparse
import gc
import json
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from common import PASSAGES, on_cores, peak_memory, texts, timed, write_table

HERE = Path(__file__).parent
WORDS = PASSAGES.with_name("wordlist_gender_representative.txt")
LOOP_SHARE = 10
WORDS_OF_GROUPS = ["he", "she", "his", "Her", "man,"]  # where passages are drawn

WAYS = {
    "TSV, one core": ("tsv", 1),
    "TSV, two cores": ("tsv", 2),
    "JSONL, one core": ("jsonl", 1),
    "JSONL, two cores": ("jsonl", 2),
    "Parquet (zstd), one core": ("parquet", 1),
    "Parquet (zstd), two cores": ("parquet", 2),
}


def lexicon() -> Any:
    from evenrank.data.lexicon import Lexicon

    groups: dict[str, list[str]] = {"m": ["he", "his", "him", "man"], "f": ["she", "her", "woman"]}
    if WORDS.exists():
        pairs = [line.split(",") for line in WORDS.read_text(encoding="utf-8").split()]
        groups = {side: [word for word, group in pairs if group == side] for side in ("m", "f")}
    return Lexicon.build("published", groups)


def make_files(folder: Path, count: int) -> dict[str, Path]:
    """The same passages as TSV, JSONL and Parquet, always the same bytes."""
    paths = {kind: folder / f"passages-{count}.{kind}" for kind in ("tsv", "jsonl", "parquet")}
    if all(path.exists() for path in paths.values()):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    ids, contents = (
        [str(number) for number in range(count)],
        list(texts(count, WORDS_OF_GROUPS)),
    )
    with paths["tsv"].open("w", encoding="utf-8") as file:
        file.writelines(f"{i}\t{text}\n" for i, text in zip(ids, contents, strict=True))
    with paths["jsonl"].open("w", encoding="utf-8") as file:
        for i, text in zip(ids, contents, strict=True):
            file.write(json.dumps({"_id": i, "text": text}, ensure_ascii=False) + "\n")
    pq.write_table(pa.table({"id": ids, "text": contents}), paths["parquet"], compression="zstd")
    return paths


def published_loop(path: Path, words: dict[str, set[str]], lines: int) -> list[dict[str, int]]:
    """For the first lines of a file the tokens of each group; the neutralities go to a file."""
    found = []
    shares = dict.fromkeys(words, 0.5)
    with path.open(encoding="utf-8") as file, (HERE / "work/neutrality.tsv").open("w") as output:
        for _, line in zip(range(lines), file, strict=False):
            fields = line.strip().split("\t")
            tokens = Counter(fields[1].lower().split(" "))
            magnitudes = dict.fromkeys(shares, 0)
            for token in tokens:
                for group in shares:
                    if token in words[group]:
                        magnitudes[group] += tokens[token]
            total = np.sum(list(magnitudes.values()))
            neutrality = 1.0
            if total > 1:
                for group in shares:
                    neutrality -= np.abs(magnitudes[group] / float(total) - shares[group])
            output.write(f"{fields[0]}\t{neutrality:f}\n")
            found.append(magnitudes)
    return found


def read_file(path: Path) -> int:
    """The file is mapped, and every byte is touched."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return int(np.bitwise_xor.reduce(np.frombuffer(mapped, np.uint64, len(mapped) // 8)))


def measure(paths: dict[str, Path], count: int, rounds: int) -> dict[str, float]:
    from evenrank.evidence.scan import scan_file
    from evenrank.io.counts import read_counts

    words, output = lexicon(), HERE / "work/counts.parquet"
    sides = {group: set(words.words(group)) for group in words.groups}
    part = count // LOOP_SHARE
    scan_file(paths["tsv"], words, output, tokenizer="whitespace")
    ours, theirs = read_counts(output).counts[:part], published_loop(paths["tsv"], sides, part)
    if ours.tolist() != [list(magnitudes.values()) for magnitudes in theirs]:
        raise SystemExit("the loop and the scan count differently")
    seconds: dict[str, list[float]] = {"published loop": [], "reading the file": []} | {w: [] for w in WAYS}
    for number in range(rounds):
        spent, _ = timed(lambda: on_cores(1, lambda: published_loop(paths["tsv"], sides, part)))
        seconds["published loop"].append(spent * LOOP_SHARE)
        seconds["reading the file"].append(timed(lambda: on_cores(1, lambda: read_file(paths["tsv"])))[0])
        for way, (kind, cores) in WAYS.items():
            action = lambda kind=kind, cores=cores: on_cores(  # noqa: E731
                cores, lambda: scan_file(paths[kind], words, output, threads=cores)
            )
            seconds[way].append(timed(action)[0])
        shown = ", ".join(f"{way} {times[-1]:.2f}" for way, times in seconds.items())
        print(f"round {number + 1}: {shown}", file=sys.stderr)
    return {way: statistics.median(times) for way, times in seconds.items()}


def hash_cost(paths: dict[str, Path], rounds: int) -> dict[str, list[float]]:
    """For each way the processor time of a round with the hash of the content, over that without it."""
    from evenrank.evidence.scan import scan_file
    from evenrank.io.content_hash import StreamHash

    words, output, shipped = lexicon(), HERE / "work/counts.parquet", StreamHash.add
    scan_file(paths["tsv"], words, output)
    ratios: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(rounds):
        for way, (kind, cores) in WAYS.items():
            seconds = {}
            for hashed in (True, False) if number % 2 else (False, True):  # neither is always the first
                StreamHash.add = shipped if hashed else only_counted  # type: ignore[method-assign]
                gc.collect()
                begin = time.process_time()  # of all threads: others on the machine do not count
                on_cores(cores, lambda: scan_file(paths[kind], words, output, threads=cores))  # noqa: B023
                seconds[hashed] = time.process_time() - begin
            ratios[way].append(seconds[True] / seconds[False])
    StreamHash.add = shipped  # type: ignore[method-assign]
    return ratios


def only_counted(passed: Any, data: Any) -> None:
    passed.bytes += len(data)


def processors() -> dict[str, dict[str, str]]:
    """Processors that this one can play, by the environment that numba compiles for."""
    from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

    features = get_host_cpu_features()

    def without(*kinds: str) -> dict[str, str]:
        left = {name: on and not name.startswith(kinds) for name, on in features.items()}
        text = ",".join(f"{'+' if on else '-'}{name}" for name, on in left.items())
        return {"NUMBA_CPU_NAME": get_host_cpu_name(), "NUMBA_CPU_FEATURES": text}

    has = any(on and name.startswith("avx512") for name, on in features.items())
    found = {f"this one ({'with' if has else 'without'} AVX-512)": {}}
    if has:
        found["without AVX-512"] = without("avx512")
    return found | {
        "without AVX-512 and AVX2": without("avx512", "avx2", "fma", "f16c", "vaes", "vpclmul"),
        "any of 64 bits (SSE2)": {"NUMBA_CPU_NAME": "generic"},
    }


def speeds_of_processors(path: Path, rounds: int) -> str:
    """Least processor time to count a file on one thread, as each of the processors, round after round."""
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as kernels:
        for number in range(rounds + 1):
            for place, (name, choice) in enumerate(processors().items()):
                environment = {**os.environ, **choice, "NUMBA_CACHE_DIR": f"{kernels}/{place}"}
                command = [sys.executable, str(Path(__file__)), "--warm", str(path)]
                done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
                if number:  # the first compiles
                    seconds.setdefault(name, []).append(float(done.stdout))
    size, own = path.stat().st_size, min(next(iter(seconds.values())))
    rows = ["| processor | MB/s of text, one thread | speed over this one's |", "|---|---:|---:|"]
    for name, times in seconds.items():
        rows.append(f"| {name} | {size / min(times) / 1e6:,.0f} | {own / min(times):.2f} |")
    return "\n".join(rows)


def fresh(path: Path) -> dict[str, float]:
    """Seconds and peak MB of a new process that scans a file."""
    begin = time.perf_counter()
    command = [sys.executable, str(Path(__file__)), "--only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"seconds": time.perf_counter() - begin, "memory": float(done.stdout)}


def page(times: dict[str, float], processes: dict[str, dict[str, float]], count: int, size: int) -> str:
    loop, reading = times["published loop"], times["reading the file"]
    rows = [f"{count:,} passages, {size / 1e6:.0f} MB as TSV.\n"]
    rows.append(
        "| way | seconds | MB/s of text | times faster than the loop | times the reading of the file |"
    )
    rows.append("|---|---|---|---|---|")
    for way, seconds in times.items():
        ratios = f"{loop / seconds:.0f} | {seconds / reading:.1f}"
        rows.append(f"| {way} | {seconds:.3f} | {size / seconds / 1e6:,.0f} | {ratios} |")
    rows.append("\n| a new process, from start to end | seconds | peak memory, MB |\n|---|---|---|")
    rows += [f"| {kind} | {row['seconds']:.2f} | {row['memory']:.0f} |" for kind, row in processes.items()]
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/scan.md")
    parser.add_argument("--hash", action="store_true", help="only: what the hash of the content costs")
    parser.add_argument("--processors", action="store_true", help="only: what lesser processors cost")
    parser.add_argument("--warm", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.warm:
        from evenrank.evidence.scan import scan_file

        seconds = []
        for _ in range(6):  # the first loads or compiles
            begin = time.process_time()
            scan_file(options.warm, lexicon(), HERE / "work/counts-warm.parquet", threads=1, resume=False)
            seconds.append(time.process_time() - begin)
        print(min(seconds[1:]))
        return
    if options.only:
        from evenrank.evidence.scan import scan_file

        scan_file(options.only, lexicon(), HERE / "work/counts-only.parquet")
        print(peak_memory())
        return
    paths = make_files(HERE / "work", options.documents)
    if options.processors:
        print(speeds_of_processors(paths["tsv"], options.rounds))
        return
    if options.hash:
        for way, ratios in hash_cost(paths, options.rounds).items():
            print(f"| {way} | {statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} |")
        return
    processes = {kind: fresh(path) for kind, path in paths.items()}
    times = measure(paths, options.documents, options.rounds)
    table = page(times, processes, options.documents, paths["tsv"].stat().st_size)
    print(table)
    if options.write:
        write_table(__file__, table)


if __name__ == "__main__":
    main()
