"""What users wait for, as named operations that run alike on any revision.

    python benchmarks/operations.py "read a run, TREC" INPUTS OWN

``bench.py`` runs each with the sources of two revisions in turn. Only commands and documented functions are
used, so that an older or a newer package can be measured by the same code. What is printed is one line of
JSON: processor seconds of this process and its children, seconds by the clock, the peak memory, where the
package was found, and a value in which both revisions should agree.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib import error, parse, request

Work = Callable[[], Any]
CALLS, LONG_ENOUGH = 3, 0.4  # a function is called so often and so many seconds, and its least time counts
DEPTH, SYSTEMS = 500, 4
GROUP_WORDS = ["he", "she", "his", "Her", "woman", "man", "mother", "father"]


class Place(NamedTuple):
    """Inputs that both revisions read, and a folder of the revision's own, which is the current one."""

    inputs: Path
    own: Path

    def __getitem__(self, name: str) -> str:  # type: ignore[override]
        return str(self.inputs / name)


class Operation(NamedTuple):
    prepare: Callable[[Place], Work]
    is_function: bool  # called before it is measured, and then until enough time has passed
    rounds: int = 5  # at most


# inputs, always the same for one scale


def make_inputs(folder: Path, scale: float = 1.0) -> None:
    """Runs, judgements, labels and collections; ``scale`` multiplies their sizes, not those of each list."""
    import numpy as np

    folder.mkdir(parents=True)
    chance = np.random.default_rng(0)
    queries, documents = max(4, int(1000 * scale)), max(2000, int(100_000 * scale))
    lists = [chance.choice(documents, DEPTH, replace=False).tolist() for _ in range(queries)]
    scores = [1000 - rank / 7 for rank in range(1, DEPTH + 1)]
    rows = [
        (f"q{query}", f"d{document}", rank, score)
        for query, order in enumerate(lists)
        for rank, (document, score) in enumerate(zip(order, scores, strict=True), 1)
    ]
    write_lines(folder / "run.trec", (f"{q} Q0 {d} {rank} {score:.4f} made" for q, d, rank, score in rows))
    names, lines = ["query", "document", "score"], [(q, d, round(score, 4)) for q, d, _, score in rows]
    write_table(folder / "run", names, lines)
    write_table(folder / "short", names, lines[: len(lines) // 5])  # JSONL is slower to read
    judged = (f"q{q} 0 d{d} {chance.integers(0, 4)}" for q, order in enumerate(lists) for d in order[::10])
    write_lines(folder / "qrels.txt", judged)
    ids = [f"d{document}" for document in range(documents)]
    sizes = np.array(["small", "medium", "large"])[chance.integers(0, 3, documents)].tolist()
    write_table(folder / "groups", ["document", "size"], zip(ids, sizes, strict=True))
    texts = made_texts(5000, 60, chance)
    collection = list(zip(ids, cycle(texts), strict=False))
    write_table(folder / "texts", ["id", "text"], collection)
    write_lines(folder / "texts.tsv", map("\t".join, collection))
    write_lines(folder / "small.tsv", map("\t".join, collection[:1000]))
    short = enumerate(islice(cycle(made_texts(5000, 12, chance)), int(2_000_000 * scale)))
    write_lines(folder / "many.tsv", (f"d{number}\t{text}" for number, text in short))
    make_report_inputs(folder, texts, chance, max(4, int(200 * scale)))


def make_report_inputs(folder: Path, texts: list[str], chance: Any, queries: int) -> None:
    """A few systems that order the same documents, with texts; also what small commands read."""
    pools = [chance.choice(2000, 60, replace=False) for _ in range(queries)]
    for system in range(SYSTEMS):
        rows = (
            f"q{query} Q0 d{document} {rank} {20 - rank} s{system}"
            for query, pool in enumerate(pools)
            for rank, document in enumerate(chance.permutation(pool)[:20].tolist(), 1)
        )
        write_lines(folder / f"system{system}.trec", rows)
    judged = (
        f"q{q} 0 d{d} {chance.integers(0, 4)}" for q, pool in enumerate(pools) for d in pool[:20].tolist()
    )
    write_lines(folder / "judged.txt", judged)
    write_lines(
        folder / "queries.tsv",
        (f"q{query}\twhat is known of word{query} and word{2 * query}" for query in range(queries)),
    )
    write_lines(folder / "documents.tsv", (f"d{n}\t{text}" for n, text in enumerate(texts[:2000])))
    few = enumerate(made_texts(128, 12, chance))  # for scripts that encode
    write_lines(folder / "few.tsv", (f"d{n}\t{text}" for n, text in few))
    write_lines(folder / "questions.tsv", (f"q{n}\twhat is known of word{n} or him or her" for n in range(5)))


def made_texts(count: int, words: int, chance: Any) -> list[str]:
    vocabulary = [f"word{place}" for place in range(2000)] + 5 * GROUP_WORDS
    drawn = chance.integers(0, len(vocabulary), (count, words))
    return [" ".join(vocabulary[place] for place in row) for row in drawn.tolist()]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_table(stem: Path, names: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """The same table as CSV, Parquet and JSONL."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(rows)
    write_lines(stem.with_suffix(".csv"), [",".join(names), *(",".join(map(str, row)) for row in rows)])
    write_lines(stem.with_suffix(".jsonl"), (json.dumps(dict(zip(names, row, strict=True))) for row in rows))
    columns = [list(column) for column in zip(*rows, strict=True)]
    pq.write_table(pa.table(columns, names=names), stem.with_suffix(".parquet"))


# functions


def reads_run(name: str) -> Callable[[Place], Work]:
    def prepare(place: Place) -> Work:
        import evenrank

        return lambda: len(evenrank.read_run(place[name]))

    return prepare


def reads_judgements(place: Place) -> Work:
    import evenrank

    return lambda: len(evenrank.read_qrels(place["qrels.txt"]))


def reads_groups(suffix: str) -> Callable[[Place], Work]:
    def prepare(place: Place) -> Work:
        import evenrank

        return lambda: len(evenrank.read_groups(place[f"groups.{suffix}"], "size", column="size"))

    return prepare


def scores(*measures: str, depth: int | None = None, **evidence: str) -> Callable[[Place], Work]:
    """``evaluate`` on the run in memory; the means are the value."""

    def prepare(place: Place) -> Work:
        import evenrank

        run = evenrank.read_run(place["run.trec"])
        known: dict[str, Any] = {}
        if "qrels" in evidence:
            known["qrels"] = evenrank.read_qrels(place[evidence["qrels"]])
        if "groups" in evidence:
            known["groups"] = evenrank.read_groups(place[evidence["groups"]], "size", column="size")
        if "words" in evidence:
            known["words"] = evenrank.scan(place[evidence["words"]], evenrank.read_lexicon("gender-en"))
        if "sides" in evidence:
            run = run.head(depth)
            known["polarity"] = evenrank.Polarity.from_labels(sides(run), positive="for")

        def work() -> list[float]:
            found = evenrank.evaluate(run, list(measures), **known)
            return [found.mean(measure) for measure in measures[:20]]

        return work

    return prepare


def sides(run: Any) -> dict[str, dict[str, str]]:
    return {
        query: {document: "for" if int(document[1:]) % 2 else "against" for document in run.documents(query)}
        for query in run.query_ids
    }


def many_measures() -> tuple[str, ...]:
    kinds = ["nDCG", "RR", "AP", "P", "R", "ERR", "RBP(p=0.8)", "NDKL(attr='size')", "AWRF(attr='size')"]
    kinds += [f"GF(attr='size',decay='{decay}')" for decay in ("ERR", "RBP", "log2")]
    return tuple(f"{kind}@{cutoff}" for cutoff in range(1, 31) for kind in kinds)


def reranks(place: Place) -> Work:
    import evenrank

    run = evenrank.read_run(place["run.trec"])
    groups = evenrank.read_groups(place["groups.csv"], "size", column="size")
    fairer = "NDKL(attr='size')@50"
    return lambda: evenrank.evaluate(
        evenrank.rerank(run, "DetGreedy@50", groups=groups), [fairer], groups=groups
    ).mean(fairer)


def compares(place: Place) -> Work:
    import evenrank

    runs = {f"s{system}": evenrank.read_run(place[f"system{system}.trec"]) for system in range(SYSTEMS)}
    qrels = evenrank.read_qrels(place["judged.txt"])
    return lambda: len(str(evenrank.compare(runs, ["nDCG@10", "RR@10"], qrels=qrels))) > 0


def scans(suffix: str) -> Callable[[Place], Work]:
    def prepare(place: Place) -> Work:
        import evenrank

        lexicon = evenrank.read_lexicon("gender-en")
        return lambda: len(evenrank.scan(place[f"texts.{suffix}"], lexicon))

    return prepare


def erases(place: Place) -> Work:
    """An eraser of six targets, fitted to vectors that are made up, and those vectors without them."""
    import numpy as np

    from evenrank.erasure import Eraser

    chance = np.random.default_rng(0)
    targets = (chance.random((20_000, 6)) < 0.2).astype(np.float64)
    vectors = chance.normal(size=(20_000, 384)).astype(np.float32)
    vectors[:, :6] += targets.astype(np.float32)
    return lambda: round(float(np.abs(Eraser.fit(vectors, targets)(vectors)).mean()), 6)


# commands, each in a process of its own


def evenrank_command(*words: str, check: bool = True) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "evenrank", *words], capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        raise SystemExit(f"evenrank {' '.join(words)}\n{done.stderr}")
    return done.stdout


def command(
    *words: str, output: str = "", needs: Callable[[Place], None] | None = None, cold: bool = False
) -> Callable[[Place], Work]:
    """A command line, in which ``{name}`` is an input; its value is a table that it prints or ``output``."""

    def prepare(place: Place) -> Work:
        if needs is not None:
            needs(place)
        filled = [re.sub(r"\{(.+?)\}", lambda found: place[found[1]], word) for word in words]
        if output:
            Path(output).unlink(missing_ok=True)
        if cold:  # nothing compiled is kept
            shutil.rmtree(os.environ["NUMBA_CACHE_DIR"], ignore_errors=True)

        def work() -> str | None:
            printed = evenrank_command(*filled)
            if output.endswith((".tsv", ".jsonl")):
                return digest(Path(output))
            return printed if "--format" in filled else None

        return work

    return prepare


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


SCAN = ("scan", "{many.tsv}", "--lexicon", "gender-en", "--threads", "1", "-o")
SWAP = ("counterfactual", "swap", "--tagger", "rules", "--threads", "1", "--no-resume")
BY_NEED = ("evaluate", "{system0.trec}", "{system1.trec}", "-m", "NFaiRR@10,TExFAIR@10", "--background",
           "{system0.trec}", "--format", "tsv", "--words")  # fmt: skip
REPORT = (
    "report", *(f"{{system{system}.trec}}" for system in range(SYSTEMS)), "--qrels", "{judged.txt}",
    "--words", "words.parquet", "--documents", "{documents.tsv}", "--queries", "{queries.tsv}",
    "--background", "{system0.trec}", "-m", "NFaiRR@10 TExFAIR@10 nDCG@10", "-o", "page.html",
)  # fmt: skip


def counts_in_order(place: Place) -> None:
    if not Path("in-order").exists():
        evenrank_command("scan", place["many.tsv"], "--lexicon", "gender-en", "-o", "in-order/")


def counts_with_index(place: Place) -> None:
    """With whatever a revision makes beside counts to read them by need, where it makes something."""
    if not Path("indexed").exists():
        evenrank_command("scan", place["many.tsv"], "--lexicon", "gender-en", "-o", "indexed/")
        evenrank_command("scan", "indexed/", check=False)


def words_of_documents(place: Place) -> None:
    if not Path("words.parquet").exists():
        evenrank_command("scan", place["documents.tsv"], "--lexicon", "gender-en", "-o", "words.parquet")


def killed_and_resumed(place: Place) -> Work:
    """A scan that is killed after half of its time, and the same command again: what both take together."""
    words = [word.replace("{many.tsv}", place["many.tsv"]) for word in SCAN]
    begin = time.perf_counter()
    evenrank_command(*words, "whole.parquet", "--no-resume")
    half = (time.perf_counter() - begin) / 2
    Path("resumed.parquet").unlink(missing_ok=True)

    def work() -> bool:
        process = subprocess.Popen(
            [sys.executable, "-m", "evenrank", *words, "resumed.parquet"], stderr=subprocess.DEVNULL
        )
        try:
            process.wait(half)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        evenrank_command(*words, "resumed.parquet")
        return digest(Path("resumed.parquet")) == digest(Path("whole.parquet"))

    return work


VISITORS = 60


def study_pages(place: Place) -> Work:
    """The study's server from its start to its end, with visitors who see two pages each."""
    shutil.rmtree("study", ignore_errors=True)
    evenrank_command("study", "new", "study")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    settings = Path("study/study.toml")
    text, found = re.subn(
        r"(?m)^address = .*$", f'address = "{address}"', settings.read_text(encoding="utf-8")
    )
    settings.write_text(text if found else f'address = "{address}"\n{text}', encoding="utf-8")

    def work() -> list[int]:
        server = subprocess.Popen(
            [sys.executable, "-m", "evenrank", "study", "serve", "study"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            wait_for(f"http://{address}/", server)
            return [len(list(pages(f"http://{address}/"))) for _ in range(VISITORS)]
        finally:
            server.terminate()
            server.wait()

    return work


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    last = time.monotonic() + 120
    while True:
        try:
            request.urlopen(address, timeout=10).close()
            return
        except (error.URLError, ConnectionError):
            if server.poll() is not None or time.monotonic() > last:
                raise SystemExit("the server of the study did not start") from None
            time.sleep(0.02)


def pages(address: str) -> Iterator[str]:
    """The first page, and the one after consent, of a visitor with cookies of their own."""
    visitor = request.build_opener(request.HTTPCookieProcessor())
    page = visitor.open(address, timeout=60).read().decode()
    yield page
    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token is not None
    answers = parse.urlencode({"token": token[1], "consent": "agree"}).encode()
    yield visitor.open(address, answers, timeout=60).read().decode()


ATTRIBUTED = ("GF(attr='size')@10", "NDKL(attr='size')@50", "AWRF(attr='size')@50")
FUNCTIONS: dict[str, Callable[[Place], Work]] = {
    "read a run, TREC": reads_run("run.trec"),
    "read a run, CSV": reads_run("run.csv"),
    "read a run, JSONL": reads_run("short.jsonl"),
    "read a run, Parquet": reads_run("run.parquet"),
    "read judgements": reads_judgements,
    "read groups, CSV": reads_groups("csv"),
    "read groups, Parquet": reads_groups("parquet"),
    "score: nDCG, RR, AP, P": scores("nDCG@10", "RR@10", "AP@100", "P@10", qrels="qrels.txt"),
    "score: GF, NDKL, AWRF, nDCG": scores(*ATTRIBUTED, "nDCG@10", qrels="qrels.txt", groups="groups.csv"),
    "score: GF, whole lists": scores("GF(attr='size')", groups="groups.csv"),
    "score: NFaiRR, TExFAIR": scores("NFaiRR@10", "TExFAIR@10", words="texts.tsv"),
    "score: DUO, rND": scores("DUO@12", "rND@12", depth=12, sides="by id"),
    "score: 360 measures": scores(*many_measures(), qrels="qrels.txt", groups="groups.csv"),
    "re-rank with DetGreedy, NDKL": reranks,
    "compare four runs": compares,
    "debias: fit an eraser, erase": erases,
    "scan, TSV": scans("tsv"),
    "scan, JSONL": scans("jsonl"),
    "scan, Parquet": scans("parquet"),
}
COMMANDS: dict[str, Callable[[Place], Work]] = {
    "scan, one thread, to a file": command(*SCAN, "counts.parquet", "--no-resume"),
    "first scan, small": command(
        "scan", "{small.tsv}", "--lexicon", "gender-en", "-o", "f.parquet", cold=True
    ),
    "first scan, large": command(
        "scan", "{many.tsv}", "--lexicon", "gender-en", "-o", "f.parquet", cold=True
    ),
    "scan, killed and resumed": killed_and_resumed,
    "swap, TSV": command(*SWAP, "{texts.tsv}", "-o", "swapped.tsv", output="swapped.tsv"),
    "swap, JSONL": command(*SWAP, "{texts.jsonl}", "-o", "swapped.jsonl", output="swapped.jsonl"),
    "counts by need, folder in order": command(*BY_NEED, "in-order/", needs=counts_in_order),
    "counts by need, with an index": command(*BY_NEED, "indexed/", needs=counts_with_index),
    "evenrank --help": command("--help"),
    "evenrank measures GF": command("measures", "GF"),
    "evaluate, two measures": command(
        "evaluate", "{system0.trec}", "--qrels", "{judged.txt}", "-m", "nDCG@10,RR@10", "--format", "tsv"
    ),
    "evaluate from files, large": command(
        "evaluate", "{run.trec}", "--qrels", "{qrels.txt}", "-m", "nDCG@10,RR@10", "--format", "tsv"
    ),
    "audit, with verdicts": command(
        "audit", "{system0.trec}", "--groups", "size={groups.csv}", "-o", "audits"
    ),
    "report": command(*REPORT, needs=words_of_documents),
    "study pages": study_pages,
}
FEWER_ROUNDS = {"first scan, large": 3}
OPERATIONS = {
    name: Operation(prepare, name in FUNCTIONS, FEWER_ROUNDS.get(name, Operation._field_defaults["rounds"]))
    for name, prepare in (FUNCTIONS | COMMANDS).items()
}


def processor_seconds() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def measure(operation: Operation, place: Place) -> dict[str, Any]:
    import evenrank

    os.chdir(place.own)
    work = operation.prepare(place)
    if operation.is_function:
        work()
    spent: list[tuple[float, float]] = []
    while not spent or (
        operation.is_function and (len(spent) < CALLS or sum(clock for _, clock in spent) < LONG_ENOUGH)
    ):
        used, begin = processor_seconds(), time.perf_counter()
        value = work()
        spent.append((processor_seconds() - used, time.perf_counter() - begin))
    whose = resource.RUSAGE_SELF if operation.is_function else resource.RUSAGE_CHILDREN
    processor, clock = (min(column) for column in zip(*spent, strict=True))
    return {
        "processor": processor, "clock": clock, "memory": resource.getrusage(whose).ru_maxrss / 1024,
        "value": value, "package": str(Path(evenrank.__file__).parent),
    }  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "inputs":
        make_inputs(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        print(json.dumps(measure(OPERATIONS[sys.argv[1]], Place(Path(sys.argv[2]), Path(sys.argv[3])))))
