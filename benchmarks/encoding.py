"""Encoding passages with MiniLM for ``polarise`` and dense retrieval, beside sentence-transformers.

    python benchmarks/encoding.py PASSAGES [REVISION] [--texts 2000] [--rounds 2] [--write]

PASSAGES is a collection (id, tab, text). All ways encode the same texts with the same model, one after the
other in each round, in one process and on one thread; another REVISION does so in a process of its own.
Compared is the processor time with that of the library's ``encode`` in the same round; the median of rounds.
The vectors must be the same up to 1e-5, or nothing is reported.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np

HERE = Path(__file__).parent
ALONE = "sentence-transformers, encode"


def ways(texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Each gives the vectors of the texts, of length 1."""
    import torch
    from sentence_transformers import SentenceTransformer

    from evenrank.evidence.polarise.encoders import as_encoder, minilm_folder
    from evenrank.evidence.polarise.engine import _encoded
    from evenrank.evidence.polarise.opinions import read_opinions
    from evenrank.systems import Dense

    torch.set_num_threads(1)
    library = SentenceTransformer(str(minilm_folder()), local_files_only=True)
    documents = {str(place): text for place, text in enumerate(texts)}
    opinions = read_opinions({"q": documents})
    encoder = as_encoder("minilm")
    encoder.encode(["loads the model"])
    system = Dense(encoder)
    several = len(inspect.signature(_encoded).parameters) > 4  # earlier revisions take the encoder alone

    def polarise() -> Any:
        options = (encoder, 32, None, None, None) if several else (encoder, None, None)
        return _encoded([opinions], *options)[0]

    def dense() -> Any:
        system._known.clear()
        system.index(documents)
        return system._vectors

    return {
        ALONE: lambda: library.encode(texts, show_progress_bar=False),
        "polarise": polarise,
        "dense retrieval": dense,
    }


def measure(path: Path, count: int, rounds: int) -> dict[str, list[float]]:
    with path.open(encoding="utf-8") as file:
        lines = [
            line.rstrip("\n").partition("\t")[2] for line, _ in zip(file, range(4 * count), strict=False)
        ]
    texts = list(dict.fromkeys(lines))[:count]
    seconds: dict[str, list[float]] = {}
    for number in range(rounds):
        made = {}
        for way, work in ways(texts).items():
            begin = time.process_time()
            made[way] = np.asarray(work())
            seconds.setdefault(way, []).append(time.process_time() - begin)
            print(number, way, seconds[way][-1], file=sys.stderr)
        for way, vectors in made.items():
            if np.abs(vectors - made[ALONE]).max() > 1e-5:
                raise SystemExit(f"{way}: other vectors")
    return seconds


def at_revision(revision: str, arguments: list[str]) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        command = ["git", "worktree", "add", "--detach", str(other), revision]
        subprocess.run(command, check=True, cwd=HERE, capture_output=True)
        try:
            done = subprocess.run(
                [sys.executable, __file__, *arguments, "--json"],
                env={**os.environ, "PYTHONPATH": str(other / "src")},
                check=True, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], check=True, cwd=HERE)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def speeds(seconds: dict[str, list[float]]) -> dict[str, float]:
    """The speed of each way over that of the library."""
    return {
        way: statistics.median(alone / own for alone, own in zip(seconds[ALONE], spent, strict=True))
        for way, spent in seconds.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("passages", type=Path)
    parser.add_argument("revision", nargs="?")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/encoding.md")
    given = parser.parse_args()
    seconds = measure(given.passages, given.texts, given.rounds)
    if given.json:
        print(json.dumps(seconds))
        return
    now = speeds(seconds)
    same = [str(given.passages.resolve()), "--texts", str(given.texts), "--rounds", str(given.rounds)]
    before = {} if given.revision is None else speeds(at_revision(given.revision, same))
    rows = [
        f"| way | processor seconds | speed over the library's | the same at `{given.revision}` |",
        "|---|---:|---:|---:|",
        *(
            f"| {way} | {min(seconds[way]):.1f} | {now[way]:.2f} | {before.get(way, float('nan')):.2f} |"
            for way in seconds
        ),
    ]
    text = f"{given.texts} passages, {given.rounds} rounds.\n\n" + "\n".join(rows) + "\n"
    print(text)
    if given.write:
        target = HERE / "encoding.md"
        head, mark, _ = target.read_text(encoding="utf-8").partition("<!-- table -->\n")
        target.write_text(head + mark + text, encoding="utf-8")


if __name__ == "__main__":
    main()
