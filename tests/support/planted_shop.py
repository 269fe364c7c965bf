"""A shop whose first system shows small sellers too little, and whose second shows them more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenrank import Membership, Run, compare, write_run
from evenrank.comparison import Comparison
from evenrank.io import write_qrels

QUERIES, FOUND = 40, 30


def shop_comparison(*, judged: bool = True, names: Sequence[str] = ()) -> Comparison:
    """Two thirds of what is found are of small sellers; ``live`` puts large ones first, ``new`` mixes.

    ``names`` stand in the names of everything, in turn.
    """
    chance = np.random.default_rng(3)
    own = (lambda place: names[place % len(names)]) if names else (lambda place: "")
    products = [f"{own(place)}p{place}" for place in range(QUERIES * FOUND)]
    small, large = own(0) + "small", own(9) + "large"
    sizes = {product: small if place % 3 else large for place, product in enumerate(products)}
    runs = {}
    for name, push in ((own(1) + "live", 2.0), (own(2) + "new", 0.3)):
        queries, documents, scores = [], [], []
        for query in range(QUERIES):
            for product in products[query * FOUND : (query + 1) * FOUND]:
                queries.append(f"{own(query)}q{query}")
                documents.append(product)
                scores.append(float(chance.normal() + push * (sizes[product] == large)))
        runs[name] = Run.build(queries, documents, scores, name=name)
    qrels = {
        f"{own(query)}q{query}": {
            products[query * FOUND + place]: int(chance.integers(0, 3)) for place in range(FOUND)
        }
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


def shop_audit(folder: Path, target: str = "candidates") -> Any:
    """The verdicts on the same systems, from files: what cards, bars and sliders must agree with."""
    from evenrank import audit

    known = shop_comparison().inputs
    assert known is not None
    for name, run in known.runs.items():
        write_run(run, folder / f"{name}.csv")
    write_qrels(known.qrels, folder / "qrels.txt")
    rows = [f"p{place},{'small' if place % 3 else 'large'}" for place in range(QUERIES * FOUND)]
    (folder / "groups.csv").write_text("\n".join(["document,size", *rows]) + "\n", encoding="utf-8")
    runs = [str(folder / f"{name}.csv") for name in known.runs]
    sizes = f"size={folder / 'groups.csv'}"
    return audit(runs, folder / "audit", groups=sizes, qrels=folder / "qrels.txt", target=target)
