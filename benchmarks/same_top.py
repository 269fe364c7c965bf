"""Do systems find what their libraries find? ``python benchmarks/same_top.py PASSAGES QUERIES [CACHE]``

PASSAGES is a collection (id, tab, text), QUERIES likewise; CACHE (default: same-top-cache) keeps vectors, so
that the command continues where it ended. For each system the first ten documents of every query are those
of its library, used directly: bm25s, the search of sentence-transformers, and a plain loop for MaxSim over
some of the passages. Documents whose scores differ by less than the rounding may stand in either order. The
table is that of benchmarks/systems.md.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import sys
from pathlib import Path
from typing import Any

import numpy as np

from evenrank.data.run import Run
from evenrank.systems import make_system, read_texts
from evenrank.tables import Table, printed

TEN = 10
ENCODED_AGAIN = 256  # passages whose vectors are made by the library too
LATE = 2048  # passages for MaxSim: vectors of all tokens of 30,045 take 1.7 GB and half an hour
Texts = dict[str, str]


def agreement(run: Run, queries: Texts, scores: Any, ids: list[str], rounding: float) -> list[Any]:
    """Queries with the same ten documents, also in the same order, and the largest difference of a score."""
    same = ordered = unequal = 0
    furthest = 0.0
    places = {document: row for row, document in enumerate(ids)}
    lists = run.to_dict()
    for query, own_scores in zip(queries, scores, strict=True):
        own, row = lists.get(query, {}), np.asarray(own_scores, dtype=np.float64)
        nearest = np.argsort(-row, kind="stable")[: 4 * TEN]
        by_score = sorted(nearest, key=lambda at, row=row: (row[at], ids[at].encode()), reverse=True)
        expected = [ids[at] for at in by_score[:TEN] if row[at] > 0]
        ordered += list(own) == expected
        same += set(own) == set(expected)
        least = row[by_score[TEN - 1]]
        unequal += any(row[places[one]] < least - rounding for one in own) or len(own) != len(expected)
        furthest = max([furthest, *(abs(row[places[one]] - score) for one, score in own.items())])
    return [len(queries) - unequal, same, ordered, f"{furthest:.1e}"]


def bm25_row(documents: Texts, queries: Texts) -> list[Any]:
    import bm25s

    library = bm25s.BM25()
    library.index(bm25s.tokenize(list(documents.values()), show_progress=False), show_progress=False)
    words = bm25s.tokenize(list(queries.values()), return_ids=False, show_progress=False)
    scores = [library.get_scores(own) for own in words]
    system = make_system("BM25")
    system.index(documents)
    found = agreement(system.retrieve(queries, TEN), queries, scores, list(documents), 1e-6)
    return ["BM25", "bm25s", len(documents), *found]


def dense_row(documents: Texts, queries: Texts, cache: Path) -> list[Any]:
    import torch
    from sentence_transformers import SentenceTransformer, util

    from evenrank.evidence.models import MINILM, model_path

    torch.set_num_threads(1)
    system: Any = make_system("Dense(model=minilm)", cache=cache, progress=show)
    system.index(documents)
    run = system.retrieve(queries, TEN)
    library = SentenceTransformer(model_path(MINILM), local_files_only=True)
    chosen = np.random.default_rng(0).choice(
        len(documents), min(ENCODED_AGAIN, len(documents)), replace=False
    )
    texts = list(documents.values())
    again = library.encode([texts[at] for at in chosen], show_progress_bar=False)
    difference = np.abs(again - system._vectors[chosen]).max()
    print(f"the vectors of {len(chosen)} passages differ by at most {difference:.1e}", file=sys.stderr)
    table = torch.tensor(system._vectors).float()
    asked = library.encode(list(queries.values()), convert_to_tensor=True, show_progress_bar=False)
    scores = np.full((len(queries), len(documents)), -1.0)
    for row, hits in enumerate(util.semantic_search(asked, table, top_k=4 * TEN)):
        for hit in hits:
            scores[row, hit["corpus_id"]] = hit["score"]
    found = agreement(run, queries, scores, list(documents), 2e-6)
    return ["Dense(model=minilm)", "semantic_search of sentence-transformers", len(documents), *found]


def late_row(documents: Texts, queries: Texts, cache: Path) -> list[Any]:
    from sentence_transformers import SentenceTransformer

    from evenrank.evidence.models import MINILM, model_path

    some = dict(list(documents.items())[:LATE])
    system = make_system("LateInteraction(model=minilm)", cache=cache, progress=show)
    system.index(some)
    run = system.retrieve(queries, TEN)
    library = SentenceTransformer(model_path(MINILM), local_files_only=True)

    def tokens(texts: list[str]) -> list[Any]:
        found = library.encode(texts, output_value="token_embeddings", show_progress_bar=False)
        return [(one / one.norm(dim=1, keepdim=True)).numpy() for one in found]

    held = [one.astype(np.float16).astype(np.float32) for one in tokens(list(some.values()))]
    scores = [[sum((own @ row).max() for row in asked) for own in held]
              for asked in tokens(list(queries.values()))]  # fmt: skip
    found = agreement(run, queries, scores, list(some), 1e-3)
    return ["LateInteraction(model=minilm)", "a plain loop", len(some), *found]


def show(what: str, done: int, of: int) -> None:
    print(f"{what}: {done:,} of {of:,}", file=sys.stderr)


def main(passages: str, asked: str, cache: str = "same-top-cache") -> None:
    documents, queries = read_texts(Path(passages)), read_texts(Path(asked))
    folder = Path(cache)
    rows = [bm25_row(documents, queries), dense_row(documents, queries, folder),
            late_row(documents, queries, folder)]  # fmt: skip
    head = ["system", "library", "passages", "queries with the same ten, up to rounding", "the same ten",
            "in the same order", "largest difference of a score"]  # fmt: skip
    print(printed([Table.of(head, rows, words=2)], "markdown"))


if __name__ == "__main__":
    main(*sys.argv[1:4])
