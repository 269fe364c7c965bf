"""The sample as the files that a search team would have, to try the commands on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from evenrank.errors import DataError
from evenrank.io import write_run
from evenrank.io.atomic import atomic_write
from evenrank.rerankers import rerank
from evenrank.sample import load
from evenrank.sample.demo import FAIRER, LEXICON, bm25_run

COPIED = ("documents.jsonl", "queries.csv", "qrels.txt", "groups.csv")


def write_sample(folder: Path) -> None:
    """Documents, queries, judgements, groups, and two runs: BM25, and the same re-ranked."""
    from evenrank.evidence.scan import scan

    for name in (*COPIED, "bm25.trec", "fairer.trec"):
        if (folder / name).exists():
            raise DataError(f"{folder / name}: is there already, and would be written over")
    for name in COPIED:
        with atomic_write(folder / name) as file:
            file.write(files("evenrank.sample").joinpath(name).read_bytes())
    sample = load()
    run = bm25_run(sample)
    words = scan(list(sample.documents.items()), LEXICON)
    write_run(run, folder / "bm25.trec")
    write_run(rerank(run, FAIRER, words=words), folder / "fairer.trec")
