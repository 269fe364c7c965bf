"""All benchmarks in two tiers.

    python benchmarks/bench.py quick [OLD] [--only TEXT] [--rounds 5] [--scale 1] [--write]
    python benchmarks/bench.py full [--only TEXT]
    python benchmarks/bench.py list

``quick`` takes minutes. It sets the working tree beside OLD: a commit, or a folder with another ``src``
(default: the last tag, or the parent of this commit). Every operation of ``operations.py`` runs in a process
of its own, old and new in turn. What is compared is the processor time of the process and its children, which
other work on the machine changes less than the clock. A ratio below 1 is faster than OLD: the median over the
rounds, with the least and the largest. Then the scripts of this folder run once with few repeats and little
data, old and new, to see that they still run. What needs an extra, an engine or data that are not here is
skipped with the reason. ``--scale 10`` makes the inputs ten times as large.

``full`` runs every script as its page was made, and writes the pages: hours. ``list`` prints the table of
README.md.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import platform
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from operations import OPERATIONS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = ROOT.parent / "shared/data"
LONGEST = 900  # seconds for one process of the quick tier

Arguments = tuple[str, ...]


class Script(NamedTuple):
    """One script: its arguments in both tiers, what it needs, and how long all of it takes.

    In arguments, {work} is a temporary folder, {data} the folder of the published data, and {passages} and
    {queries} are made-up texts. ``needs`` are modules, programs (after ``program:``) and files (``file:``).
    """

    quick: tuple[Arguments, ...]
    full: tuple[Arguments, ...]
    time: str
    needs: Arguments = ()
    needs_in_full: Arguments = ()


NOTHING: tuple[Arguments, ...] = ()
WRITE = (("--write",),)
PASSAGES = "file:{data}/msmarco_trecdl/passages.tsv"
TRAIN = ("torch", "transformers")
KILLS = ("--no-times", "--seed", "5", "--commands", "scan,swap,rerank,evaluate")
DEV = "{data}/msmarco_trecdl/queries.dev.tsv"
TRAINED = "{kept}/adversary/trained.json"
CORPUS = ("{data}/msmarco_trecdl/passages.tsv", "{data}/msmarco_trecdl/queries_QS1_1765_neutral.tsv")

SCRIPTS = {
    "runs": Script(
        (("--queries", "200", "--depth", "100", "--rounds", "2"),), WRITE, "10 minutes",
        ("pytrec_eval", "ir_measures", "ranx"),
    ),
    "groups": Script(
        (("--queries", "100", "--depth", "100", "--lists", "5", "--rounds", "2"),), WRITE, "10 minutes",
        ("pytrec_eval", "FairRankTune", "pandas"),
    ),
    "startup": Script((("--rounds", "2"),), ((),), "a minute", ("ir_measures",)),
    "scan": Script((("--documents", "5000", "--rounds", "1"),), WRITE, "5 minutes"),
    "swap": Script((("--documents", "2000", "--rounds", "1"),), WRITE, "10 minutes"),
    "counts_by_need": Script(
        (("--documents", "200000", "--queries", "50", "--rounds", "1"),
         ("--groups", "50000", "--rounds", "1")),
        (("--write",), ("--groups", "3000000", "--write")), "30 minutes, 10 GB of disk",
    ),
    "duo": Script((("--sizes", "7", "12", "--rounds", "1", "--lists", "2"),), WRITE, "10 minutes"),
    "rerank": Script((("--queries", "20", "--rounds", "1", "--pools", "5"),), WRITE, "5 minutes"),
    "mixtures": Script((("--queries", "20", "--rounds", "1"),), WRITE, "15 minutes", ("pytrec_eval",)),
    "tukey": Script((("--rounds", "1"),), WRITE, "a minute"),
    "gate": Script((("--repeats", "50", "--resamples", "200"),), WRITE, "10 minutes"),
    "intervals": Script((("--repeats", "40"),), WRITE, "30 minutes"),
    "label_error": Script((("--repeats", "1"),), WRITE, "15 minutes"),
    "verdicts": Script(
        (("--scale", "0.01", "--part", "0/8", "--results", "{work}/verdicts.jsonl"),), WRITE, "hours"
    ),
    "planning": Script((("--simulate", "--draws", "1"),), ((),), "2 minutes", needs_in_full=(PASSAGES,)),
    "clusters": Script(
        (("--counts", "20000,40000", "--rounds", "1", "--only", "speed"),), WRITE, "an hour",
        ("dask", "distributed", "pyspark", "program:java", PASSAGES),
    ),
    "engines": Script(
        (("--repeats", "1", "--threads", "1"),), WRITE, "5 minutes", ("opensearchpy", "program:java")
    ),
    "kills": Script((("--kills", "8", *KILLS),), WRITE, "an hour"),
    "study": Script(
        (("coverage", "--count", "20"),),
        (("coverage", "--write"), ("load", "--write"), ("kills", "--write")), "15 minutes",
        ("starlette", "uvicorn", "httpx2"),
    ),
    "report": Script(
        (("--write", "{work}/report.html", "--times", "1"),), (("--write", "{work}/report.html"),),
        "2 minutes", ("playwright", "program:chromium"),
    ),
    "encoding": Script(
        (("{passages}", "--texts", "16", "--rounds", "1"),), ((CORPUS[0], "--write"),), "10 minutes",
        (*TRAIN, "sentence_transformers"), (PASSAGES,),
    ),
    "systems": Script(
        (("{passages}", "{queries}"),), (CORPUS,), "20 minutes", (*TRAIN, "sentence_transformers", "bm25s"),
        (PASSAGES,),
    ),
    "same_top": Script(
        (("{passages}", "{queries}", "{work}/same-top"),), ((*CORPUS, "{work}/same-top"),), "an hour",
        (*TRAIN, "sentence_transformers", "bm25s"), (PASSAGES,),
    ),
    "erasure_scale": Script((("--rows", "20000"),), WRITE, "20 minutes, 27 GB of disk"),
    "train": Script(
        (("--layers", "2", "--pairs", "64", "--batch", "16", "--rounds", "1"),), WRITE, "30 minutes",
        (*TRAIN, "sentence_transformers"),
    ),
    "balance": Script(NOTHING, (("tf-idf", "minilm", "wordllama", "glove"),), "10 minutes"),
    "audits": Script((("{work}/audits",),), NOTHING, "seconds"),
    "audit_tables": Script(
        NOTHING, (("{data}", "{kept}/audits"),), "hours",
        needs_in_full=("file:{data}/pair_wikibalance_audit", "file:{kept}/audits/mpnet", "wordllama"),
    ),
    "planted": Script(
        (("--seeds", "1", "--train", "6", "--test", "6", "--layers", "1", "--epochs", "0.2",
          "--adversary-epochs", "0.2", "--joint-epochs", "0.2", "--results", "{work}/planted.json"),),
        (("--seeds", "5", "--jobs", "5", "--strengths", "0", "1", "--joint-epochs", "10",
          "--adversary-rate", "5e-3", "--probe-steps", "1000", "--write"),), "hours", TRAIN,
    ),
    "adversarial": Script(
        NOTHING,
        (("prepare", "{data}/msmarco_trecdl", "{kept}/adversarial"), ("train", "{kept}/adversarial"),
         ("report", "{kept}/adversarial")), "hours on a GPU", needs_in_full=(*TRAIN, "cuda", PASSAGES),
    ),
    "adversary": Script(
        NOTHING,
        (("prepare", "{data}", "{kept}/adversary", "--queries", DEV), ("train", "{kept}/adversary"),
         ("collect", "{kept}/adversary")), "hours on a GPU",
        needs_in_full=(*TRAIN, "cuda", PASSAGES, f"file:{DEV}"),
    ),
    "debias": Script(
        NOTHING, (("--trained", TRAINED, "--write"),), "half an hour, and an hour to encode once",
        needs_in_full=(*TRAIN, PASSAGES, f"file:{TRAINED}"),
    ),
    "debias_beyond": Script(NOTHING, ((),), "hours", needs_in_full=(*TRAIN, PASSAGES)),
    "debias_confirm": Script(
        NOTHING, ((DEV, "--write"),), "an hour", needs_in_full=(*TRAIN, PASSAGES, f"file:{DEV}")
    ),
    "debias_cross": Script(
        NOTHING, ((TRAINED, "--write"),), "10 minutes", needs_in_full=(*TRAIN, PASSAGES, f"file:{TRAINED}")
    ),
    "tradeoffs": Script(
        NOTHING, (("--adversary", "{kept}/adversary/results", "--write"),), "half an hour",
        needs_in_full=(*TRAIN, PASSAGES, f"file:{TRAINED}"),
    ),
}  # fmt: skip


def filled(text: str, work: Path) -> str:
    places = {"work": work, "kept": HERE / "work", "data": DATA, "passages": work / "inputs/few.tsv",
              "queries": work / "inputs/questions.tsv"}  # fmt: skip
    for name, path in places.items():
        text = text.replace(f"{{{name}}}", str(path))
    return text


def missing(needs: Iterable[str], work: Path) -> str:
    """What of the needed things is not here, or nothing."""
    for need in needs:
        kind, _, name = need.rpartition(":")
        if kind == "file" and not Path(filled(name, work)).exists():
            return f"{filled(name, work)} is not here"
        if kind == "program" and shutil.which(name) is None:
            return f"{name} is not installed"
        if need == "cuda" and not has_gpu():
            return "there is no GPU"
        if not kind and need != "cuda" and find_spec(name) is None:
            return f"the package {name} is not installed"
    return ""


def has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


# old and new


class Tree(NamedTuple):
    """The sources of one revision, and a folder for what it writes and compiles."""

    source: Path
    own: Path

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return kept | {
            "PYTHONPATH": str(self.source), "PYTHONPYCACHEPREFIX": str(self.own / "bytecode"),
            "NUMBA_CACHE_DIR": str(self.own / "kernels"), "XDG_CACHE_HOME": str(self.own / "cache"),
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",  # waiting threads take time
        }  # fmt: skip


@contextmanager
def two_trees(old: str, work: Path) -> Iterator[tuple[Tree, Tree]]:
    """The sources of OLD, which may be a folder, and those of the working tree."""
    if Path(old, "src").is_dir():
        source = Path(old).resolve() / "src"
    else:
        done = subprocess.run(["git", "archive", old, "src"], cwd=ROOT, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{old}: neither a commit nor a folder with src\n{done.stderr.decode()}")
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(work / "old-tree", filter="data")
        source = work / "old-tree/src"
    trees = Tree(source, work / "old"), Tree(ROOT / "src", work / "new")
    for tree in trees:
        tree.own.mkdir()
    yield trees


def default_revision() -> str:
    """The last tag, or the parent of this commit."""
    for command in (["describe", "--tags", "--abbrev=0"], ["rev-parse", "HEAD^"]):
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    raise SystemExit("give OLD: there is neither a tag nor a parent of this commit")


class Spent(NamedTuple):
    """One process: seconds of the processor and by the clock, MB at most, and what came of it."""

    processor: float
    clock: float
    memory: float
    value: Any = None


class Failed(NamedTuple):
    why: str


def run_operation(name: str, tree: Tree, inputs: Path) -> Spent | Failed:
    done = run_python(tree, HERE / "operations.py", name, str(inputs), str(tree.own))
    if isinstance(done, Failed):
        return done
    found = json.loads(done.stdout)
    if Path(found.pop("package")) != tree.source / "evenrank":
        raise SystemExit(f"the process did not take evenrank from {tree.source}")
    return Spent(**found)


def run_script(name: str, tree: Tree, arguments: Iterable[Arguments], work: Path) -> Spent | Failed:
    """One script once, with each of its arguments."""
    used, begin = children(), time.perf_counter()
    for words in arguments:
        done = run_python(tree, HERE / f"{name}.py", *(filled(word, tree.own) for word in words))
        if isinstance(done, Failed):
            return done
    return Spent(children() - used, time.perf_counter() - begin, 0.0)


def children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def run_python(tree: Tree, script: Path, *words: str) -> subprocess.CompletedProcess[str] | Failed:
    try:
        done = subprocess.run(
            [sys.executable, str(script), *words], env=tree.environment(), cwd=tree.own,
            capture_output=True, text=True, timeout=LONGEST, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Failed(f"took longer than {LONGEST} s")
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
        return Failed(" ".join(line.strip() for line in said[-2:])[:300])
    return done


class Row(NamedTuple):
    """What was found about an operation or a script: pairs of old and new, or why there are none."""

    name: str
    pairs: list[tuple[Spent, Spent]]
    remark: str = ""

    def cells(self) -> list[str]:
        if not self.pairs:
            return [self.name, "", "", "", "", "", "", self.remark]
        ratios = [new.processor / old.processor for old, new in self.pairs]
        middle = {
            which: [statistics.median(pair[which][kind] for pair in self.pairs) for kind in range(3)]
            for which in range(2)
        }
        clock = statistics.median(new.clock / old.clock for old, new in self.pairs)
        memory = f"{middle[0][2]:.0f}, {middle[1][2]:.0f}" if middle[1][2] else ""
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}" if len(ratios) > 1 else ""
        return [
            self.name, f"{middle[0][0]:.3f}", f"{middle[1][0]:.3f}", f"{statistics.median(ratios):.2f}",
            spread, f"{clock:.2f}", memory, self.remark,
        ]  # fmt: skip


HEAD = ["what", "old, s", "new, s", "new / old", "from, to", "by the clock", "MB: old, new", "remark"]


def compare_operation(name: str, trees: tuple[Tree, Tree], inputs: Path, rounds: int) -> tuple[Row, bool]:
    """The row, and whether the working tree did it."""
    pairs: list[tuple[Spent, Spent]] = []
    remarks: set[str] = set()

    def again_if_it_failed(tree: Tree) -> Spent | Failed:
        found = run_operation(name, tree, inputs)
        if isinstance(found, Failed):
            remarks.add(f"failed once: {found.why}")
            found = run_operation(name, tree, inputs)
        return found

    for number in range(min(rounds, OPERATIONS[name].rounds) + 1):
        first = again_if_it_failed(trees[number % 2])  # old and new take turns in going first
        second = again_if_it_failed(trees[1 - number % 2])
        old, new = (second, first) if number % 2 else (first, second)
        if isinstance(new, Failed):
            return Row(name, [], f"failed: {new.why}"), False
        if isinstance(old, Failed):
            return Row(name, [], f"works now; old: {old.why}"), True
        if number:  # the first round compiles, and makes what the revision reads
            pairs.append((old, new))
    if not all(same(old.value, new.value) for old, new in pairs):
        remarks.add("another result")
    return Row(name, pairs, "; ".join(sorted(remarks))), True


def same(one: Any, other: Any) -> bool:
    """Equal, numbers to 1e-9."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-9 * max(1.0, abs(one)) or (one != one and other != other)
    return bool(one == other)


