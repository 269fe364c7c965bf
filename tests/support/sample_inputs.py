"""The sample as evidence in Python: its BM25 run, its groups and the sides of its debates."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any

import evenrank as er
from evenrank import Attribute, Membership, Polarity, Run


def bm25_run() -> Run:
    with as_file(files("evenrank.sample") / "bm25.trec") as path:
        return er.read_run(path)


def groups_of(sample: Any) -> list[Membership]:
    """Who a text leans to, where both and none are half of each, and how popular it is, on a scale."""
    leaning = Attribute("leaning", ("female", "male"))
    popularity = Attribute("popularity", ("1", "2", "3", "4"), ordinal=True)
    scale = {document: str(level) for document, level in sample.popularity.items()}
    return [
        Membership.from_labels(leaning, sample.leaning, even=("both", "none")),
        Membership.from_labels(popularity, scale),
    ]


def polarity_of(sample: Any) -> Polarity:
    """The side that a text takes in a debate."""
    sides = {
        query: {document: side for side, grades in by_side.items() for document in grades}
        for query, by_side in sample.sides.to_dict().items()
    }
    return Polarity.from_labels(sides, positive="for")
