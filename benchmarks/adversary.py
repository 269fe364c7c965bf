"""Rankers trained against an adversary without judgements: bi-encoders, and cross-encoders that they teach.

    python benchmarks/adversary.py prepare DATA WORK --queries dev.tsv   # any queries (id, tab, text)
    python benchmarks/adversary.py train WORK --jobs 4                   # needs [train]; best with a GPU
    python benchmarks/adversary.py collect WORK                          # trained.json, and runs beside it
    python benchmarks/debias.py --trained WORK/trained.json --write      # the table
    python benchmarks/tradeoffs.py --adversary WORK/results --write      # Figure 4 and Table 4

``prepare`` makes a folder that has everything. Queries that are measured on are kept out of training by id
and by text. ``train`` goes on where it stopped: what is in WORK/results is not made again (there, a file that
ends in .partial has the rankers that were finished when the time ended). Every ranker
orders the documents for TREC DL 2019 and 2020, the 1,765 neutral queries and the 215 fairness-sensitive
ones: a bi-encoder all 30,045 passages, a cross-encoder BM25's first 100 (DL) and the teacher's first 50; and
the articles of TIME, which no training saw.
The label is "neutrality below 1" by the published word list; ``half`` has labels by a random half of that
list, drawn by the seed, and so has ``cpu-half``. Of cross-encoders, those at some points of the training
against the adversary are kept, and the first seed's are ranked by too, but not the neutral queries, TIME and
Grep-BiasIR.
``cross4`` has four layers of the six.

Without a GPU, ``cpu`` is a cross-encoder of six layers that learns from fewer lists and orders less:

    python benchmarks/adversary.py distil WORK                                      # once, no adversary
    python benchmarks/adversary.py train WORK --shapes cpu --device cpu --jobs 2    # hours on two cores

All its seeds begin with the one ranker of ``distil``. They order BM25's first 50 (DL) and the teacher's first
20, and 500 of the neutral queries. ``cpu-long`` has three times as many steps against the adversary.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SETS = {"dl19": "qrels.dl19-passage.txt", "dl20": "qrels.dl20-passage.txt"}
NEUTRAL, FAIR = "queries_QS1_1765_neutral.tsv", "msmarco_passage.dev.fair.tsv"
WORDS = "wordlist_gender_representative.txt"
TOP = 10
STRENGTHS = {
    "bi": [0, 0.5, 1.5, 4], "half": [1.5], "cross": [0, 0.1, 0.3, 1, 3], "cross4": [0.1, 0.3, 1, 3],
    "cpu": [0, 1, 0.3, 3], "cpu-half": [1], "cpu-long": [0, 1],
}  # fmt: skip
OF_ALL_SEEDS = {"cpu": [0, 1]}  # where only the first seed has all of them
SHARED_SETTINGS: dict[str, dict[str, Any]] = {
    "examples": {"validation": 0.02, "keep_out": "measured.tsv"},
    "tune": {"epochs": 0},
    "adversary": {"epochs": 0.3, "dropout": 0.3, "weight_decay": 0.3, "steps": 2},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "bi": {
        "model": {"kind": "bi-encoder", "loss": "distillation", "max_length": 128},
        "distil": {"depth": 64, "documents": 8},
        "training": {"batch": 48, "learning_rate": 3e-5},
        "joint": {"epochs": 0.6, "checkpoints": 1, "schedule": "linear", "ceiling": 1.5},
    },
    "cross": {
        "model": {"loss": "distillation", "max_length": 160},
        "training": {"batch": 64, "learning_rate": 5e-5},
        "tune": {"epochs": 1.5, "checkpoints": 1, "patience": 0},
        "joint": {"epochs": 0.4, "checkpoints": 4, "schedule": "linear", "ceiling": 1.2},
    },
}  # fmt: skip
SETTINGS["half"] = SETTINGS["bi"]
SETTINGS["cross4"] = {**SETTINGS["cross"], "model": {**SETTINGS["cross"]["model"], "layers": 4}}
SETTINGS["cpu"] = {
    "model": {**SETTINGS["cross"]["model"], "max_length": 128},
    "training": {"batch": 16, "learning_rate": 1e-4},
    "tune": {"epochs": 0.47, "checkpoints": 8, "patience": 0},
    "adversary": {**SHARED_SETTINGS["adversary"], "epochs": 0.03},
    "joint": {"epochs": 0.07, "checkpoints": 3, "schedule": "linear", "ceiling": 1.2},
}
SETTINGS["cpu-half"] = SETTINGS["cpu"]
SETTINGS["cpu-long"] = {**SETTINGS["cpu"], "joint": {**SETTINGS["cpu"]["joint"], "epochs": 0.23}}
DISTILLED = "models/distilled"


@dataclass(frozen=True)
class Sizes:
    """How much a cross-encoder orders: documents of the teacher, of BM25, and of how many neutral queries."""

    pool: int = 50
    bm25: int = 100
    neutral: int | None = None


SIZES = dict.fromkeys(("cpu", "cpu-half", "cpu-long"), Sizes(20, 50, 500))


def prepare(data: Path, work: Path, queries: Path) -> None:
    passages = data / "msmarco_trecdl"
    work.mkdir(parents=True, exist_ok=True)
    for name in ("passages.tsv", WORDS, *SETS.values()):
        shutil.copy(passages / name, work / name)
    sets: dict[str, dict[str, str]] = {name: {} for name in (*SETS, "neutral", "fair")}
    for line in (passages / "queries.tsv").read_text(encoding="utf-8").splitlines():
        name, query, text = line.split("\t", 2)
        if name in SETS:
            sets[name][query] = text
    for name, file in (("neutral", NEUTRAL), ("fair", FAIR)):
        sets[name] = dict(_rows(passages / file))
    (work / "sets.json").write_text(json.dumps(sets), encoding="utf-8")
    measured = {query: text for known in sets.values() for query, text in known.items()}
    _write_rows(work / "measured.tsv", measured)
    spelt = {_spelt(text) for text in measured.values()}
    training = {
        query: text.strip()
        for query, text in _rows(queries)
        if query not in measured and _spelt(text) not in spelt
    }
    _write_rows(work / "train.tsv", training)
    runs: dict[str, list[str]] = {}
    for name in SETS:
        for line in (passages / "runs_rankllm" / f"BM25.{name}.trec").read_text().splitlines():
            query, _, document, *_ = line.split()
            runs.setdefault(query, []).append(document)
    (work / "bm25.json").write_text(json.dumps(runs))
    pairs = []
    for path in sorted((data / "grepbiasir").glob("queries-documents_*.csv")):
        with path.open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table):
                text = f"{row['doc_title']} {row['document']}"
                pairs.append([row["q_id"], row["d_id"], row["query"], text])
    (work / "grep.json").write_text(json.dumps(pairs), encoding="utf-8")
    from debias_data import time_texts

    articles, asked, _ = time_texts(data)
    (work / "time.json").write_text(json.dumps([articles, asked]), encoding="utf-8")
    print(f"{len(training):,} queries to learn from, {len(measured):,} to measure on")


def _rows(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(query, text) for query, _, text in (line.partition("\t") for line in lines)]


def _write_rows(path: Path, rows: dict[str, str]) -> None:
    path.write_text("".join(f"{key}\t{text}\n" for key, text in rows.items()), encoding="utf-8")


def _spelt(text: str) -> str:
    return " ".join(text.casefold().split())


def lexicon_of(work: Path, shape: str, seed: int) -> Path:
    """The word list, or the half of it that a seed draws, written beside it."""
    whole = work / WORDS
    if not shape.endswith("half"):
        return whole
    lines = [line for line in whole.read_text(encoding="utf-8").splitlines() if line.strip()]
    chosen = np.random.default_rng([seed, 3]).permutation(len(lines))[: len(lines) // 2]
    path = work / f"half-{seed}.txt"
    path.write_text("".join(lines[place] + "\n" for place in sorted(chosen.tolist())), encoding="utf-8")
    return path


def distil(work: Path, encoder: str) -> None:
    """The cross-encoder that all seeds of the shape ``cpu`` begin with."""
    settings = content_of(work, "cpu", 0, "cpu", without_dropout(work, encoder), "bfloat16")
    content = {**settings, "adversary": {"epochs": 0}, "joint": {"epochs": 0}}
    unfuse_attention()
    train_one(work, content, work / DISTILLED, "distilled")


def without_dropout(work: Path, encoder: str) -> str:
    """A copy of the encoder that draws no random numbers, which take a fifth of a step on a CPU."""
    from evenrank.neural.encoders import encoder_path

    folder = work / "encoder"
    if not folder.is_dir():
        shutil.copytree(encoder_path(encoder), folder)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    return str(folder)


def unfuse_attention() -> None:
    """On a CPU, in bfloat16 and for short texts, the backward pass of the fused one takes 40% of a step."""
    from evenrank.neural import ranker

    load = ranker.load_encoder

    def unfused(name: str, layers: int | None = None) -> tuple[Any, Any]:
        encoder, tokenizer = load(name, layers)
        encoder.set_attn_implementation("eager")
        return encoder, tokenizer

    ranker.load_encoder = unfused


def share_teacher(kept: Path) -> None:
    """It reads the same texts for every seed."""
    from evenrank.neural import training

    read = training.read_teacher
    training.read_teacher = lambda *texts, **how: read(*texts, **{**how, "kept": kept})


def content_of(
    work: Path, shape: str, seed: int, device: str, encoder: str, precision: str, teacher: str = "minilm"
) -> dict[str, Any]:
    own = SETTINGS[shape]
    content: dict[str, Any] = {**SHARED_SETTINGS, **own, "seed": seed}
    content["model"] = {**own["model"], "encoder": encoder}
    content["distil"] = {**own.get("distil", {}), "teacher": teacher}
    content["training"] = {
        **own["training"], "device": device, "precision": precision, "adversary_learning_rate": 1e-3,
        "save_seconds": 600,
    }  # fmt: skip
    content["attributes"] = [{"name": "gender", "lexicon": str(lexicon_of(work, shape, seed))}]
    return content


def train_one(work: Path, content: dict[str, Any], folder: Path, *name: object) -> tuple[Any, ...]:
    from evenrank.neural import make_config, train

    return train(
        make_config(content, work), folder, resume=True, say=lambda line: print(*name, line, flush=True),
        query_texts=dict(_rows(work / "train.tsv")), documents=str(work / "passages.tsv"),
    )  # fmt: skip


def one(
    work: Path, shape: str, seed: int, device: str, encoder: str, precision: str | None, skip: list[str]
) -> None:
    """Train every strength of a shape and a seed, and write the lists of each ranker."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    from evenrank.io.texts import read_texts
    from evenrank.neural import load_ranker

    done = work / "results" / f"{shape}-{seed}.json"
    if done.is_file():
        return
    done.parent.mkdir(exist_ok=True)
    precision = precision or ("bfloat16" if device.startswith("cuda") or shape in SIZES else "float32")
    folder, first = work / "models" / f"{shape}-{seed}", work / DISTILLED
    start = str(first / "base") if shape in SIZES else encoder
    content = content_of(work, shape, seed, device, start, precision, encoder)
    strengths = STRENGTHS[shape] if seed == 0 else OF_ALL_SEEDS.get(shape, STRENGTHS[shape])
    content["joint"] = {**content["joint"], "strengths": strengths}
    if shape in SIZES:  # it is tuned already, and validation would take longer than training
        content |= {"tune": {"epochs": 0}, "examples": {**content["examples"], "validation": 0}}
        unfuse_attention()
        share_teacher(first / "teacher.safetensors")
    begun = time.perf_counter()
    trained = train_one(work, content, folder, shape, seed)
    seconds = time.perf_counter() - begun
    documents = read_texts(str(work / "passages.tsv"))
    # what has ranked is written at once: where the time ends before the last ranker, the others count
    begun_on = done.with_suffix(".partial")
    found: dict[str, Any] = {"shape": shape, "seed": seed, "training_seconds": seconds, "rankers": {}}
    if begun_on.is_file():
        found = json.loads(begun_on.read_text(encoding="utf-8"))
    order = Orders(work, documents, device, precision, encoder, SIZES.get(shape, Sizes()))
    for name in skip:
        del order.sets[name]
    last = {variant.strength: variant.name for variant in trained}
    shared = [None, *OF_ALL_SEEDS.get(shape, STRENGTHS[shape])]

    def is_whole(variant: Any) -> bool:
        """Whether it orders everything; others are for the figure, which is of one seed."""
        return variant.name == last[variant.strength] and variant.strength in shared

    for variant in sorted(trained, key=lambda variant: not is_whole(variant)):
        name = "base" if variant.strength is None else f"{variant.strength:g}"
        name = name if variant.name == last[variant.strength] else f"{name}/{variant.checkpoint}"
        first_only = not is_whole(variant) or (shape in SIZES and name == "base")
        if name in found["rankers"] or (first_only and (seed > 0 or shape.startswith("cpu-"))):
            continue
        ranker = load_ranker(folder / variant.name).to(device).eval()
        ranker.encoder.set_attn_implementation("sdpa")  # which is the faster one without a backward pass
        found["rankers"][name] = order.of(ranker, is_whole(variant))
        begun_on.write_text(json.dumps(found), encoding="utf-8")
        print(shape, seed, "ranked by", variant.name, flush=True)
    begun_on.replace(done)
    shutil.rmtree(folder)


