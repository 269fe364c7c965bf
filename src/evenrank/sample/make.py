"""How the sample's runs and the column ``author`` of its groups were made; README.md says it in words.

``python -m evenrank.sample.make FOLDER`` makes bm25.trec, fairer.trec and groups.csv again.
"""

from __future__ import annotations

import csv
import io
import random
import re
import sys
from pathlib import Path

from evenrank.data.attribute import Attribute
from evenrank.data.membership import Membership
from evenrank.data.run import Run
from evenrank.io import write_run
from evenrank.io.atomic import atomic_write
from evenrank.rerankers import rerank
from evenrank.sample import Sample, demo_file, load
from evenrank.systems import BM25

DEPTH = 100
STAFF = 0.5  # of the texts
DRAWN_ANEW = 0.05  # of the labels
FAIRER = "DetGreedy(attr='author',top=10)@100"


def authors(sample: Sample) -> dict[str, str]:
    """Of the texts of a grade, those with most words of queries are by staff; few labels are drawn anew."""
    chance = random.Random(14)
    asked = {word for query in sample.queries.values() for word in _words(query) if len(word) > 3}
    counts = {
        document: sum(word in asked for word in _words(text)) for document, text in sample.documents.items()
    }
    grades: dict[str, int] = {}
    for judged in sample.qrels.to_dict().values():  # each text is judged for one query
        grades |= judged
    staff: set[str] = set()
    for grade in sorted(set(grades.values())):
        texts = [document for document in sample.documents if grades[document] == grade]
        chance.shuffle(texts)  # the order of texts with equal counts
        texts.sort(key=counts.__getitem__, reverse=True)
        staff.update(texts[: round(STAFF * len(texts))])
    for document in sample.documents:
        if chance.random() < DRAWN_ANEW:
            (staff.add if chance.random() < STAFF else staff.discard)(document)
    return {document: "staff" if document in staff else "freelance" for document in sample.documents}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def bm25_run(sample: Sample) -> Run:
    """The sample's documents ranked for its queries by bm25s with its defaults and English stop words."""
    system = BM25()
    system.index(sample.documents)
    return system.retrieve(sample.queries, DEPTH)


def make(folder: Path) -> None:
    sample = load()
    author = authors(sample)
    old = csv.DictReader(demo_file("groups.csv").decode().splitlines())
    rows = [{**row, "author": author[row["document"]]} for row in old]
    text = io.StringIO()
    table = csv.DictWriter(text, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    with atomic_write(folder / "groups.csv") as file:
        file.write(text.getvalue().encode())
    run = bm25_run(sample)
    groups = Membership.from_labels(Attribute("author", ("freelance", "staff"), target="collection"), author)
    write_run(run, folder / "bm25.trec")
    write_run(rerank(run, FAIRER, groups=[groups]), folder / "fairer.trec", tag="fairer")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