def check_script(name: str, trees: tuple[Tree, Tree]) -> tuple[Row, bool]:
    script = SCRIPTS[name]
    title = f"{name}.py"
    lacking = missing(script.needs, trees[1].own)
    if lacking:
        return Row(title, [], f"skipped: {lacking}"), True
    old, new = (run_script(name, tree, script.quick, tree.own) for tree in trees)
    if isinstance(new, Failed):
        return Row(title, [], f"failed: {new.why}"), False
    if isinstance(old, Failed):
        return Row(title, [], f"works now; old: {old.why}"), True
    return Row(title, [(old, new)], "runs"), True


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    yield f"| {' | '.join(HEAD)} |"
    yield "|---|" + "---:|" * (len(HEAD) - 2) + "---|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row.cells())} |"


def quick(old: str, only: str, rounds: int, scale: float, write: bool) -> int:
    begin, failed = time.perf_counter(), False
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="evenrank-bench-") as name:
        work = Path(name)
        with two_trees(old, work) as trees:
            inputs = work / "inputs"
            make_inputs = [sys.executable, str(HERE / "operations.py"), "inputs", str(inputs), str(scale)]
            subprocess.run(make_inputs, check=True)
            for tree in trees:
                (tree.own / "inputs").symlink_to(inputs)
            for operation in [one for one in OPERATIONS if only in one]:
                row, good = compare_operation(operation, trees, inputs, rounds)
                rows.append(row)
                failed |= not good
                print(*row.cells(), sep="  ", file=sys.stderr, flush=True)
            for script in [one for one, known in SCRIPTS.items() if known.quick and only in f"{one}.py"]:
                row, good = check_script(script, trees)
                rows.append(row)
                failed |= not good
                print(*row.cells(), sep="  ", file=sys.stderr, flush=True)
    about = (
        f"Old: `{old}`. Processor seconds, medians of {rounds} rounds (scripts: one), in "
        f"{(time.perf_counter() - begin) / 60:.0f} minutes. Python {platform.python_version()}, "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.0f}."
    )
    page = "\n".join(["# The working tree beside an earlier revision", "", about, "", *markdown(rows), ""])
    print(page)
    if write:
        (HERE / "quick.md").write_text(page, encoding="utf-8")
    return int(failed)


