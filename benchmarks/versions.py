"""What another revision of this project costs, side by side with the one that is checked out.

    python benchmarks/versions.py REVISION [--rounds 7] [--write]

Both revisions do the same work in turn, each time in a fresh process, round after round, so that both meet
the same machine. Compared is the least processor time of all rounds, which a busy machine changes least.
Both must give the same numbers, or nothing is reported.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
QUERIES, DEPTH, DOCUMENTS = 2000, 500, 100_000
REPEATS = 7  # in each process
WORDS = [
    "she",
    "he",
    "doctor",
    "nurse",
    "her",
    "his",
    "woman",
    "man",
    "ward",
    "report",
    "of",
    "the",
    "and",
    "was",
    "on",
]


def make_files(folder: Path) -> None:
    """A run of a million lines, judgements, labels, places and texts, always the same."""
    generator = np.random.default_rng(0)
    with (folder / "run.trec").open("w") as run, (folder / "qrels.txt").open("w") as qrels:
        for query in range(QUERIES):
            documents = generator.choice(DOCUMENTS, DEPTH, replace=False)
            run.writelines(
                f"q{query} Q0 d{document} {rank} {1000 - rank / 7:.4f} made\n"
                for rank, document in enumerate(documents, 1)
            )
            qrels.writelines(
                f"q{query} 0 d{document} {generator.integers(0, 4)}\n" for document in documents[::10]
            )
    with (folder / "groups.csv").open("w") as file:
        file.write("document,size\n")
        sizes = np.array(["small", "medium", "large"])[generator.integers(0, 3, DOCUMENTS)]
        file.writelines(f"d{document},{size}\n" for document, size in enumerate(sizes))
    with (folder / "texts.tsv").open("w") as file:
        for document in range(DOCUMENTS):
            file.write(f"d{document}\t{' '.join(generator.choice(WORDS, 60))}\n")


def _read(folder: Path) -> Any:
    import evenrank

    return evenrank.read_run(folder / "run.trec"), evenrank.read_qrels(folder / "qrels.txt")


def reading(folder: Path) -> Callable[[], float]:
    return lambda: float(sum(len(table) for table in _read(folder)))


def relevance(folder: Path) -> Callable[[], float]:
    import evenrank

    run, qrels = _read(folder)
    return lambda: evenrank.evaluate(run, ["nDCG@10", "RR@10"], qrels=qrels).mean("nDCG@10")


def groups(folder: Path) -> Callable[[], float]:
    import evenrank

    run, qrels = _read(folder)
    labels = evenrank.read_groups(folder / "groups.csv", "size", column="size")
    measures = ["GF(attr='size')@10", "NDKL(attr='size')@50", "AWRF(attr='size')@50", "nDCG@10"]

    def work() -> float:
        scores = evenrank.evaluate(run, measures, qrels=qrels, groups=labels)
        return sum(scores.mean(measure) for measure in measures)

    return work


def words(folder: Path) -> Callable[[], float]:
    import evenrank

    run, _ = _read(folder)
    counts = evenrank.scan(folder / "texts.tsv", evenrank.read_lexicon("gender-en"))
    return lambda: evenrank.evaluate(run, ["NFaiRR@10", "TExFAIR@10"], words=counts).mean("NFaiRR@10")


def scanning(folder: Path) -> Callable[[], float]:
    import evenrank

    lexicon = evenrank.read_lexicon("gender-en")
    return lambda: float(len(evenrank.scan(folder / "texts.tsv", lexicon)))


def reranking(folder: Path) -> Callable[[], float]:
    import evenrank

    run, _ = _read(folder)
    labels = evenrank.read_groups(folder / "groups.csv", "size", column="size")

    def work() -> float:
        fairer = evenrank.rerank(run, "DetGreedy@50", groups=labels)
        return evenrank.evaluate(fairer, ["NDKL(attr='size')@50"], groups=labels).mean("NDKL(attr='size')@50")

    return work


def comparing(folder: Path) -> Callable[[], float]:
    import evenrank

    run, qrels = _read(folder)
    labels = evenrank.read_groups(folder / "groups.csv", "size", column="size")
    runs = {"run": run, "fairer": evenrank.rerank(run, "DetGreedy@50", groups=labels)}
    return lambda: float(
        len(str(evenrank.compare(runs, ["nDCG@10", "NDKL(attr='size')@50"], qrels=qrels, groups=labels))) > 0
    )


def ordering(folder: Path) -> Callable[[], float]:
    import evenrank
    from evenrank.data.polarity import Polarity

    run = _read(folder)[0].head(12)
    sides = {
        query: {document: "for" if int(document[1:]) % 2 else "against" for document in run.documents(query)}
        for query in run.query_ids[:300]
    }
    polarity = Polarity.from_labels(sides, positive="for")
    queries = list(sides)
    return lambda: evenrank.evaluate(run, ["DUO@12", "rND@12"], polarity=polarity, queries=queries).mean(
        "DUO@12"
    )


def all_pairs(folder: Path) -> Callable[[], float]:
    from evenrank.stats.tukey import randomised_tukey_hsd

    values = np.random.default_rng(0).normal(size=(500, 8))
    return lambda: float(np.nansum(randomised_tukey_hsd(values, trials=2000).p_values))


WORK: dict[str, Callable[[Path], Callable[[], float]]] = {
    "read a million lines and 100,000 judgements": reading,
    "nDCG@10, RR@10": relevance,
    "GF, NDKL, AWRF, nDCG": groups,
    "NFaiRR@10, TExFAIR@10": words,
    "scan 100,000 texts": scanning,
    "DetGreedy@50, NDKL@50": reranking,
    "compare two runs": comparing,
    "DUO@12, rND@12": ordering,
    "Tukey's test of 8 systems": all_pairs,
}


def measure_here(name: str, folder: Path) -> dict[str, float]:
    """The least processor time of the work, warm, in this process."""
    work = WORK[name](folder)
    value = work()
    seconds = []
    for _ in range(REPEATS):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    return {"seconds": min(seconds), "value": value}


def measure(source: Path, name: str, folder: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "-", "--only", name, "--files", str(folder)],
        env={**os.environ, "PYTHONPATH": str(source)},
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def table(revision: str, rounds: int) -> str:
    rows = [
        f"| work | processor seconds at `{revision}` | now | ratio |",
        "|---|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        other = folder / "other"
        subprocess.run(
            ["git", "worktree", "add", "--detach", str(other), revision],
            check=True, cwd=HERE, capture_output=True,
        )  # fmt: skip
        try:
            for what in WORK:
                pairs = [
                    (measure(other / "src", what, folder), measure(HERE.parent / "src", what, folder))
                    for _ in range(rounds)
                ]
                for old, new in pairs:
                    if not np.isclose(old["value"], new["value"], rtol=1e-9):
                        raise SystemExit(f"{what}: {old['value']} at {revision}, {new['value']} now")
                before, now = (min(pair[at]["seconds"] for pair in pairs) for at in range(2))
                rows.append(f"| {what} | {before:.3f} | {now:.3f} | {now / before:.2f} |")
                print(rows[-1], file=sys.stderr)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], check=True, cwd=HERE)
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="a commit, tag or branch of this repository")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/versions.md")
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure_here(arguments.only, arguments.files)))
        return
    text = (
        "# This revision beside an earlier one\n\n"
        f"    python benchmarks/versions.py {arguments.revision} --rounds {arguments.rounds} --write\n\n"
        f"{table(arguments.revision, arguments.rounds)}\n\n"
        f"Least of {arguments.rounds} rounds of {REPEATS}, each in a fresh process and warm, both in turn; "
        f"Python {platform.python_version()}, {os.cpu_count()} cores.\n"
    )
    print(text)
    if arguments.write:
        (HERE / "versions.md").write_text(text)


if __name__ == "__main__":
    main()
