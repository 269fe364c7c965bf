"""The experiment of nfairc-advbert-2021, Sections 6 and 7, with TREC DL 2020 to learn from.

    python benchmarks/adversarial.py prepare DATA WORK     # DATA: passages, queries, judgements, runs
    python benchmarks/adversarial.py train WORK --jobs 6   # needs the extra [train]; a GPU where there is one
    python benchmarks/adversarial.py report WORK

Rankers learn from the 54 judged queries of DL 2020; the 43 of DL 2019 are kept out, which is checked. Every
checkpoint re-ranks BM25's first 100 for the 30 fairness-sensitive queries of DL 2019. ``prepare`` makes a
folder that has everything, with one configuration a size of ranker; ``train`` runs each with each seed;
``report`` evaluates.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import evenrank as er

SMALL = Path(__file__).parent.parent / "docs/examples/adv-cpu.toml"
SEEDS = (0, 1, 2)
DEPTH = 100

CONFIG = """[data]
qrels = "qrels.dl20.txt"
queries = "queries.dl20.tsv"
documents = "passages.tsv"

[debias]
seed = 0

[debias.examples]
pool = "BM25.dl20.trec"
min_grade = 2
negatives = {negatives}
keep_out = "queries.dl19.tsv"
validation = 0.15

[[debias.attributes]]
name = "gender"
lexicon = "gender-words.txt"

[debias.model]
encoder = "{encoder}"
layers = {layers}
max_length = {max_length}

[debias.training]
batch = {batch}
learning_rate = {rate}
adversary_learning_rate = 1e-3
save_seconds = 3600

[debias.tune]
epochs = {tune}
checkpoints = {looks}
patience = 4

[debias.adversary]
epochs = 1

[debias.joint]
strengths = {strengths}
epochs = {joint}
checkpoints = {checkpoints}

