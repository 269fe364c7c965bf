"""The demo: rank the sample with BM25, score the ranking with every measure there is.

``python -m evenrank.sample.demo FOLDER`` writes the run and the scores there and prints the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

from evenrank.data.run import Run
from evenrank.errors import MissingExtraError
from evenrank.evaluation import evaluate
from evenrank.io import write_run
from evenrank.measures import Measure, all_measures
from evenrank.sample import Sample, load

DEPTH = 100
CUTOFF = 10


def bm25_run(sample: Sample, depth: int = DEPTH) -> Run:
    """The sample's documents ranked for its queries by BM25 (bm25s with its defaults, English stop words)."""
    try:
        import bm25s
    except ImportError:
        raise MissingExtraError.for_job("the demo's BM25", "bm25s", "demo") from None

    ids = list(sample.documents)
    ranker = bm25s.BM25()
    ranker.index(
        bm25s.tokenize(list(sample.documents.values()), stopwords="en", show_progress=False),
        show_progress=False,
    )
    asked = bm25s.tokenize(list(sample.queries.values()), stopwords="en", show_progress=False)
    found, scores = ranker.retrieve(asked, k=min(depth, len(ids)), show_progress=False)  # (Q, K) both
    rows = [
        (query, ids[document], float(score))
        for query, documents, row in zip(sample.queries, found, scores, strict=True)
        for document, score in zip(documents, row, strict=True)
        if score > 0  # the rest share no word with the query
    ]
    queries, documents, values = map(list, zip(*rows, strict=True))
    return Run.build(queries, documents, values, name="bm25")


def measures_to_show(cutoff: int = CUTOFF) -> list[Measure]:
    """Every registered measure, at the cut-off where it takes one."""
    return [cls() @ cutoff if cls.takes_cutoff else cls() for cls in all_measures().values()]


def main(folder: str = "demo") -> None:
    sample = load()
    run = bm25_run(sample)
    scores = evaluate(run, measures_to_show(), qrels=sample.qrels, intents=sample.sides)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    write_run(run, target / "bm25.trec")
    scores.write(target / "scores.jsonl")
    sys.stdout.write(
        f"{len(sample.queries)} queries over {len(sample.documents)} short texts, ranked by BM25\n\n"
        f"{scores!r}\n\n"
        f"written: {target / 'bm25.trec'}, {target / 'scores.jsonl'}\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:2])
