"""Make two sets of lists to try verdicts on, in which chance is large: bestsellers, and labels of sellers.

``python -m evenrank.sample.chance FOLDER`` writes into FOLDER

- ``books.csv`` and ``recommended.csv``: 50 of 2,000 books for each of 500 readers. A few bestsellers stand in
  most lists. Books of independent publishers are ranked lower.
- ``products.csv`` and ``found.csv``: 50 of 3,000 products for each of 200 queries. There are 150 sellers, and
  some are better than others. A size is that of the seller, and has nothing to do with the ranking.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from evenrank.arrays import Floats


def write(path: Path, head: str, rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head.split(), *rows])


def lists(kind: str, item: str, scores: Floats, depth: int) -> Iterable[tuple[object, ...]]:
    for number, row in enumerate(scores, 1):
        for rank, place in enumerate(np.argsort(-row)[:depth].tolist(), 1):
            yield f"{kind}{number}", f"{item}{place}", rank


def books(folder: Path, seed: int = 3) -> None:
    generator = np.random.default_rng(seed)
    independent = generator.random(2000) < 0.5
    sold = -0.6 * np.log(generator.permutation(2000) + 1)
    taste = generator.normal(size=(500, 8)) @ generator.normal(size=(8, 2000)) / 8**0.5
    scores = sold + taste + generator.gumbel(size=taste.shape) / 2 - 0.3 * independent
    kinds = np.where(independent, "independent", "major").tolist()
    write(
        folder / "books.csv",
        "document publisher text",
        ((f"b{n}", kind, f"book {n}") for n, kind in enumerate(kinds)),
    )
    write(folder / "recommended.csv", "query document rank", lists("u", "b", scores, 50))


def products(folder: Path, seed: int = 7) -> None:
    generator = np.random.default_rng(seed)
    seller = generator.integers(0, 150, 3000)
    size = np.where(generator.random(150) < 0.6, "small", "large")
    quality = 0.8 * generator.normal(size=150)[seller] + 0.6 * generator.normal(size=3000)
    taste = 1.5 * generator.normal(size=(200, 8)) @ generator.normal(size=(8, 3000)) / 8**0.5
    rows = zip(seller.tolist(), size[seller].tolist(), strict=True)
    write(
        folder / "products.csv",
        "document seller seller_size text",
        ((f"p{n}", f"s{s}", z, f"product {n}") for n, (s, z) in enumerate(rows)),
    )
    write(folder / "found.csv", "query document rank", lists("q", "p", quality + taste, 50))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    books(target)
    products(target)