[debias.evaluate]
run = "BM25.dl19.trec"
queries = "fair.tsv"
depth = 100
weights = false
probe = true
"""

SIZES = {
    "L2": {
        "layers": 2, "strengths": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], "rate": 1e-4, "checkpoints": 20,
    },
    "L6": {"layers": 6, "strengths": [0.2, 0.4, 0.6, 0.8], "rate": 5e-5, "checkpoints": 20},
}  # fmt: skip
USUAL = {"negatives": 4, "batch": 32, "max_length": 160, "tune": 4, "joint": 2, "looks": 8}


def prepare(data: Path, work: Path, encoder: str) -> None:
    """A folder that can be carried anywhere: only the passages that are asked for."""
    work.mkdir(parents=True, exist_ok=True)
    for year in ("19", "20"):
        shutil.copy(data / f"qrels.dl{year}-passage.txt", work / f"qrels.dl{year}.txt")
        shutil.copy(data / f"runs_rankllm/BM25.dl{year}.trec", work / f"BM25.dl{year}.trec")
    lines = [line.split("\t") for line in (data / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    for year in ("dl19", "dl20"):
        texts = "".join(f"{query}\t{text}\n" for of, query, text in lines if of == year)
        (work / f"queries.{year}.tsv").write_text(texts, encoding="utf-8")
    shutil.copy(data / "trecdeep19_passage.fair.tsv", work / "fair.tsv")
    shutil.copy(data / "wordlist_gender_representative.txt", work / "gender-words.txt")
    wanted = set(er.read_qrels(work / "qrels.dl20.txt").doc_ids.to_pylist())
    for year in ("19", "20"):
        wanted |= set(er.read_run(work / f"BM25.dl{year}.trec").doc_ids.to_pylist())
    with (data / "passages.tsv").open(encoding="utf-8") as passages:
        kept = [line for line in passages if line.partition("\t")[0] in wanted]
    (work / "passages.tsv").write_text("".join(kept), encoding="utf-8")
    for size, own in SIZES.items():
        text = CONFIG.format(**{**USUAL, **own}, encoder=encoder)
        (work / f"{size}.toml").write_text(text, encoding="utf-8")
    shutil.copy(SMALL, work / "cpu.toml")


def train(work: Path, sizes: list[str], seeds: list[int], jobs: int, more: list[str]) -> None:
    """Every size with every seed, some at the same time."""

    def one(job: tuple[str, int]) -> int:
        size, seed = job
        folder = work / "rankers" / f"{size}-{seed}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "evenrank", "debias", "train"]
        command += ["--project", str(work / f"{size}.toml"), "-o", str(folder), "--seed", str(seed), *more]
        with (work / "rankers" / f"{size}-{seed}.log").open("w") as log:
            return subprocess.run(command, stderr=log, check=False).returncode

    todo = [(size, seed) for seed in seeds for size in sizes]
    with ThreadPoolExecutor(jobs) as pool:
        for job, code in zip(todo, pool.map(one, todo), strict=True):
            print(*job, "exit", code)


def report(work: Path, sizes: list[str], seeds: list[int]) -> None:
    """Table 4 of each ranker, Figure 4 of all, and what the probe told."""
    er.scan(work / "passages.tsv", er.read_lexicon(work / "gender-words.txt"), work / "counts.parquet")
    usual = [
        "--qrels", str(work / "qrels.dl19.txt"), "--words", str(work / "counts.parquet"),
        "--queries", str(work / "fair.tsv"), "--background", f"{work / 'BM25.dl19.trec'}:depth={DEPTH}",
        "--relevance", "nDCG@10", "--fairness", "NFaiRR@10",
        "--also", "RR(rel=1) R(rel=1)@10",
    ]  # fmt: skip
    cloud(work, sizes, seeds)
    for size in sizes:
        for seed in seeds:
            folder = work / "rankers" / f"{size}-{seed}"
            print(f"\n## {size}, seed {seed}\n", flush=True)
            command = [sys.executable, "-m", "evenrank", "select", str(folder), *usual]
            command += ["--format", "markdown", "-o", str(work / f"{size}-{seed}.parquet")]
            command += ["--figure", str(work / f"{size}-{seed}.svg"), "--family", f"{size}=lambda-*"]
            command += ["--shade", r"lambda=lambda-([0-9.]+)/"]
            subprocess.run(command, check=True)


def cloud(work: Path, sizes: list[str], seeds: list[int]) -> None:
    """Figure 4: every ranker of every seed, with a line for each size; and what lines there are."""
    from evenrank.neural.variants import ranked_variants
    from evenrank.reporting import save_figure
    from evenrank.reporting.figures.cloud import cloud_figure

    bm25 = er.read_run(work / "BM25.dl19.trec", name="BM25")
    queries = [line.split("\t")[0] for line in (work / "fair.tsv").read_text(encoding="utf-8").splitlines()]
    runs: dict[str, Any] = {"BM25": bm25}
    families: dict[str, list[str]] = {}
    strengths: dict[str, float] = {}
    for size in sizes:
        for seed in seeds:
            for name, path in ranked_variants(work / "rankers" / f"{size}-{seed}").items():
                called = f"{size}-{seed} {name}"
                runs[called] = er.read_run(path, name=called)
                if name != "base":
                    families.setdefault(size, []).append(called)
                    strengths[called] = float(name.partition("/")[0].removeprefix("lambda-"))
    scores = er.evaluate(
        runs, "nDCG@10 NFaiRR@10", qrels=er.read_qrels(work / "qrels.dl19.txt"), queries=queries,
        words=er.read_counts(work / "counts.parquet"), background=bm25, background_depth=DEPTH,
    )  # fmt: skip
    utility, fairness = ({name: scores.mean(m, name) for name in runs} for m in ("nDCG@10", "NFaiRR@10"))
    for name in runs:
        if name not in strengths:
            print(f"{name}: nDCG@10 {utility[name]:.4f}, NFaiRR@10 {fairness[name]:.4f}")
    for size, own in families.items():
        x, y = (np.array([table[name] for name in own]) for table in (fairness, utility))
        slope, correlation = np.polyfit(x, y, 1)[0], np.corrcoef(x, y)[0, 1]
        print(f"{size}: {len(own)} rankers, slope {slope:.3f}, correlation {correlation:.2f}")
    shown = {name: run for name, run in runs.items() if name in strengths}
    drawn = er.evaluate(
        shown, "nDCG@10 NFaiRR@10", qrels=er.read_qrels(work / "qrels.dl19.txt"), queries=queries,
        words=er.read_counts(work / "counts.parquet"), background=bm25, background_depth=DEPTH,
    )  # fmt: skip
    measures = drawn.measures
    figure = cloud_figure(
        drawn, measures[1], measures[0], families=families, shade="lambda", shades=strengths
    )
    save_figure(figure, work / "cloud.png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("prepare")
    first.add_argument("data", type=Path)
    first.add_argument("work", type=Path)
    first.add_argument("--encoder", default="minilm")
    for name in ("train", "report"):
        later = commands.add_parser(name)
        later.add_argument("work", type=Path)
        later.add_argument("--sizes", nargs="+", choices=[*SIZES, "cpu"], default=["L2", "L6"])
        later.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
        if name == "train":
            later.add_argument("--jobs", type=int, default=1)
    options, more = parser.parse_known_args()
    if options.command == "prepare":
        prepare(options.data, options.work, options.encoder)
    elif options.command == "train":
        train(options.work, options.sizes, options.seeds, options.jobs, more)
    else:
        report(options.work, options.sizes, options.seeds)


if __name__ == "__main__":
    main()