class Orders:
    """What rankers put first, and what they score the pairs of Grep-BiasIR."""

    def __init__(
        self, work: Path, documents: dict[str, str], device: str, precision: str, encoder: str, sizes: Sizes
    ) -> None:
        self.sets = json.loads((work / "sets.json").read_text(encoding="utf-8"))
        self.sizes = sizes
        if sizes.neutral is not None:
            asked = list(self.sets["neutral"].items())
            chosen = np.random.default_rng(5).permutation(len(asked))[: sizes.neutral]
            self.sets["neutral"] = dict(asked[place] for place in sorted(chosen.tolist()))
        articles, self.sets["time"] = json.loads((work / "time.json").read_text(encoding="utf-8"))
        self.ids, self.texts = [*documents, *articles], [*documents.values(), *articles.values()]
        self.passages, self.precision = len(documents), precision  # articles stand behind the passages
        self.bm25 = json.loads((work / "bm25.json").read_text())
        self.grep = json.loads((work / "grep.json").read_text(encoding="utf-8"))
        self._labels: Any = None
        self._grep: Any = None
        self._tokens: dict[str, Any] = {}
        self._work, self._device, self._encoder = work, device, encoder
        self._pools: dict[str, list[list[int]]] | None = None

    def of(self, ranker: Any, whole: bool = True) -> dict[str, Any]:
        from evenrank.neural.scoring import pair_scores, text_vectors

        made: dict[str, Any] = {"lists": {}}
        if whole:
            if not self._grep:
                self._grep = ranker.batches(self._grep_texts, len(self.grep))
            scores = pair_scores(ranker, self._grep, np.arange(len(self.grep)), precision="float32")
            made["grep"] = [round(float(score), 6) for score in scores]
        if ranker.separate:
            documents = text_vectors(ranker, self.texts, batch=512, precision=self.precision)
            made["probe"] = self.probes(documents[: self.passages])
            for name, queries in self.sets.items():
                vectors = text_vectors(ranker, list(queries.values()), precision=self.precision)
                made["lists"][name] = self._named(queries, self._first(name, vectors, documents, TOP))
            return made
        for name, pools in self.pools().items():
            if name in ("neutral", "time") and not whole:
                continue
            rows = np.array([(place, document) for place, pool in enumerate(pools) for document in pool])
            tokens = self._pair_tokens(ranker, name, rows)
            scores = pair_scores(ranker, tokens, np.arange(len(rows)), batch=1024, precision=self.precision)
            lists, begin = [], 0
            for pool in pools:
                own = scores[begin : begin + len(pool)]
                lists.append([pool[place] for place in np.argsort(-own, kind="stable")[:TOP]])
                begin += len(pool)
            made["lists"][name] = self._named(self.sets[name], lists)
            if name == "fair" and whole:
                made["probe"] = self.pair_probes(ranker, tokens, rows)
        return made

    def _grep_texts(self, rows: Any) -> tuple[list[str], list[str]]:
        return [self.grep[row][2] for row in rows], [self.grep[row][3] for row in rows]

    def _pair_tokens(self, ranker: Any, name: str, rows: Any) -> Any:
        """Made once: all rankers of a shape have the same tokens."""
        queries = list(self.sets[name].values())

        def texts(chosen: Any) -> tuple[list[str], list[str]]:
            return [queries[q] for q in rows[chosen, 0]], [self.texts[d] for d in rows[chosen, 1]]

        if name not in self._tokens:
            self._tokens[name] = ranker.batches(texts, len(rows))
        return self._tokens[name]

    def pools(self) -> dict[str, list[list[int]]]:
        """What a cross-encoder orders: BM25's first for DL, the teacher's first for the others."""
        if self._pools is None:
            from evenrank.neural.teacher import read_teacher

            place = {document: row for row, document in enumerate(self.ids)}
            self._pools = {
                name: [
                    [place[d] for d in self.bm25.get(query, ())[: self.sizes.bm25] if d in place]
                    for query in self.sets[name]
                ]
                for name in SETS
            }
            others = [name for name in ("neutral", "fair", "time") if name in self.sets]
            asked = [text for name in others for text in self.sets[name].values()]
            teacher = read_teacher(
                self._encoder, asked, self.texts, max_length=160, device=self._device,
                precision=self.precision, kept=self._work / f"pools-{'-'.join(others)}.safetensors",
            )  # fmt: skip
            begin = 0
            for name in others:
                own = teacher.queries[begin : begin + len(self.sets[name])]
                self._pools[name] = self._first(name, own, teacher.documents, self.sizes.pool).tolist()
                begin += len(own)
        return self._pools

    def _first(self, name: str, queries: Any, documents: Any, depth: int) -> Any:
        """The best of the passages, or of the articles for queries about them."""
        from evenrank.neural.teacher import Teacher

        begin, end = (self.passages, None) if name == "time" else (0, self.passages)
        return begin + Teacher(queries, documents[begin:end]).first(depth)

    def probes(self, documents: Any) -> dict[str, list[float]]:
        """Balanced accuracy of a fresh probe on documents that it did not learn from: linear, two layers."""
        codes = self.labels().codes
        biased = np.flatnonzero(codes == 1)
        others = np.random.default_rng(1).choice(np.flatnonzero(codes == 0), len(biased), replace=False)
        rows = np.sort(np.concatenate([biased, others]))
        return self._probed(documents[rows], codes[rows], rows)

    def pair_probes(self, ranker: Any, tokens: Any, rows: Any) -> dict[str, list[float]]:
        """The same of the vectors of pairs, on queries that the probe did not learn from."""
        from evenrank.neural.scoring import pair_vectors

        vectors = pair_vectors(ranker, tokens, np.arange(len(rows)), batch=1024, precision=self.precision)
        return self._probed(vectors, self.labels().codes[rows[:, 1]], rows[:, 0])

    def _probed(self, vectors: Any, codes: Any, apart: Any) -> dict[str, list[float]]:
        from evenrank.neural.probe import probe_vectors

        weights = np.ones(len(codes), dtype=np.int64)
        return {
            name: [probe.accuracy, *probe.interval()[:2]]
            for name, linear in (("linear", True), ("two layers", False))
            for probe in [
                probe_vectors(vectors, codes, apart, weights, self.labels(), folds=2, linear=linear)
            ]
        }

    def labels(self) -> Any:
        from evenrank.io.lexicons import read_lexicon
        from evenrank.neural.labels import label_texts

        if self._labels is None:
            passages = self.texts[: self.passages]
            self._labels = label_texts([""] * len(passages), passages, read_lexicon(str(self._work / WORDS)))
        return self._labels

    def _named(self, queries: dict[str, str], lists: Any) -> dict[str, list[str]]:
        return {query: [self.ids[place] for place in own] for query, own in zip(queries, lists, strict=True)}


