"""What commands cost from start to end, beside another revision of this project and an empty Python.

    python benchmarks/commands.py REVISION [--rounds 5] [--only NAME] [--write]

Every command runs in a process of its own; both revisions take turns, round after round, so that both meet
the same machine, and the least of the rounds is compared, which a busy machine changes least. Modules are
compiled to bytecode before, as those of an installed package are; a first scan begins without any compiled
kernel. What is written must be equal, or nothing is reported: pages are compared without their date and with
packed parts unpacked, counts as tables.
"""

from __future__ import annotations

import argparse
import base64
import math
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).parent
QUERIES, SYSTEMS, DEPTH, POOL, DOCUMENTS = 1000, 10, 20, 60, 30_000
SMALL, LARGE = 1000, 1_000_000  # passages of a first scan
SIDES = ["he", "she", "woman", "man", "mother", "father"]


class Spent(NamedTuple):
    processor: float  # seconds of all threads, in user and system mode
    clock: float
    first: float  # processor seconds until the first message


def make_files(folder: Path, only: str | None) -> None:
    """Ten systems of a thousand queries with texts, and two collections to scan; always the same."""
    chance = np.random.default_rng(7)
    vocabulary = [f"word{place}" for place in range(400)] + SIDES
    texts = [" ".join(chance.choice(vocabulary, 70)) for _ in range(DOCUMENTS)]
    _write_lines(folder / "documents.tsv", (f"d{n}\t{text}" for n, text in enumerate(texts)))
    pools = [chance.choice(DOCUMENTS, POOL, replace=False) for _ in range(QUERIES)]
    for system in range(SYSTEMS):
        orders = (chance.permutation(pool)[:DEPTH] for pool in pools)
        rows = (
            f"q{query} Q0 d{document} {rank} {DEPTH - rank} s{system}"
            for query, order in enumerate(orders)
            for rank, document in enumerate(order, 1)
        )
        _write_lines(folder / f"system{system}.trec", rows)
    judged = (f"q{q} 0 d{d} {chance.integers(0, 4)}" for q, pool in enumerate(pools) for d in pool[:DEPTH])
    _write_lines(folder / "qrels.txt", judged)
    _write_lines(folder / "queries.tsv", (f"q{q}\twhat is question {q} about" for q in range(QUERIES)))
    _write_lines(folder / "small.tsv", (f"d{n}\t{texts[n]}" for n in range(SMALL)))
    if only is None or only == "first scan, large":
        _write_lines(folder / "large.tsv", (f"d{n}\t{texts[n % DOCUMENTS]}" for n in range(LARGE)))


def _write_lines(path: Path, lines: object) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)  # type: ignore[attr-defined]


REPORT = [
    "report", *(f"system{n}.trec" for n in range(SYSTEMS)), "--qrels", "qrels.txt",
    "--words", "words.parquet", "--documents", "documents.tsv", "--queries", "queries.tsv",
    "--background", "system0.trec", "-m", "NFaiRR@10 TExFAIR@10 nDCG@10", "-o", "page.html",
]  # fmt: skip


def page(folder: Path) -> str:
    """A report without its date, with its packed parts as they are read."""
    text = (folder / "page.html").read_text(encoding="utf-8")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "", text)
    return re.sub(r">\s*(e[NJ][A-Za-z0-9+/=]{200,})\s*<", lambda part: _unpacked(part[1]), text)


def _unpacked(part: str) -> str:
    return zlib.decompress(base64.b64decode(part)).decode()


def counts(folder: Path) -> str:
    import pyarrow.parquet

    return str(pyarrow.parquet.read_table(folder / "counts.parquet").to_pydict())[:10_000_000]


WORK: dict[str, tuple[list[str], Callable[[Path], str] | None]] = {
    "--help": (["--help"], None),
    "measures GF": (["measures", "GF"], None),
    "report": (REPORT, page),
    "first scan, small": (["scan", "small.tsv", "--lexicon", "gender-en", "-o", "counts.parquet"], counts),
    "first scan, large": (["scan", "large.tsv", "--lexicon", "gender-en", "-o", "counts.parquet"], counts),
}


def _spent_so_far(process: int) -> float:
    """Processor seconds of all threads of a process that still runs."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except FileNotFoundError:  # it has ended
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(source: Path, words: list[str], folder: Path, compiled: Path) -> Spent:
    """One process; ``compiled`` keeps bytecode and kernels of this revision."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = kept | {
        "PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": str(compiled / "bytecode"),
        "NUMBA_CACHE_DIR": str(compiled / "kernels"), "XDG_CACHE_HOME": str(compiled / "charts"),
    }  # fmt: skip
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *(["-m", "evenrank", *words] if words else ["-c", ""])],
        env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.read(1)
    first = _spent_so_far(process.pid)
    process.stderr.read()
    if process.wait():
        raise SystemExit(f"{words} failed")
    clock = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock, first)


def compare(name: str, sources: dict[str, Path], folder: Path, rounds: int) -> dict[str, Spent]:
    words, written = WORK[name]
    found: dict[str, list[Spent]] = {revision: [] for revision in sources}
    seen: dict[str, str] = {}
    for number in range(rounds + 1):
        for revision, source in sources.items():
            compiled = folder / f"compiled-{revision}"
            if "first scan" in name:
                shutil.rmtree(compiled / "kernels", ignore_errors=True)
            spent = run(source, words, folder, compiled)
            if number:  # the first round makes the bytecode
                found[revision].append(spent)
            if written is not None:
                seen[revision] = written(folder)
    if len(set(seen.values())) > 1:
        raise SystemExit(f"{name}: the revisions write different things")
    return {
        revision: Spent(*(min(column) for column in zip(*rows, strict=True)))
        for revision, rows in found.items()
    }


def table(revision: str, rounds: int, only: str | None) -> str:
    rows = [
        f"| command | processor seconds at `{revision}` | now | ratio | until it says something | now |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, only)
        other = folder / "other"
        subprocess.run(
            ["git", "worktree", "add", "--detach", str(other), revision],
            check=True, cwd=HERE, capture_output=True,
        )  # fmt: skip
        sources = {"old": other / "src", "new": HERE.parent / "src"}
        try:
            scanned = ["scan", "documents.tsv", "--lexicon", "gender-en", "-o", "words.parquet"]
            run(sources["old"], scanned, folder, folder / "compiled-old")
            empty = min(run(sources["new"], [], folder, folder / "compiled-new") for _ in range(rounds))
            rows.append(f"| an empty Python | | {empty.processor:.2f} | | | |")
            for command in WORK if only is None else [only]:
                spent = compare(command, sources, folder, rounds)
                old, new = spent["old"], spent["new"]
                ratio = new.processor / old.processor
                rows.append(
                    f"| {command} | {old.processor:.2f} | {new.processor:.2f} | {ratio:.2f} "
                    f"| {old.first:.2f} | {new.first:.2f} |".replace("nan", "")
                )
                print(rows[-1], old.clock, new.clock, file=sys.stderr)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], check=True, cwd=HERE)
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", help="a commit, tag or branch of this repository")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=WORK, help="one of the commands")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/commands.md")
    arguments = parser.parse_args()
    text = table(arguments.revision, arguments.rounds, arguments.only)
    print(text)
    if arguments.write:
        target = HERE / "commands.md"
        before, mark, _ = target.read_text(encoding="utf-8").partition("<!-- table -->\n")
        machine = (
            f"Python {platform.python_version()}, {os.cpu_count()} cores, least of {arguments.rounds}.\n\n"
        )
        target.write_text(before + mark + machine + text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
