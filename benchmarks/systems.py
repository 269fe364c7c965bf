"""Time of systems beside the libraries that they use: ``python benchmarks/systems.py PASSAGES QUERIES``.

PASSAGES is a collection (id, tab, text), QUERIES likewise. Processor time of this process, one thread, the
median of several rounds that take turns; the results are checked to be the same. The table is that of
benchmarks/systems.md.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.systems import BM25, Dense, read_texts
from evenrank.tables import Table, printed

ROUNDS = 3
ENCODED = 128  # passages that an encoder reads


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def compared(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float, float]:
    """The medians of both, and the median ratio of rounds that follow each other."""
    ours(), theirs()  # what is loaded once
    pairs = [(timed(ours)[0], timed(theirs)[0]) for _ in range(ROUNDS)]
    return (
        statistics.median(one for one, _ in pairs),
        statistics.median(two for _, two in pairs),
        statistics.median(one / two for one, two in pairs),
    )


def bm25_rows(documents: dict[str, str], queries: dict[str, str]) -> list[list[Any]]:
    import bm25s

    texts, ids = list(documents.values()), list(documents)

    def index_alone() -> Any:
        library = bm25s.BM25()
        library.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
        return library

    def index_ours() -> BM25:
        system = BM25()
        system.index(documents)
        return system

    library, system = index_alone(), index_ours()

    def search_alone() -> Any:
        asked = bm25s.tokenize(list(queries.values()), show_progress=False)
        return library.retrieve(asked, k=100, show_progress=False)

    def search_ours() -> Any:
        return system.retrieve(queries, 100)

    run, (rows, _) = search_ours(), search_alone()
    same = sum(run.documents(query)[:1] == [ids[rows[place, 0]]] for place, query in enumerate(queries))
    print(f"BM25: the same first document for {same} of {len(queries)} queries", file=sys.stderr)
    both = compared(lambda: (index_ours(), search_ours()), lambda: (index_alone(), search_alone()))
    return [
        ["BM25, index", "bm25s", *compared(index_ours, index_alone)],
        ["BM25, 100 documents a query", "bm25s", *compared(search_ours, search_alone)],
        ["BM25, both", "bm25s", *both],
    ]


def dense_row(documents: dict[str, str]) -> list[Any]:
    import torch
    from sentence_transformers import SentenceTransformer

    from evenrank.evidence.encoding import as_encoder
    from evenrank.evidence.models import MINILM, model_path

    torch.set_num_threads(1)
    some = dict(list(documents.items())[:ENCODED])
    library = SentenceTransformer(model_path(MINILM), local_files_only=True)
    encoder = as_encoder("minilm")
    encoder.encode(["loads the model"])

    def alone() -> Any:
        return library.encode(list(some.values()), batch_size=64, show_progress_bar=False)

    def ours() -> Any:
        fresh = Dense(encoder)
        fresh.index(some)
        return fresh

    assert np.abs(ours()._vectors - alone()).max() < 1e-5
    return [f"Dense(model=minilm), {len(some)} passages", "sentence-transformers", *compared(ours, alone)]


def main(passages: str, asked: str) -> None:
    documents, queries = read_texts(Path(passages)), read_texts(Path(asked))
    rows = [*bm25_rows(documents, queries), dense_row(documents)]
    head = ["what", "library", "ours, s", "library, s", "ratio"]
    print(printed([Table.of(head, rows, words=2)], "markdown"))


if __name__ == "__main__":
    main(*sys.argv[1:3])
