"""Encoding passages with MiniLM for ``polarise`` and dense retrieval, beside sentence-transformers.

    python benchmarks/encoding.py PASSAGES [--texts 2000] [--rounds 2] [--write]

PASSAGES is a collection (id, tab, text). All ways encode the same texts with the same model, one after the
other in each round, in one process and on one thread. Compared is the processor time with that of the
library's ``encode`` in the same round; the median of rounds. The vectors must be the same up to 1e-5, or
nothing is reported.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import numpy as np
from common import write_table

ALONE = "sentence-transformers, encode"


def ways(texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Each gives the vectors of the texts, of length 1."""
    import torch
    from sentence_transformers import SentenceTransformer

    from evenrank.evidence.encoding import as_encoder
    from evenrank.evidence.models import MINILM, model_path
    from evenrank.evidence.polarise.engine import _encoded
    from evenrank.evidence.polarise.opinions import read_opinions
    from evenrank.systems import Dense

    torch.set_num_threads(1)
    library = SentenceTransformer(model_path(MINILM), local_files_only=True)
    documents = {str(place): text for place, text in enumerate(texts)}
    opinions = read_opinions({"q": documents})
    encoder = as_encoder("minilm")
    encoder.encode(["loads the model"])

    def polarise() -> Any:
        return _encoded({"fit": opinions}, encoder, None, None, None)["fit"]

    def dense() -> Any:
        system = Dense(encoder)
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
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/encoding.md")
    given = parser.parse_args()
    seconds = measure(given.passages, given.texts, given.rounds)
    now = speeds(seconds)
    rows = [
        "| way | processor seconds | speed over the library's |",
        "|---|---:|---:|",
        *(f"| {way} | {min(seconds[way]):.1f} | {now[way]:.2f} |" for way in seconds),
    ]
    text = f"{given.texts} passages, {given.rounds} rounds.\n\n" + "\n".join(rows) + "\n"
    print(text)
    if given.write:
        write_table(__file__, text, "")


if __name__ == "__main__":
    main()