def full(only: str) -> int:
    """Every script as its page was made; what it says goes to the terminal."""
    failed = []
    with tempfile.TemporaryDirectory(prefix="evenrank-bench-") as name:
        work = Path(name)
        for script, known in SCRIPTS.items():
            if only not in f"{script}.py" or not known.full:
                continue
            lacking = missing((*known.needs, *known.needs_in_full), work)
            print(f"== {script}.py ({known.time})", f"skipped: {lacking}" if lacking else "", flush=True)
            for words in () if lacking else known.full:
                command = [
                    sys.executable,
                    str(HERE / f"{script}.py"),
                    *(filled(word, work) for word in words),
                ]
                if subprocess.run(command, cwd=ROOT, check=False).returncode:
                    failed.append(script)
                    break
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def table_of_scripts() -> Iterator[str]:
    """For README.md: every script with the first sentence of its docstring, its tiers and its time."""
    yield "| script | question | `make bench` | `make bench-full`, about |"
    yield "|---|---|---|---|"
    for name, script in sorted(SCRIPTS.items()):
        text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))) or ""
        first = " ".join(text.partition("\n\n")[0].split()).partition(" ``python")[0]
        question = first.replace("``", "`").rstrip(".:")
        page = HERE / f"{name}.md"
        title = f"[{name}.py]({page.name})" if page.exists() else f"{name}.py"
        yield (
            f"| {title} | {question} "
            f"| {'once' if script.quick else ''} | {script.time if script.full else ''} |"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tier", choices=("quick", "full", "list"))
    parser.add_argument("old", nargs="?", help="quick: a commit, or a folder with another src")
    parser.add_argument("--only", default="", help="only operations and scripts whose name holds this")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="quick: size of the inputs")
    parser.add_argument("--write", action="store_true", help="quick: put the table into benchmarks/quick.md")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or the temporary folder would stay
    if options.tier == "list":
        print("\n".join(table_of_scripts()))
        return 0
    if options.tier == "full":
        return full(options.only)
    old = options.old or default_revision()
    return quick(old, options.only, options.rounds, options.scale, options.write)


if __name__ == "__main__":
    sys.exit(main())
