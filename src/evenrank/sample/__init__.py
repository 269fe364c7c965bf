"""A small collection to try things on; README.md beside this file describes it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from evenrank.data.diversity import DiversityQrels
from evenrank.data.qrels import Qrels

# what evenrank init --demo writes: the sample as the files that a search team would have
DEMO = (
    "documents.jsonl", "queries.csv", "qrels.txt", "groups.csv", "bm25.trec", "fairer.trec", "evenrank.toml",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Sample:
    """Documents, queries, judgements and what is known of the documents, by id."""

    documents: dict[str, str]
    queries: dict[str, str]
    families: dict[str, str]  # query -> "need" or "debate"
    qrels: Qrels
    sides: DiversityQrels  # debates only: the two sides as intents
    popularity: dict[str, int]  # 1 to 4, ordinal
    publisher: dict[str, str]
    leaning: dict[str, str]  # of the information needs' documents
    author: dict[str, str]  # "freelance" or "staff"

    def __repr__(self) -> str:
        return f"<Sample: {len(self.documents)} documents, {len(self.queries)} queries>"


def load() -> Sample:
    """Read the sample.

    >>> sample = load()
    >>> len(sample.documents), len(sample.queries)
    (412, 44)
    """
    documents = {row["id"]: row["text"] for row in map(json.loads, _lines("documents.jsonl"))}
    queries = list(csv.DictReader(_lines("queries.csv")))
    groups = list(csv.DictReader(_lines("groups.csv")))
    sides = [line.split() for line in _lines("sides.txt")]
    judged = [line.split() for line in _lines("qrels.txt")]
    grades = {(query, document): int(grade) for query, _, document, grade in judged}
    return Sample(
        documents=documents,
        queries={row["query"]: row["text"] for row in queries},
        families={row["query"]: row["family"] for row in queries},
        qrels=Qrels.build([row[0] for row in judged], [row[2] for row in judged], list(grades.values())),
        sides=DiversityQrels.build(
            [row[0] for row in sides],
            [row[1] for row in sides],
            [row[2] for row in sides],
            [int(row[3]) for row in sides],
        ),
        popularity={row["document"]: int(row["popularity"]) for row in groups},
        publisher={row["document"]: row["publisher"] for row in groups},
        leaning={row["document"]: row["leaning"] for row in groups if row["leaning"]},
        author={row["document"]: row["author"] for row in groups},
    )


def demo_file(name: str) -> bytes:
    """One of the files of ``DEMO``."""
    return files(__name__).joinpath(name).read_bytes()


def _lines(name: str) -> Iterator[str]:
    return iter(demo_file(name).decode().splitlines())
