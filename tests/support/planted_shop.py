"""A shop whose first system shows small sellers too little, and whose second shows them more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from evenrank.comparison import Comparison, compare
from evenrank.data.membership import Membership
from evenrank.data.run import Run

QUERIES, FOUND = 40, 30


def shop_comparison(*, judged: bool = True) -> Comparison:
    """Two thirds of what is found are of small sellers; ``live`` puts large ones first, ``new`` mixes."""
    chance = np.random.default_rng(3)
    products = [f"p{place}" for place in range(QUERIES * FOUND)]
    sizes = {product: "small" if place % 3 else "large" for place, product in enumerate(products)}
    runs = {}
    for name, push in (("live", 2.0), ("new", 0.3)):
        queries, documents, scores = [], [], []
        for query in range(QUERIES):
            own = products[query * FOUND : (query + 1) * FOUND]
            for product in own:
                queries.append(f"q{query}")
                documents.append(product)
                scores.append(float(chance.normal() + push * (sizes[product] == "large")))
        runs[name] = Run.build(queries, documents, scores, name=name)
    qrels = {
        f"q{query}": {products[query * FOUND + place]: int(chance.integers(0, 3)) for place in range(FOUND)}
        for query in range(QUERIES)
    }
    known: dict[str, Any] = {"qrels": qrels} if judged else {}
    measures = "GF@10 nDCG@10" if judged else "GF@10"
    return compare(runs, measures, groups=Membership.from_labels("size", sizes), **known)


def shop_texts() -> dict[str, str]:
    return {f"q{query}": f"question number {query}" for query in range(QUERIES)}


def shop_report(path: Path) -> Comparison:
    comparison = shop_comparison()
    comparison.report(path, query_texts=shop_texts())
    return comparison
