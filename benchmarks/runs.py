"""Reading a large TREC run and scoring it, side by side with the tools that people use today.

    python benchmarks/runs.py --write

One process reads and scores the same files with each tool in turn, round after round, so that all of
them meet the same machine; the medians are compared. Memory is the peak of a fresh process that goes
from file to score. What a tool gives must agree with the others', or nothing is reported.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import timed, write_table

HERE = Path(__file__).parent
NDCG, RR = "nDCG@10", "RR@10"


@dataclass
class Tool:
    """How one tool reads a run, reads judgements, and scores both; and what the two means are."""

    name: str
    read_run: Callable[[str], Any]
    read_qrels: Callable[[str], Any]
    score: Callable[[Any, Any], dict[str, float]]


def ours() -> Tool:
    import evenrank

    def score(run: Any, qrels: Any) -> dict[str, float]:
        scores = evenrank.evaluate(run, [NDCG, RR], qrels=qrels)
        return {NDCG: scores.mean(NDCG), RR: scores.mean(RR)}

    return Tool("evenrank", evenrank.read_run, evenrank.read_qrels, score)


def pytrec_eval() -> Tool:
    import pytrec_eval

    def read(parse: Callable[[Any], Any], path: str) -> Any:
        with Path(path).open() as file:
            return parse(file)

    def score(run: Any, qrels: Any) -> dict[str, float]:
        results = qrels.evaluate(run)
        # recip_rank.10 is not a trec_eval measure: the first relevant rank is cut afterwards
        ranks = [row["recip_rank"] if row["recip_rank"] >= 0.1 else 0.0 for row in results.values()]
        return {
            NDCG: float(np.mean([row["ndcg_cut_10"] for row in results.values()])),
            RR: float(np.mean(ranks)),
        }

    return Tool(
        "pytrec_eval-terrier",
        lambda path: read(pytrec_eval.parse_run, path),
        lambda path: pytrec_eval.RelevanceEvaluator(
            read(pytrec_eval.parse_qrel, path), {"ndcg_cut.10", "recip_rank"}
        ),
        score,
    )


def ir_measures() -> Tool:
    import ir_measures

    def score(run: Any, qrels: Any) -> dict[str, float]:
        means = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.RR @ 10], qrels, run)
        return {NDCG: means[ir_measures.nDCG @ 10], RR: means[ir_measures.RR @ 10]}

    return Tool(
        "ir_measures",
        lambda path: list(ir_measures.read_trec_run(path)),
        lambda path: list(ir_measures.read_trec_qrels(path)),
        score,
    )


def ranx() -> Tool:
    import ranx

    def score(run: Any, qrels: Any) -> dict[str, float]:
        means = ranx.evaluate(qrels, run, ["ndcg@10", "mrr@10"])
        return {NDCG: float(means["ndcg@10"]), RR: float(means["mrr@10"])}

    return Tool(
        "ranx",
        lambda path: ranx.Run.from_file(path, kind="trec"),
        lambda path: ranx.Qrels.from_file(path, kind="trec"),
        score,
    )


TOOLS = {"evenrank": ours, "pytrec_eval-terrier": pytrec_eval, "ir_measures": ir_measures, "ranx": ranx}


def make_files(folder: Path, queries: int, depth: int) -> tuple[Path, Path]:
    """A run of ``queries * depth`` lines and 50 judgements a query, always the same."""
    run, qrels = folder / f"run-{queries}x{depth}.trec", folder / f"qrels-{queries}.txt"
    if run.exists() and qrels.exists():
        return run, qrels
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    with run.open("w") as run_file, qrels.open("w") as qrels_file:
        for number in range(queries):
            query = 1000 + 13 * number
            documents = generator.choice(8_800_000, depth + 20, replace=False)
            # strictly falling, so that no tool's way with ties matters
            scores = 40 - np.cumsum(generator.uniform(1e-4, 7e-2, depth))
            run_file.writelines(
                f"{query} Q0 {documents[i]} {i + 1} {scores[i]:.6f} bm25\n" for i in range(depth)
            )
            judged = generator.choice(depth + 20, min(50, depth), replace=False)
            grades = generator.integers(0, 4, len(judged))
            qrels_file.writelines(
                f"{query} 0 {documents[j]} {g}\n" for j, g in zip(judged, grades, strict=True)
            )
    return run, qrels


def measure_times(run_path: str, qrels_path: str, rounds: int) -> dict[str, dict[str, float]]:
    tools = {name: make() for name, make in TOOLS.items()}
    seconds: dict[str, dict[str, list[float]]] = {
        name: {"read": [], "score": [], "first": [], "file to score": []} for name in tools
    }
    means: dict[str, dict[str, float]] = {}
    for number in range(rounds):
        for name, tool in tools.items():
            if number and name == "ranx" and number > 1:
                continue  # half a minute a read: two rounds are enough to see it
            read, run = timed(lambda tool=tool: tool.read_run(run_path))
            read_qrels, qrels = timed(lambda tool=tool: tool.read_qrels(qrels_path))
            first, means[name] = timed(lambda tool=tool, run=run, qrels=qrels: tool.score(run, qrels))
            warm = [
                timed(lambda tool=tool, run=run, qrels=qrels: tool.score(run, qrels))[0] for _ in range(3)
            ]
            row = seconds[name]
            row["read"].append(read)
            row["first"].append(first)
            row["score"] += warm
            if number:  # the first round compiles
                row["file to score"].append(read + read_qrels + first)
            del run, qrels
            print(f"round {number + 1}: {name}: read {read:.2f} s, scored {min(warm):.4f} s", file=sys.stderr)
    reference = means["evenrank"]
    for name, values in means.items():
        for measure, value in values.items():
            if abs(value - reference[measure]) > 1e-6:
                raise SystemExit(f"{name} gives {measure} = {value}, evenrank {reference[measure]}")
    return {name: {what: statistics.median(s) for what, s in row.items()} for name, row in seconds.items()}


def peak_memory(name: str, run_path: str, qrels_path: str) -> float:
    """MB of a fresh process that reads both files and scores them with one tool."""
    command = [sys.executable, str(Path(__file__)), "--only", name, run_path, qrels_path]
    return float(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def import_ratio(repeats: int = 15) -> float:
    """``import evenrank`` over ``import numpy``: medians of fresh processes, in turn."""
    code = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"
    times: dict[str, list[float]] = {"evenrank": [], "numpy": []}
    for _ in range(repeats):
        for module, row in times.items():
            done = subprocess.run(
                [sys.executable, "-c", code.format(module)], capture_output=True, text=True, check=True
            )
            row.append(float(done.stdout))
    return statistics.median(times["evenrank"]) / statistics.median(times["numpy"])


def page(times: dict[str, dict[str, float]], memory: dict[str, float], ratio: float, lines: int) -> str:
    peers = [name for name in times if name != "evenrank"]
    best = {what: min(times[name][what] for name in peers) for what in ("read", "score", "file to score")}
    head = f"| tool | read {lines / 1e6:g}M lines, s | score, s | file to score, s | peak memory, MB |"
    rows = [head, "|---|---|---|---|---|"]
    for name, row in times.items():
        cells = [
            f"{row['read']:.2f}",
            f"{row['score']:.4f}",
            f"{row['file to score']:.2f}",
            f"{memory[name]:.0f}",
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    gain = {what: best[what] / times["evenrank"][what] for what in best}
    lean = memory["evenrank"] / min(memory[name] for name in peers)
    cells = [f"{gain[what]:.1f} times faster" for what in best] + [f"{lean:.2f} of the leanest"]
    rows.append(f"| **evenrank against the best of the others** | {' | '.join(cells)} |")
    rows.append(f"\n`import evenrank` takes {ratio:.2f} of the time of `import numpy`.")
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5, help="at least 2; the first warms up")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/runs.md")
    options = parser.parse_args()
    if options.only:
        tool = TOOLS[options.only]()
        tool.score(tool.read_run(options.files[0]), tool.read_qrels(options.files[1]))
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        return
    run, qrels = map(str, make_files(HERE / "work", options.queries, options.depth))
    memory = {name: peak_memory(name, run, qrels) for name in TOOLS}
    times = measure_times(run, qrels, options.rounds)
    table = page(times, memory, import_ratio(), options.queries * options.depth)
    print(table)
    if options.write:
        write_table(__file__, table)


if __name__ == "__main__":
    main()
