"""Shops to try verdicts on: products with a seller, queries, and a ranking whose bias is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenrank import Membership, Run

CATEGORIES, STYLES = 40, 10


@dataclass(frozen=True)
class Shop:
    run: Run
    sizes: dict[str, str]  # product -> small or large

    @property
    def groups(self) -> Membership:
        return Membership.from_labels("seller_size", self.sizes)

    def relabelled(self, seed: int, small: float = 0.65) -> Shop:
        """The same lists with other sellers: another shop without a bias, where the first one had none."""
        drawn = np.random.default_rng(seed).random(len(self.sizes)) < small
        sizes = {
            one: "small" if own else "large" for one, own in zip(self.sizes, drawn.tolist(), strict=True)
        }
        return Shop(self.run, sizes)


def shop(
    seed: int,
    *,
    lowered: float = 0.0,
    products: int = 5000,
    queries: int = 200,
    small: float = 0.65,
    depth: int = 100,
) -> Shop:
    """Scores are by category, style and quality of a product, which several queries share; those of small
    sellers are lower by ``lowered`` standard deviations of quality."""
    generator = np.random.default_rng(seed)
    is_small = generator.random(products) < small
    category = generator.integers(CATEGORIES, size=products)
    style = generator.integers(STYLES, size=(products, 2))
    quality = generator.normal(size=products)
    asked = generator.permutation(CATEGORIES * STYLES)[:queries]
    rows: list[tuple[str, str, float]] = []
    for number, pair in enumerate(asked.tolist()):
        right = 3 * (category == pair // STYLES) + 2 * (style == pair % STYLES).any(axis=1)
        score = right + quality + generator.normal(size=products) / 2 - lowered * is_small
        best = np.argsort(-score)[:depth]
        rows += [(f"q{number}", f"d{document}", float(score[document])) for document in best.tolist()]
    names, documents, scores = zip(*rows, strict=True)
    sizes = {f"d{place}": "small" if one else "large" for place, one in enumerate(is_small.tolist())}
    return Shop(Run.build(names, documents, scores, name="shop"), sizes)


def slow_share(documents: list[str], sizes: dict[str, str], value: str, *, attention: bool) -> float:
    """The share of attention, or of documents, of those that have a label; every document keeps its place."""
    weights = {
        document: 1 / math.log2(rank + 1) if attention else 1.0
        for rank, document in enumerate(documents, 1)
        if document in sizes
    }
    own = [weight for document, weight in weights.items() if sizes[document] == value]
    return sum(own) / sum(weights.values())
