"""One small, valid call of every command, and the files that it reads.

``write_files(folder)`` makes the files, ``CALLS`` are the command lines, seen from that folder. A
command that does two things stands there twice, once with the option that tells them apart.
"""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evenrank.cli import main

ASKED = (
    "nurse pay",
    "truck driver",
    "school teacher",
    "pay of a driver",
    "teacher at school",
    "men who nurse",
)
QUERIES = {f"q{place}": text for place, text in enumerate(ASKED, 1)}
TEXTS = (
    "she said that her brother drives a truck",
    "he is a nurse and his pay is good",
    "the school pays the teacher well",
    "a driver of a truck met a nurse",
    "women teach, men drive, says the teacher",
    "pay of a nurse at the school",
)

EVIDENCE = ["--qrels", "qrels.txt", "--words", "counts.parquet", "--background", "a.trec"]
MEASURES = ["-m", "nDCG@3 NFaiRR@3"]

CALLS: dict[str, list[str]] = {
    "evaluate": ["a.trec", "b.trec", *EVIDENCE, *MEASURES],
    "compare": ["a.trec", "b.trec", *EVIDENCE, *MEASURES],
    "audit": ["a.trec", "--groups", "side=groups.csv", "--queries", "queries.tsv", "--dry-run"],
    "select": ["a.trec", "b.trec", *EVIDENCE, "--relevance", "nDCG@3", "--fairness", "NFaiRR@3",
               "--folds", "2"],
    "gate": ["b.trec", "--baseline", "a.trec", "--project", "gate.toml"],
    "report": ["a.trec", "b.trec", *EVIDENCE, *MEASURES, "--documents", "documents.tsv",
               "--queries", "queries.tsv", "-o", "report.html"],
    "explain": ["a.trec", *EVIDENCE, "-m", "NFaiRR@3", "--draws", "20"],
    "explain --query": ["q1", "a.trec", *EVIDENCE, "-m", "NFaiRR@3"],
    "rerank": ["a.trec", "--with", "Neutral", "--words", "counts.parquet"],
    "rerank --with": ["Neutral(band={2,3})", "a.trec", *EVIDENCE, *MEASURES],
    "debias": ["keys"],
    "debias erase": ["vectors.parquet", "--documents", "documents.tsv", "--set", "tau=0",
                       "-o", "eraser.safetensors"],
    "counterfactual rank": ["documents.tsv", "queries.tsv", "--depth", "3", "--tagger", "rules"],
    "counterfactual swap": ["documents.tsv", "-o", "swapped.tsv", "--tagger", "rules"],
    "retrieve": ["BM25", "--documents", "documents.tsv", "--queries", "queries.tsv", "-o", "found.trec"],
    "scan": ["documents.tsv", "--lexicon", "gender-en", "-o", "scanned.parquet"],
    "queryset": ["suggest", "queries.tsv", "--sample", "4"],
    "lexicon": ["compare", "gender-en", "lexicon.csv"],
    "polarise": ["debates.csv", "--encoder", "vectors.parquet", "-o", "polarity.parquet"],
    "corpus": ["statistics", "balance-en"],
    "study": ["check", "study"],
    "measures": ["nDCG"],
    "doctor": [],
    "init": ["--help"],
}  # fmt: skip


def write_files(folder: Path) -> None:
    """Six queries over six documents, two runs, and something known of every document."""
    with contextlib.redirect_stderr(io.StringIO()):
        main(["study", "new", str(folder / "study")])
    documents = [f"d{place}" for place in range(1, len(TEXTS) + 1)]
    _lines(folder / "documents.tsv", (f"{name}\t{text}" for name, text in zip(documents, TEXTS, strict=True)))
    _lines(folder / "queries.tsv", (f"{query}\t{text}" for query, text in QUERIES.items()))
    for run, shift in (("a", 0), ("b", 2)):
        orders = {query: np.roll(documents, shift + place).tolist() for place, query in enumerate(QUERIES)}
        _lines(
            folder / f"{run}.trec",
            (
                f"{query} Q0 {document} {rank} {len(order) - rank} {run}"
                for query, order in orders.items()
                for rank, document in enumerate(order, 1)
            ),
        )
    _lines(
        folder / "qrels.txt",
        (
            f"{query} 0 {document} {(place + number) % 3}"
            for place, query in enumerate(QUERIES)
            for number, document in enumerate(documents)
        ),
    )
    sides = ("left", "right")
    _lines(
        folder / "groups.csv",
        ["document,group", *(f"{name},{sides[place % 2]}" for place, name in enumerate(documents))],
    )
    _lines(
        folder / "gate.toml",
        [
            "[data]",
            'qrels = "qrels.txt"',
            "[gate]",
            "at_least = 5",
            '[gate.measures."nDCG@3"]',
            "allowed = 0.5",
        ],
    )
    _lines(
        folder / "debates.csv",
        [
            "query,document,text,perspective",
            *(
                f"{query},{document},{text.replace(',', '')},{'for' if place % 2 else 'against'}"
                for query in QUERIES
                for place, (document, text) in enumerate(zip(documents, TEXTS, strict=True))
            ),
        ],
    )
    _lines(folder / "lexicon.csv", ["word,group", "he,male", "his,male", "she,female", "her,female"])
    _lines(
        folder / "categories.csv",
        ["query,category", *(f"{query},{'work' if query < 'q3' else 'school'}" for query in QUERIES)],
    )
    _lines(folder / "ids.txt", ["# the queries that count", "q1", "q2\tand its text"])
    _lines(folder / "target.csv", ["query,left,right", *(f"{query},0.5,0.5" for query in QUERIES)])
    vectors = np.random.default_rng(1).normal(size=(len(TEXTS), 4)).astype("f4")
    pq.write_table(
        pa.table({"document": documents, "vector": pa.array(list(vectors), pa.list_(pa.float32()))}),
        folder / "vectors.parquet",
    )
    (folder / "documents.jsonl").write_text(
        "".join(
            json.dumps({"id": name, "text": text}) + "\n" for name, text in zip(documents, TEXTS, strict=True)
        ),
        encoding="utf-8",
    )
    from evenrank import read_lexicon
    from evenrank.evidence.scan import scan_file

    scan_file(folder / "documents.tsv", read_lexicon("gender-en"), folder / "counts.parquet")


def _lines(path: Path, lines: object) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")  # type: ignore[attr-defined]