def train_all(options: argparse.Namespace) -> int:
    work = options.work
    jobs = [(shape, seed) for seed in range(options.seeds) for shape in options.shapes]
    (work / "results").mkdir(exist_ok=True)

    def run(job: tuple[str, int]) -> int:
        if options.until and time.time() > options.until - 60:
            return 1
        call = [sys.executable, __file__, "one", str(work), job[0], str(job[1])]
        environment = dict(os.environ)
        if options.device == "cpu":  # or processes wait for each other
            threads = max(1, (os.cpu_count() or 1) // options.jobs)
            environment["OMP_NUM_THREADS"] = str(threads)
        with (work / "results" / f"{job[0]}-{job[1]}.log").open("w") as log:
            return subprocess.call([*call, *passed_on(options)], stdout=log, stderr=log, env=environment)

    with ThreadPoolExecutor(options.jobs) as pool:
        codes = list(pool.map(run, jobs))
    for job, code in zip(jobs, codes, strict=True):
        print(*job, "done" if code == 0 else f"failed ({code}): see its log")
    return max(codes)


def passed_on(options: argparse.Namespace) -> list[str]:
    """The options of all rankers, for the process of one."""
    given = ["--device", options.device, "--encoder", options.encoder, "--skip", *options.skip]
    return given if options.precision is None else [*given, "--precision", options.precision]


def collect(work: Path) -> None:
    """The lists of all seeds as runs, and a file that names them with probes and scores, for the table."""
    names = {"dl19": "dl19", "dl20": "dl20", "neutral": "QS1", "fair": "215", "time": "TIME"}
    # cross4 is for the figure
    rankers = {"bi": "bi-encoder", "half": "bi-encoder"}
    rankers |= dict.fromkeys(("cross", "cpu", "cpu-half", "cpu-long"), "cross-encoder")
    entries: dict[str, dict[str, Any]] = {}
    (work / "runs").mkdir(exist_ok=True)
    for path in sorted((work / "results").glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        shape, seed = found["shape"], found["seed"]
        if shape not in rankers:
            continue
        start = f"{rankers[shape]}, before" if rankers[shape] == "cross-encoder" else "MiniLM"
        for strength, made in found["rankers"].items():
            if "/" in strength or (strength == "base" and start == "MiniLM"):  # a bi-encoder begins as MiniLM
                continue
            shared = OF_ALL_SEEDS.get(shape)
            if strength != "base" and shared is not None and float(strength) not in shared:
                continue
            name = start if strength == "base" else f"{rankers[shape]}, adversary {strength}"
            name += ", longer" if shape == "cpu-long" else ""
            known = entries.setdefault(
                f"{shape} {strength}", {"name": name, "base": start, "runs": {}, "probe": {}, "grep": []}
            )
            known["grep"].append(made["grep"])
            for kind, (accuracy, *_) in made["probe"].items():
                known["probe"].setdefault(kind, []).append(accuracy)
            if shape.endswith("half"):
                known.setdefault("seen", []).append(lexicon_of(work, shape, seed).name)
            for asked, lists in made["lists"].items():
                run = work / "runs" / f"{shape}-{strength}-{seed}.{names[asked]}.trec"
                lines = [
                    f"{query} Q0 {document} {rank} {-rank} {shape}\n"
                    for query, documents in lists.items()
                    for rank, document in enumerate(documents, 1)
                ]
                run.write_text("".join(lines), encoding="utf-8")
                known["runs"].setdefault(names[asked], []).append(f"runs/{run.name}")
    (work / "trained.json").write_text(json.dumps(list(entries.values()), indent=1) + "\n", encoding="utf-8")
    print(f"{len(entries)} rankers in {work / 'trained.json'}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    made = commands.add_parser("prepare")
    made.add_argument("data", type=Path)
    made.add_argument("work", type=Path)
    made.add_argument("--queries", type=Path, required=True)
    commands.add_parser("collect").add_argument("work", type=Path)
    distilled = commands.add_parser("distil")
    distilled.add_argument("work", type=Path)
    distilled.add_argument("--encoder", default="minilm")
    for name in ("train", "one"):
        ran = commands.add_parser(name)
        ran.add_argument("work", type=Path)
        ran.add_argument("--device", default="cuda")
        ran.add_argument("--encoder", default="minilm")
        ran.add_argument("--precision", choices=("float32", "bfloat16"), help="default: bfloat16 on a GPU")
        ran.add_argument("--skip", nargs="*", default=[], choices=("neutral", "time"), help="sets of queries")
        if name == "one":
            ran.add_argument("shape", choices=list(SETTINGS))
            ran.add_argument("seed", type=int)
        else:
            ran.add_argument("--seeds", type=int, default=5)
            ran.add_argument("--shapes", nargs="+", default=["bi", "half", "cross", "cross4"])
            ran.add_argument("--jobs", type=int, default=1)
            ran.add_argument("--until", type=float, help="begin nothing later than a minute before this time")
    options = parser.parse_args()
    if options.command == "prepare":
        prepare(options.data, options.work, options.queries)
        return 0
    if options.command == "collect":
        collect(options.work)
        return 0
    if options.command == "distil":
        distil(options.work.resolve(), options.encoder)
        return 0
    if options.command == "one":
        one(
            options.work.resolve(), options.shape, options.seed, options.device, options.encoder,
            options.precision, options.skip,
        )  # fmt: skip
        return 0
    options.work = options.work.resolve()
    return train_all(options)


if __name__ == "__main__":
    sys.exit(main())
